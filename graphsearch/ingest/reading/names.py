"""The names of the memories of one call, which agree with each other.

A form that is surely a name once is one wherever it stands in the call, in any case, and its kind is what most of its
occurrences say. So "Tidewright", written with a capital once, is found as "tidewright" in every other turn.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import zip_longest
from typing import Final, NamedTuple

from graphsearch.ingest.extract.context import MAX_SUBJECT
from graphsearch.ingest.reading.declared import complete, first_words, heads, recurring, short_names
from graphsearch.names.known_names import Known, KnownNames, WordIndex, name_words
from graphsearch.names.lexicon import CALENDAR, CAPITALISED, DEMONYM, GIVEN, ORDINARY, PLACE
from graphsearch.names.spans import (
    CERTAIN,
    NATIONALITY,
    ONE,
    Context,
    Mention,
    Read,
    find_in_sentence,
    find_marked,
    is_coined,
    read_words,
)
from graphsearch.names.tagger import tag_sentences
from graphsearch.names.word_marks import (
    FIRM,
    GRAMMAR,
    GROUP,
    MOVING,
    NOISE,
    ROLE,
    RUNNING,
    USING,
    mark,
    own_kind,
)
from graphsearch.text.tokens import tokens

PARENTHESIS: Final = re.compile(r"(?<!\s)\s*+\([^()]*+\)\s*+\Z")
SURE: Final = 2.0
"""From here on, a form is a name everywhere in the call."""
FAINT: Final = 5.0
SURE_PERSON: Final = 6.0
_LEAST_LEADS: Final = {
    ("person", False): 5.0,
    ("person", True): 1.5,
    ("place", False): 3.0,
    ("organisation", False): 2.5,
}
"""By how much the votes for a kind must lead, for a name of one word and of several."""
MATCHED: Final = 4.0
MEANT: Final = 1.5
_KINDS: Final = {
    **dict.fromkeys(("person", "user"), "person"),
    **dict.fromkeys(("organisation", "organization", "company"), "organisation"),
    **dict.fromkeys(("team", "group"), "group"),
    **dict.fromkeys(("place", "location", "city", "country", "region"), "place"),
}
"""The kinds of entity types; any other known one is a thing."""
_NAMING: Final = frozenset({"called", "named", "nicknamed", "titled", "christened"})
_CUES: Final = {**dict.fromkeys(("to", "from", "off", "onto"), MOVING), **dict.fromkeys(("on", "in", "with"), RUNNING)}
"""Small words before a tool, and what stands before them then: "moved to", "runs on"."""
_REACH: Final = 6
"""Words before a tool that may speak of its use."""


class _Kind(NamedTuple):
    """What a form is. ``hard``: more than the tagger's guess."""

    kind: str
    hard: bool
    type: str = ""


@lru_cache(1 << 14)
def key(name: str) -> str:
    """What two spellings of one name have in common."""
    return " ".join(name.casefold().split()).removeprefix("the ")


def name_in_slices(
    texts: Sequence[str], speakers: Sequence[str], titles: Sequence[str] = (), known: KnownNames | None = None
) -> Generator[None, None, list[Read]]:
    """Read each text in tokens, with its names; the steps between yields are short.

    ``speakers`` and ``titles`` are those who speak and the subjects of documents, "" if there is none. ``known`` are
    names of the scope, found in any case.
    """
    known = known or _known_tools()
    reads: list[Read] = []
    found: list[list[Mention]] = []
    taken: list[set[int]] = []
    for text, title in zip_longest(texts, titles, fillvalue=""):
        reads.append(read_words(text))
        own, places = _own(reads[-1], title, known)
        found.append(own)
        taken.append(places)
        yield
    yield from _add_tagged(reads, speakers, found, taken)
    _without_ordinary(reads, found)
    declared = [short_names(text, speaker) for text, speaker in zip(texts, speakers, strict=True)]
    people = _people(speakers) | {key(short): "person" for some in declared for short, _, _ in some}
    kinds = _agreed_kinds(found, people)
    forms = _forms(found, people)
    for form in recurring(reads, found) if any(speakers) else ():
        forms.add(name_words(form), frozenset())
    meant = heads({form: kind.kind for form, kind in kinds.items()}) if any(speakers) else {}
    for read, some in zip(reads, found, strict=True):
        if read.readable:
            _add_matches(read, some, forms)
            complete(read, some)
            _add_meant(read, some, meant)
        yield
    counts = Counter(key(each.name) for some in found for each in some)
    firms = {key(each.name) for some in found for each in some if each.kind not in ("person", "place", "thing")}
    firsts = first_words(firms) if any(speakers) else {}
    return [
        _finished(read, some, kinds, counts, tuple(_same(read, some, shorts, firsts)))
        for read, some, shorts in zip(reads, found, declared, strict=True)
    ]


@cache
def _known_tools() -> KnownNames:
    return KnownNames()


# -- what each text shows by itself -------------------------------------------------------------------------------


def _own(read: Read, title: str, known: KnownNames) -> tuple[list[Mention], set[int]]:
    """Names that need no tagger: marked ones, known ones, and the subject of a document as it is written there.

    With them come the places where no other names are.
    """
    found, taken = find_marked(read)
    if title and len(title) <= MAX_SUBJECT:
        subject: WordIndex[bool] = WordIndex()
        subject.add([word.text for word in tokens(PARENTHESIS.sub("", title))], value=True)
        for first, end, _ in subject.find([word.text for word in read.words]):
            _add(found, taken, _at(read, first, end, CERTAIN))
    for first, end, name in known.find(read.lows):
        if (not name.plain or _is_tool(read, first)) and not _is_in_longer(read, first, end):
            kind = _KINDS.get(name.type, "thing" if name.type else "")
            mention = _at(read, first, end, CERTAIN)._replace(kind=kind, hard=bool(kind), type=name.type)
            _add(found, taken, mention._replace(name=_spelt(mention.name, name)))
    return found, taken


def _spelt(written: str, known: Known) -> str:
    """A known name as it is spelt, unless the text uses another form of it."""
    return known.written or (known.name if written.casefold() == known.name.casefold() else written)


def _is_in_longer(read: Read, first: int, end: int) -> bool:
    """Whether a known name with a capital is a part of a longer one, as in "GitHub Actions"."""
    apart = CALENDAR | GRAMMAR | NOISE | DEMONYM
    for place, but in ((first - 1, ORDINARY), (end, ROLE)) if read.words[first].text != read.lows[first] else ():
        word = read.words[place].text if 0 <= place < len(read.words) else "-"
        if word[0].isupper() and not word.isupper() and not read.marks[place] & (apart | but):
            return True
    return False


def _is_tool(read: Read, place: int) -> bool:
    """Whether an ordinary word means the tool that is called so: "we moved to notion", "in Notion"."""
    inside = place > 0 and read.lows[place - 1].isalpha()
    if read.words[place].text != read.lows[place] and inside:
        before = read.words[place - 1].text
        return before == read.lows[place - 1] or place < 2 or read.lows[place - 2] in ".!?"  # noqa: PLR2004
    if not inside:
        return False
    cue = _CUES.get(read.lows[place - 1], 0)
    return bool(read.marks[place - 1] & USING) or any(
        known & cue for known in read.marks[max(0, place - 1 - _REACH) : place - 1]
    )


def _add_tagged(
    reads: Sequence[Read], speakers: Sequence[str], found: Sequence[list[Mention]], taken: Sequence[set[int]]
) -> Generator[None, None, None]:
    """Add the names that the tagger finds, and those by capitals; many sentences are tagged at once."""
    asked = (
        [word.text for word in read.words[first:stop]]
        for read in reads
        if read.readable
        for first, stop in read.sentences
    )
    tagged = tag_sentences([*asked])
    people = frozenset(_people(speakers))
    small: Counter[str | int] = Counter()  # by author: sentences that begin with a small letter, less the others
    authors = [speaker or number for number, speaker in enumerate(speakers)]
    for read, author in zip(reads, authors, strict=True):
        letters = [read.words[first].text[0] for first, _ in read.sentences]
        small[author] += sum(map(str.islower, letters)) - sum(map(str.isupper, letters))
    for read, author, some, places in zip(reads, authors, found, taken, strict=True):
        context = Context(places, people, small[author] >= 0)
        for first, stop in read.sentences if read.readable else ():
            some.extend(find_in_sentence(read, first, stop, next(tagged), context))
        yield


# -- what the call agrees on --------------------------------------------------------------------------------------


def lone_parts(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The first names and surnames that belong to one of some names alone, each with the whole name."""
    whole = sorted({*names})
    parts = Counter(part for name in whole if " " in name for part in {name.split()[0], name.split()[-1]})
    return ((part, name) for name in whole for part in name.split() if parts[part] == 1)


def _people(speakers: Iterable[str]) -> dict[str, str]:
    """Speakers, and their first names and surnames where these belong to one of them alone."""
    whole = sorted({" ".join(each.split()) for each in speakers if each})
    alone = (part for part, _ in lone_parts(whole) if len(part) > 2)  # noqa: PLR2004
    called = [part for part in alone if not mark(part.casefold()) & ORDINARY or mark(part.casefold()) & GIVEN]
    return dict.fromkeys((*map(key, whole), *map(key, called)), "person")


def _agreed_kinds(found: Sequence[Sequence[Mention]], people: Mapping[str, str]) -> dict[str, _Kind]:
    """The kind of each form: what its words show, or what most of its mentions say."""
    votes: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    hard: dict[str, _Kind] = {}
    for each in (each for some in found for each in some):
        form = key(each.name)
        if each.kind == NATIONALITY:
            continue
        if each.hard:
            hard[form] = _Kind(each.kind, hard=True, type=each.type)
        elif form not in hard:
            votes[form][each.kind] += max(0.5, each.sure)
    coined = {key(each.name) for some in found for each in some if not each.type and is_coined(each.name)}
    hard = {form: kind for form, kind in hard.items() if kind.kind != "person" or form not in coined}
    kinds = {form: _Kind(_voted(form, count), hard=False) for form, count in votes.items()}
    for form in [form for form, (kind, *_) in kinds.items() if kind == "person" and form.count(" ") == 1]:
        for part in form.split():  # "Berg" of "Jo Berg" is he
            if part in kinds and not mark(part) & PLACE:
                kinds[part] = _Kind("person", hard=False)
    return kinds | hard | {form: _Kind("person", hard=True) for form in people}


def _voted(form: str, votes: Mapping[str, float]) -> str:
    """The kind that has most votes; "" if it leads by too few for what the tagger alone says."""
    ordered = sorted(votes, key=lambda kind: (-votes[kind], kind))
    lead = votes[ordered[0]] - (votes[ordered[1]] if len(ordered) > 1 else 0.0)
    least = _LEAST_LEADS.get((ordered[0], " " in form), 1.0)
    return ordered[0] if lead >= least else ""


def _forms(found: Sequence[Sequence[Mention]], people: Iterable[str]) -> WordIndex[frozenset[str]]:
    """The forms that are surely names, to be found in any case, and others with how they are written."""
    sure: set[str] = {form for form in people if not mark(form) & GRAMMAR}
    cased: dict[str, set[str]] = defaultdict(set, {form: {form.capitalize()} for form in people})
    for each in (each for some in found for each in some):
        if each.type or each.kind == NATIONALITY:
            continue
        form = key(each.name)
        known = mark(form) if " " not in form else 0
        if each.sure >= SURE and len(form) > 2 and not known & ORDINARY:  # noqa: PLR2004
            sure.add(form)
        if each.cased:
            cased[form].add(each.name)
    index: WordIndex[frozenset[str]] = WordIndex()
    for form in {*sure, *cased}:
        index.add(name_words(form), frozenset() if form in sure else frozenset(cased[form]))
    return index


def _without_ordinary(reads: Sequence[Read], found: Sequence[list[Mention]]) -> None:
    """Drop ordinary words with a capital that the call also writes without one: emphasis, or the title of an office.

    One that has a capital only once, where the tagger sees no name, is dropped, too.
    """
    cased: Counter[str] = Counter()
    sure: Counter[str] = Counter()
    for read, each in ((read, each) for read, some in zip(reads, found, strict=True) for each in some):
        if _is_weak(each):
            form = each.name.casefold()
            given = each.first > 0 and read.lows[each.first - 1] in _NAMING
            cased[form] += 1
            sure[form] += each.sure > ONE or given or bool(mark(form) & CAPITALISED)
    small = Counter(
        low
        for read in reads
        for word, low in zip(read.words, read.lows, strict=True)
        if low in cased and word.text == low
    )
    dropped = {form for form, count in cased.items() if small[form] >= count or (count == 1 and not sure[form])}
    if dropped:
        for some in found:
            some[:] = [each for each in some if not (_is_weak(each) and each.name.casefold() in dropped)]


def _is_weak(each: Mention) -> bool:
    """Whether only its capital shows that a word is a name."""
    if each.hard or each.sure >= MATCHED or each.end != each.first + 1:
        return False
    known = mark(each.name.casefold())
    return bool(known & ORDINARY) and not known & (GIVEN | PLACE) and each.name != each.name.casefold()


# -- what each text shows by the others ---------------------------------------------------------------------------


def _at(read: Read, first: int, end: int, sure: float, name: str = "") -> Mention:
    return Mention(first, end, name or read.text[read.words[first].start : read.words[end - 1].end], "", sure)


def _places(some: Iterable[Mention]) -> set[int]:
    return {place for each in some for place in range(each.first, each.end)}


def _add(found: list[Mention], taken: set[int], mention: Mention) -> None:
    """Add a mention where no other one is."""
    places = range(mention.first, mention.end)
    if taken.isdisjoint(places):
        taken.update(places)
        found.append(mention)


def _add_matches(read: Read, some: list[Mention], forms: WordIndex[frozenset[str]]) -> None:
    """Add the places of forms; a longer one replaces those inside of it."""
    owners = {place: each for each in some for place in range(each.first, each.end)}
    replaced: set[Mention] = set()
    for first, end, form in forms.find(read.lows):
        written = read.text[read.words[first].start : read.words[end - 1].end]
        if form and written not in form:
            continue
        inside = {owners[place] for place in range(first, end) if place in owners}
        if any(each.end - each.first >= end - first or each.type for each in inside):
            continue
        replaced |= inside
        mention = _at(read, first, end, MATCHED)
        some.append(mention)
        for place in range(first, end):
            owners[place] = mention
    if replaced:
        some[:] = [each for each in some if each not in replaced]


def _add_meant(read: Read, some: list[Mention], heads: Mapping[str, str]) -> None:
    """Add "the portal" where it stands for a longer name, and describes no noun."""
    lows, taken = read.lows, _places(some) if heads else set[int]()
    for place, low in enumerate(lows[1:], 1) if heads else ():
        if lows[place - 1] == "the" and (whole := heads.get(low)):
            describes = place + 1 < len(lows) and read.marks[place + 1] & (GROUP | FIRM)
            if not describes:
                _add(some, taken, _at(read, place - 1, place + 1, MEANT, whole))


def _finished(
    read: Read,
    some: Iterable[Mention],
    kinds: Mapping[str, _Kind],
    counts: Mapping[str, int],
    same: tuple[tuple[str, str], ...],
) -> Read:
    """A text with its mentions in order, each with the kind that the call agrees on."""
    mentions, aside = [], []
    for each in sorted(some):
        form = key(each.name)
        if each.kind == NATIONALITY and form not in kinds:
            aside.append(each)
            continue
        kind = kinds.get(form) or _Kind(own_kind(each.name) or each.kind, hard=False)
        if each.hard:
            kind = _Kind(each.kind, hard=True, type=each.type)
        sure = kind.kind == "person" and " " in each.name and each.sure >= SURE_PERSON
        mentions.append(
            each._replace(
                kind=kind.kind,
                hard=kind.hard or sure,
                type=kind.type,
                faint=_is_faint(each, counts[form], hard=kind.hard),
            )
        )
    return read._replace(mentions=mentions, same=same, aside=aside)


def _is_faint(mention: Mention, count: int, *, hard: bool) -> bool:
    """Whether too little speaks for a name to be one that nothing is stated of; it stands once in the call."""
    if count > 1 or mention.type or mention.sure > FAINT:
        return False
    words = mention.name.casefold().split()
    marks = [mark(word) for word in words]
    if any(known & (GIVEN | PLACE) and not known & GRAMMAR for known in marks):
        return False
    if len(words) > 1:  # "the harbour choir", "yonger brother"
        ordinary = [known & ORDINARY > 0 for known in marks]
        return mention.name.islower() and mention.sure < (MATCHED if hard and all(ordinary) else SURE * any(ordinary))
    if mention.name.islower():
        return not hard and not marks[0] & CAPITALISED
    weak = marks[0] & ORDINARY and not marks[0] & CAPITALISED and not mention.cased
    return bool(weak) and not hard and mention.sure < SURE


def _same(
    read: Read, mentions: Iterable[Mention], declared: Iterable[tuple[str, str, int]], firms: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Pairs of a short name and the whole one: declared, which may be the last name before, or a firm's first word."""
    named = sorted((read.words[each.first].start, each.name) for each in mentions if each.kind in ("person", ""))
    for short, whole, start in declared:
        before = bisect_left(named, (start,))
        last = next((name for _, name in reversed(named[max(0, before - 3) : before]) if key(name) != key(short)), "")
        if (meant := whole or last) and key(meant) != key(short):
            yield short, meant
    yield from (
        (each.name, firms[key(each.name)]) for each in mentions if each.kind != "person" and key(each.name) in firms
    )
    yield from _given_names(mentions)


def _given_names(mentions: Iterable[Mention]) -> Iterator[tuple[str, str]]:
    """Pairs of a given name and the one person whom the text names in full: "Mira Olsen left. Mira has moved"."""
    people = (each.name for each in mentions if each.kind == "person")
    whole = {part: name for part, name in lone_parts(people) if name.startswith(f"{part} ")}
    for each in mentions:
        if each.name in whole and not each.type and each.kind in ("person", ""):
            yield each.name, whole[each.name]
