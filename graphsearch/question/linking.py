"""Link the names in a question to entities, with probabilities: look them up, link what is written, then other forms.

The longest full names come first. A single word that is used as an ordinary word more often than as a name stays in
the question, and is only weakly linked to its entity. Then come parts of names, the more probable the more often the
word is used as a name and the fewer entities share it. Linked words are masked: the rest asks for something about them.

Code is named only by words written like code: "run" in a question is hardly the method of that name; "Runner.run" is,
and so is "Runner", capitalised inside of a sentence.

What is written as one name is one name: "Abbey Bridge" is not a bridge with another name, however few bridges there
are, unless the scope uses "abbey" as an ordinary word, or it is a title.

Other forms are nicknames, initials, handles, legal forms and typing errors: compared as ingest compares names
(`graphsearch.names`), if nothing of the same spelling was found.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, MutableMapping, Sequence
from itertools import islice
from typing import Final
from uuid import UUID

import attrs
import numpy as np

from graphsearch._support.concurrency import aside
from graphsearch.access.reader import Reader
from graphsearch.claims.naming import folded_name
from graphsearch.columns import Hits
from graphsearch.ingest.stating.scope import VALUE
from graphsearch.model.identity import CASE_SENSITIVE_TYPES
from graphsearch.names import typed_names as reading
from graphsearch.names import vocabulary
from graphsearch.names.candidate_index import MAX_COMPARED
from graphsearch.names.comparing import is_misspelt, is_part, is_same
from graphsearch.names.likeness import EXACT_TYPES
from graphsearch.names.slips import slip
from graphsearch.names.vocabulary import is_given_name, is_nickname
from graphsearch.question.analysis import Anchor, Nameable, QuestionText, Token, Words, WrittenName, overlapping
from graphsearch.question.type_profile import NOTHING_KNOWN, ORDINARY, TypeProfile, Wording, asked_of_code, listed
from graphsearch.text.analyser import STOP_WORDS
from graphsearch.text.trigrams import fold, name_words, one_letter_off, similarity, spoken_words

HINT: Final = 0.25
"""The probability of an entity whose one-word name is mostly used as an ordinary word."""
WRITTEN: Final = 0.75
"""The least probability of a capitalised word inside of a sentence that is part of a name."""
NUMBER: Final = 3
"""Least digits of a number that can stand for a name that it is part of."""
SHARED: Final = 25
"""A word that occurs in this many names is not looked up alone, only as part of whole names."""
NAMESAKES: Final = 5
"""A form or a plain word that fits more entities than this names none of them."""

_IDENTIFIER: Final = re.compile(r"\w[_.]\w|\b_\w|[a-z][A-Z]|\w\(\)|`")

Terms = Callable[[str], Iterable[str]]


@attrs.frozen
class Link:
    """An entity that a question names: its characters [start, end), with a probability in (0, 1].

    ``kind``: the entity's type. ``full``: by a whole name, not by a part of one; ``alias``: only by a name other than
    its own.
    """

    entity_id: UUID
    kind: str
    probability: float
    start: int
    end: int
    full: bool = attrs.field(kw_only=True)
    alias: bool = attrs.field(kw_only=True)


@attrs.frozen(kw_only=True)
class Linked:
    """The links of a question, and the places of its words that are part of a name."""

    links: tuple[Link, ...]
    masked: frozenset[int]

    @property
    def probabilities(self) -> Mapping[UUID, float]:
        """The greatest probability of each entity."""
        best: dict[UUID, float] = {}
        for link in self.links:
            best[link.entity_id] = max(best.get(link.entity_id, 0.0), link.probability)
        return best

    @property
    def names_code(self) -> bool:
        """Whether there are links for certain, and all of them are to code."""
        sure = [link.kind in CASE_SENSITIVE_TYPES for link in self.links if link.probability > HINT]
        return bool(sure) and all(sure)


def anchors_of(question: str, links: Iterable[Link]) -> tuple[Anchor, ...]:
    """One anchor for each linked entity, in the order in which the question names them first."""
    found: dict[UUID, list[Link]] = {}
    for each in sorted(links, key=lambda link: (link.start, -link.probability, link.entity_id)):
        found.setdefault(each.entity_id, []).append(each)
    best = [max(own, key=lambda link: link.probability) for own in found.values()]
    return tuple(
        Anchor(
            entity_id=surest.entity_id,
            name=question[surest.start : surest.end],
            alias=surest.alias,
            confidence=surest.probability,
            spans=tuple((each.start, each.end) for each in own),
            whole=any(each.full for each in own),
        )
        for surest, own in zip(best, found.values(), strict=True)
    )


# -- looking up --------------------------------------------------------------------------------------------------------


@attrs.frozen(eq=False, kw_only=True)
class Candidates:
    """The entities that some words may name and that hold and are visible, with their visible names, and as hits."""

    nameable: Sequence[Nameable]
    hits: Hits

    @property
    def size(self) -> int:
        """The number of their names."""
        return sum(len(each.names) for each in self.nameable)


async def look_up(question: QuestionText, reader: Reader, known: MutableMapping[UUID, Nameable]) -> Candidates:
    """The entities of which a name or a word of a name occurs in a question; ``known`` are those read before."""
    distinctive = [
        word.text
        for word in question.tokens
        if len(word.text) > 1 and (word.text not in STOP_WORDS or (word.capitalised and word.start > 0))
    ]
    spoken = (word for word in spoken_words(question.text) if word not in STOP_WORDS)
    written = {run.name for run in question.runs}
    paths = [name.split(".") for name in written if "." in name and " " not in name]  # of code
    written.update(".".join(path[start:]) for path in paths for start in range(1, len(path)))
    return await _named(sorted(written - {""}), list(dict.fromkeys((*distinctive, *spoken))), reader, known)


async def _named(
    names: Sequence[str], words: Sequence[str], reader: Reader, known: MutableMapping[UUID, Nameable]
) -> Candidates:
    """The entities with some names or words in their names; no value is a name of a question."""
    hits, entities = await reader.named(names, words, limit=SHARED)
    nameable = []
    for each in entities:
        called = (each.name, *each.aliases)
        one = known.get(each.id)
        if one is None or one.names != called:
            one = known[each.id] = Nameable(id=each.id, type=each.type, names=called)
        if each.type != VALUE:
            nameable.append(one)
    return Candidates(nameable=nameable, hits=hits)


def dated_names(
    question: QuestionText, dates: Sequence[tuple[int, int]], known: Sequence[Nameable]
) -> list[tuple[int, int]]:
    """The characters [start, end) of known whole names that contain a date and more: "Euro 2024"."""
    names = {folded_name(name) for each in known for name in each.names}
    return [
        (run.start, run.end)
        for run in question.runs
        if any(run.start <= start and end <= run.end and end - start < run.end - run.start for start, end in dates)
        and folded_name(run.name) in names
    ]


async def link_names(text: str, reader: Reader, profile: TypeProfile | None = None) -> Linked:
    """Link the names in a text to entities that hold in a view; without a profile, every word may be a name."""
    question = QuestionText(text)
    if profile is not None:
        found = await look_up(question, reader, profile.nameable)
        return (await link_candidates(question, found, profile, reader))[0]
    found = await look_up(question, reader, {})
    return await aside(lambda: link(question, found.nameable, NOTHING_KNOWN, reader.analyser.terms), found.size)


async def link_candidates(
    question: QuestionText, found: Candidates, profile: TypeProfile, reader: Reader, dated: Collection[int] = ()
) -> tuple[Linked, Hits]:
    """Link the words of a question to candidates, and to entities that are called otherwise; with the linked as hits.

    Words at the places ``dated`` are of a time, and name nothing.
    """
    terms, written = reader.analyser.terms, question.written
    linked = await aside(
        lambda: link(question, found.nameable, profile.wording, terms, written=written, blocked=dated), found.size
    )
    hits = found.hits
    others = unlinked(question, linked, profile.wording) or _strange_words(question, linked, found, profile, terms)
    if others:
        linked, more = await with_other_forms(question, others, linked, reader, profile.nameable)
        hits = Hits.concatenate([hits, more])
    linked = with_bare_names(question, linked, found.nameable)
    keys, first = np.unique(hits.keys, return_index=True)
    named = linked.probabilities
    return linked, hits.keep(first[np.array([each in named for each in reader.entity_ids(keys)], np.bool_)])


# -- as it is written --------------------------------------------------------------------------------------------------


def link(
    question: QuestionText,
    nameable: Sequence[Nameable],
    wording: Wording,
    terms: Terms,
    *,
    written: Sequence[WrittenName] = (),
    blocked: Collection[int] = (),
) -> Linked:
    """Link the words of a question; those at the places ``blocked``, such as of a date, name nothing.

    ``written``: what is certainly written as one name each.
    """
    linking = _Linking(question, nameable, wording, terms, written, taken=set(blocked))
    linking.link_whole_names()
    linking.link_parts()
    return Linked(links=tuple(linking.links), masked=frozenset(linking.taken.difference(blocked)))


@attrs.define(eq=False)
class _Linking:
    """The state of linking: which words are ``taken``, by a name or beforehand."""

    question: QuestionText
    nameable: Sequence[Nameable]
    wording: Wording
    terms: Terms
    written: Sequence[WrittenName]
    taken: set[int]
    links: list[Link] = attrs.field(factory=list)

    def link_whole_names(self) -> None:
        """Link whole names, the longest first."""
        for place, named in self._met(lambda each: each.whole):
            found, run = self._believable(named, place, whole=True), self._words(place)
            capital, alone = self._has_capital(place.start), len(place) == 1
            if not found or (alone and run[0] in STOP_WORDS and not capital):
                continue
            sure = not alone or capital or self.wording.usage(run[0]) >= ORDINARY
            sure = sure and not all(self._is_plain_code(each, place) for each in found)
            for each in found:
                self._add(each, 1.0 if sure else HINT, place, full=True, alias=each.whole[run])
            if sure:
                self.taken.update(place)

    def link_parts(self) -> None:
        """Link parts of names in the rest, the longest first."""
        ends = Counter(word for each in self.nameable for word in each.ends)
        for place, named in self._met(lambda each: each.parts):
            found, run, alone = self._believable(named, place, whole=False), self._words(place), len(place) == 1
            if not found or all(word in STOP_WORDS for word in run) or (alone and not _speaks(run[0])):
                continue
            of_kind = ends[run[0]] > 1 or self._is_possessed(place.start)  # the "team" of "data team" and "search team"
            if alone and of_kind and not self.question.tokens[place.start].capitalised:
                continue
            share = max(self.wording.nameness(word, self.terms(word)) for word in run)
            if alone and self._has_capital(place.start):
                share = max(share, WRITTEN)
            if share < ORDINARY:
                continue
            for each in found:
                self._add(each, share / math.sqrt(len(found)), place, full=False, alias=False)
            self.taken.update(place)

    def _met(self, runs_of: Callable[[Nameable], Iterable[Words]]) -> Iterator[tuple[range, list[Nameable]]]:
        """The places of untaken runs of words that are among those of entities, the longest first."""
        texts, met = self.question.texts, dict[Words, list[Nameable]]()
        words = set(texts)
        for each in self.nameable:
            for run in runs_of(each):
                if words.issuperset(run):
                    met.setdefault(run, []).append(each)
        for length in sorted({len(run) for run in met}, reverse=True):
            for start in range(len(texts) - length + 1):
                found, place = met.get(texts[start : start + length]), range(start, start + length)
                if found and self.taken.isdisjoint(place):
                    yield place, found

    def _words(self, place: range) -> Words:
        return self.question.texts[place.start : place.stop]

    def _span(self, place: range) -> tuple[int, int]:
        return self.question.tokens[place.start].start, self.question.tokens[place.stop - 1].end

    def _is_possessed(self, place: int) -> bool:
        """Whether a possessive is before a word: "Sarah's team" asks for a team, and names none."""
        tokens, texts = self.question.tokens, self.question.texts
        if not place or (texts[place - 1] == "s" and texts[place - 2] in STOP_WORDS):
            return False  # "who's", "what's"
        between = self.question.text[max(0, tokens[place - 1].end - 2) : tokens[place].start]
        return not {"'", "’"}.isdisjoint(between)

    def _believable(self, found: Sequence[Nameable], place: range, *, whole: bool) -> list[Nameable]:
        """Entities that words may name; code only by its own name, or by words written like code."""
        start, end = self._span(place)
        written, run = self.question.text[start:end].rpartition(".")[2], self._words(place)
        # "httpx.Client" is the class, not the module httpx._client
        found = [each for each in found if written in each.components] or list(found)
        inside: frozenset[int] = frozenset()
        if not (whole and len(place) > 1):  # a long whole name counts as one
            names = (self.question.places([(each.start, each.end)]) for each in self.written)
            inside = next((each for each in names if each.issuperset(place)), inside)
        return [
            each
            for each in found
            if (not self._is_plain_code(each, place) or (whole and not each.whole[run]))
            and not self._is_another(each, inside)
        ]

    def _is_another(self, entity: Nameable, places: Collection[int]) -> bool:
        """Whether a written name is not this entity's: at least half of its words are not in the entity's names."""
        words = [self.question.texts[place] for place in places]
        strange = [word for word in words if word not in entity.words and self._is_strange(word)]
        return bool(strange) and 2 * len(strange) >= len(places)

    def _is_strange(self, word: str) -> bool:
        """Whether a word can only be a part of a name: not a title, and not otherwise used in the scope."""
        ordinary = word in STOP_WORDS or word in vocabulary.words("titles") or self.wording.telling.get(word, 0) > 0
        return not ordinary and self.wording.type_terms.isdisjoint(self.terms(word))

    def _is_plain_code(self, entity: Nameable, place: range) -> bool:
        """Whether an entity is code, and these words are not written like code."""
        if entity.type not in CASE_SENSITIVE_TYPES:
            return False
        first = self.question.tokens[place.start]
        if len(place) == 1 and place.start and first.capitalised:
            return first.written not in entity.components
        start, end = self._span(place)
        return not _IDENTIFIER.search(self.question.text, max(0, start - 1), end + 2)

    def _has_capital(self, place: int) -> bool:
        """Whether a capital indicates a name: not at the start of a sentence, nor if everything is capitalised."""
        tokens = self.question.tokens
        if not tokens[place].capitalised or place == 0:
            return False
        return any(token.written.islower() and len(token.written) > NUMBER for token in tokens)

    def _add(self, entity: Nameable, probability: float, place: range, *, full: bool, alias: bool) -> None:
        start, end = self._span(place)
        self.links.append(Link(entity.id, entity.type, probability, start, end, full=full, alias=alias))


def _speaks(word: str) -> bool:
    """Whether one word may stand for a name that it is part of: not a letter, nor a small number."""
    return len(word) >= NUMBER if word.isdigit() else len(word) > 1


MAX_ASKING: Final = 16
"""Words of a question in which a plain word may name code: a longer one says more."""


def with_bare_names(question: QuestionText, linked: Linked, known: Sequence[Nameable]) -> Linked:
    """Link a plain word to the code of exactly that name, if the question then asks for its relation, and no more.

    "what calls gather?" means code; "what calls the loop?" is about loops.
    """
    code = [each for each in known if each.type in CASE_SENSITIVE_TYPES]
    words, texts = question.tokens, question.texts
    sure = any(link.probability > HINT for link in linked.links)
    if not code or len(words) > MAX_ASKING:
        return linked
    for place, word in enumerate(words):
        is_kind = listed("kinds").intersection(texts[place + 1 : place + 2])  # "the gather function"
        end, owner = _owner(words, place + 2) if is_kind else (place + 1, "")
        articled = place and texts[place - 1] in listed("articles")
        if word.text in STOP_WORDS or (articled and not is_kind) or (sure and not owner):
            continue
        paths = ((each, each.names[0].split(".")) for each in code)
        found = [each for each, path in paths if path[-1] == word.written and (not owner or owner in path[:-1])]
        if not 0 < len(found) <= NAMESAKES:
            continue
        if asked_of_code(texts, range(place, end)):
            links = _shared_links(found, WRITTEN, word.start, words[end - 1].end, full=True)
            return Linked(links=tuple(links), masked=frozenset(range(place, end)))
    return linked


def _owner(words: Sequence[Token], place: int) -> tuple[int, str]:
    """The end of "of X" or "in the class X" that begins at ``place``, and X; ``place`` and nothing if none does."""
    if place < len(words) and words[place].text in {"of", "in", "on", "from"}:
        for at in range(place + 1, len(words)):
            if words[at].text not in listed("articles") | listed("kinds"):
                return at + 1, words[at].written
    return place, ""


def _shared_links(found: Sequence[Nameable], probability: float, start: int, end: int, *, full: bool) -> list[Link]:
    """A link to each of some entities, by another name than their own; the less probable the more there are."""
    shared = probability / math.sqrt(len(found)) if found else 0.0
    return [Link(each.id, each.type, shared, start, end, full=full, alias=True) for each in found]


# -- in other forms ----------------------------------------------------------------------------------------------------

FITS: Final = 0.9
"""The probability of a name that fits only one entity, as in ingest."""
LIKE: Final = 0.65
"""Least similarity of names of several words that count as equal: one typing error in two usual words."""
MISSPELT: Final = 0.8
"""The probability of the only entity of which one letter makes a written word."""
MAX_LOOKED_UP: Final = 16
"""Most names of one question that are looked up in other forms."""
MAX_MISSPELT: Final = 3
"""Most words of a question that are not written as names, and looked up as misspelt ones."""
SHORTEST: Final = 5
"""Letters of a word that may be misspelt."""
SURE: Final = 8
"""Letters of a word that is hardly another one if one of them is wrong: "strike" is not Stripe."""


def unlinked(question: QuestionText, linked: Linked, wording: Wording) -> list[WrittenName]:
    """Written names, and nicknames that are not ordinary words of the scope, that were not linked."""
    nicknames = [
        WrittenName(text=token.written, start=token.start, end=token.end)
        for token in question.tokens
        if is_nickname(token.text) and token.text not in STOP_WORDS and not wording.telling.get(token.text, 0)
    ]
    others = [each for each in nicknames if not overlapping(each.start, each.end, question.written)]
    return [name for name in (*question.written, *others) if not overlapping(name.start, name.end, linked.links)]


def _strange_words(
    question: QuestionText, linked: Linked, found: Candidates, profile: TypeProfile, terms: Terms
) -> list[WrittenName]:
    """Words that may be a misspelt name although not written as names, if the question names nothing else.

    They occur nowhere in the scope: neither in a name nor in a fact.
    """
    if linked.links:
        return []
    names = frozenset(word for each in found.nameable for name in each.names for word in name_words(name))
    return [
        WrittenName(text=text, start=token.start, end=token.end, tentative=True)
        for token, text in zip(question.tokens, question.texts, strict=True)
        if len(text) >= SHORTEST
        and text not in STOP_WORDS
        and text not in names
        and profile.containing.keys().isdisjoint(terms(text))
    ][:MAX_MISSPELT]


def misspellings(word: str) -> frozenset[str]:
    """The words that a written word may be a misspelling of: long enough ones, unless it is a given name."""
    if len(word) < SHORTEST or not word.isalpha() or is_given_name(word):
        return frozenset()
    return frozenset(each for each in one_letter_off(word) if len(each) >= SHORTEST)


async def with_other_forms(
    question: QuestionText,
    names: Sequence[WrittenName],
    linked: Linked,
    reader: Reader,
    known: MutableMapping[UUID, Nameable],
) -> tuple[Linked, Hits]:
    """Links with those of names in other forms, and the entities that were considered for them."""
    words = {name: _words_of_forms(name.text) for name in names[:MAX_LOOKED_UP]}
    found = await _named((), sorted(frozenset().union(*words.values())), reader, known)
    links = await aside(
        lambda: [one for name in words for one in links_of(name, _having(found.nameable, words[name]))], found.size
    )
    masked = linked.masked | question.places((each.start, each.end) for each in links)
    return Linked(links=(*linked.links, *links), masked=masked), found.hits


def _words_of_forms(name: str) -> frozenset[str]:
    """The words by which names are found that a written name may be a form of."""
    things, people = reading.lookups(reading.TypedName(name, ""))[0], reading.form_lookups(reading.read(name, "person"))
    return frozenset((*things, *people)) | misspellings(fold(name))


def _having(known: Sequence[Nameable], words: frozenset[str]) -> list[Nameable]:
    """The entities with one of some words in a name, each with its first `MAX_COMPARED` names that have one."""
    having = ((each, (name for name in each.names if not words.isdisjoint(name_words(name)))) for each in known)
    cut = [(each, tuple(islice(names, MAX_COMPARED))) for each, names in having]
    return [attrs.evolve(each, names=names) for each, names in cut if names]


def links_of(name: WrittenName, known: Sequence[Nameable]) -> list[Link]:
    """The entities that a name means in another form, less probable the more there are; none if too many.

    A name that is like none may be one misspelt word: then it means the only entity that has the word.
    """
    likely = {} if name.tentative else {each.id: likeness(name.text, each) for each in known}
    most = max(likely.values(), default=0.0)
    best = [each for each in known if most and likely[each.id] == most]
    if not best and len(meant := _misspelt(name, known)) == 1:
        best, most = meant, MISSPELT
    return [] if len(best) > NAMESAKES else _shared_links(best, most, name.start, name.end, full=False)


def _misspelt(name: WrittenName, known: Sequence[Nameable]) -> list[Nameable]:
    """The entities with a word in a name that a written word misspells; none if it is the right spelling of any.

    What is not written as a name may be any word: then names of one word count, and of persons; a plural is none of
    them, and a wrong letter must be one of many. Of persons only a `slip` counts: "Marta" is not Maria.
    """
    written, plain = fold(name.text), name.tentative
    made = misspellings(written)
    if plain:
        made -= {written.removesuffix("s")}
        made = frozenset(
            word
            for word in made
            if len(written) >= SURE or len(word) != len(written) or sorted(word) == sorted(written)
        )
    found = []
    for each in known:
        names, person = [spoken_words(name) for name in each.names], each.type == "person"
        if any(written in own for own in names):
            return []
        words = {word for own in names if len(own) == 1 or not plain or person for word in own} & made
        if each.type not in EXACT_TYPES and any(not person or slip(written, word) for word in words):
            found.append(each)
    return found


def likeness(written: str, entity: Nameable) -> float:
    """The probability that a name is a form of an entity's: `FITS`, or the similarity if at least `LIKE`; else 0."""
    kind = reading.known_type(entity.type)
    given = is_given_name(written.split(maxsplit=1)[0].casefold())
    for each in (kind, "person") if given else (kind,):
        form = reading.read(written, each)
        names = [reading.read(name, each) for name in entity.names]
        if any(is_same(form, name) or is_part(form, name) or is_misspelt(form, name) for name in names):
            return FITS
    plain, names = reading.read(written, ""), [reading.read(name, "") for name in entity.names]
    alike = (
        similarity(folded_name(plain.shown), folded_name(name.shown))
        for name in names
        if len(name.words) == len(plain.words) > 1 and name.numbers == plain.numbers
    )
    best = max(alike, default=0.0)
    return best if best >= LIKE else 0.0
