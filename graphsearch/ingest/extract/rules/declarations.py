"""Aliases that a text declares: "call me Dilly", "Bea Lorne, Bea for short", "everyone says the portal"."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import attrs

from graphsearch.names.comparing import FEW, initials_of
from graphsearch.names.forms import plain_form
from graphsearch.names.given_names import formal_names
from graphsearch.text import word_lists as known
from graphsearch.text.sentences import sentences
from graphsearch.text.word_lists import word_set

# Followed by no letter: only whole parts are given back, and a part is entered at its head.
_WORD: Final = r"\b[A-Z](?:\w++|['’-]++\w++)(?:['’-]++\w++){0,3}"
_SHORT: Final = rf"[\"“']?(?P<short>{_WORD}(?: {_WORD})?)"
_ONE: Final = rf"[\"“']?(?P<short>{_WORD})"
_FULL: Final = rf"(?P<full>{_WORD}(?: {_WORD}){{0,4}})"
_THE: Final = r"the [a-z][\w-]+(?: [a-z][\w-]+)??(?=[\"”',.;:!?)]| from | for | now| too|$)"
_SMALL: Final = rf"[\"“']?(?P<short>{_THE})"
_EITHER: Final = rf"[\"“']?(?P<short>{_THE}|{_WORD}(?: {_WORD})?)"
_CALLED: Final = (
    r"(?:(?:better |also |otherwise |generally )?known (?:to \w+(?: \w+)? )?as|a\.?k\.?a\.?,?|alias|nicknamed|dubbed"
    r"|or just"
    "|or simply)"
)
_TO_FRIENDS: Final = (
    r"(?:for short|to (?:(?:all )?(?:my|her|his|their|our) )?(?:friends|mates|pals|colleagues|family|everyone|everybody"
    "|most people|us|most)|from now on|hereafter)"
)
_NOT: Final = r"(?<!n't )(?<!n’t )(?<![Nn]ever )(?<!not )(?<!obody )"

# Names of the speaker, of any spelling; and patterns that count only if the name resembles the speaker's.
_OWN: Final = (
    re.compile(rf"{_NOT}\b(?i:call|calls|called|calling) me (?:just )?{_ONE}"),
    re.compile(rf"\b(?:I|i) (?:just )?go by {_ONE}"),
    re.compile(rf"\b(?:I'm|I am|i'm|I’m) (?:better |also |usually )?(?:known (?:to \w+ )?as|called) {_ONE}"),
    re.compile(rf"\b[Mm]y (?:nickname|nick|short name)(?: is|'s|’s) {_ONE}"),
)
_OWN_IF_ALIKE: Final = (
    re.compile(rf"(?:^|[,.;:!(] ?|\b(?:so|but|just|or|it's|It's|I'm|prefer|and) ){_ONE}[\"”']?,? {_TO_FRIENDS}\b"),
    re.compile(rf"\b(?:I|i) (?:only )?(?:answer|listen) to {_ONE}"),
    re.compile(rf"\b{_ONE}[\"”']? (?:will|'ll|’ll) do\b"),
    re.compile(rf"^(?:\w+\W+)?{_ONE} here\b"),
    re.compile(rf"(?:,|\bor|,? but)(?: \w+){{0,2}} {_CALLED} {_ONE}"),
    re.compile(rf"^{_WORD}(?: {_WORD})*,? {_CALLED} {_ONE}"),
)
_INTRODUCED: Final = (
    re.compile(
        rf"(?:^|[,;:.!] |\b(?:but|so|though|or|just) ){_ONE}[\"”']?(?: is|'s|’s) (?:just )?"
        r"(?:fine|plenty|enough|ok|okay|quicker|easier|better)\b"
    ),
)
_OWN_IF_MUCH_ALIKE: Final = (
    re.compile(rf"(?:^|\b(?:so|but|just|or|it's|It's|is|say|to|as|prefer) ){_ONE}[\"”']?(?:,? please|[.!]|$)"),
    re.compile(
        r"^(?:(?i:hi|hello|hey|morning|right|ok|okay)\W+(?:(?:all|everyone|folks|team|there)\W+)?)?"
        rf"(?:[Ii]t's |[Tt]his is |I'm |I am )?{_ONE}[,.]"
    ),
)
# Aliases of a name in the same sentence.
_OTHERS: Final = (
    re.compile(rf"{_FULL}(?:,| is| was)? \(?{_CALLED} {_EITHER}"),
    re.compile(rf"{_FULL},? (?:\(|- |– |or )?{_EITHER}[\"”']?,? {_TO_FRIENDS}\b"),
    re.compile(rf"\b{_FULL} (?:goes by|prefers|likes to be called|wants to be called) {_SHORT}"),
)
_OTHERS_IF_ALIKE: Final = (
    re.compile(rf"\b(?P<full>{_WORD}(?: {_WORD}){{0,3}}) \({_ONE}\)"),
    re.compile(rf"\b(?P<full>{_WORD}(?: {_WORD}){{0,3}}), or {_ONE}(?=[,.;!]|$)"),
    re.compile(rf"\b{_ONE},? (?:is |that's )?short for {_FULL}"),
    re.compile(rf"\b(?:calls?|called) (?P<full>{_WORD}) {_ONE}"),
    re.compile(rf"\b{_FULL} answers to {_ONE}"),
)
# Acronyms: the letters prove the name, whose small words may be left out of them.
_LETTERS: Final = r"[\"“']?(?P<short>[A-Z][A-Z&]{1,6})\b[\"”']?"
_EXPANSION: Final = rf"(?P<full>{_WORD}(?:(?: (?:of|for|and|the|on|in|de|du|des|la|las|los|&)){{0,3}} {_WORD}){{1,6}})"
_ACRONYMS: Final = (
    re.compile(rf"\b{_EXPANSION},? \((?:or |hereafter |henceforth |the |aka |short: ?)*{_LETTERS}\)"),
    re.compile(rf"\b{_LETTERS} \((?:the |for )?{_EXPANSION}\)"),
    re.compile(
        rf"\b{_LETTERS},?(?: which)? (?:stands for|means|abbreviates"
        r"|is (?:short|(?:the|an?) (?:acronym|abbreviation|short form)) (?:of|for))"
        rf" (?:the )?[\"“']?{_EXPANSION}"
    ),
    re.compile(rf"\b{_EXPANSION},? (?:(?:is )?(?:abbreviated|shortened)(?: as| to)?|is called|or) {_LETTERS}"),
)
_NICKED: Final = re.compile(rf"\b(?P<given>{_WORD}) [\"“(](?P<short>{_WORD})[\"”)] (?P<family>{_WORD})")
# Aliases of a name in the sentence before, or earlier in the same one.
_THAT: Final = (
    re.compile(
        rf"\b(?:He|She|They|he|she|they) (?:goes by|go by|is known as|are known as|prefers|answers to|likes to be "
        rf"called) {_SHORT}"
    ),
    re.compile(rf"\b(?:calls?|called|call) (?:him|her|them) (?:just )?{_ONE}"),
    re.compile(
        rf"\b(?:calls?|called|say|says|dub|dubbed|nicknamed)(?: it| this| that| the thing)?(?: just| simply)? {_SMALL}"
    ),
    re.compile(rf"\b{_CALLED} {_SMALL}"),
    re.compile(rf"{_SMALL} {_TO_FRIENDS}\b"),
)
# Every declaration contains one of these words and one of these substrings, so most texts need no full search.
_CUE_WORDS: Final = word_set(
    "call calls called calling short known goes go prefers prefer aka alias nickname nick nicknamed dubbed just simply "
    "friends mates pals colleagues family everyone everybody us most do here answer answers listen from hereafter "
    "say says or stands means abbreviates abbreviated abbreviation acronym shortened"
)
_CUES: Final = (
    *(
        "call me",
        "calls ",
        "called me",
        "calling me",
        "call him",
        "call her",
        "call them",
        "call it",
        "m called ",
        "called it",
    ),
    *(
        "called the",
        "called him",
        "called her",
        "for short",
        "short for",
        "short name",
        "known as",
        "known to",
        "s by ",
    ),
    *("go by ", "prefer", "aka ", "alias", "nick", "dubbed", "or just", "or simply", " friends", " mates", " pals"),
    *(
        " colleagues",
        "to everyone",
        "to everybody",
        " family",
        "to us",
        "to most",
        "ll do",
        " here",
        "wer to ",
        "wers to ",
    ),
    *("stands for", "means ", "abbreviat", "acronym", "shortened", " is called "),
    *("listen to ", "from now on", "hereafter", ", or ", 'say "', "say “", "say the ", "says the ", 'says "', "says “"),
)
_POINTS: Final = str.maketrans(dict.fromkeys(".,;:!?()\"'“”’", " "))
_ASIDE: Final = re.compile(r"[\"“(][A-Z][\w'’-]+[\"”)]|[A-Z] \([\"“a-z]*[ \"“]?[A-Z]|[A-Za-z] \([a-z :]*[\"“]?[A-Z]{2}")
_NO_NAMES: Final = known.COMMON | known.HONORIFICS | known.NEVER_NAMES
_CAPITALS: Final = re.compile(rf"{_WORD}(?: {_WORD})*")
_ALIKE: Final = 3
"""Letters that an alias shares with the name that it abbreviates."""


Resembles = Callable[[str, str], bool]
"""Whether an alias may abbreviate a name."""


@attrs.frozen
class DeclaredAlias:
    """An alias as written, and the name that it abbreviates."""

    short: str
    full: str


def declarations(text: str, speaker: str, *, first: bool) -> Iterator[DeclaredAlias]:
    """The aliases declared in a text; "I" is the ``speaker``, empty if unknown.

    ``first``: it is the first text of the speaker, where people introduce themselves.
    """
    first = first and bool(speaker)
    if not (first or _cued(text)):
        return
    before = ""
    for span in sentences(text):
        sentence = text[span.start : span.end]
        if _cued(sentence):
            yield from _declared(sentence, before, speaker)
        if first:
            yield from _introduced(sentence, speaker)
        before = sentence


def _cued(text: str) -> bool:
    small = text.lower()
    if ("(" in text or '"' in text or "“" in text) and _ASIDE.search(text):
        return True
    if _CUE_WORDS.isdisjoint(small.translate(_POINTS).split()):
        return "a.k.a" in small
    return any(cue in small for cue in _CUES)


def _introduced(sentence: str, speaker: str) -> Iterator[DeclaredAlias]:
    yield from _own(sentence, speaker, _INTRODUCED, alike)
    yield from _own(sentence, speaker, _OWN_IF_MUCH_ALIKE, much_alike)


def _declared(sentence: str, before: str, speaker: str) -> Iterator[DeclaredAlias]:
    if speaker:
        yield from _own(sentence, speaker, _OWN, _any_name)
        yield from _own(sentence, speaker, _OWN_IF_ALIKE, alike)
    for match in _NICKED.finditer(sentence):
        yield DeclaredAlias(match["short"], f"{match['given']} {match['family']}")
    yield from _of_names(sentence, _OTHERS, _any_name)
    yield from _of_names(sentence, _OTHERS_IF_ALIKE, alike)
    for match in (match for rule in _ACRONYMS for match in rule.finditer(sentence)):
        yield from _expanded(match["short"], match["full"])
    for match in (match for rule in _THAT for match in rule.finditer(sentence)):
        full = _named(match["short"], sentence[: match.start()]) or _named(match["short"], before)
        if full and _may_be_called(match["short"], full):
            yield DeclaredAlias(match["short"], full)


def _own(
    sentence: str, speaker: str, rules: Sequence[re.Pattern[str]], resembles: Resembles
) -> Iterator[DeclaredAlias]:
    """DeclaredAlias aliases of the speaker."""
    for match in (match for rule in rules for match in rule.finditer(sentence)):
        if _may_be_called(match["short"], speaker) and resembles(match["short"], speaker):
            yield DeclaredAlias(match["short"], speaker)


def _of_names(sentence: str, rules: Sequence[re.Pattern[str]], resembles: Resembles) -> Iterator[DeclaredAlias]:
    """DeclaredAlias aliases of a name next to them."""
    for match in (match for rule in rules for match in rule.finditer(sentence)):
        full = _bare(match["full"])
        if full and _may_be_called(match["short"], full) and resembles(match["short"], full):
            yield DeclaredAlias(match["short"], full)


def _expanded(short: str, full: str) -> Iterator[DeclaredAlias]:
    """The last words of a name of which an acronym has the initials: "Our World Health Organization (WHO)"."""
    words = full.split()
    for start in range(len(words) - 1):
        rest = " ".join(words[start:])
        if words[start][0] == short[0] and initials_of(plain_form(short), plain_form(rest), FEW):
            yield DeclaredAlias(short, rest)
            return


def _any_name(short: str, full: str) -> bool:  # noqa: ARG001 - the wording suffices
    return True


def alike(short: str, full: str) -> bool:
    """Whether an alias may abbreviate a name, given the wording: they share an initial or are `much_alike`."""
    letters = short.casefold()
    return any(word[0] == letters[0] for word in full.casefold().split()) or much_alike(short, full)


def much_alike(short: str, full: str) -> bool:
    """Whether an alias clearly abbreviates a name: by initials, a nickname, or three letters of one of its words.

    "Gus" is in Augustine, "Rosie" begins like Rosamund, "Peggy" is Margaret by the table of given names.
    """
    letters, names = short.casefold(), full.casefold().split()
    if len(names) > 1 and letters == "".join(word[0] for word in names):
        return True
    start = letters[:_ALIKE]
    return any(
        (start in word if len(letters) >= _ALIKE else word.startswith(letters))
        or not formal_names().get(letters, frozenset()).isdisjoint({word})
        for word in names
    )


def _may_be_called(short: str, full: str) -> bool:
    """Whether an alias differs from the name, and is no common word."""
    words = short.casefold().split()
    if short.startswith("the "):
        return words[-1] not in known.GRAMMAR
    return not any(word in _NO_NAMES for word in words) and not set(words) <= set(full.casefold().split())


def _bare(written: str) -> str:
    """A name without the common words at its beginning."""
    words = written.split()
    while words and words[0].casefold() in known.COMMON:
        words = words[1:]
    return " ".join(words)


def _named(short: str, text: str) -> str:
    """The only name in a text, or the only one that contains the last word of the alias; empty if ambiguous."""
    found = list(dict.fromkeys(name for match in _CAPITALS.finditer(text) if (name := _bare(match[0]))))
    head = short.rsplit(maxsplit=1)[-1].casefold()
    heading = [name for name in found if head in name.casefold().split()]
    chosen = heading or found
    return chosen[0] if len(chosen) == 1 else ""
