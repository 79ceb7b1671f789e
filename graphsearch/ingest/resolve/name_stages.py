"""The stages that need names alone, cheap to dear: each a function from a name to the entity it means, or None."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final
from uuid import UUID

import attrs

from graphsearch.ingest.resolve.resolution import ResolutionOptions, Stage
from graphsearch.model.identity import entity_id, normalise_name
from graphsearch.names.candidate_index import CandidateIndex
from graphsearch.names.forms import Form, squashed
from graphsearch.names.typed_names import COINED_NAME_TYPES, TypedName, known_type, read, shared_type
from graphsearch.text.trigrams import similarity

PART_SCORE: Final = 0.9
"""How sure a part of a name is that fits one entity only."""
LONG_WORD: Final = 9
"""Letters of a word that is alone and may be anything's, from which on a slip in it makes no other word."""
FEWEST_INITIALS: Final = 3
FEWEST_INITIALS_UNTYPED: Final = 4
"""Initials that tell a name where the type of one of two is not told, and where neither is."""


@attrs.frozen(kw_only=True)
class Match:
    """The entity that a name means, by a stage, and how sure that is, in [0, 1]."""

    entity_id: UUID
    stage: Stage
    score: float


@attrs.frozen(kw_only=True)
class Context:
    """What stages look at: the known names, the options, and of the batch its names by word and what it declares.

    ``short`` is what short names are declared to be short for, by their normal form.
    """

    known: CandidateIndex
    options: ResolutionOptions
    batch: Mapping[str, Sequence[TypedName]] = attrs.field(factory=dict)
    declared: AbstractSet[frozenset[str]] = frozenset()
    short: Mapping[str, str] = attrs.field(factory=dict)


NameStage = Callable[[TypedName, Context], Match | None]


def by_id(named: TypedName, context: Context) -> Match | None:
    """The same type and normalised name: as the entity is called now, or as it was when its id was minted.

    An id that says so holds even if the entity was given another type since: somebody knew better than the text.
    """
    known = context.known
    minted = entity_id(named.type or context.options.untyped, named.form.shown)
    same = [each for each, kind in _same(named, context) if _own_name(named, known, each, kind)]
    if minted in known.entities and (not same or minted in same):
        return Match(entity_id=minted, stage=Stage.ID, score=1.0)
    return _only(sorted(_preferred(named, same, known))[:1], Stage.ID, 1.0)


def by_alias(named: TypedName, context: Context) -> Match | None:
    """The normal form of an alias that only one entity has."""
    same = [each for each, _ in _same(named, context)]
    return _only(_preferred(named, same, context.known), Stage.ALIAS, 1.0)


def by_declaration(named: TypedName, context: Context) -> Match | None:
    """The entity of the name that this is declared to be short for: "Dilly" where somebody wrote "call me Dilly"."""
    full = context.short.get(normalise_name(named.name))
    return None if full is None else by_alias(TypedName(full, named.type), context)


def by_name_part(named: TypedName, context: Context) -> Match | None:
    """A given name, surname, handle, nickname, initials, the end of a path …, if it fits one entity only.

    Entities of which no more is known than this name tells count only if there are no others; nor do those whose
    name leaves out a word of it: "J. P. Dubois" is Jean-Pierre rather than Jeanne.
    """
    known = context.known
    others = _others(named, known.by_word(named), context)
    fitting: dict[UUID, bool] = {}
    covering: list[UUID] = []
    for each, kind in others:
        form = read(named.name, kind)
        fits = [name for name in known.names(each) if _fits(named, known.named(each, name), kind, context)]
        if not fits or known.conflicts_with(named, each, kind):
            continue
        if not known.fits_all(named.name, each, kind, context.declared):
            continue
        if _rivalled(named, each, fits, kind, others, context):
            continue
        forms = [read(name, kind) for name in fits]
        fitting[each] = any(name.rank > form.rank for name in forms)
        if fitting[each] and any(len(name.words) >= len(form.words) for name in forms):
            covering.append(each)
    whole = [each for each, more in fitting.items() if more]
    return _only(covering or whole or [*fitting], Stage.NAME_PART, PART_SCORE)


def by_trigram(named: TypedName, context: Context) -> Match | None:
    """The most similar name, if it is similar enough; or one that is a slip of the fingers away from one entity only.

    Similarity is of trigrams, as in Postgres. A swapped pair of letters costs a short name half of its trigrams, so
    that slips are told by themselves: their score is what similarity is left.
    """
    known = context.known
    similar: dict[UUID, float] = {}
    slipped: dict[UUID, float] = {}
    found = dict.fromkeys((*known.similar(named), *known.by_word(named)))
    for each, kind in _others(named, found, context):
        form = read(named.name, kind)
        for name in _forms(known, each, kind):
            if len(name.words) != len(form.words):
                continue
            misspelt = form.misspells(name) and _slip_tells(form, name, kind)
            if misspelt or form.resembles(name):
                score = similarity(form.shown, name.shown)
                if misspelt:
                    slipped[each] = max(score, slipped.get(each, 0.0))
                if score >= context.options.trigram:
                    similar[each] = max(score, similar.get(each, 0.0))
    ranked = sorted(
        (each for each, kind in known.comparable(named, similar) if not known.conflicts_with(named, each, kind)),
        key=lambda each: (-similar[each], each),
    )
    if ranked:
        return Match(entity_id=ranked[0], stage=Stage.TRIGRAM, score=similar[ranked[0]])
    agreed = [each for each, kind in known.comparable(named, slipped) if not known.conflicts_with(named, each, kind)]
    return _only(agreed, Stage.TRIGRAM, slipped[agreed[0]] if agreed else 0.0)


NAME_STAGES: Final[Sequence[NameStage]] = (by_id, by_alias, by_declaration, by_name_part, by_trigram)


def decide(named: TypedName, context: Context, stages: Iterable[NameStage] = NAME_STAGES) -> Match | None:
    """What the first stage that knows says."""
    return next((match for stage in stages if (match := stage(named, context))), None)


def _only(found: Sequence[UUID], stage: Stage, score: float) -> Match | None:
    return Match(entity_id=found[0], stage=stage, score=score) if len(found) == 1 else None


def _forms(known: CandidateIndex, each: UUID, kind: str) -> Iterable[Form]:
    return (read(name, kind) for name in known.names(each))


def _others(named: TypedName, found: Iterable[UUID], context: Context) -> list[tuple[UUID, str]]:
    """Those found that do not have the very name: if that had told which entity is meant, it would be decided."""
    same = dict(_same(named, context))
    return [(each, kind) for each, kind in context.known.comparable(named, found) if each not in same]


def _same(named: TypedName, context: Context) -> list[tuple[UUID, str]]:
    """Entities that have the name, or one of the same normal form."""
    known = context.known
    return [
        (each, kind)
        for each, kind in known.comparable(named, known.by_key(named))
        if any(read(named.name, kind).same(name) for name in _forms(known, each, kind))
    ]


def _slip_tells(form: Form, other: Form, kind: str) -> bool:
    """Whether a slip of the fingers is likelier than another name: not in one word of any kind ("Turin", "Turpin")."""
    longest = max(len(squashed(each.words)) for each in (form, other))
    return len(form.words) > 1 or kind in COINED_NAME_TYPES or longest >= LONG_WORD


def _own_name(named: TypedName, known: CandidateIndex, each: UUID, kind: str) -> bool:
    return read(named.name, kind).same(read(known.entities[each].name, kind))


def _preferred(named: TypedName, same: Sequence[UUID], known: CandidateIndex) -> Sequence[UUID]:
    """Of entities with one name those of the type asked for, of these those that spell it alike.

    Where the type is not known and theirs differ, the name points at none of them.
    """
    if len(same) < 2:  # noqa: PLR2004 - nothing to choose
        return same
    types = {each: known_type(known.entities[each].type) for each in same}
    if named.untyped and len(set(types.values())) > 1:
        return ()
    typed = [each for each in same if types[each] == named.type] or same
    spelt = set(known.by_spelling(named.name))
    return [each for each in typed if each in spelt] or typed


def _fits(named: TypedName, other: TypedName, kind: str, context: Context) -> bool:
    """Whether one name is a part of the other.

    Any part will do where the types of both are told, or where a text says that one is short for the other. Elsewhere
    it must be a part that few other names could have.
    """
    if frozenset({named.name, other.name}) in context.declared:
        return True
    form, name = read(named.name, kind), read(other.name, kind)
    if named.untyped or other.untyped:
        return form.plainly_fits(name, FEWEST_INITIALS if kind else FEWEST_INITIALS_UNTYPED)
    return form.fits(name)


def _rivalled(
    named: TypedName,
    each: UUID,
    fits: Sequence[str],
    kind: str,
    others: Iterable[tuple[UUID, str]],
    context: Context,
) -> bool:
    """Whether the shorter of two names that fit could be short for another name of the graph or the batch as well.

    With "Priya" known, "Priya Sharma" is she; but not where "Priya Patel" is spoken of too. Of what a part that comes
    later may be short for, the graph is asked by `by_name_part`, and only the batch is left.
    """
    known = context.known
    form = read(named.name, kind)
    forms = [read(name, kind) for name in fits]
    untold = named.untyped or not known_type(known.entities[each].type)
    rivals = [known.named(other, name) for other, _ in others if other != each for name in known.names(other)]
    if all(name.partial for name in forms) and not form.partial:
        parts, whole = [known.named(each, name) for name in fits], [form]
    elif len(form.words) == 1 and (untold or kind != "person"):
        parts, whole = [named], forms
        rivals = rivals if untold else []
    else:
        return False
    rivals += [rival for part in parts for word in part.form.lookups() for rival in context.batch.get(word, ())]
    return any(_is_rival(rival, parts, whole, kind, context, untold=untold) for rival in dict.fromkeys(rivals))


def _is_rival(
    rival: TypedName, parts: Sequence[TypedName], whole: Sequence[Form], kind: str, context: Context, *, untold: bool
) -> bool:
    """Whether a name that is another than the whole ones fits one of the parts.

    Where a type is ``untold`` it is enough that it has the part for a word: that of many names is none of them.
    """
    shared = shared_type(rival.type, kind)
    form = read(rival.name, rival.type if shared is None else shared)
    if form.partial or any(form.same(name) or form.fits(name) or form.misspells(name) for name in whole):
        return False
    if untold and any(set(part.form.words) <= set(form.words) for part in parts):
        return True
    return shared is not None and any(_fits(rival, part, shared, context) for part in parts)
