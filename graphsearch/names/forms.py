"""Names parsed as the names of a kind: their words, folded, without the words around them that are no part of them."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Any, Final

import attrs

from graphsearch.names.slips import SHORTEST
from graphsearch.names.vocabulary import is_nickname, short_forms, words
from graphsearch.text.trigrams import SMALL_WORDS, spoken_words

_NUMBERS: Final = re.compile(r"\d+|[+#]+")
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_AROUND: Final = " \"'`“”„«»‘’,;:!?"
_POSSESSIVE: Final = re.compile(r"['’]s?$", re.IGNORECASE)
_INVISIBLE: Final = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060\ufeff]")
_DASHES: Final = re.compile("[\u2010-\u2015\u2212]")
_DOTTED: Final = re.compile(r"\b(?:[^\W\d_]\.\s?){2,}|\b(?:[^\W\d_]\.)+[^\W\d_]\b")
_DOMAIN: Final = re.compile(r"(?<=\w)\.(?:com|org|net|io|ai|co)\b", re.IGNORECASE)
_VERSION: Final = re.compile(
    r"(?:(?<=\S)\s+v?|(?<=\S)[\s@-]v)(\d+(?:\.\d+)*)$|(?<=[a-z])(\d+(?:\.\d+)+)$", re.IGNORECASE
)
_JAVASCRIPT: Final = re.compile(r"(?<=\w\w)[\s.]?js$", re.IGNORECASE)
_SLASHES: Final = re.compile(r"[/\\]+")
_LINE_NUMBER: Final = re.compile(r"(?<=\w)(?:(?::\d++){1,3}|#L\d+(?:-L?\d+)?)$")
_ABOUT_A_FILE: Final = re.compile(r"^(?:the\s+)?(?:file\s+)?|(?<!\s)\s++file$", re.IGNORECASE)
_TRANSCRIBED: Final = re.compile(r"([aou])e|(a)a")
_SKI: Final = re.compile(r"(?<=sk)(?:y|iy|ii|yi|ij|yj)$")


@attrs.frozen(kw_only=True, slots=False, eq=False)
class Form:
    """A name parsed as the name of one kind of entity.

    * ``kind``: "person", "organisation", "project", "place", "tool", "file", "exact", or "" for any other.
    * ``shown``: the name without quotes, titles and the like; the name of a new entity.
    * ``words``: its folded words.
    * ``stem``: its normal form without a version.
    * ``keys``: its normal forms. Names that share one are equal.
    * ``mark``: what is no part of it but tells others apart: "jr", a tool's version, whether there was a legal form.
    * ``single``: whether it is one word, perhaps a compound.
    """

    kind: str
    shown: str
    words: tuple[str, ...]
    stem: str
    keys: frozenset[str]
    single: bool
    mark: str = ""

    @cached_property
    def whole(self) -> str:
        """Its words as one."""
        return "".join(self.words)

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """Its words with camelCase split, for its initials."""
        if self.kind in ("person", "file", "exact"):
            return self.words
        return without_the(spoken_words(_CAMEL.sub(" ", self.shown.replace("&", " and ")))) or self.words

    @cached_property
    def numbers(self) -> tuple[str, ...]:
        """Its runs of digits without leading zeros, and signs. Names with different ones denote different entities."""
        return tuple(run.lstrip("0") or "0" for run in _NUMBERS.findall(" ".join(self.words)))

    @cached_property
    def in_capitals(self) -> bool:
        """Whether it is written without lower-case letters, as initials are: "IBM", "P&G", but not "Go"."""
        return self.shown.upper() == self.shown

    @cached_property
    def initials(self) -> frozenset[str]:
        """The initials that may stand for it, with and without small words and legal forms."""
        lawless = tuple(word for word in self.parts if word not in words("kept_legal_forms"))
        return frozenset("".join(word[0] for word in some) for some in (self.parts, significant(self.parts), lawless))

    @cached_property
    def partial(self) -> bool:
        """Whether it may be part of a longer name: one word, or little but initials."""
        if self.kind == "person":
            return self.single or self._full < 2  # noqa: PLR2004 - a given name and a surname
        return len(self.words) == 1 or (self.kind != "file" and not self._full)

    @cached_property
    def rank(self) -> int:
        """How specific it is: the most specific names of a batch are resolved first."""
        if self.kind == "person":
            return 1 if self.single else 3 * self._full + len(self.words) - is_nickname(self.words[0])
        return 2 * len(self.words) + (self.kind == "organisation" and bool(self.mark))

    @cached_property
    def _full(self) -> int:
        return sum(len(word) > 1 for word in self.words)


@lru_cache(maxsize=1 << 14)
def tidy(name: str) -> str:
    """Clean a name: NFKC, whitespace collapsed, without quotes, possessive and closing punctuation."""
    text = _DASHES.sub("-", _INVISIBLE.sub("", unicodedata.normalize("NFKC", name)))
    text = " ".join(text.split())
    while (bare := _POSSESSIVE.sub("", text.strip(_AROUND))) not in {"", text}:
        text = bare
    return text or " ".join(name.split())


def significant(some: Sequence[str]) -> tuple[str, ...]:
    """The words that contribute to initials."""
    return tuple(word for word in some if word not in SMALL_WORDS) or tuple(some)


@lru_cache(maxsize=1 << 14)
def flat(word: str) -> str:
    """Fold both transcriptions of umlauts ("Mueller", "Muller") and the spellings of "-sky"."""
    return _SKI.sub("i", _TRANSCRIBED.sub(r"\1\2", word))


def without_the(some: tuple[str, ...]) -> tuple[str, ...]:
    """Words without a leading "the"."""
    return some[1:] if len(some) > 1 and some[0] == "the" else some


def plain_word(token: str) -> str:
    """A word as written, folded, without dots and hyphens."""
    return "".join(spoken_words(token))


def singular(word: str) -> str:
    """A word of English without the regular end of a plural; words in -ss, -us and -is have none."""
    ends = len(word) >= SHORTEST - 1 and word.isalpha() and word[-1] == "s" and word[-2] not in "siu"
    if not ends or word in words("singulars"):
        return word
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-2] if word.endswith(("sses", "shes", "ches", "xes", "zzes")) else word[:-1]


def plain_form(
    name: str, *, kind: str = "", shown: str = "", words: tuple[str, ...] = (), stem: str = "", **fields: Any
) -> Form:
    """The form of a name of any kind; what is not given is computed."""
    shown = shown or tidy(name)
    words = words or without_the(spoken_words(shown)) or (shown,)
    stem = stem or "".join(words)
    left: dict[str, Any] = {"keys": frozenset((stem,)), "single": len(words) == 1, **fields}
    return Form(kind=kind, shown=shown, words=words, stem=stem, **left)


def thing_form(name: str) -> Form:
    """Parse a name of no known kind: "feature flags" and "feature flag" have one key, "Beatles" has its own."""
    form = plain_form(name)
    if not form.shown.islower():
        return form
    return plain_form(name, stem="".join((*form.words[:-1], singular(form.words[-1]))))


def exact_form(name: str) -> Form:
    """The form of a name that is compared exactly, a call of a function like its name: code, addresses, dates."""
    written = " ".join(unicodedata.normalize("NFKC", name).split())
    text = written.removesuffix("()") or written
    return plain_form(name, kind="exact", shown=text, words=(text,))


def organisation_form(name: str) -> Form:
    """Parse a name as an organisation's: "the Acme Corporation", "Acme, Inc." and "ACME" have one key."""
    tokens = _DOTTED.sub(lambda match: re.sub(r"[.\s]", "", match[0]) + " ", _DOMAIN.sub("", tidy(name))).split()
    while len(tokens) > 1 and tokens[0].casefold() == "the":
        tokens = tokens[1:]
    bare = list(tokens)
    while len(bare) > 1 and (plain_word(bare[-1]) in words("legal_forms") or bare[-1] in {"&", "+"}):
        bare.pop()
    following = tokens[len(bare) :][:1]
    kept = [*bare, *(each for each in following if len(bare) > 1 and plain_word(each) in words("kept_legal_forms"))]
    own = tuple(word.replace("ization", "isation") for word in _normal(" ".join(bare).replace("&", " and ")))
    shown = " ".join(kept).rstrip(",. ")
    return plain_form(name, kind="organisation", shown=shown, words=without_the(own), mark="legal" if following else "")


def project_form(name: str) -> Form:
    """Parse a name as a project's: "Project Phoenix" and "the Phoenix project" are "Phoenix"."""
    tokens = tidy(name).split()
    while len(tokens) > 1 and tokens[0].casefold() in words("project_words"):
        tokens = tokens[1:]
    while len(tokens) > 1 and tokens[-1].casefold() in words("project_words"):
        tokens = tokens[:-1]
    shown = tidy(" ".join(tokens))
    return plain_form(name, kind="project", shown=shown, words=spoken_words(shown.replace("&", " and ")))


def place_form(name: str) -> Form:
    """Parse a name as a place's: "Zürich" and "Zuerich", "Saint-Étienne" and "St. Etienne" have one key."""
    shown = tidy(name)
    own = without_the(_normal(shown)) or (shown,)
    return plain_form(name, kind="place", words=own, keys=frozenset({flat("".join(own))}))


def _normal(text: str) -> tuple[str, ...]:
    """The words of a text in their normal forms: "saint" for "St."."""
    normal = short_forms("word")
    return tuple(normal.get(word, word) for word in spoken_words(text))


def tool_form(name: str) -> Form:
    """Parse a name as a tool's: drop ".js", replace well-known short names.

    A number after a space or a "v", or with a dot in it, is a version ("Python 3", "python3.11"); any other is part of
    the name ("GPT-4", "EC2").
    """
    shown = tidy(name)
    found = _VERSION.search(shown)
    version = (found[1] or found[2]).split(".") if found else []
    bare = shown[: found.start()] if found else shown
    stem = _tool_stem(bare)
    if stem not in short_forms("tool"):
        stem = _tool_stem(_JAVASCRIPT.sub("", bare))
    keys = frozenset({"".join((stem, *version))})
    return plain_form(name, kind="tool", stem=stem, keys=keys, mark=".".join(version))


def _tool_stem(text: str) -> str:
    own: tuple[str, ...] = without_the(spoken_words(text)) or (text,)
    while len(own) > 1 and own[-1] in words("tool_words"):
        own = own[:-1]
    if len(own) > 1:
        own = (short_forms("vendor").get(own[0], own[0]), *own[1:])
    return short_forms("tool").get("".join(own), "".join(own))


def file_form(name: str) -> Form:
    """Parse a name as a path: "./a/b.py", "a//b.py", "a/b.py:12" and the like with backslashes are "a/b.py"."""
    text = unicodedata.normalize("NFKC", _ABOUT_A_FILE.sub("", tidy(name))).removeprefix("file://")
    path = _SLASHES.sub("/", _LINE_NUMBER.sub("", text))
    shown = posixpath.normpath(path) if path else tidy(name)
    own = tuple(part for part in shown.split("/") if part)
    return plain_form(name, kind="file", shown=shown, words=own or (shown,), stem=shown)
