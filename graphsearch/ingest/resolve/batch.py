"""A batch of names: its candidates, fetched from the store in one round trip per lookup, and the decisions about it.

The stages that need names alone decide first; the rest are new entities, until a later stage decides otherwise.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from typing import Any, TypeVar
from uuid import UUID

import attrs

from graphsearch._support.concurrency import in_slices
from graphsearch.ingest.resolve.deciding import Context, Match, decide, open_name
from graphsearch.ingest.resolve.resolution import UNTYPED, Stage
from graphsearch.model import Entity
from graphsearch.model.identity import ids_of, normalise_name
from graphsearch.names.candidate_index import CandidateIndex, comparable
from graphsearch.names.typed_names import TypedName, known_type, lookups
from graphsearch.stores.graph import GraphStore
from graphsearch.text.trigrams import name_words

Item = TypeVar("Item")
Answer = TypeVar("Answer")


async def gather(names: GraphStore, batch: Sequence[TypedName]) -> CandidateIndex:
    """The candidates of some names. Those found exactly are not looked up by words, unless they may be parts."""
    known = CandidateIndex(key=await names.id_key())

    def exactly(named: TypedName) -> Sequence[UUID]:
        return ids_of(named.type or UNTYPED, named.form.shown, known.key)

    minted = await in_slices(steps(exactly, batch))
    exact = await names.find_names(_once(name for named in batch for name in (named.name, named.form.shown)))
    await fetch(names, known, [*(match.entity_id for match in exact), *(id_ for some in minted for id_ in some)])
    left = [
        named
        for named in batch
        if (named.type in ("", "person", "file") and len(named.form.words) == 1)
        or not any(comparable(named, known.spelt(each)) for each in (named.name, named.form.shown))
    ]
    requests = await in_slices(steps(lookups, left))
    prefixes = _once(prefix for _, some in requests for prefix in some)
    found = [
        match
        for words, prefix in ((_once(word for some, _ in requests for word in some), False), (prefixes, True))
        if words
        for match in await names.find_name_words(words, prefix=prefix)
    ]
    await fetch(names, known, [match.entity_id for match in found])
    return known


def steps(work: Callable[[Item], Answer], items: Iterable[Item]) -> Generator[None, None, list[Answer]]:
    """What some work makes of each item, a step each."""
    found = []
    for item in items:
        found.append(work(item))
        yield
    return found


async def fetch(names: GraphStore, known: CandidateIndex, ids: Iterable[UUID]) -> None:
    """Add entities to the known ones; the names of a merged entity are added to the one it was merged into."""
    merged: dict[UUID, Entity] = {}

    def add(entity: Entity) -> None:
        if entity.merged_into is None:
            known.add(entity)
        else:
            merged[entity.id] = entity

    seen = set(known)
    while wanted := [each for each in _once(ids) if each not in seen]:
        seen.update(wanted)
        await in_slices(steps(add, await names.get_entities(wanted)))
        ids = [each.merged_into for each in merged.values() if each.merged_into is not None]
    for entity in merged.values():
        target = _final(entity, merged)
        if target is not None and target in known:
            known.merge(entity, known[target])


def _final(entity: Entity, merged: Mapping[UUID, Entity]) -> UUID | None:
    """The entity at the end of a chain of merges; None for a cycle."""
    passed: set[UUID] = set()
    target = entity.merged_into
    while target is not None and target in merged and target not in passed:
        passed.add(target)
        target = merged[target].merged_into
    return None if target in passed else target


def _once(items: Iterable[Item]) -> list[Item]:
    return list(dict.fromkeys(items))


# -- decisions --------------------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Decision:
    """The entity that a name of the batch means; fields as in `Resolution`."""

    match: Match
    conflict: Entity | None
    unseen: bool
    fault: str = ""
    judged: bool = False
    pending: bool = False


@attrs.frozen(kw_only=True)
class Judgement:
    """What vectors or a language model say of a new entity: the known entity that it is, if any; see `Resolution`."""

    match: Match | None = None
    fault: str = ""
    judged: bool = False
    pending: bool = False


@attrs.frozen(kw_only=True)
class BatchDecisions:
    """The decisions about a batch so far; later stages return changed copies."""

    decisions: Mapping[TypedName, Decision]
    known: CandidateIndex

    @property
    def created(self) -> list[tuple[TypedName, Entity]]:
        """New entities in the order in which they were created, each with the name that it was created for."""
        return [
            (named, self.known[decision.match.entity_id].entity)
            for named, decision in self.decisions.items()
            if decision.match.stage is Stage.CREATE
        ]

    def judged(self, judgements: Mapping[UUID, Judgement]) -> BatchDecisions:
        """The decisions after some new entities were judged: all of their names follow."""
        after = dict(self.decisions)
        for named, decision in self.decisions.items():
            if judgement := judgements.get(decision.match.entity_id):
                match = judgement.match or decision.match
                if decision.match.stage is not Stage.CREATE:
                    match = attrs.evolve(decision.match, entity_id=match.entity_id)
                target = judgements.get(match.entity_id)
                after[named] = attrs.evolve(
                    decision,
                    match=match,
                    fault=judgement.fault,
                    judged=judgement.judged,
                    pending=judgement.pending or bool(target and target.pending),
                )
        return attrs.evolve(self, decisions=after)


def decide_batch(
    surfaces: Sequence[TypedName], known: CandidateIndex, short: Mapping[str, str]
) -> Generator[None, None, BatchDecisions]:
    """Decisions about all names of a batch, each a step. The names and the new entities are added to ``known``.

    ``short`` is the full name for each declared short name, by its normal form.

    Names of known type are decided first, then the most informative, then the most frequent (typos are rare), so that
    the result does not depend on the order of the batch.
    """
    often = Counter(min(named.form.keys) for named in surfaces)
    by_word: defaultdict[str, list[TypedName]] = defaultdict(list)
    for named in dict.fromkeys(surfaces):
        for word in name_words(named.name):
            by_word[word].append(named)
    context = Context(known=known, batch=by_word, short=short)

    def most_informative_first(named: TypedName) -> tuple[Any, ...]:
        form = named.form
        is_short = normalise_name(named.name) in short
        count = often[min(form.keys)]
        return is_short, not named.type, -form.rank, -count, -len(form.shown), form.shown, named.name, named.type

    ordered = sorted(set(surfaces), key=most_informative_first)
    decisions = yield from steps(lambda named: _decision(named, context), ordered)
    return BatchDecisions(decisions=dict(zip(ordered, decisions, strict=True)), known=known)


def _decision(named: TypedName, context: Context) -> Decision:
    known = context.known
    conflict = next((each.entity for each in known.spelt(named.name) if not comparable(named, [each])), None)
    match = decide(named, context)
    if match is None:
        type_, name = named.type or UNTYPED, named.form.shown
        _, minted = ids_of(type_, name, known.key)
        if minted in known:  # it is somebody's who has the name
            _, minted = ids_of(named.type or "person", open_name(named), known.key)
        known.add(Entity(id=minted, type=type_, name=name))
        match = Match(entity_id=minted, stage=Stage.CREATE, score=0.0)
    candidate = known[match.entity_id]
    seen = known.is_spelt(candidate, named.name) or candidate.id in ids_of(candidate.entity.type, named.name, known.key)
    known.add_name(candidate, named.name)
    if named.type and not known_type(candidate.entity.type):
        candidate.entity = attrs.evolve(candidate.entity, type=named.type)  # its id stays the same
    return Decision(match=match, conflict=conflict, unseen=match.stage is Stage.CREATE or not seen)
