"""Names parsed as the names of a kind: their words, folded, without the words around them that are no part of them."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Any, Final

import attrs

from graphsearch.names.given_names import is_nickname
from graphsearch.names.slips import SHORTEST
from graphsearch.names.vocabulary import short_forms, words
from graphsearch.text.trigrams import MAX_NAME_WORDS, SMALL_WORDS, spoken_words

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
_UMLAUTS: Final = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "Ø": "Oe", "Å": "Aa"}
)
_TRANSCRIBED: Final = re.compile(r"([aou])e|(a)a")


@attrs.frozen(kw_only=True)
class Form:
    """A name parsed as the name of one kind of entity.

    * ``kind``: "person", "organisation", "project", "place", "tool", "file", "exact", or "" for any other.
    * ``shown``: the name without quotes, titles and the like; the name of a new entity.
    * ``keys``: its normal forms. Names that share one are equal.
    * ``words``: its folded words; ``parts``: the same with camelCase split, for its initials.
    * ``mark``: what is no part of it but tells others apart: "jr", a tool's version, whether there was a legal form.
    * ``stem``: its normal form without a version.
    * ``single``: whether it is one word, perhaps a compound.
    """

    kind: str
    shown: str
    keys: frozenset[str]
    words: tuple[str, ...]
    parts: tuple[str, ...]
    stem: str
    single: bool
    mark: str = ""

    @cached_property
    def numbers(self) -> tuple[str, ...]:
        """Its runs of digits without leading zeros, and signs. Names with different ones denote different entities."""
        return tuple(run.lstrip("0") or "0" for run in _NUMBERS.findall(" ".join(self.words)))

    @cached_property
    def whole(self) -> str:
        """Its words as one."""
        return "".join(self.words)

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
    def short_words(self) -> tuple[int, frozenset[str]]:
        """The number of its words, and those too short for a slip: what names that resemble one another share."""
        return len(self.words), frozenset(word for word in self.words if len(word) < SHORTEST - 1)

    @cached_property
    def partial(self) -> bool:
        """Whether it may be part of a longer name: one word, or little but initials."""
        full = sum(len(word) > 1 for word in self.words)
        if self.kind == "person":
            return self.single or full < 2  # noqa: PLR2004 - a given name and a surname
        return len(self.words) == 1 or (self.kind != "file" and not full)

    @property
    def rank(self) -> int:
        """How specific it is: the most specific names of a batch are resolved first."""
        if self.kind == "person":
            full = sum(len(word) > 1 for word in self.words)
            return 1 if self.single else 3 * full + len(self.words) - is_nickname(self.words[0])
        return 2 * len(self.words) + (self.kind == "organisation" and bool(self.mark))

    def lookups(self) -> tuple[str, ...]:
        """Words by which matching names are found in the index of `name_words`; "vscode" for "Visual Studio Code"."""
        if self.kind == "file":
            return tuple(sorted(spoken_words(self.words[-1].replace("_", " ")), key=len)[-1:])
        parts = self.parts[:MAX_NAME_WORDS]
        cut = ("".join((*(word[0] for word in parts[:at]), *parts[at:])) for at in range(1, len(parts)))
        found = [
            *self.words,
            self.whole,
            self.stem,
            *sorted(self.initials),
            *cut,
            *spoken_words(transcribed(self.shown)),
        ]
        if self.kind == "organisation" and self.partial:
            found += [f"{word}c" for word in self.words]  # "IBM" of a corporation
        if self.kind == "tool":
            found += [short for short, name in short_forms("tool").items() if name == self.stem]
        if self.kind in ("organisation", "place"):
            found += [short for short, name in short_forms("word").items() if name in self.words]
            found += map(without_umlauts, self.words)
        if self.kind == "" and self.stem != self.whole:
            found.append(singular(self.words[-1]))
        elif self.kind == "":
            found += [f"{self.words[-1]}s"]
        return tuple(dict.fromkeys(word for word in found if len(word) > 1 and word not in SMALL_WORDS))


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


def transcribed(text: str) -> str:
    """A text with umlauts as two letters: "Zuerich" for "Zürich"."""
    return text.translate(_UMLAUTS)


def without_umlauts(word: str) -> str:
    """One spelling of a folded word for both transcriptions: "muller" for "mueller" and "muller"."""
    return _TRANSCRIBED.sub(r"\1\2", word)


def without_the(some: tuple[str, ...]) -> tuple[str, ...]:
    """Words without a leading "the"."""
    return some[1:] if len(some) > 1 and some[0] == "the" else some


def plain_word(token: str) -> str:
    """A word as written, folded, without dots and hyphens."""
    return "".join(spoken_words(token))


def singular(word: str) -> str:
    """A word of English without the regular end of a plural; words in -ss, -us and -is have none."""
    if (
        len(word) < SHORTEST - 1
        or not word.isalpha()
        or word[-1] != "s"
        or word[-2] in "siu"
        or word in words("singulars")
    ):
        return word
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-2] if word.endswith(("sses", "shes", "ches", "xes", "zzes")) else word[:-1]


def plain_form(name: str, *, kind: str = "", shown: str = "", **fields: Any) -> Form:
    """The form of a name of any kind; what is not given is computed."""
    shown = shown or tidy(name)
    own = fields.setdefault("words", without_the(spoken_words(shown)) or (shown,))
    fields.setdefault("stem", "".join(own))
    fields.setdefault("keys", frozenset({fields["stem"]}))
    parts = without_the(spoken_words(_CAMEL.sub(" ", shown.replace("&", " and ")))) or own
    return Form(**{"parts": parts, "single": len(own) == 1, **fields}, kind=kind, shown=shown)


def thing_form(name: str) -> Form:
    """Parse a name of no known kind: "feature flags" and "feature flag" have one key, "Beatles" has its own."""
    form = plain_form(name)
    if not form.shown.islower():
        return form
    stem = "".join((*form.words[:-1], singular(form.words[-1])))
    return attrs.evolve(form, stem=stem, keys=frozenset({stem}))


def exact_form(name: str) -> Form:
    """The form of a name that is compared exactly, a call of a function like its name: code, addresses, dates."""
    written = " ".join(unicodedata.normalize("NFKC", name).split())
    text = written.removesuffix("()") or written
    return plain_form(name, kind="exact", shown=text, words=(text,), parts=(text,), stem=text)


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
    normal = short_forms("word")
    written = (normal.get(word, word) for word in spoken_words(" ".join(bare).replace("&", " and ")))
    own = without_the(tuple(word.replace("ization", "isation") for word in written))
    shown = " ".join(kept).rstrip(",. ") or tidy(name)
    fields = {"words": own} if own else {}
    return plain_form(name, kind="organisation", shown=shown, mark="legal" if following else "", **fields)


def project_form(name: str) -> Form:
    """Parse a name as a project's: "Project Phoenix" and "the Phoenix project" are "Phoenix"."""
    tokens = tidy(name).split()
    while len(tokens) > 1 and tokens[0].casefold() in words("project_words"):
        tokens = tokens[1:]
    while len(tokens) > 1 and tokens[-1].casefold() in words("project_words"):
        tokens = tokens[:-1]
    shown = tidy(" ".join(tokens))
    own = spoken_words(shown.replace("&", " and ").replace("_", " "))
    return plain_form(name, kind="project", shown=shown, **({"words": own} if own else {}))


def place_form(name: str) -> Form:
    """Parse a name as a place's: "Zürich" and "Zuerich", "Saint-Étienne" and "St. Etienne" have one key."""
    form, normal = plain_form(name, kind="place"), short_forms("word")
    own = tuple(normal.get(word, word) for word in form.words)
    return attrs.evolve(form, words=own, keys=frozenset({without_umlauts("".join(own))}))


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
    own = without_the(spoken_words(shown.replace("_", " "))) or (shown,)
    keys, mark = frozenset({"".join((stem, *version))}), ".".join(version)
    return plain_form(name, kind="tool", shown=shown, words=own, stem=stem, keys=keys, mark=mark)


def _tool_stem(text: str) -> str:
    own: tuple[str, ...] = without_the(spoken_words(text.replace("_", " "))) or (text,)
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
    own = tuple(part for part in shown.split("/") if part) or (shown,)
    return plain_form(name, kind="file", shown=shown, words=own, parts=own, stem=shown)


def cut_to_initials(text: str, some: Sequence[Sequence[str]]) -> bool:
    """Whether a text consists of words in order, each in full or as its initial; small words are optional.

    Each word is given as its alternative spellings. There must be at least two words. One with a digit is never cut:
    "Model 3" is no short form of "Model 3s".
    """
    ends = {0}
    for spellings in some:
        optional = spellings[0] in SMALL_WORDS or spellings[0] in words("kept_legal_forms")
        pieces = {piece for word in spellings for piece in ((word,) if _NUMBERS.search(word) else (word, word[0]))}
        after = {end + len(piece) for end in ends for piece in pieces if text.startswith(piece, end)}
        ends = after | ends if optional else after
    return len(some) > 1 and len(text) in ends
