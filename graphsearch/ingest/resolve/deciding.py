"""Which known entity a name means, by names alone: one pass over the candidates, then the cheapest evidence wins."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Final
from uuid import UUID

import attrs

from graphsearch.ingest.resolve.resolution import UNTYPED, Stage
from graphsearch.model.identity import ids_of, normalise_name
from graphsearch.names.candidate_index import Candidate, CandidateIndex
from graphsearch.names.comparing import ALIKE, Evidence, compare, goes_with, is_part
from graphsearch.names.forms import Form
from graphsearch.names.typed_names import TypedName, form_lookups, known_type, read, shared_type
from graphsearch.text.trigrams import similarity

PART_SCORE: Final = 0.9
"""The score of a part of a name that fits one entity only."""
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
    """What names are decided by: the known names, the names of the batch by word, and its declarations.

    ``short`` is the full name for each declared short name, by its normal form.
    """

    known: CandidateIndex
    batch: Mapping[str, Sequence[TypedName]]
    short: Mapping[str, str]


@attrs.frozen
class Fit:
    """A candidate, the type by which its names are compared with a name, and those of them that are like it."""

    candidate: Candidate
    kind: str
    names: Sequence[Form]


Fits = Mapping[Evidence, list[Fit]]
"""The candidates by the strongest evidence that a name is theirs."""


def decide(named: TypedName, context: Context) -> Match | None:
    """The entity that a name means, if it is known.

    A part of the names of several people is a name of its own entity alone: that one of them was called so before is no
    evidence.
    """
    found = _fits(named, context.known)
    same = found[Evidence.SAME]
    if exact := by_id(named, same, context) or by_alias(named, same, context.known):
        return _open(named, same, context.known) if _means_several(named, exact, found, context.known) else exact
    declared = by_declaration(named, context)
    return declared or by_part(named, found, context) or by_trigram(named, found[Evidence.ALIKE])


def _fits(named: TypedName, known: CandidateIndex) -> Fits:
    """Compare a name with those of every candidate that may have it."""
    found: defaultdict[Evidence, list[Fit]] = defaultdict(list)
    typed, parsed = bool(named.type), dict[str, Form]()
    for each, kind in known.find(named):
        form = parsed.get(kind) or parsed.setdefault(kind, read(named.name, kind))
        plainly, forms = not (typed and known_type(each.entity.type)), each.forms(kind)
        fits = [compare(form, name, plainly=plainly) for name in forms]
        most = max(fits)
        if len(each.names) > len(forms) and known.is_spelt(each, named.name):
            most = Evidence.SAME
        like = [name for name, evidence in zip(forms, fits, strict=True) if evidence is most] if most else ()
        found[most].append(Fit(each, kind, like))
    return found


def by_id(named: TypedName, same: Sequence[Fit], context: Context) -> Match | None:
    """The same type and normalised name: those of the entity now, or those that its id was made of.

    The id counts even if the entity has got another type since: somebody knew better than the text.
    """
    known = context.known
    primary = [each for each in same if each.candidate.forms(each.kind)[0] in each.names]
    for minted in ids_of(named.type or UNTYPED, named.form.shown, known.key):
        if minted in known and (not primary or any(each.candidate is known[minted] for each in primary)):
            return Match(entity_id=minted, stage=Stage.ID, score=1.0)
    return _only(sorted(_preferred(named, primary, known), key=_ID)[:1], Stage.ID, 1.0)


def by_alias(named: TypedName, same: Sequence[Fit], known: CandidateIndex) -> Match | None:
    """The same normal form as an alias that only one entity has."""
    return _only(_preferred(named, same, known), Stage.ALIAS, 1.0)


def by_declaration(named: TypedName, context: Context) -> Match | None:
    """The entity whose full name has this declared short form: "Dilly" after "call me Dilly"."""
    full = context.short.get(normalise_name(named.name))
    if full is None:
        return None
    whole = TypedName(full, named.type)
    return by_alias(whole, _fits(whole, context.known)[Evidence.SAME], context.known)


def by_part(named: TypedName, found: Fits, context: Context) -> Match | None:
    """A given name, surname, handle, nickname, initials, the end of a path …, if it fits one entity only.

    Entities whose names add nothing to this one count only if there are no others, and so do those whose names leave
    out a word of it: "J. P. Dubois" is Jean-Pierre rather than Jeanne.
    """
    whole: list[Candidate] = []
    covering: list[Candidate] = []
    fitting: list[Candidate] = []
    for each in found[Evidence.PART]:
        form = read(named.name, each.kind)
        if not each.candidate.admits(form, each.kind, goes_with) or _has_rival(named, each, found, context):
            continue
        fitting.append(each.candidate)
        if any(name.rank > form.rank for name in each.names):
            whole.append(each.candidate)
            if any(len(name.words) >= len(form.words) for name in each.names):
                covering.append(each.candidate)
    return _only(covering or whole or fitting, Stage.NAME_PART, PART_SCORE)


def by_trigram(named: TypedName, fits: Sequence[Fit]) -> Match | None:
    """The name whose letters are the most similar, or one that is a typing error away from one entity only.

    A swapped pair of letters costs a short name half of its trigrams, so typing errors have any score.
    """
    scores = {}
    for each in fits:
        form = read(named.name, each.kind)
        if each.candidate.admits(form, each.kind):
            scores[each.candidate] = max(similarity(form.shown, name.shown) for name in each.names)
    best = sorted(scores, key=lambda each: (-scores[each], each.id))
    score = max(scores.values(), default=0.0)
    return _only(best[:1] if score >= ALIKE else best, Stage.TRIGRAM, score)


_ID: Final = attrgetter("id")


def _only(found: Sequence[Candidate], stage: Stage, score: float) -> Match | None:
    return Match(entity_id=found[0].id, stage=stage, score=score) if len(found) == 1 else None


def _preferred(named: TypedName, same: Sequence[Fit], known: CandidateIndex) -> Sequence[Candidate]:
    """Of entities with one name those of the requested type, and of these those with the same spelling.

    If the type is unknown and theirs differ, the name is ambiguous and none of them is returned.
    """
    types = {each.candidate: known_type(each.candidate.entity.type) for each in same}
    if not named.type and len(set(types.values())) > 1:
        return ()
    typed = [each for each in types if types[each] == named.type] or [*types]
    return [each for each in typed if known.is_spelt(each, named.name)] or typed


# -- what a part may mean besides ------------------------------------------------------------------------------------


def _has_rival(named: TypedName, fit: Fit, found: Fits, context: Context) -> bool:
    """Whether the shorter of two fitting names could also be short for another name of the graph or the batch.

    A known "Priya" is "Priya Sharma", but not if "Priya Patel" is mentioned too.
    """
    form = read(named.name, fit.kind)
    firm = form.kind == "organisation"
    loose = not (named.type and known_type(fit.candidate.entity.type))
    parts: Sequence[Form]
    whole: Sequence[Form]
    if all(name.rank < form.rank if firm else name.partial and not form.partial for name in fit.names):
        parts, whole = fit.names, [form]
    elif firm or (len(form.words) == 1 and (loose or fit.kind != "person")):
        parts, whole = [form], fit.names
    else:
        return False
    others = (each.candidate for some in found.values() for each in some if each.candidate is not fit.candidate)
    rivals = [TypedName(name, other.entity.type) for other in others for name in other.names]
    for word in sorted({word for part in parts for word in form_lookups(part)}):
        rivals += context.batch.get(word, ())[:MAX_RIVALS]
    return any(_is_rival(rival, parts, whole, fit.kind, loose=loose) for rival in dict.fromkeys(rivals))


def _is_rival(rival: TypedName, parts: Sequence[Form], whole: Sequence[Form], kind: str, *, loose: bool) -> bool:
    """Whether a name other than the whole ones fits one of the parts.

    ``loose``: the type of one is unknown, so that it is enough that it contains the words of the part.
    """
    shared = shared_type(rival.type, kind)
    form = read(rival.name, rival.type if shared is None else shared)
    if form.partial or any(compare(form, name) for name in whole):
        return False
    if loose and any(set(part.words) <= set(form.words) for part in parts):
        return True
    plainly = loose or not rival.type
    return shared is not None and any(compare(form, part, plainly=plainly) for part in parts)


def _means_several(named: TypedName, exact: Match, found: Fits, known: CandidateIndex) -> bool:
    """Whether a single word fits the whole names of several people or files, and is none of these."""
    type_ = named.type or known[exact.entity_id].entity.type
    is_whole = any(not name.partial for each in found[Evidence.SAME] for name in each.names)  # "@annaberg"
    if type_ not in ("person", "file") or len(named.form.words) > 1 or is_whole:
        return False
    form = read(named.name, type_)
    meant = [
        each
        for each in (*found[Evidence.SAME], *found[Evidence.PART])
        if each.kind == type_
        and any(is_part(form, name) and not name.partial for name in each.candidate.forms(type_))
        and each.candidate.admits(form, type_)
    ]
    return len(meant) > 1


def _open(named: TypedName, same: Sequence[Fit], known: CandidateIndex) -> Match | None:
    """The entity of a part of a name that fits several people: it has no other name, or was merged into one of them."""
    type_ = named.type or "person"
    for minted in (*ids_of(type_, named.form.shown, known.key), *ids_of(type_, open_name(named), known.key)):
        if target := known.merged_into(minted):
            return Match(entity_id=target.id, stage=Stage.ALIAS, score=1.0)
    own = [each.candidate for each in same if all(name.partial for name in each.candidate.forms(each.kind))]
    return _only(sorted(own, key=_ID)[:1], Stage.ID, 1.0)


def open_name(named: TypedName) -> str:
    """What the id of a part of a name is minted from, where somebody who has the name has the id minted from it."""
    return f"{named.form.shown} ?"
