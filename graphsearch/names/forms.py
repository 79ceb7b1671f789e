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
from graphsearch.names.vocabulary import is_given_name, is_nickname, short_forms, words
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


# -- names of persons --------------------------------------------------------------------------------------------------

_ASIDE: Final = re.compile(r"""(?<!\s)\s*+[(\[<"“][^)\]>"”]*+(?:(?P<closed>[)\]>"”])\s*+|\Z)""")
_EMAIL: Final = re.compile(r"([\w.+-]+)@[\w-]+(?:\.[\w-]+)+")
_HANDLE_BREAK: Final = re.compile(r"[._+-]+")
_BETWEEN_INITIALS: Final = re.compile(r"(?<=\b[^\W\d_]\.)(?=[^\W\d])")
_NUMBERED: Final = re.compile(r"(?<=[^\W\d_]{3})[\W_]?\d+$")
_MOST_INITIALS: Final = 3
_LEAST_ABBREVIATION: Final = 3
"""Least letters of an abbreviation that is a title: shorter ones are initials ("Yu. Gagarin", "Ch. Dupont")."""
_GENERATIONS: Final = {"junior": "jr", "senior": "sr"}
_WRITTEN: Final = {"jr": "Jr.", "sr": "Sr."}


def person_form(name: str) -> Form:
    """Parse a name as a person's: turn "Sharma, Priya", remove titles, degrees and asides such as "(she/her)".

    Its words are the given names first, without particles ("van", "de"); its mark is the generation, if it is given.
    """
    tokens, generation = _bare(_in_order(_without_handle(tidy(name))))
    named = " ".join(tokens)
    every = spoken_words(" ".join((*_initials_apart(tokens), *tokens[1:]))) or (named,)
    own = _without_particles(every, tokens)
    return plain_form(
        name,
        kind="person",
        shown=f"{named} {_WRITTEN.get(generation, generation.upper())}".strip(),
        keys=frozenset(f"{flat(''.join(each))} {generation}".strip() for each in (every, own)),
        words=own,
        single=len(own) == 1 or len(tokens) == 1,
        mark=generation,
    )


def _without_particles(every: tuple[str, ...], tokens: Sequence[str]) -> tuple[str, ...]:
    """Drop particles; a first word is one only if in lower case or followed by another: Al Gore's name is Al."""
    particles = words("particles")
    count = next((at for at, word in enumerate(every[:-1]) if word not in particles), len(every) - 1)
    small = tokens[0].islower() and not is_given_name(every[0])
    first, *others = every[count if count > 1 or small else 0 :]
    return (first, *(word for word in others if word not in particles))


def _initials_apart(tokens: Sequence[str]) -> tuple[str, ...]:
    """The letters of initials such as "JP" in "JP Dubois": a first word in capitals before words that are not."""
    first = tokens[0]
    capitals = first.isalpha() and first.isupper() and 1 < len(first) <= _MOST_INITIALS
    return tuple(first) if capitals and any(word.upper() != word for word in tokens[1:]) else (first,)


def _without_handle(text: str) -> str:
    """The name in "@priya_sharma" or "priya.sharma@example.com", without the number of "@psharma42"."""
    email = _EMAIL.fullmatch(text)
    if email or text.startswith("@"):
        return _HANDLE_BREAK.sub(" ", _NUMBERED.sub("", email[1] if email else text)).strip("@ ") or text
    return text


def _in_order(text: str) -> str:
    """Remove asides, move a surname before a comma to the end, drop what follows a full name, such as an office."""
    text = _ASIDE.sub(lambda match: " " if match["closed"] else match[0], text).strip() or text
    first, *rest = (part.strip() for part in text.split(","))
    after = words("degrees") | words("generations")
    kinds = [({plain_word(token) for token in part.split()}, part) for part in rest if part]
    names = [part for kind, part in kinds if not kind <= after]
    generation = [part for kind, part in kinds if kind <= words("generations")]
    surname = len([word for word in spoken_words(first.replace("-", "")) if word not in words("particles")]) == 1
    return " ".join(part for part in (*(names[:1] if surname else []), first, *generation) if part) or text


def _bare(text: str) -> tuple[list[str], str]:
    """The words of a name as written, without titles and degrees, and the generation."""
    tokens = [_without_honorific(token) for token in _BETWEEN_INITIALS.sub(" ", text).split()] or [text]
    titled = False
    while len(tokens) > 1 and _is_title(tokens, titled=titled):
        titled, tokens = True, tokens[1:]
    generation = ""
    while len(tokens) > 1 and (last := plain_word(tokens[-1])) in words("degrees") | words("generations"):
        generation = last if last in words("generations") else generation
        tokens = tokens[:-1]
    return tokens, _GENERATIONS.get(generation, generation)


def _without_honorific(token: str) -> str:
    bare, _, honorific = token.rpartition("-")
    return bare if bare and honorific.casefold() in words("honorifics") else token


def _is_title(tokens: Sequence[str], *, titled: bool) -> bool:
    """Whether the first word is a title, known or by its form; ``titled``: after another title.

    By its form an abbreviation of three letters or more is one ("Avv.", "JUDr."), and so is a word in lower case before
    names that are not ("nurse Agnes Moor"), where a given name and a surname follow; a word before a title is a part of
    that: "Staff Sergeant", "Univ.-Prof. Dr.".
    """
    first, second, following = plain_word(tokens[0]), plain_word(tokens[1]), len(tokens) - 1
    if first in words("titles") or (first == "the" and second in words("titles")):
        return True
    if titled and tokens[0].islower() and tokens[0].endswith("."):
        return True
    if not first or is_given_name(first) or first in words("shortened_names") or first in words("particles"):
        return False
    if tokens[0].endswith(".") and (titled or (len(first) >= _LEAST_ABBREVIATION and following > 1)):
        return len(first) > 1
    if following == 1:
        return False
    small = tokens[0].islower() and len(first) > 1 and all(each[0].isupper() for each in tokens[1:3])
    return small or first in words("noble_titles") or (following > 2 and second in words("titles"))  # noqa: PLR2004
