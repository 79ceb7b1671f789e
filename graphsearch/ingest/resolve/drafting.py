"""Decides for a batch of names what needs names alone, and makes the entities that are new: pure, no I/O."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from types import MappingProxyType
from typing import Any
from uuid import UUID

import attrs

from graphsearch.ingest.resolve.name_stages import Context, Match, decide
from graphsearch.ingest.resolve.resolution import ResolutionOptions, Stage
from graphsearch.model import Entity
from graphsearch.model.identity import entity_id, normalise_name
from graphsearch.names.candidate_index import CandidateIndex
from graphsearch.names.typed_names import TypedName, known_type, shared_type
from graphsearch.text.trigrams import name_words


@attrs.frozen(kw_only=True)
class Decision:
    """What a name of the batch means, and what is to be said of it; fields as in `Resolution`."""

    match: Match
    conflict: Entity | None
    unseen: bool
    fault: str = ""
    asked: bool = False
    pending: bool = False


@attrs.frozen(kw_only=True)
class Judgement:
    """What came of asking about a new entity: what it turns out to be, if anything. Fields as in `Resolution`."""

    match: Match | None = None
    fault: str = ""
    pending: bool = False


@attrs.frozen(kw_only=True)
class Draft:
    """The decisions of a batch so far; what later stages find is a change of it."""

    decisions: dict[TypedName, Decision]
    known: CandidateIndex
    options: ResolutionOptions

    @property
    def created(self) -> list[tuple[TypedName, Entity]]:
        """New entities in the order in which they were made, each with the name that made it."""
        return [
            (named, self.known.entities[decision.match.entity_id])
            for named, decision in self.decisions.items()
            if decision.match.stage is Stage.CREATE
        ]

    def replaced(self, found: Mapping[UUID, Match]) -> Draft:
        """The draft in which some new entities turn out to be others: every name of theirs goes with them."""
        return self._with(lambda decision: _moved(decision, found))

    def judged(self, judgements: Mapping[UUID, Judgement]) -> Draft:
        """The draft after questions about some new entities."""
        found = {id_: each.match for id_, each in judgements.items() if each.match}
        pending = {id_ for id_, each in judgements.items() if each.pending}

        def after(decision: Decision) -> Decision:
            moved = _moved(decision, found)
            judgement = judgements.get(decision.match.entity_id)
            waits = moved.match.entity_id in pending  # also what is said to be another that is still to be told
            if judgement is None:
                return moved
            return attrs.evolve(moved, fault=judgement.fault, asked=not judgement.pending, pending=waits)

        return self._with(after)

    def _with(self, change: Callable[[Decision], Decision]) -> Draft:
        return attrs.evolve(self, decisions={named: change(decision) for named, decision in self.decisions.items()})


def draft(
    surfaces: Sequence[TypedName],
    known: CandidateIndex,
    options: ResolutionOptions,
    declared: AbstractSet[frozenset[str]] = frozenset(),
    short: Mapping[str, str] = MappingProxyType({}),
) -> Draft:
    """Decisions for all names of a batch. ``known`` learns its names and its new entities.

    ``declared`` are pairs of names of which a text says that one is short for the other, ``short`` what short names
    are declared to be short for, by their normal form.

    Names of known type go first, of these the ones that tell most, and of these the ones written most often (a slip
    of the fingers is rare), so that what a name means does not depend on where in the batch it stands.
    """
    batch = dict.fromkeys(surfaces)
    often = Counter(min(named.form.keys) for named in surfaces)
    by_word: defaultdict[str, list[TypedName]] = defaultdict(list)
    for named in batch:
        for word in name_words(named.name):
            by_word[word].append(named)
    context = Context(known=known, options=options, batch=by_word, declared=declared, short=short)

    def most_telling(named: TypedName) -> tuple[Any, ...]:
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

    decisions = {named: _decision(named, context) for named in sorted(batch, key=most_telling)}
    return Draft(decisions=decisions, known=known, options=options)


def _decision(named: TypedName, context: Context) -> Decision:
    known = context.known
    namesakes = (known.entities[each] for each in known.by_spelling(named.name))
    conflict = next((entity for entity in namesakes if _conflicts(named, entity)), None)
    match = decide(named, context)
    if match is None:
        entity = Entity(type=named.type or context.options.untyped, name=named.form.shown)
        unseen = True
        known.add(entity)
        match = Match(entity_id=entity.id, stage=Stage.CREATE, score=0.0)
    else:
        unseen = not _seen(named, match.entity_id, known)
    known.add_name(match.entity_id, named.name)
    if not named.untyped and not known_type(known.entities[match.entity_id].type):
        known.retype(match.entity_id, named.type)
    return Decision(match=match, conflict=conflict, unseen=unseen)


def _conflicts(named: TypedName, entity: Entity) -> bool:
    return shared_type(named.type, known_type(entity.type)) is None


def _seen(named: TypedName, each: UUID, known: CandidateIndex) -> bool:
    """Whether an entity would have been found by its exact id, or would have been made so before."""
    exact = entity_id(known.entities[each].type, named.name) == each
    return exact or normalise_name(named.name) in {normalise_name(name) for name in known.names(each)}


def _moved(decision: Decision, found: Mapping[UUID, Match]) -> Decision:
    match = decision.match
    other = found.get(match.entity_id)
    if other is None:
        return decision
    created = match.stage is Stage.CREATE
    return attrs.evolve(decision, match=other if created else attrs.evolve(match, entity_id=other.entity_id))
