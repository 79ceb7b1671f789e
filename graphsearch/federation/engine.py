"""One question to several scopes of one organisation, each behind its own gate: one ranking.

It opens several scopes where a `GraphSearchEngine` opens one. Each element of a result has the scopes that it comes
from, and ids as its own scope has them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any, Final, Unpack

import attrs

from graphsearch._support.observing import all_observed
from graphsearch._support.timing import Stopwatch
from graphsearch.access.gate import Gate
from graphsearch.access.reader import Reader, ReadingOptions, reading
from graphsearch.engine import Engine, GraphSearchEngine
from graphsearch.errors import EmbeddingModelError
from graphsearch.federation.joint_reader import JointReader, ScopePart, number_of, own_id, own_memory, own_relation
from graphsearch.model import ElementKind, ElementRef, Relation, Scope, Triplet, Vector
from graphsearch.model import validation as check
from graphsearch.modes.mode import Question
from graphsearch.modes.result import SearchResult, Sentence, Source, Summary
from graphsearch.question.understanding import Understanding
from graphsearch.ranking.entity_ranking import RankRequest, RankResult
from graphsearch.ranking.recall_result import RecallRequest, RecallResult
from graphsearch.ranking.retrieval import Parts
from graphsearch.ranking.triplet_score import Connection
from graphsearch.stores.graph import GraphStore
from graphsearch.traversal.paths import GraphPath


@all_observed
class FederatedEngine(Engine):
    """Searches several scopes of one organisation as one, and writes to none of them.

    ``engines``: one for each scope, in any order. They must embed with the same model; traversal, language model and
    constants are those of the first by the name of its scope. Answers of a single engine are that engine's.

    Each scope is read through the gate on its own. A scope of which the principal may see nothing takes no part:
    answers are those of the others, without it. Entities and relations of the same id are one. Each triplet, memory and
    entity of an answer states its ``scopes``.

    Raises `InvalidInputError` for no scope, for one scope twice, and for scopes of several organisations, and
    `EmbeddingModelError` for engines with different models.
    """

    def __init__(self, engines: Sequence[GraphSearchEngine]) -> None:
        scopes = [engine.store.scope for engine in engines]
        orgs = sorted({scope.org_id for scope in scopes})
        twice = sorted(str(scope) for scope, number in Counter(scopes).items() if number > 1)
        check.refuse(
            "federated search",
            None if scopes else "name a scope at least",
            f"{', '.join(twice)}: name each scope once" if twice else None,
            f"scopes must be of one organisation, not of {', '.join(orgs)}" if len(orgs) > 1 else None,
        )
        self.engines = tuple(sorted(engines, key=lambda engine: engine.store.scope))
        models = {engine.embedder.name if engine.embedder else None: engine.store.scope for engine in self.engines}
        if len(models) > 1:
            each = ", ".join(f"that of {scope} with {name!r}" for name, scope in models.items())
            raise EmbeddingModelError(f"engines must embed questions with one model: {each}")
        first = self.engines[0]
        super().__init__(
            first.store,
            embedder=first.embedder,
            llm=first.llm,
            traversal=first.traversal,
            modes=first.modes,
            scoring=first.scoring,
            recall_scoring=first.recall_scoring,
        )

    @property
    def stores(self) -> tuple[GraphStore, ...]:
        """The stores, in the order of the names of their scopes."""
        return tuple(engine.store for engine in self.engines)

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """The scopes, in the order of their names."""
        return tuple(engine.store.scope for engine in self.engines)

    @asynccontextmanager
    async def _open(self, **options: Unpack[ReadingOptions]) -> AsyncIterator[Reader]:
        """The scopes of which the principal may see anything; a single one of these as if it were asked alone."""
        opening = partial(reading, now=self.stores[0].clock.now(), **options)
        readers: dict[int, Reader] = {}
        async with AsyncExitStack() as stack:
            entered = self._entered(options.get("gate"))
            for number in entered:
                store = self.stores[number]
                await stack.enter_async_context(store.snapshot())
                if len(entered) > 1:
                    async with opening(store) as probe:  # what it denies is not counted as denied
                        if not await probe.sees_anything() and (readers or number != entered[-1]):
                            continue
                readers[number] = await stack.enter_async_context(
                    opening(store, documents=self._caches.documents[store.scope])
                )
            yield _joint(readers)

    def _entered(self, gate: Gate | None) -> Sequence[int]:
        """The numbers of the scopes that the principal may enter; the first of all if there are none."""
        every = range(len(self.engines))
        return [each for each in every if gate is None or gate.enters(self.scopes[each])] or every[:1]

    async def _search(self, question: Question, reader: Reader) -> SearchResult:
        return with_scopes(await super()._search(question, reader), reader, self.scopes)

    async def _conclude(self, found: SearchResult, question: Question) -> SearchResult:
        return with_own_ids(await super()._conclude(found, question))

    async def _recall(
        self, request: RecallRequest, vector: Vector | None, reader: Reader, stopwatch: Stopwatch
    ) -> RecallResult:
        return recalled(await super()._recall(request, vector, reader, stopwatch), reader, self.scopes)

    async def _rank(
        self, request: RankRequest, meaning: Understanding | None, parts: Parts, reader: Reader
    ) -> RankResult:
        return ranked(await super()._rank(request, meaning, parts, reader), reader)


def _joint(readers: Mapping[int, Reader]) -> Reader:
    """One reader of some scopes by number; that of a single scope itself."""
    if len(readers) == 1:
        return next(iter(readers.values()))
    return JointReader(
        [
            ScopePart(reader, number=number, place=place, of=len(readers))
            for place, (number, reader) in enumerate(readers.items())
        ]
    )


def with_scopes(found: SearchResult, reader: Reader, scopes: Sequence[Scope]) -> SearchResult:
    """A result with the scopes that were searched, whose triplets have theirs; ``scopes`` are those of the engine."""
    own = reader.owners(ElementKind.RELATION, [each.relation.id for each in found.triplets])
    triplets = (
        attrs.evolve(
            each,
            relation=_as_walked(each),
            origins={scope: _evidence_in(scope, each.relation, reader, scopes) for scope in ids},
            own_ids={scope: id_ for scope, id_ in ids.items() if id_ != each.relation.id},
        )
        for each, ids in zip(found.triplets, own, strict=True)
    )
    return attrs.evolve(found, triplets=tuple(triplets), scopes=reader.scopes)


def _evidence_in(scope: Scope, relation: Relation, reader: Reader, scopes: Sequence[Scope]) -> tuple[str, ...]:
    """The evidence that a relation has in one of its scopes."""
    if len(reader.scopes) == 1:
        return relation.evidence
    return tuple(own_id(each) for each in relation.evidence if scopes[number_of(each)] == scope)


def _as_walked(triplet: Triplet) -> Relation:
    """The relation between the ends of its triplet: where one scope merged an end, another scope has another one."""
    relation, ends = triplet.relation, (triplet.source.id, triplet.target.id)
    if (relation.source_id, relation.target_id) == ends:
        return relation
    return attrs.evolve(relation, source_id=ends[0], target_id=ends[1])


def with_own_ids(found: SearchResult) -> SearchResult:
    """A result in which memories are cited by their own ids; that of a single scope cites them so already."""
    if len(found.scopes) == 1:
        return found
    return attrs.evolve(
        found,
        triplets=_own(found.triplets),
        connections=_own(found.connections),
        summary=_own(found.summary),
    )


def recalled(found: RecallResult, reader: Reader, scopes: Sequence[Scope]) -> RecallResult:
    """A result whose memories have their scopes and their own ids; ``scopes`` are those of the engine, by number."""
    memories = [attrs.evolve(each, scopes=reader.scopes) for each in found.memories]
    if len(reader.scopes) > 1:
        memories = [
            attrs.evolve(
                each, memory=own_memory(each.memory), path=_own(each.path), scopes=(scopes[number_of(each.memory.id)],)
            )
            for each in memories
        ]
    return attrs.evolve(found, memories=tuple(memories), scopes=reader.scopes)


def ranked(found: RankResult, reader: Reader) -> RankResult:
    """A result with the scopes that were searched, whose entities have theirs."""
    own = reader.owners(ElementKind.ENTITY, [each.entity.id for each in found.entities])
    entities = (attrs.evolve(each, scopes=tuple(ids)) for each, ids in zip(found.entities, own, strict=True))
    return attrs.evolve(found, entities=tuple(entities), scopes=reader.scopes)


_CITING: Final[Mapping[type, tuple[str, ...]]] = {
    Triplet: ("relation",),
    Connection: ("paths",),
    GraphPath: ("relations",),
    Summary: ("sources", "sentences"),
    Sentence: ("sources",),
    Source: ("element",),
}
"""The fields of parts of a result in which memories are cited."""


def _own(part: Any) -> Any:
    """A part of a result, in which memories are cited by their own ids."""
    if isinstance(part, Relation):
        return own_relation(part)
    if isinstance(part, ElementRef):
        return ElementRef(part.kind, own_id(part.id)) if part.kind is ElementKind.MEMORY else part
    if isinstance(part, tuple):
        return tuple(map(_own, part))
    if isinstance(part, Mapping):
        return {key: _own(value) for key, value in part.items()}
    return part and attrs.evolve(part, **{name: _own(getattr(part, name)) for name in _CITING[type(part)]})
