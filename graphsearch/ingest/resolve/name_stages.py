"""The stages that need names alone, from cheap to expensive: functions from a name to its entity, or None."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import islice
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
"""The score of a part of a name that fits one entity only."""
LONG_WORD: Final = 9
"""Least letters of a single word of any type in which a typo is unlikely to make another word."""
FEWEST_INITIALS: Final = 3
FEWEST_INITIALS_UNTYPED: Final = 4
"""Least initials that identify a name if one of the two types is unknown, and if both are."""
MAX_RIVALS: Final = 200
"""Maximum names of the batch with one word that are compared with a part, so that resolving is linear in the names."""


@attrs.frozen(kw_only=True)
class Match:
    """The entity that a name means, the stage that decided, and its score in [0, 1]."""

    entity_id: UUID
    stage: Stage
    score: float


@attrs.frozen(kw_only=True)
class Context:
    """The input of the stages: the known names, the options, the batch's names by word, and its declarations.

    ``declared`` are pairs of names declared to be one another's short form; ``short`` is the full name for each
    declared short name, by its normal form.
    """

    known: CandidateIndex
    options: ResolutionOptions
    batch: Mapping[str, Sequence[TypedName]] = attrs.field(factory=dict)
    declared: AbstractSet[frozenset[str]] = frozenset()
    short: Mapping[str, str] = attrs.field(factory=dict)


def by_id(named: TypedName, context: Context) -> Match | None:
    """The same type and normalised name: those of the entity now, or those that its id was made of.

    The id counts even if the entity has got another type since: somebody knew better than the text.
    """
    known = context.known
    minted = entity_id(named.type or context.options.untyped, named.form.shown)
    same = [each for each, kind in _same(named, context) if _own_name(named, known, each, kind)]
    if minted in known.entities and (not same or minted in same):
        return Match(entity_id=minted, stage=Stage.ID, score=1.0)
    return _only(sorted(_preferred(named, same, known))[:1], Stage.ID, 1.0)


def by_alias(named: TypedName, context: Context) -> Match | None:
    """The same normal form as an alias that only one entity has."""
    same = [each for each, _ in _same(named, context)]
    return _only(_preferred(named, same, context.known), Stage.ALIAS, 1.0)


def by_declaration(named: TypedName, context: Context) -> Match | None:
    """The entity whose full name has this declared short form: "Dilly" after "call me Dilly"."""
    full = context.short.get(normalise_name(named.name))
    return None if full is None else by_alias(TypedName(full, named.type), context)


def by_name_part(named: TypedName, context: Context) -> Match | None:
    """A given name, surname, handle, nickname, initials, the end of a path …, if it fits one entity only.

    Entities whose names add nothing to this one count only if there are no others, and so do those whose names leave
    out a word of it: "J. P. Dubois" is Jean-Pierre rather than Jeanne.
    """
    known = context.known
    others = _without_namesakes(named, known.by_word(named), context)
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
    """The most similar name above the threshold, or a name one typo away from one entity only.

    Similarity is of trigrams, as in Postgres. A swapped pair of letters costs a short name half of its trigrams, so
    typos are detected separately, with their similarity as the score.
    """
    known = context.known
    similar: dict[UUID, float] = {}
    misspelt_scores: dict[UUID, float] = {}
    found = dict.fromkeys((*known.similar(named), *known.by_word(named)))
    for each, kind in _without_namesakes(named, found, context):
        form = read(named.name, kind)
        for name in _forms(known, each, kind):
            if len(name.words) != len(form.words):
                continue
            misspelt = form.misspells(name) and _is_likely_typo(form, name, kind)
            if misspelt or form.resembles(name):
                score = similarity(form.shown, name.shown)
                if misspelt:
                    misspelt_scores[each] = max(score, misspelt_scores.get(each, 0.0))
                if score >= context.options.trigram:
                    similar[each] = max(score, similar.get(each, 0.0))
    ranked = sorted(
        (each for each, kind in known.comparable(named, similar) if not known.conflicts_with(named, each, kind)),
        key=lambda each: (-similar[each], each),
    )
    if ranked:
        return Match(entity_id=ranked[0], stage=Stage.TRIGRAM, score=similar[ranked[0]])
    agreed = [
        each for each, kind in known.comparable(named, misspelt_scores) if not known.conflicts_with(named, each, kind)
    ]
    return _only(agreed, Stage.TRIGRAM, misspelt_scores[agreed[0]] if agreed else 0.0)


_STAGES: Final = (by_id, by_alias, by_declaration, by_name_part, by_trigram)


def decide(named: TypedName, context: Context) -> Match | None:
    """The match of the first stage that has one."""
    return next((match for stage in _STAGES if (match := stage(named, context))), None)


def _only(found: Sequence[UUID], stage: Stage, score: float) -> Match | None:
    return Match(entity_id=found[0], stage=stage, score=score) if len(found) == 1 else None


def _forms(known: CandidateIndex, each: UUID, kind: str) -> Iterable[Form]:
    return (read(name, kind) for name in known.names(each))


def _without_namesakes(named: TypedName, found: Iterable[UUID], context: Context) -> list[tuple[UUID, str]]:
    """The found entities without those of the same name, which an earlier stage has found to be ambiguous."""
    same = dict(_same(named, context))
    return [(each, kind) for each, kind in context.known.comparable(named, found) if each not in same]


def _same(named: TypedName, context: Context) -> list[tuple[UUID, str]]:
    """Entities with the name, or with one of the same normal form."""
    known = context.known
    return [
        (each, kind)
        for each, kind in known.comparable(named, known.by_key(named))
        if any(read(named.name, kind).same(read(name, kind)) for name in known.namesakes(each, named))
    ]


def _is_likely_typo(form: Form, other: Form, kind: str) -> bool:
    """Whether a typo is likelier than another name: not in a single word of any type ("Turin", "Turpin")."""
    longest = max(len(squashed(each.words)) for each in (form, other))
    return len(form.words) > 1 or kind in COINED_NAME_TYPES or longest >= LONG_WORD


def _own_name(named: TypedName, known: CandidateIndex, each: UUID, kind: str) -> bool:
    return read(named.name, kind).same(read(known.entities[each].name, kind))


def _preferred(named: TypedName, same: Sequence[UUID], known: CandidateIndex) -> Sequence[UUID]:
    """Of entities with one name those of the requested type, and of these those with the same spelling.

    If the type is unknown and theirs differ, the name is ambiguous and none of them is returned.
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

    Any part counts if both types are known, or if a text declares one to be short for the other. Otherwise it must be a
    part that few other names could have.
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
    """Whether the shorter of two fitting names could also be short for another name of the graph or the batch.

    A known "Priya" is "Priya Sharma", but not if "Priya Patel" is mentioned too. For a part that comes after its whole
    name, `by_name_part` has compared the entities of the graph, so that only the batch remains.
    """
    known = context.known
    form = read(named.name, kind)
    forms = [read(name, kind) for name in fits]
    type_unknown = named.untyped or not known_type(known.entities[each].type)
    rivals = [known.named(other, name) for other, _ in others if other != each for name in known.names(other)]
    if all(name.partial for name in forms) and not form.partial:
        parts, whole = [known.named(each, name) for name in fits], [form]
    elif len(form.words) == 1 and (type_unknown or kind != "person"):
        parts, whole = [named], forms
        rivals = rivals if type_unknown else []
    else:
        return False
    rivals += [
        rival
        for part in parts
        for word in part.form.lookups()
        for rival in islice(context.batch.get(word, ()), MAX_RIVALS)
    ]
    return any(
        _is_rival(rival, parts, whole, kind, context, type_unknown=type_unknown) for rival in dict.fromkeys(rivals)
    )


def _is_rival(
    rival: TypedName,
    parts: Sequence[TypedName],
    whole: Sequence[Form],
    kind: str,
    context: Context,
    *,
    type_unknown: bool,
) -> bool:
    """Whether a name other than the whole ones fits one of the parts.

    If ``type_unknown``, it is enough that it contains the words of the part.
    """
    shared = shared_type(rival.type, kind)
    form = read(rival.name, rival.type if shared is None else shared)
    if form.partial or any(form.same(name) or form.fits(name) or form.misspells(name) for name in whole):
        return False
    if type_unknown and any(set(part.form.words) <= set(form.words) for part in parts):
        return True
    return shared is not None and any(_fits(rival, part, shared, context) for part in parts)
