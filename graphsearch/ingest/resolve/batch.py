"""A batch of names: its candidates, fetched from the store in one round trip per lookup, and the decisions about it.

The stages that need names alone decide first; the rest are new entities, until a later stage decides otherwise.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, TypeVar
from uuid import UUID

import attrs

from graphsearch._support.concurrency import in_slices
from graphsearch.ingest.resolve.name_stages import (
    PERSON,
    Context,
    Match,
    decide,
    is_exact,
    open_name,
)
from graphsearch.ingest.resolve.resolution import NameStore, ResolutionOptions, Stage
from graphsearch.model import Entity
from graphsearch.model.identity import ids_of, normalise_name
from graphsearch.names.candidate_index import Candidate, CandidateIndex
from graphsearch.names.typed_names import TypedName, known_type, lookups, shared_type
from graphsearch.text.trigrams import name_words

Item = TypeVar("Item")


async def gather(names: NameStore, batch: Sequence[TypedName], options: ResolutionOptions) -> CandidateIndex:
    """The candidates that the stages up to trigrams need. Names found exactly are not looked up in other ways."""
    known = CandidateIndex(similarity=options.trigram, key=await names.id_key())
    spellings, minted = await in_slices(_exactly(batch, known, options))
    exact = await names.find_names(spellings)
    await fetch(names, known, [*(match.entity_id for match in exact), *minted])
    left = await in_slices(_unmatched(batch, Context(known=known, options=options)))
    if left:
        await fetch(names, known, await _alike(names, left, options))
    return known


def _exactly(
    batch: Sequence[TypedName], known: CandidateIndex, options: ResolutionOptions
) -> Generator[None, None, tuple[list[str], list[UUID]]]:
    """The spellings of names, and the ids that entities of these names would have; in steps."""
    spellings: dict[str, None] = {}
    minted: list[UUID] = []
    for named in batch:
        spellings.update(dict.fromkeys((named.name, *(form.shown for form in named.forms))))
        minted += ids_of(named.type or options.untyped, named.form.shown, known.key)
        yield
    return list(spellings), minted


def _unmatched(batch: Sequence[TypedName], context: Context) -> Generator[None, None, list[TypedName]]:
    """The names that no entity has exactly, in steps."""
    left: list[TypedName] = []
    for named in batch:
        if not is_exact(named, context):
            left.append(named)
        yield
    return left


async def _alike(names: NameStore, batch: Sequence[TypedName], options: ResolutionOptions) -> list[UUID]:
    requests = await in_slices(_requests(batch))
    words = await names.find_name_words(_once(word for words, _ in requests for word in words))
    prefixes = _once(prefix for _, found in requests for prefix in found)
    started = await names.find_name_words(prefixes, prefix=True) if prefixes else ()
    similar = await names.similar_names(
        _once(named.form.shown for named in batch),
        threshold=options.trigram,
        limit=options.candidates,
    )
    worded = [match.entity_id for match in (*words, *started)]
    return [*worded, *(match.entity_id for matches in similar.values() for match in matches)]


def _requests(
    batch: Sequence[TypedName],
) -> Generator[None, None, list[tuple[tuple[str, ...], tuple[str, ...]]]]:
    """The words and prefixes by which each name is looked up, in steps."""
    found = []
    for named in batch:
        found.append(lookups(named))
        yield
    return found


async def fetch(names: NameStore, known: CandidateIndex, ids: Iterable[UUID]) -> None:
    """Add entities to the known ones; the names of a merged entity are added to the one it was merged into."""
    seen = set(known)
    merged: dict[UUID, Entity] = {}
    wanted = [each for each in _once(ids) if each not in seen]
    while wanted:
        seen.update(wanted)
        merged.update(await in_slices(_added(known, await names.get_entities(wanted))))
        wanted = [each for each in _once(_targets(merged.values())) if each not in seen]
    for entity in merged.values():
        target = _final(entity, merged)
        if target is not None and target in known:
            known.note_merged(entity.id, known[target])
            for name in (entity.name, *entity.aliases):
                known.add_name(known[target], name)


def _added(known: CandidateIndex, entities: Iterable[Entity]) -> Generator[None, None, dict[UUID, Entity]]:
    """Add entities to the known ones, in steps; returns those that are merged into others instead."""
    merged: dict[UUID, Entity] = {}
    for entity in entities:
        if entity.merged_into is None:
            known.add(entity)
        else:
            merged[entity.id] = entity
        yield
    return merged


def _targets(entities: Iterable[Entity]) -> Iterable[UUID]:
    return (entity.merged_into for entity in entities if entity.merged_into is not None)


def _final(entity: Entity, merged: Mapping[UUID, Entity]) -> UUID | None:
    """The entity at the end of a chain of merges; None for a cycle."""
    passed: set[UUID] = set()
    target = entity.merged_into
    while target is not None and target in merged:
        if target in passed:
            return None
        passed.add(target)
        target = merged[target].merged_into
    return target


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
    candidates: tuple[UUID, ...] = ()


@attrs.frozen(kw_only=True)
class Judgement:
    """A language model's answer about a new entity: the known entity that it is, if any; see `Resolution`."""

    match: Match | None = None
    fault: str = ""
    pending: bool = False


@attrs.frozen(kw_only=True)
class BatchDecisions:
    """The decisions about a batch so far; later stages return changed copies."""

    decisions: dict[TypedName, Decision]
    known: CandidateIndex
    options: ResolutionOptions

    @property
    def created(self) -> list[tuple[TypedName, Entity]]:
        """New entities in the order in which they were created, each with the name that it was created for."""
        return [
            (named, self.known[decision.match.entity_id].entity)
            for named, decision in self.decisions.items()
            if decision.match.stage is Stage.CREATE
        ]

    def replaced(self, found: Mapping[UUID, Match]) -> BatchDecisions:
        """The decisions after some new entities turn out to be known ones: all of their names follow."""
        return self._with(lambda decision: _moved(decision, found))

    def judged(self, judgements: Mapping[UUID, Judgement]) -> BatchDecisions:
        """The decisions after a language model was asked about some new entities."""
        found = {id_: each.match for id_, each in judgements.items() if each.match}
        pending = {id_ for id_, each in judgements.items() if each.pending}

        def after(decision: Decision) -> Decision:
            moved = _moved(decision, found)
            judgement = judgements.get(decision.match.entity_id)
            waits = moved.match.entity_id in pending  # also if its match is itself pending
            if judgement is None:
                return moved
            return attrs.evolve(moved, fault=judgement.fault, judged=not judgement.pending, pending=waits)

        return self._with(after)

    def _with(self, change: Callable[[Decision], Decision]) -> BatchDecisions:
        return attrs.evolve(self, decisions={named: change(decision) for named, decision in self.decisions.items()})


def decide_batch(
    surfaces: Sequence[TypedName],
    known: CandidateIndex,
    options: ResolutionOptions,
    declared: AbstractSet[frozenset[str]],
    short: Mapping[str, str],
) -> Generator[None, None, BatchDecisions]:
    """Decisions about all names of a batch, each a step. The names and the new entities are added to ``known``.

    ``declared`` are pairs of names that a text declares to be one another's short form, ``short`` the full name for
    each declared short name, by its normal form.

    Names of known type are decided first, then the most informative, then the most frequent (typos are rare), so that
    the result does not depend on the order of the batch.
    """
    batch = dict.fromkeys(surfaces)
    often = Counter(min(named.form.keys) for named in surfaces)
    by_word: defaultdict[str, list[TypedName]] = defaultdict(list)
    for named in batch:
        for word in name_words(named.name):
            by_word[word].append(named)
    context = Context(known=known, options=options, batch=by_word, declared=declared, short=short)

    def most_informative_first(named: TypedName) -> tuple[Any, ...]:
        form = named.form
        return (
            normalise_name(named.name) in short,
            named.untyped,
            -form.rank,
            -often[min(form.keys)],
            -len(form.shown),
            form.shown,
            named.name,
            named.type,
        )

    decisions: dict[TypedName, Decision] = {}
    for named in sorted(batch, key=most_informative_first):
        decisions[named] = _decision(named, context)
        yield
    return BatchDecisions(decisions=decisions, known=known, options=options)


def _decision(named: TypedName, context: Context) -> Decision:
    known = context.known
    namesakes = (each.entity for each in known.by_spelling(named.name))
    conflict = next((entity for entity in namesakes if _conflicts(named, entity)), None)
    match, people = decide(named, context)
    if match is None:
        type_, name = named.type or context.options.untyped, named.form.shown
        _, minted = ids_of(type_, name, known.key)
        if minted in known:  # it is somebody's who has the name
            _, minted = ids_of(named.type or PERSON, open_name(named), known.key)
        entity = Entity(id=minted, type=type_, name=name)
        unseen = True
        known.add(entity)
        match = Match(entity_id=entity.id, stage=Stage.CREATE, score=0.0)
        candidate = known[entity.id]
    else:
        candidate = known[match.entity_id]
        unseen = not _seen(named, candidate, known)
    known.add_name(candidate, named.name)
    if not named.untyped and not known_type(candidate.entity.type):
        candidate.entity = attrs.evolve(candidate.entity, type=named.type)  # its id stays the same
    candidates = tuple(sorted(each.id for each in people))
    return Decision(match=match, conflict=conflict, unseen=unseen, candidates=candidates)


def _conflicts(named: TypedName, entity: Entity) -> bool:
    return shared_type(named.type, known_type(entity.type)) is None


def _seen(named: TypedName, candidate: Candidate, known: CandidateIndex) -> bool:
    """Whether exact ids alone would have found the entity, or its name was used for it before."""
    return candidate.id in ids_of(candidate.entity.type, named.name, known.key) or known.is_spelt(candidate, named.name)


def _moved(decision: Decision, found: Mapping[UUID, Match]) -> Decision:
    match = decision.match
    other = found.get(match.entity_id)
    if other is None:
        return decision
    created = match.stage is Stage.CREATE
    return attrs.evolve(decision, match=other if created else attrs.evolve(match, entity_id=other.entity_id))
