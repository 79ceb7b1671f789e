"""A scope in Postgres as records, and records as a scope in Postgres: one transaction, filled by COPY."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, Sequence
from typing import Final

from graphsearch.errors import InvalidInputError, OccupiedScopeError
from graphsearch.model import ElementKind, validation
from graphsearch.model.stored import Key, Record, RecordKind, ScopeSettings
from graphsearch.protocols import Moving
from graphsearch.stores.in_postgres.base import PostgresScope
from graphsearch.stores.in_postgres.index.vector_index import forget_vector_indexes
from graphsearch.stores.in_postgres.read.moving import READERS, rows_of
from graphsearch.stores.in_postgres.session.sessions import Session
from graphsearch.stores.in_postgres.session.statements import statement
from graphsearch.stores.in_postgres.write.loading import Loading
from graphsearch.stores.shared.loading import LoadCheck, refuse_other_analyser

_TABLES: Final = {
    **{str(kind): str(kind) for kind in RecordKind},
    "distinct": "distinct_pair",
    "link": "memory_link",
    "mentions": "mention",
    "claims": "claim",
    "outcomes": "outcome",
}
"""The table of each kind of records, and of what is counted besides."""


class PostgresMoving(PostgresScope, Moving):
    """Pages read in order of key; a load writes all tables of the scope in one transaction."""

    async def settings(self) -> ScopeSettings:
        async with self._reading() as session:
            return ScopeSettings(
                analyser=session.analyser.name,
                alpha=session.alpha,
                embedder=session.embedder,
                dimensions=session.dimensions,
                merges=session.merges,
                counts={name: await rows_of(session, table) for name, table in _TABLES.items()},
                id_key=session.id_key,
                vectors={str(kind): session.tally(kind).vectors for kind in ElementKind},
            )

    async def records(self, kind: RecordKind, *, after: Key | None = None, limit: int = 1_000) -> Sequence[Record]:
        async with self._reading() as session:
            validation.refuse("page", validation.number("limit", limit, 0))
            return await READERS[kind](session, after, limit)

    async def load(
        self, settings: ScopeSettings, pages: AsyncIterable[Sequence[Record]], *, replace: bool = False
    ) -> None:
        """A vector index that the scope has is dropped before: nobody waits for it during the load."""
        refuse_other_analyser(settings, self.analyser.name)
        if replace:
            async with self._writing(create=True) as session:
                await forget_vector_indexes(session)
        async with self._writing(create=True, changing=True) as session:
            if not replace and (await session.row(statement("occupied")))[0]:
                raise OccupiedScopeError
            await _clear(session, settings)
            check, loading = LoadCheck(settings), Loading(session)
            try:
                async for page in pages:
                    if page:
                        await asyncio.to_thread(check.page, page)
                        await loading.page(page, check.tree)
            except OverflowError as error:
                raise InvalidInputError("record", [f"a number is too large to be stored: {error}"]) from error
            await asyncio.to_thread(check.finish)
            if loading.embeds_facts:
                await session.run(statement("list all facts"))
        await self._gateway.analyse(growth=2.0, megabytes=8)


async def _clear(session: Session, settings: ScopeSettings) -> None:
    """Remove whatever the scope holds, and give it the settings of what is loaded."""
    for table in await session.column(statement("scoped tables")):
        if table != "scope":
            await session.run(statement("remove scope", table=table))
    await session.run(statement("count dropped signatures"), dropped=1)
    session.signatures.contents.clear()  # they may quote removed elements
    await session.run(
        statement("load settings"),
        alpha=settings.alpha,
        embedder=settings.embedder,
        dimensions=settings.dimensions,
        merges=settings.merges,
        id_key=settings.id_key,
    )
    session.embedder, session.dimensions, session.alpha = settings.embedder, settings.dimensions, settings.alpha
    session.merges, session.shares = settings.merges, False
    session.tallies, session.types = {}, ()
