"""The stages that need names alone, from cheap to expensive: functions from a name to its entity, or None."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from operator import attrgetter
from typing import Final
from uuid import UUID

import attrs

from graphsearch.ingest.resolve.resolution import ResolutionOptions, Stage
from graphsearch.model.identity import ids_of, normalise_name
from graphsearch.names.candidate_index import Candidate, CandidateIndex, comparable
from graphsearch.names.comparing import is_alike, is_misspelt, is_part, is_plain_part, is_same
from graphsearch.names.forms import Form
from graphsearch.names.typed_names import COINED_NAME_TYPES, TypedName, form_lookups, known_type, read, shared_type
from graphsearch.text.trigrams import similarity

PART_SCORE: Final = 0.9
"""The score of a part of a name that fits one entity only."""
LONG_WORD: Final = 9
"""Least letters of a single word of any type in which a typo is unlikely to make another word."""
FEWEST_INITIALS: Final = (3, 4)
"""Least initials that identify a name if one of the two types is unknown, and if both are."""
PERSON: Final = "person"
FILE: Final = "file"
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


Found = list[tuple[Candidate, str]]
"""Candidates, each with the type by which its names are compared with a name."""


class Sought:
    """A name that is looked for, with what the stages look up for it, each once."""

    def __init__(self, named: TypedName, context: Context) -> None:
        self.named = named
        self.context = context
        self.known = context.known

    def form(self, kind: str) -> Form:
        """The name parsed by a type."""
        return read(self.named.name, kind)

    @cached_property
    def same(self) -> Found:
        """Candidates with the name, or with one of the same normal form."""
        return [
            (each, kind)
            for each, kind in comparable(self.named, self.known.by_key(self.named))
            if any(is_same(self.form(kind), read(name, kind)) for name in self.known.namesakes(each, self.named))
        ]

    @cached_property
    def others(self) -> Found:
        """Candidates that share a word, without namesakes, which an earlier stage has found to be ambiguous."""
        return self.without_namesakes(self.known.by_word(self.named))

    def without_namesakes(self, found: Iterable[Candidate]) -> Found:
        """The comparable ones of some candidates that are not called the same."""
        same = {each for each, _ in self.same}
        return [(each, kind) for each, kind in comparable(self.named, found) if each not in same]


def by_id(sought: Sought) -> Match | None:
    """The same type and normalised name: those of the entity now, or those that its id was made of.

    The id counts even if the entity has got another type since: somebody knew better than the text.
    """
    named, known = sought.named, sought.known
    same = [each for each, kind in sought.same if is_same(sought.form(kind), read(each.entity.name, kind))]
    for minted in ids_of(named.type or sought.context.options.untyped, named.form.shown, known.key):
        if minted in known and (not same or known[minted] in same):
            return Match(entity_id=minted, stage=Stage.ID, score=1.0)
    return _only(sorted(_preferred(named, same, known), key=_ID)[:1], Stage.ID, 1.0)


def by_alias(sought: Sought) -> Match | None:
    """The same normal form as an alias that only one entity has."""
    same = [each for each, _ in sought.same]
    return _only(_preferred(sought.named, same, sought.known), Stage.ALIAS, 1.0)


def by_declaration(sought: Sought) -> Match | None:
    """The entity whose full name has this declared short form: "Dilly" after "call me Dilly"."""
    full = sought.context.short.get(normalise_name(sought.named.name))
    return None if full is None else by_alias(Sought(TypedName(full, sought.named.type), sought.context))


def by_name_part(sought: Sought) -> Match | None:
    """A given name, surname, handle, nickname, initials, the end of a path …, if it fits one entity only.

    Entities whose names add nothing to this one count only if there are no others, and so do those whose names leave
    out a word of it: "J. P. Dubois" is Jean-Pierre rather than Jeanne.
    """
    declared = sought.context.declared
    fitting: dict[Candidate, bool] = {}
    covering: list[Candidate] = []
    for each, kind in sought.others:
        form = sought.form(kind)
        fits = _fitting_names(sought, each, kind)
        if not fits or each.conflicts_with(form, kind) or not each.fits_all(sought.named.name, kind, declared):
            continue
        if _has_rival(sought, each, fits, kind):
            continue
        fitting[each] = any(name.rank > form.rank for name in fits)
        if fitting[each] and any(len(name.words) >= len(form.words) for name in fits):
            covering.append(each)
    whole = [each for each, more in fitting.items() if more]
    return _only(covering or whole or [*fitting], Stage.NAME_PART, PART_SCORE)


def by_trigram(sought: Sought) -> Match | None:
    """The most similar name above the threshold, or a name one typo away from one entity only.

    Similarity is of trigrams, as in Postgres. A swapped pair of letters costs a short name half of its trigrams, so
    typos are detected separately, with their similarity as the score.
    """
    similar: dict[Candidate, float] = {}
    misspelt: dict[Candidate, float] = {}
    alike = dict.fromkeys((*sought.without_namesakes(sought.known.similar(sought.named)), *sought.others))
    for each, kind in alike:
        form = sought.form(kind)
        for name in each.forms(kind):
            if name.short_words != form.short_words:
                continue
            typo = is_misspelt(form, name) and _is_likely_typo(form, name, kind)
            score = similarity(form.shown, name.shown) if typo or is_alike(form, name) else 0.0
            if typo:
                misspelt[each] = max(score, misspelt.get(each, 0.0))
            if score >= sought.context.options.trigram:
                similar[each] = max(score, similar.get(each, 0.0))
    against = {
        each for each, kind in alike if each in (similar | misspelt) and each.conflicts_with(sought.form(kind), kind)
    }
    if ranked := sorted(similar.keys() - against, key=lambda each: (-similar[each], each.id)):
        return Match(entity_id=ranked[0].id, stage=Stage.TRIGRAM, score=similar[ranked[0]])
    agreed = [each for each in misspelt if each not in against]
    return _only(agreed, Stage.TRIGRAM, misspelt[agreed[0]] if agreed else 0.0)


_EXACTLY: Final = (by_id, by_alias)
_ROUGHLY: Final = (by_declaration, by_name_part, by_trigram)
_ID: Final = attrgetter("id")


def decide(named: TypedName, context: Context) -> tuple[Match | None, Sequence[Candidate]]:
    """The match of the first stage that has one, and the people or files that the name is a part of, if several.

    Such a part is a name of its own entity alone: that one of them was called so before is no evidence.
    """
    sought = Sought(named, context)
    exact = _first(_EXACTLY, sought)
    roughly = None if exact else _first(_ROUGHLY, sought)
    people = () if roughly else _several_meant(sought, exact)
    return (_open(sought) if exact and people else exact or roughly), people


def is_exact(named: TypedName, context: Context) -> bool:
    """Whether an entity has the name as it is, and it is no part of a name, which others may have as well."""
    sought = Sought(named, context)
    exact = _first(_EXACTLY, sought)
    return exact is not None and not _part_of(sought, exact)


def _first(stages: Iterable[Callable[[Sought], Match | None]], sought: Sought) -> Match | None:
    return next((match for stage in stages if (match := stage(sought))), None)


def _part_of(sought: Sought, exact: Match | None) -> str:
    """The type of which a name may be a part: "person" for one word, "file" for a path; else "".

    A type that is unknown is that of the entity that has the name, or may be a person's if there is none.
    """
    named = sought.named
    type_ = named.type or (sought.known[exact.entity_id].entity.type if exact else PERSON)
    if named.type == FILE or (type_ == PERSON and len(named.form.words) == 1):
        return type_
    return ""


def _several_meant(sought: Sought, exact: Match | None) -> Sequence[Candidate]:
    """The people or files whose whole names a part fits, if they are several; else none.

    A name that no rule derives from the names of what it belongs to ("the Countess") was given to one, and means
    nothing else.
    """
    type_ = _part_of(sought, exact)
    alike = [each for each, kind in (*sought.same, *sought.others) if kind == type_] if type_ else []
    form = sought.form(type_)
    if len(alike) < 2 or any(_is_given(form, each, type_) for each, kind in sought.same if kind == type_):  # noqa: PLR2004
        return ()
    plainly = exact is None and sought.named.untyped
    known = [each for each in alike if _may_mean(form, each, type_, plainly=plainly)]
    return known if len(known) > 1 else ()


def _is_given(form: Form, each: Candidate, type_: str) -> bool:
    """Whether a name was given to an entity: it is written like a whole name of it, or is a part of none."""
    if type_ == FILE and any(is_same(form, name) for name in each.forms(type_)[:1]):
        return not form.partial  # the path of a file, of which "app.py" alone may be a part
    whole = _whole_names(form, each, type_)
    return any(is_same(form, name) for name in whole) or (
        bool(whole) and not any(is_part(form, name) for name in whole)
    )


def _may_mean(form: Form, each: Candidate, type_: str, *, plainly: bool) -> bool:
    """Whether a name fits a whole name of an entity; ``plainly``, as it is written, if it may be that of a thing."""
    whole = _whole_names(form, each, type_)
    fits = any(is_plain_part(form, name, 0) if plainly else is_part(form, name) for name in whole)
    return fits and not each.conflicts_with(form, type_)


def _whole_names(form: Form, each: Candidate, type_: str) -> list[Form]:
    """The names of which another may be a part: whole names of persons, longer paths of files."""
    if type_ == FILE:
        return [name for name in each.forms(type_) if len(name.words) > len(form.words)]
    return [name for name in each.forms(type_) if not name.partial]


def _open(sought: Sought) -> Match | None:
    """The entity of a part of a name that fits several people: it has no other name, or was merged into one of them."""
    named, known = sought.named, sought.known
    type_ = named.type or PERSON
    for minted in (*ids_of(type_, named.form.shown, known.key), *ids_of(type_, open_name(named), known.key)):
        if target := known.merged_into(minted):
            return Match(entity_id=target.id, stage=Stage.ALIAS, score=1.0)
    own = [
        each
        for each, kind in sought.same
        if all(name.partial or is_same(sought.form(kind), name) for name in each.forms(kind))
    ]
    return _only(sorted(own, key=_ID)[:1], Stage.ID, 1.0)


def open_name(named: TypedName) -> str:
    """What the id of a part of a name is minted from, where somebody who has the name has the id minted from it."""
    return f"{named.form.shown} ?"


def _only(found: Sequence[Candidate], stage: Stage, score: float) -> Match | None:
    return Match(entity_id=found[0].id, stage=stage, score=score) if len(found) == 1 else None


def _is_likely_typo(form: Form, other: Form, kind: str) -> bool:
    """Whether a typo is likelier than another name: not in a single word of any type ("Turin", "Turpin")."""
    longest = max(len(each.whole) for each in (form, other))
    return len(form.words) > 1 or kind in COINED_NAME_TYPES or longest >= LONG_WORD


def _preferred(named: TypedName, same: Sequence[Candidate], known: CandidateIndex) -> Sequence[Candidate]:
    """Of entities with one name those of the requested type, and of these those with the same spelling.

    If the type is unknown and theirs differ, the name is ambiguous and none of them is returned.
    """
    types = {each: known_type(each.entity.type) for each in same}
    if named.untyped and len(set(types.values())) > 1:
        return ()
    typed = [each for each in same if types[each] == named.type] or same
    spelt = set(known.by_spelling(named.name)) if len(typed) > 1 else ()
    return [each for each in typed if each in spelt] or typed


def _fitting_names(sought: Sought, each: Candidate, kind: str) -> list[Form]:
    """The names of a candidate of which this one is a part, or that are a part of it, or are declared to be."""
    named, declared, form = sought.named, sought.context.declared, sought.form(kind)
    unknown = named.untyped + (not known_type(each.entity.type))
    return [
        other
        for name, other in zip(each.names, each.forms(kind), strict=True)
        if (declared and frozenset({named.name, name}) in declared) or _fits(form, other, unknown)
    ]


def _fits(form: Form, other: Form, unknown: int) -> bool:
    """Whether one name is a part of the other: one that few other names could have if types are ``unknown``."""
    return is_plain_part(form, other, FEWEST_INITIALS[unknown - 1]) if unknown else is_part(form, other)


def _has_rival(sought: Sought, each: Candidate, fits: Sequence[Form], kind: str) -> bool:
    """Whether the shorter of two fitting names could also be short for another name of the graph or the batch.

    A known "Priya" is "Priya Sharma", but not if "Priya Patel" is mentioned too. For a part that comes after its whole
    name, `by_name_part` has compared the entities of the graph, so that only the batch remains.
    """
    form = sought.form(kind)
    firm = form.kind == "organisation"
    loose = sought.named.untyped or not known_type(each.entity.type)
    parts: Sequence[Form]
    whole: Sequence[Form]
    if all(len(name.words) < len(form.words) if firm else name.partial and not form.partial for name in fits):
        parts, whole, others = fits, [form], sought.others
    elif firm or (len(form.words) == 1 and (loose or kind != PERSON)):
        parts, whole, others = [form], fits, sought.others if loose else []
    else:
        return False
    rivals = [TypedName(name, other.entity.type) for other, _ in others if other is not each for name in other.names]
    looked_up = {word for part in parts for word in form_lookups(part)}
    rivals += [rival for word in sorted(looked_up) for rival in sought.context.batch.get(word, ())[:MAX_RIVALS]]
    return any(_is_rival(rival, parts, whole, kind, loose=loose) for rival in dict.fromkeys(rivals))


def _is_rival(rival: TypedName, parts: Sequence[Form], whole: Sequence[Form], kind: str, *, loose: bool) -> bool:
    """Whether a name other than the whole ones fits one of the parts.

    ``loose``: the type of one is unknown, so that it is enough that it contains the words of the part.
    """
    shared = shared_type(rival.type, kind)
    form = read(rival.name, rival.type if shared is None else shared)
    if form.partial or any(is_same(form, name) or is_part(form, name) or is_misspelt(form, name) for name in whole):
        return False
    if loose and any(set(part.words) <= set(form.words) for part in parts):
        return True
    return shared is not None and any(_fits(form, part, rival.untyped + loose) for part in parts)
