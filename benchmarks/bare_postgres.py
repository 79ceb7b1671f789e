"""The bare cost of search, writing and feedback in Postgres: the statements of bare.sql without a store."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from copy import copy
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any, Final
from uuid import NAMESPACE_OID, NAMESPACE_URL, UUID, uuid5

import numpy as np
import psycopg
from pgvector import HalfVector
from pgvector.psycopg import register_vector

SHOWN: Final = 200
"""The number of relations to hydrate and to learn from."""

_ENTITY_TYPES: Final = ("text", "text", "uuid", "text", "halfvec")
_RELATION_TYPES: Final = ("text", "text", "uuid", "uuid", "uuid", "text", "text", "float4")
_HEADER: Final = re.compile(r"^-- ([a-z ]+) --$", re.MULTILINE)


@cache
def _statements() -> dict[str, bytes]:
    text = Path(__file__).with_name("bare.sql").read_text(encoding="utf-8")
    _, *parts = _HEADER.split(text)
    return {name: body.strip().encode() for name, body in zip(parts[::2], parts[1::2], strict=True)}


@contextmanager
def bare_postgres(dsn: str, workload: Any, questions: int) -> Iterator[BarePostgres]:
    """A bare graph on a server, its schema dropped at the end. The role must be allowed to create extensions."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        register_vector(connection)
        yield BarePostgres(connection, workload, questions)
        connection.execute("DROP SCHEMA IF EXISTS bare CASCADE")


class BarePostgres:
    """A workload in bare tables; `load` and `index` come first. Each search takes the next question."""

    def __init__(self, connection: psycopg.Connection[Any], workload: Any, questions: int) -> None:
        self._connection = connection
        self._workload = workload
        self._questions = [HalfVector(vector) for _, vector, _ in workload.queries(questions)]
        self._numbers = count()
        self._entities = [uuid5(NAMESPACE_OID, str(number)) for number in range(workload.n)]
        self._relations = [uuid5(NAMESPACE_URL, str(number)) for number in range(workload.m)]

    # -- writing -------------------------------------------------------------------------------------------------

    def load(self) -> tuple[float, float]:
        """Write everything into new tables; return entities per second and relations per second."""
        work, ids = self._workload, self._entities
        self._run("schema")
        entities = [("o", "p", id_, work.names[row], HalfVector(work.vec[row])) for row, id_ in enumerate(ids)]
        columns = zip(self._relations, work.src.tolist(), work.dst.tolist(), work.rel.tolist(), strict=True)
        weights = np.random.default_rng(1).random(work.m).tolist()
        relations = [
            ("o", "p", id_, ids[source], ids[target], work.rel_names[type_], work.fact(row), weights[row])
            for row, (id_, source, target, type_) in enumerate(columns)
        ]
        return (
            work.n / self._upsert("entities", _ENTITY_TYPES, entities),
            work.m / self._upsert("relations", _RELATION_TYPES, relations),
        )

    def _upsert(self, what: str, types: Sequence[str], rows: Iterable[Sequence[object]]) -> float:
        """Seconds for COPY into a temporary table and INSERT … ON CONFLICT."""
        start = time.perf_counter()
        with self._connection.transaction(), self._connection.cursor() as cursor:
            cursor.execute(_statements()[f"stage {what}"])
            with cursor.copy(_statements()[f"copy {what}"]) as writing:
                writing.set_types(types)
                for row in rows:
                    writing.write_row(row)
            cursor.execute(_statements()[f"upsert {what}"])
        return time.perf_counter() - start

    def index(self) -> None:
        """Create the indexes that the searches need."""
        self._run("indexes")
        for table in ("entity", "relation"):
            self._connection.execute(f"VACUUM ANALYZE bare.{table}".encode())
        self._connection.execute("SET plan_cache_mode = force_custom_plan")
        self._shown = self._strongest()

    # -- reading -------------------------------------------------------------------------------------------------

    def seeds(self) -> list[Any]:
        """The ten nearest entities by HNSW."""
        return self._fetch("seeds", vector=self._question())

    def search(self) -> list[Any]:
        """Seeds and two bounded hops in one statement."""
        return self._fetch("search", vector=self._question())

    def hydrate(self) -> tuple[list[Any], list[Any]]:
        """Names and facts of the 200 strongest relations found, and of their endpoints."""
        relations, entities = self._shown
        return self._fetch("hydrate relations", ids=relations), self._fetch("hydrate entities", ids=entities)

    def _strongest(self) -> tuple[list[UUID], list[UUID]]:
        found = {row[1]: row for row in self.search() if row[0]}
        strongest = sorted(found.values(), key=lambda row: -row[4])[:SHOWN]
        return [row[1] for row in strongest], list({end for row in strongest for end in row[2:4]})

    # -- learning ------------------------------------------------------------------------------------------------

    def feedback(self, writer: int = 0) -> None:
        """A session's outcome on 200 relations of a writer: their history and weights, in one transaction."""
        surfaced = sorted(self._relations[writer * SHOWN : (writer + 1) * SHOWN])
        with self._connection.transaction():
            self._run("remember outcomes", session=str(next(self._numbers)), ids=surfaced)
            self._run("learn", ids=surfaced)

    @contextmanager
    def writers(self, number: int) -> Iterator[Callable[[], object]]:
        """A step in which some writers, with a connection each, learn at once, each from relations of its own."""
        with ExitStack() as opened:
            mates = [copy(self) for _ in range(number)]
            for mate in mates:
                dsn = self._connection.info.dsn
                mate._connection = opened.enter_context(psycopg.connect(dsn, autocommit=True))  # noqa: SLF001
            pool = opened.enter_context(ThreadPoolExecutor(number))
            yield lambda: [*pool.map(BarePostgres.feedback, mates, range(number))]

    def _question(self) -> HalfVector:
        return self._questions[next(self._numbers) % len(self._questions)]

    def _run(self, name: str, **parameters: object) -> None:
        self._connection.execute(_statements()[name], parameters or None)

    def _fetch(self, name: str, **parameters: object) -> list[Any]:
        return self._connection.execute(_statements()[name], parameters, binary=True).fetchall()
