"""Random lives of two graphs, of which one stores secrets and forgets them.

Both go through the same steps: memories are remembered, rewritten and forgotten, entities merged, separated and
corrected, outcomes reported, indexes built. Between these steps, one of them goes through as many with secrets, and a
language model summarises its communities in all the words of the graph.

    python -m tests.trust.forgetting COUNT [START] [postgres]
"""

from __future__ import annotations

import asyncio
import io
import json
import pickle
import random
import re
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import FunctionType, MappingProxyType
from typing import Any, Final
from uuid import UUID

import attrs
import psycopg
from psycopg import sql

from graphsearch.access.gate import ALLOW_ALL
from graphsearch.caching import InProcessCache, cached
from graphsearch.curation import Curator
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import InvalidInputError
from graphsearch.export import to_graphml
from graphsearch.model import (
    Claim,
    ElementKind,
    ElementRef,
    Injection,
    Memory,
    MemoryLink,
    Mention,
    Outcome,
    Span,
)
from graphsearch.stores.embedded import EmbeddedPostgres
from graphsearch.stores.graph import GraphStore
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.stores.postgres import PostgresGraphStore
from graphsearch.testing.fakes import FixedClock
from graphsearch.testing.samples import day, person, ref
from graphsearch.testing.strategies import EMBEDDER, AnnotatedMemory, answers, embed, write_memories

MARK: Final = "xyzzy"
"""A word of every text and id of a secret."""
KEPT: Final = tuple(person(f"Somebody {number}").id for number in range(4))
SECRET: Final = tuple(person(f"Xyzzy {number}").id for number in range(3))
NAMES: Final = ("Ada Lovelace", "Priya Sharma", "Zoë Ångström", "Bo", "@priya", "Countess of Lovelace", "ada lovelace")
STEADY: Final = 0.7
"""The share of pairs in which a memory that stays mentions every entity that is no secret."""
SESSIONS: Final = ("monday", "tuesday")


@attrs.define(eq=False)
class Life:
    """One graph of the pair, and the merges that it went through."""

    store: GraphStore
    merges: dict[str, UUID] = attrs.field(factory=dict)

    async def exist(self, ids: Sequence[UUID]) -> bool:
        """Whether entities exist, unmerged and of one type."""
        found = await self.store.get_entities(ids)
        types = {each.type for each in found if each.merged_into is None}
        return len(found) == len(ids) and len(types) == 1 and not any(each.merged_into for each in found)


class Quoting:
    """A language model that repeats every line that it is shown."""

    async def ask(self, text: str) -> str:
        """A sentence for each line, which it cites."""
        lines = re.findall(r"^\[(\d+)\] (.*)$", text, re.MULTILINE)
        return json.dumps({"sentences": [{"text": line, "cites": [int(number)]} for number, line in lines[:100]]})


class Pair:
    """A graph that stores secrets, and one that never does; ``rng`` decides what happens."""

    def __init__(self, rng: random.Random, clock: FixedClock, told: GraphStore, never: GraphStore) -> None:
        self._rng = rng
        self._clock = clock
        self._told, self._never = Life(told), Life(never)
        self._both = (self._told, self._never)
        self._known: set[str] = set()
        self._secrets: set[str] = set()
        self._steps = 0
        self._steady = rng.random() < STEADY

    async def live(self, steps: int) -> None:
        """Go through some steps, of which half are secret, and forget all secrets."""
        await self._remember(self._both, "k0", KEPT)
        if self._steady:
            for life in self._both:
                await write_memories(life.store, [_roll()])
        open_ = (self._rewrite, self._forget_one, self._merge, self._undo, self._correct, self._outcome, self._tie)
        secret = (
            *(self._tell, self._tell, self._merge_secret, self._undo_secret, self._tie_secret, self._forget_secret),
            self._summarise,
        )
        for _ in range(steps):
            self._steps += 1
            self._clock.advance(minutes=1)
            await self._rng.choice(self._rng.choice((open_, secret)))()
            if self._rng.random() < 0.2:
                await self._told.store.settle()
        gone = self._rng.sample(sorted(self._secrets), len(self._secrets))
        cut = self._rng.randint(0, len(gone))
        for some in (gone[:cut], gone[cut:]):
            await self._forget(self._told, some)

    async def compare(self) -> bool:
        """Raise AssertionError unless both graphs are the same; return whether they are to be.

        They are not where an entity is gone for a while from the graph without secrets: in the other a secret kept
        it, with what was decided about it.
        """
        if not self._steady:
            return False
        told, never = [await everything(each.store) for each in self._both]
        different = {name: (told[name], never[name]) for name in never if told[name] != never[name]}
        shown = {name: [str(each)[:600] for each in pair] for name, pair in list(different.items())[:2]}
        assert not different, f"{', '.join(different)}: {shown}"
        return True

    # -- what both go through ------------------------------------------------------------------------------------

    async def _rewrite(self) -> None:
        await self._remember(self._both, f"k{self._rng.randrange(4)}", KEPT)

    async def _forget_one(self) -> None:
        if len(self._known) > 1:
            key = self._rng.choice(sorted(self._known))
            self._known.discard(key)
            for life in self._both:
                await self._forget(life, [key])

    async def _merge(self) -> None:
        ends = self._rng.sample(KEPT, 2)
        if all([await life.exist(ends) for life in self._both]):
            for life in self._both:
                life.merges[f"merge {self._steps}"] = (await life.store.merge(*ends)).id

    async def _undo(self) -> None:
        names = sorted(self._never.merges)
        if names:
            name = self._rng.choice(names)
            for life in self._both:
                await _undone(life, name)

    async def _correct(self) -> None:
        key = self._rng.choice(KEPT)
        if all([await life.exist([key]) for life in self._both]):
            for life in self._both:
                curator = Curator(GraphSearchEngine(store=life.store, embedder=EMBEDDER))
                await curator.update_entity(key, description=f"Number {self._steps}.", importance_weight=0.7)

    async def _outcome(self) -> None:
        elements = [ElementRef(ElementKind.MEMORY, key) for key in sorted(self._known)]
        session, outcome = self._rng.choice(SESSIONS), self._rng.choice(list(Outcome))
        logged = self._injection(session, elements)
        for life in self._both:
            await life.store.log_injection(logged)
            await life.store.apply_outcome(session, outcome, elements)

    async def _tie(self) -> None:
        memories, ends = self._rng.sample(sorted(self._known), min(2, len(self._known))), self._rng.sample(KEPT, 2)
        there = all([await life.exist(ends) for life in self._both])
        for life in self._both:
            if len(memories) > 1:
                await life.store.link_memories([MemoryLink(from_id=memories[0], to_id=memories[1])])
            if there:
                await life.store.mark_distinct([(ends[0], ends[1])])

    # -- secrets -------------------------------------------------------------------------------------------------

    async def _tell(self) -> None:
        key = f"{MARK}{self._rng.randrange(3)}"
        self._secrets.add(key)
        await self._remember([self._told], key, (*KEPT, *SECRET))

    async def _forget_secret(self) -> None:
        if self._secrets:
            key = self._rng.choice(sorted(self._secrets))
            self._secrets.discard(key)
            await self._forget(self._told, [key])

    async def _merge_secret(self) -> None:
        source = self._rng.choice(SECRET)
        target = self._rng.choice([each for each in (*KEPT, *SECRET) if each != source])
        if await self._told.exist([source, target]):
            made = await self._told.store.merge(source, target)
            self._told.merges[f"secret {self._steps}"] = made.id

    async def _undo_secret(self) -> None:
        names = sorted(name for name in self._told.merges if name.startswith("secret"))
        if names:
            await _undone(self._told, self._rng.choice(names))

    async def _tie_secret(self) -> None:
        if self._secrets:
            key, kept = self._rng.choice(sorted(self._secrets)), self._rng.choice(sorted(self._known))
            store = self._told.store
            await store.link_memories([MemoryLink(from_id=key, to_id=kept, type=f"{MARK}_link")])
            ends = self._rng.choice(KEPT), self._rng.choice(SECRET)
            if await self._told.exist(ends):
                await store.mark_distinct([ends])
            proved = [ref(each) for each in await store.list_relations() if set(each.evidence) <= self._secrets]
            secret = [*proved, ElementRef(ElementKind.MEMORY, key)]
            await store.log_injection(self._injection("wednesday", [*secret, ElementRef(ElementKind.MEMORY, kept)]))
            await store.apply_outcome("wednesday", Outcome.REJECTED, [ElementRef(ElementKind.MEMORY, key)])

    async def _summarise(self) -> None:
        curator = Curator(GraphSearchEngine(store=self._told.store), gate=ALLOW_ALL)
        await (curator.refresh_communities if self._rng.random() < 0.5 else curator.detect_communities)()
        most = 100_000
        report = await curator.summarise_communities(Quoting(), min_size=2, prompt_tokens=most, answer_tokens=most)
        assert not report.failed

    # -- helpers -------------------------------------------------------------------------------------------------

    async def _remember(self, lives: Sequence[Life], key: str, people: Sequence[UUID]) -> None:
        annotated = _annotated(self._rng, key, people, self._steps)
        if not key.startswith(MARK):
            self._known.add(key)
        for life in lives:
            before = await life.store.list_mentions(memory_ids=[key]) if self._steps else ()
            lost = {each.entity_id for each in before}.difference(each.entity_id for each in annotated.mentions)
            await write_memories(life.store, [annotated], prune=lost)
            await _prune(life.store, lost)

    async def _forget(self, life: Life, keys: Sequence[str]) -> None:
        if keys:
            await embed(life.store, (await life.store.forget(keys)).reworded)

    def _injection(self, session: str, elements: Sequence[ElementRef]) -> Injection:
        return Injection(
            id=f"i{self._steps}",
            session_id=session,
            principal="user ada",
            created_at=self._clock.now(),
            tokens=5,
            elements=elements,
        )


async def _prune(store: GraphStore, lost: set[UUID]) -> None:
    """Remove entities that nothing names any more, as an ingest does at its end."""
    named = {each.entity_id for each in await store.list_mentions(entity_ids=sorted(lost))}
    degrees = await store.degrees(sorted(lost - named))
    await store.delete(entities=[key for key, degree in degrees.items() if not degree])


async def _undone(life: Life, name: str) -> None:
    """Undo a merge, if it stands; one that ended with a forgotten entity is gone."""
    made = {each.id: each for each in await life.store.merges()}.get(life.merges.pop(name))
    if made is not None and made.undone_at is None:
        try:
            report = await life.store.undo_merge(made.id)
        except InvalidInputError:
            return
        await embed(life.store, report.reworded)


def _roll() -> AnnotatedMemory:
    """A memory that mentions everybody."""
    named = [Mention(memory_id="roll", entity_id=key, surface=name) for key, name in zip(KEPT, NAMES, strict=False)]
    return AnnotatedMemory(memory=Memory(id="roll", text="Everybody."), mentions=tuple(named), claims=())


def _annotated(rng: random.Random, key: str, people: Sequence[UUID], step: int) -> AnnotatedMemory:
    """A memory about some people; a secret one marks all that it states."""
    mark = f"Xyzzy{step} " if key.startswith(MARK) else ""
    source, target, other = (rng.choice(people) for _ in range(3))
    pairs = [(source, target), (target, other)][: rng.randint(0, 2)]
    named = sorted({end for pair in pairs for end in pair} | {rng.choice(people)})
    memory = Memory(
        id=key,
        text=f"{mark}text of {key} at {step}",
        occurred_at=rng.choice([None, day(1), day(5), day(9)]),
        session_id=f"{mark}session",
        source=f"{mark}source",
    )
    return AnnotatedMemory(
        memory=memory,
        mentions=tuple(
            Mention(
                memory_id=key,
                entity_id=each,
                surface=mark + rng.choice(NAMES) if mark else NAMES[KEPT.index(each)],
                type="person",
                span=Span(start=at, end=at + 1),
            )
            for at, each in enumerate(named)
        ),
        claims=tuple(
            Claim(
                memory_id=key,
                source_id=one,
                target_id=two,
                type=rng.choice(["knows", "works_at"]),
                confidence=rng.choice([0.5, 0.8]),
                valid_from=rng.choice([None, day(1), day(5)]),
                fact=f"{mark}fact at {step}",
                extractor=f"{mark}rules",
            )
            for one, two in pairs
            if one != two
        ),
    )


async def everything(store: GraphStore) -> Mapping[str, Any]:
    """All that two graphs must have in common: what is stored, found, exported, learnt and curated."""
    found = dict(await answers(store))
    entities, memories = found["entities"], found["memories"]
    ids = [each.id for each in entities]
    elements = [*map(ref, memories), *map(ref, entities)]
    curator = Curator(GraphSearchEngine(store=store))
    graphs = [to_graphml(await curator.entity_graph(each.id)) for each in entities if not each.merged_into]
    return {
        **found,
        "weights": [each.feedback_weight for each in await store.get_memories([each.id for each in memories])],
        "outcomes": await store.outcomes(elements),
        "links": await store.memory_links([each.id for each in memories]),
        "distinct": await store.distinct_pairs(ids),
        "merges": [(each.source_id, each.target_id) for each in await store.merges() if each.undone_at is None],
        "log": [[each.elements for each in await store.injections(session)] for session in SESSIONS],
        "export": graphs,
    }


class Pickler(pickle.Pickler):
    """Also of mappings that cannot be changed, and of functions, with a cache or without, by name."""

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, FunctionType) or hasattr(obj, "cache_info"):
            return (str, (obj.__qualname__,))
        return (dict, (dict(obj),)) if isinstance(obj, MappingProxyType) else NotImplemented


def pickled(value: Any) -> str:
    """All texts within a value."""
    content = io.BytesIO()
    Pickler(content).dump(value)
    return content.getvalue().decode("latin-1").lower()


def rows(dsn: str) -> dict[str, str]:
    """All that each table holds, as text."""
    tables = "SELECT relname FROM pg_class WHERE relnamespace = 'graphsearch'::regnamespace AND relkind = 'r'"
    with psycopg.connect(dsn) as connection:
        return {
            name: "\n".join(
                row
                for (row,) in connection.execute(
                    sql.SQL("SELECT t::text FROM graphsearch.{} t").format(sql.Identifier(name))
                )
            ).lower()
            for (name,) in connection.execute(tables).fetchall()
        }


async def lives(seed: int, told: GraphStore, never: GraphStore, clock: FixedClock, *, steps: int = 20) -> bool:
    """Let two graphs live, and compare them; see `Pair.compare`."""
    pair = Pair(random.Random(seed), clock, told, never)  # noqa: S311 - no secret
    await pair.live(steps)
    return await pair.compare()


async def in_memory(seed: int) -> bool:
    """Let a pair of graphs live in memory, the one with secrets behind a cache; return whether they were compared."""
    clock = FixedClock()
    stores = InMemoryGraphStore(clock=clock)
    told, never = (stores.with_scope(org_id="acme", project_id=name) for name in ("told", "never"))
    cache = InProcessCache(scope=told.scope, clock=clock)
    compared = await lives(seed, cached(told, cache), never, clock)
    assert MARK not in pickled(told._cell.version), "a secret is left in memory"
    assert MARK not in pickled(dict(cache._entities)), "a secret is left in the cache"
    return compared


async def in_postgres(dsn: str, admin_dsn: str, seed: int, *, steps: int = 20) -> bool:
    """Let a pair of graphs live on Postgres; return whether they were compared. Other lives may be in the database."""
    clock = FixedClock()
    async with PostgresGraphStore.open(dsn, clock=clock, exact=True, max_connections=2) as store:
        told, never = (store.with_scope(org_id="acme", project_id=f"{name} {seed}") for name in ("told", "never"))
        compared = await lives(seed, told, never, clock, steps=steps)
        assert MARK not in pickled(store._gateway._library), "a secret is left in the cache of signatures"
        left = {name for name, content in rows(admin_dsn).items() if MARK in content}
        assert not left, f"a secret is left in {', '.join(sorted(left))}"
        await told.remove_scope()
        await never.remove_scope()
        return compared


async def main(count: int, start: int, live: Callable[[int], Awaitable[bool]]) -> None:
    """Let pairs of graphs live, those of ``count`` seeds from ``start`` on, and print their number."""
    began, compared = time.perf_counter(), 0
    for seed in range(start, start + count):
        try:
            compared += await live(seed)
        except Exception as error:
            error.add_note(f"seed {seed}")
            raise
    report = {
        "lives": count,
        "compared": compared,
        "differences": 0,
        "marks": 0,
        "seconds": round(time.perf_counter() - began, 1),
    }
    print(json.dumps(report))  # noqa: T201 - the result of a command


async def on_postgres(count: int, start: int) -> None:
    """Let pairs of graphs live on a server of their own."""
    with tempfile.TemporaryDirectory(prefix="graphsearch-", ignore_cleanup_errors=True) as folder:
        async with EmbeddedPostgres(Path(folder) / "data", settings={"fsync": "off"}) as server:
            await main(count, start, partial(in_postgres, server.dsn, server.admin_dsn))


if __name__ == "__main__":
    lives_wanted, first_seed = (int(each) for each in (*sys.argv[1:3], "0")[:2])
    asyncio.run(
        on_postgres(lives_wanted, first_seed) if "postgres" in sys.argv else main(lives_wanted, first_seed, in_memory)
    )
