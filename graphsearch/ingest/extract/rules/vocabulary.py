"""Names known beforehand, in any case: tools and products of a vocabulary, and names that users add.

Names that are also ordinary words ("excel", "teams") count only beside words of use or of change: "uses excel", "moved
from excel to teams".
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import Final

import attrs

from graphsearch.model import validation as check
from graphsearch.names.known_tools import known_tools
from graphsearch.text.name_spans import NameSpan
from graphsearch.text.word_lists import COMMON, ascii_words

TOOL: Final = "tool"
VOCABULARY: Final = "vocabulary"
KNOWN_CONFIDENCE: Final = 0.85
_CAPITAL_NEXT: Final = re.compile(r" (?!I\b)[A-Z][a-z]")
_CAPITAL_LAST: Final = re.compile(r"(?<!\w)([A-Z][\w'’-]{0,60}) $")
_NO_WORD: Final = b""
"""In place of the first word of names without a letter of ASCII."""
_REACH: Final = 60
"""Characters before a plain word that show its role in the sentence."""
_OURS: Final = "(?:the |our |my |their |his |her |its )?"
_USED: Final = re.compile(
    r"\b(?:us(?:e|es|ed|ing)|(?:run|runs|ran|running|built|hosted|deployed|based) on|(?:built|made|written|coded|drawn"
    r"|modelled|drafted) (?:in|with)|install(?:s|ed|ing)?|adopt(?:s|ed|ing)?|(?:switch|mov|migrat|chang"
    r"|upgrad)(?:e|es|ed"
    rf"|ing)? (?:(?!to\b)[a-z]+ ){{0,4}}?(?:to|from|off)|depend(?:s|ed|ing)? on|rel(?:y|ies|ied|ying) on) {_OURS}$",
    re.IGNORECASE,
)
_BESIDE: Final = re.compile(r"(?:, | ?/ ?| & | plus |,? (?:and|or|to|into|over to) )")
_FROM: Final = re.compile(rf"\b(?:from|off) {_OURS}$", re.IGNORECASE)
_CHANGE: Final = re.compile(rf" (?:over )?(?:to|into|onto) {_OURS}")
_MIGRATING: Final = "(?:migrat(?:ed|es|e|ing)|port(?:ed|ing)?)"
_CHANGING: Final = (
    rf"(?:switch(?:ed|es|ing)?|mov(?:ed|es|e|ing)|{_MIGRATING}|upgrad(?:ed|es|e|ing)|convert(?:ed|s|ing)?)"
)
_REPLACING: Final = "replac(?:ed|e|es|ing)|swap(?:ped|ping)?"
_OTHER: Final = r"(?P<name>[A-Z][\w-]*(?: [A-Z][\w-]*){1,2}|[A-Za-z][\w-]*(?:\.[a-z]\w*)?)"
_CHANGED_FROM: Final = re.compile(
    rf"\b(?:{_CHANGING}(?: (?!to\b)[a-z-]+){{0,4}} (?:from|off)|{_REPLACING}) {_OURS}$",
    re.IGNORECASE,
)
_REPLACED: Final = re.compile(rf"\b(?:{_REPLACING}|{_MIGRATING} (?:from|off)) {_OURS}$", re.IGNORECASE)
_CHANGED_TO: Final = re.compile(
    rf" (?:(?:over )?(?:to|onto)|with|by|for) {_OURS}{_OTHER}(?=\W*$|[.,;:!?)]| (?:in|on|at|for|last|this|next|because"
    r"|since|when|after|before|and|but|so|as|during|over|yesterday|today|now|instead)\b)"
)
_CHANGED_FROM_OTHER: Final = re.compile(
    rf"\b{_CHANGING}(?: (?!to\b)[a-z-]+){{0,4}} (?:from|off) {_OURS}{_OTHER} (?:over )?(?:to|onto) {_OURS}$"
)
_CHANGED_CONFIDENCE: Final = 0.75
_AT: Final = re.compile(r"\b(?:in|on|via|over|through|with|into|to|from) $")
_FOLLOWING: Final = re.compile(
    r"(?=\W{0,9}$|[.,;:!?)\"”]|/| (?:and|or|but|so|for|to|in|on|at|as|with|from|because|since|every|daily|all|instead"
    r"|now|again"
    r"|too|already|last|this|next|when|while|like|by|via|over|these|is|are|was|than|before|after|until|here|there|and|mostly"
    r"|everywhere|together|any|anymore|who|which|that|if|i|we|he|she|they|you|yesterday|today)\b)",
    re.IGNORECASE,
)


@attrs.frozen(kw_only=True)
class KnownName:
    """A name that a text may contain in any case: its entity type, and other spellings of it.

    Raises `InvalidInputError` for a name, a type or an alias that is no text.
    """

    name: str
    type: str = TOOL
    aliases: tuple[str, ...] = attrs.field(default=(), converter=check.as_tuple)

    def __attrs_post_init__(self) -> None:
        check.refuse(
            f"known name {self.name!r}",
            check.text("name", self.name),
            check.text("type", self.type),
            check.texts("aliases", self.aliases),
        )


@attrs.frozen
class _Spelling:
    """A spelling of a known name. ``plain``: it is an ordinary word; ``mass``: even without an article."""

    written: str
    known: KnownName
    plain: bool = False
    mass: bool = False

    @property
    def regex(self) -> re.Pattern[str]:
        return _regex(self.written)


@lru_cache(maxsize=4096)
def _regex(written: str) -> re.Pattern[str]:
    words = r"\s+".join(re.escape(word) for word in written.split())
    return re.compile(rf"(?<![\w@/.-]){words}(?![\w@/]|-\w|\.\w)", re.IGNORECASE)


@attrs.frozen(eq=False)
class Vocabulary:
    """Known names, indexed by the first word of each spelling."""

    by_word: Mapping[bytes, Sequence[_Spelling]]
    digest: str = ""
    """A digest of the names that a user added; empty if there are none."""

    @classmethod
    def of(cls, added: Iterable[KnownName] = ()) -> Vocabulary:
        """The vocabulary of tools, and added names, which replace equal spellings of the tools."""
        own = [_Spelling(written, each) for each in added for written in (each.name, *each.aliases)]
        index: defaultdict[bytes, dict[str, _Spelling]] = defaultdict(dict)
        for spelling in (*_tools(), *own):
            index[_first_word(spelling.written)][spelling.written.casefold()] = spelling
        listed = sorted((each.known.type, each.known.name, each.written) for each in own)
        digest = hashlib.sha256(repr(listed).encode()).hexdigest()[:12] if listed else ""
        return cls({word: tuple(found.values()) for word, found in index.items()}, digest)

    def find(self, text: str) -> list[FoundName]:
        """The known names in a text, in order, the longest where they overlap; in time linear in the text."""
        present = self.by_word.keys() & ascii_words(text)
        if not text.isascii() and _NO_WORD in self.by_word:
            present.add(_NO_WORD)
        if not present:
            return []
        matches = [
            _Candidate(match.start(), match.end(), each)
            for word in present
            for each in self.by_word[word]
            for match in each.regex.finditer(text)
        ]
        return [each.found for each in _accepted(text, _without_overlaps(matches))]


def changed_names(text: str, found: Sequence[FoundName]) -> Iterator[NameSpan]:
    """Unknown words that a change puts beside a known tool: "moved from terraform to pulumi", "replaced redis with x".

    What something is replaced by is of the same kind. The word is one that is no ordinary word.
    """
    for each in found:
        if each.known.type != TOOL:
            continue
        before = max(0, each.start - _REACH)
        after = _CHANGED_TO.match(text, each.end) if _CHANGED_FROM.search(text, before, each.start) else None
        for match in (after, _CHANGED_FROM_OTHER.search(text, before, each.start)):
            if match and _is_changed(text[before : each.start], match["name"]):
                start, end = match.span("name")
                yield NameSpan(start=start, end=end, type=TOOL, confidence=_CHANGED_CONFIDENCE, pattern="changed")


def _is_changed(before: str, written: str) -> bool:
    """Whether a word beside a change may be a tool; a firm that somebody moves to is written with a capital, too."""
    if written.casefold() in COMMON or written[-1].isupper():
        return False
    return written[0].islower() or _REPLACED.search(before) is not None


def _first_word(written: str) -> bytes:
    return next(iter(ascii_words(written)), _NO_WORD)


@attrs.frozen
class FoundName:
    """A known name at [start, end) of a text."""

    start: int
    end: int
    known: KnownName

    @property
    def span(self) -> NameSpan:
        """The name as a span of the text."""
        return NameSpan(
            start=self.start, end=self.end, type=self.known.type, confidence=KNOWN_CONFIDENCE, pattern=VOCABULARY
        )


@attrs.define
class _Candidate:
    """A spelling at [start, end) of a text."""

    start: int
    end: int
    spelling: _Spelling

    @property
    def found(self) -> FoundName:
        return FoundName(self.start, self.end, self.spelling.known)


@cache
def _tools() -> tuple[_Spelling, ...]:
    return tuple(
        _Spelling(written, KnownName(name=name, aliases=others), section != "sure", section == "mass")
        for section, tools in known_tools().items()
        for name, others in tools.items()
        for written in ((name, *others) if section == "sure" or not others else others)
    )


@cache
def default_vocabulary() -> Vocabulary:
    """The vocabulary of tools alone."""
    return Vocabulary.of()


def _without_overlaps(matches: Iterable[_Candidate]) -> list[_Candidate]:
    kept: list[_Candidate] = []
    for each in sorted(matches, key=lambda each: (each.start, -each.end)):
        if not kept or each.start >= kept[-1].end:
            kept.append(each)
    return kept


def _accepted(text: str, matches: Sequence[_Candidate]) -> list[_Candidate]:
    """The candidates that are names by themselves, or in a list or a change with others that are."""
    sure = [_is_name(text, each) for each in matches]
    gaps = [text[one.end : other.start] for one, other in pairwise(matches)]
    for at, gap in enumerate(gaps):
        if _CHANGE.fullmatch(gap) and _FROM.search(text, max(0, matches[at].start - _REACH), matches[at].start):
            sure[at] = sure[at + 1] = True
    for at, gap in enumerate(gaps):
        sure[at + 1] |= sure[at] and _BESIDE.fullmatch(gap) is not None
    for at in reversed(range(len(gaps))):
        sure[at] |= sure[at + 1] and _BESIDE.fullmatch(gaps[at]) is not None
    return [each for each, is_name in zip(matches, sure, strict=True) if is_name]


def _is_name(text: str, each: _Candidate) -> bool:
    before = max(0, each.start - _REACH)
    capital = text[each.start].isupper()
    if capital and _in_longer_name(text, each, before):
        return False
    if not each.spelling.plain:
        return True
    if not _FOLLOWING.match(text, each.end):
        return False
    if capital and _AT.search(text, before, each.start):
        return True
    return (capital or not each.spelling.mass) and _USED.search(text, before, each.start) is not None


def _in_longer_name(text: str, each: _Candidate, before: int) -> bool:
    """Whether a capitalised word next to a capitalised name makes a longer one, as "GitHub Actions"."""
    if _CAPITAL_NEXT.match(text, each.end):
        return True
    last = _CAPITAL_LAST.search(text, before, each.start)
    return last is not None and last[1].casefold() not in COMMON
