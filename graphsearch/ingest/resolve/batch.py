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
from graphsearch.ingest.resolve.name_stages import PERSON, Context, Match, decide, is_exact, open_name
from graphsearch.ingest.resolve.resolution import NameStore, ResolutionOptions, Stage
from graphsearch.model import Entity
from graphsearch.model.identity import ids_of, normalise_name
from graphsearch.names.candidate_index import CandidateIndex
from graphsearch.names.typed_names import TypedName, known_type, lookups, shared_type
from graphsearch.text.trigrams import name_words

Item = TypeVar("Item")
Answer = TypeVar("Answer")


async def gather(names: NameStore, batch: Sequence[TypedName], options: ResolutionOptions) -> CandidateIndex:
    """The candidates that the stages up to trigrams need. Names found exactly are not looked up in other ways."""
    known = CandidateIndex(similarity=options.trigram, key=await names.id_key())

    def exactly(named: TypedName) -> tuple[Sequence[str], Sequence[UUID]]:
        shown = named.form.shown
        return [named.name, *(form.shown for form in named.forms)], ids_of(
            named.type or options.untyped, shown, known.key
        )

    spelt = await in_slices(steps(exactly, batch))
    exact = await names.find_names(_once(name for spellings, _ in spelt for name in spellings))
    await fetch(names, known, [*(match.entity_id for match in exact), *(id_ for _, ids in spelt for id_ in ids)])
    context = Context(known=known, options=options)
    found = await in_slices(steps(lambda named: is_exact(named, context), batch))
    if left := [named for named, known_so in zip(batch, found, strict=True) if not known_so]:
        await fetch(names, known, await _alike(names, left, options))
    return known


def steps(work: Callable[[Item], Answer], items: Iterable[Item]) -> Generator[None, None, list[Answer]]:
    """What some work makes of each item, a step each."""
    found = []
    for item in items:
        found.append(work(item))
        yield
    return found


async def _alike(names: NameStore, batch: Sequence[TypedName], options: ResolutionOptions) -> list[UUID]:
    """The entities with a name that shares a word with one of a batch, or its letters."""
    requests = await in_slices(steps(lookups, batch))
    found = list(await names.find_name_words(_once(word for words, _ in requests for word in words)))
    if prefixes := _once(prefix for _, some in requests for prefix in some):
        found += await names.find_name_words(prefixes, prefix=True)
    shown = _once(named.form.shown for named in batch)
    similar = await names.similar_names(shown, threshold=options.trigram, limit=options.candidates)
    return [each.entity_id for each in found] + [each.entity_id for some in similar.values() for each in some]


async def fetch(names: NameStore, known: CandidateIndex, ids: Iterable[UUID]) -> None:
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
            known.note_merged(entity.id, known[target])
            for name in (entity.name, *entity.aliases):
                known.add_name(known[target], name)


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

    decisions: Mapping[TypedName, Decision]
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
        return self.judged({id_: Judgement(match=match) for id_, match in found.items()}, by_model=False)

    def judged(self, judgements: Mapping[UUID, Judgement], *, by_model: bool = True) -> BatchDecisions:
        """The decisions after some new entities were judged, by a language model or by vectors."""

        def after(decision: Decision) -> Decision:
            match, judgement = decision.match, judgements.get(decision.match.entity_id)
            if judgement and judgement.match and match.stage is Stage.CREATE:
                match = judgement.match
            elif judgement and judgement.match:
                match = attrs.evolve(match, entity_id=judgement.match.entity_id)
            target = judgements.get(match.entity_id)
            pending = decision.pending or bool(target and target.pending)  # also if its match is itself pending
            if judgement is None or not by_model:
                return attrs.evolve(decision, match=match)
            return attrs.evolve(
                decision, match=match, fault=judgement.fault, judged=not judgement.pending, pending=pending
            )

        return attrs.evolve(self, decisions={named: after(decision) for named, decision in self.decisions.items()})


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
        is_short = normalise_name(named.name) in short
        count = often[min(form.keys)]
        return is_short, named.untyped, -form.rank, -count, -len(form.shown), form.shown, named.name, named.type

    ordered = sorted(batch, key=most_informative_first)
    decisions = yield from steps(lambda named: _decision(named, context), ordered)
    return BatchDecisions(decisions=dict(zip(ordered, decisions, strict=True)), known=known, options=options)


def _decision(named: TypedName, context: Context) -> Decision:
    known = context.known
    namesakes = (each.entity for each in known.by_spelling(named.name))
    conflict = next((each for each in namesakes if shared_type(named.type, known_type(each.type)) is None), None)
    match, people = decide(named, context)
    if match is None:
        type_, name = named.type or context.options.untyped, named.form.shown
        _, minted = ids_of(type_, name, known.key)
        if minted in known:  # it is somebody's who has the name
            _, minted = ids_of(named.type or PERSON, open_name(named), known.key)
        known.add(Entity(id=minted, type=type_, name=name))
        match = Match(entity_id=minted, stage=Stage.CREATE, score=0.0)
    candidate = known[match.entity_id]
    seen = candidate.id in ids_of(candidate.entity.type, named.name, known.key) or known.is_spelt(candidate, named.name)
    known.add_name(candidate, named.name)
    if not named.untyped and not known_type(candidate.entity.type):
        candidate.entity = attrs.evolve(candidate.entity, type=named.type)  # its id stays the same
    unseen = match.stage is Stage.CREATE or not seen
    candidates = tuple(sorted(each.id for each in people))
    return Decision(match=match, conflict=conflict, unseen=unseen, candidates=candidates)
