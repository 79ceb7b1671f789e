"""Names of organisations, projects and places, of tools and of files.

Organisations have legal forms, descriptive words and initials; places are spelt with and without umlauts; tools have
versions, vendors and common short names; paths of files are equal up to notation and leading folders.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from typing import Final

import attrs

from graphsearch.names.forms import (
    Form,
    numbers_in,
    plain_fields,
    squashed,
    tidy,
    transcribed,
    without_the,
    without_umlauts,
)
from graphsearch.names.vocabulary import (
    ABBREVIATED_WORDS,
    DESCRIPTORS,
    FILES_OF_EVERY_FOLDER,
    KEPT_LEGAL_FORMS,
    LEGAL_FORMS,
    OTHER_WITH_JS,
    PACKAGE_FILES,
    PROJECT_WORDS,
    SAME_VENDORS,
    SHORT_NAMES,
    TOOL_WORDS,
    VENDORS,
)
from graphsearch.text.trigrams import spoken_words

_AMERICAN: Final = re.compile(r"iz(?=(?:e[sd]?|ing|ations?)\b)")
_DOTTED: Final = re.compile(r"\b(?:[^\W\d_]\.\s?){2,}|\b(?:[^\W\d_]\.)+[^\W\d_]\b")
_DOMAIN: Final = re.compile(r"(?<=\w)\.(?:com|org|net|io|ai|co)\b", re.IGNORECASE)


@attrs.frozen(kw_only=True)
class OrganisationForm(Form):
    """An organisation's name without its legal form; ``incorporated``: whether it had one."""

    incorporated: bool

    @property
    def rank(self) -> int:
        """The number of words; a legal form breaks ties."""
        return 2 * len(self.words) + self.incorporated

    def fits(self, other: Form) -> bool:
        """As `Form.fits`, or one has a descriptive word more, or only small words and word order differ.

        Examples: "Globex" and "Globex Industries"; "University of Oxford" and "Oxford University".
        """
        return (
            self.turned(other)
            or (_described(self, other) and self.agrees(other) is not False)
            or Form.fits(self, other)
        )

    def plainly_fits(self, other: Form, initials: int) -> bool:
        """As `Form.plainly_fits`, or only small words and word order differ."""
        return self.turned(other) or Form.plainly_fits(self, other, initials)

    def agrees(self, other: Form) -> bool | None:
        """False if the shorter is complete and lacks a word: "Acme, Inc." is not "Acme Systems"; else None."""
        short = min(self, other, key=lambda form: len(form.words))
        whole = isinstance(short, OrganisationForm) and short.incorporated
        return False if whole and self.words != other.words and _described(self, other) else None

    def lookups(self) -> tuple[str, ...]:
        """As `Form.lookups`, and initials with that of "corporation" or "company": "IBM" as "IBMC"."""
        return (*Form.lookups(self), *(f"{word}c" for word in self.words if self.partial))


def _described(a: Form, b: Form) -> bool:
    short, long = sorted((a.words, b.words), key=len)
    return long[: len(short)] == short and DESCRIPTORS.issuperset(long[len(short) :])


def organisation_form(name: str) -> OrganisationForm:
    """Parse a name as an organisation's: "the Acme Corporation", "Acme, Inc." and "ACME" have one key."""
    tokens = _DOTTED.sub(lambda match: re.sub(r"[.\s]", "", match[0]) + " ", _DOMAIN.sub("", tidy(name))).split()
    while len(tokens) > 1 and tokens[0].casefold() == "the":
        tokens = tokens[1:]
    legal = 0
    while legal < len(tokens) - 1 and _is_legal(tokens[-legal - 1]):
        legal += 1
    bare = tokens[: len(tokens) - legal]
    kept = [*bare, *(token for token in tokens[len(bare) :][:1] if len(bare) > 1 and _plain(token) in KEPT_LEGAL_FORMS)]
    written = (ABBREVIATED_WORDS.get(word, word) for word in spoken_words(" ".join(bare).replace("&", " and ")))
    words = without_the(tuple(_AMERICAN.sub("is", word) for word in written))
    fields = plain_fields(name, shown=" ".join(kept).rstrip(",. ") or tidy(name), words=words)
    return OrganisationForm(**fields, incorporated=legal > 0)


def _is_legal(token: str) -> bool:
    return _plain(token) in LEGAL_FORMS or token in {"&", "+"}


def _plain(token: str) -> str:
    return squashed(spoken_words(token))


@attrs.frozen(kw_only=True)
class ProjectForm(Form):
    """A project's name, in any order of words: "Plan for the Harbour" and "Harbour Plan"."""

    def fits(self, other: Form) -> bool:
        """As `Form.fits`, or only small words and word order differ."""
        return self.turned(other) or Form.fits(self, other)

    def plainly_fits(self, other: Form, initials: int) -> bool:
        """As `Form.plainly_fits`, or only small words and word order differ."""
        return self.turned(other) or Form.plainly_fits(self, other, initials)


def project_form(name: str) -> ProjectForm:
    """Parse a name as a project's: "Project Phoenix" and "the Phoenix project" are "Phoenix"."""
    tokens = tidy(name).split()
    while len(tokens) > 1 and tokens[0].casefold() in PROJECT_WORDS:
        tokens = tokens[1:]
    while len(tokens) > 1 and tokens[-1].casefold() in PROJECT_WORDS:
        tokens = tokens[:-1]
    shown = tidy(" ".join(tokens))
    words = spoken_words(shown.replace("&", " and ").replace("_", " "))
    return ProjectForm(**plain_fields(name, shown=shown, words=words))


@attrs.frozen(kw_only=True)
class PlaceForm(Form):
    """A place's name: "Zürich" and "Zuerich", "Saint-Étienne" and "St. Etienne"."""

    def lookups(self) -> tuple[str, ...]:
        """As `Form.lookups`, in each spelling of umlauts and of "saint"."""
        found = Form.lookups(self)
        long = ("saint",) if "st" in self.words else ()
        other = (*map(without_umlauts, found), *spoken_words(transcribed(self.shown)), *long)
        return tuple(dict.fromkeys((*found, *other)))


def place_form(name: str) -> PlaceForm:
    """Parse a name as a place's."""
    fields = plain_fields(name)
    words = tuple("st" if word == "saint" else word for word in fields["words"])
    return PlaceForm(**{**fields, "words": words, "keys": frozenset({without_umlauts(squashed(words))})})


_PLURALS: Final = (
    (re.compile(r"(?<=[^\W\d_]{2}[^aeiou\W\d_])ies$"), "y"),
    (re.compile(r"(?<=[^\W\d_]l)yses$"), "ysis"),
    (re.compile(r"(?<=ss|sh|ch|.x|zz)es$"), ""),
    (re.compile(r"(?<=[^\W\d_]{2}[^isu\W\d_])s$"), ""),
)
"""Regular plurals of English, the first that fits; words in -ss, -us and -is are none."""
_SINGULARS: Final = {
    "indices": "index",
    "matrices": "matrix",
    "vertices": "vertex",
    "appendices": "appendix",
    "criteria": "criterion",
    "phenomena": "phenomenon",
    "hypotheses": "hypothesis",
    "children": "child",
    "women": "woman",
    "men": "man",
    "shelves": "shelf",
    "halves": "half",
    **{each: each for each in ("news", "lens", "series", "species", "means")},
}
"""Other plurals, and words in -s that are none."""
_PLURAL_OF: Final = {singular: plural for plural, singular in _SINGULARS.items()}


@attrs.frozen(kw_only=True)
class ConceptForm(Form):
    """A name of no known type; ``singular`` is its last word without the end of a plural, if it is no proper name."""

    singular: str

    def lookups(self) -> tuple[str, ...]:
        """As `Form.lookups`, and the singular of its last word with its plural."""
        plural = _PLURAL_OF.get(self.singular, f"{self.singular}s")
        plurals = (self.singular, plural) if self.singular else ()
        return tuple(dict.fromkeys((*Form.lookups(self), *plurals)))


def concept_form(name: str) -> ConceptForm:
    """Parse a name of no known type: "feature flags" and "feature flag" have one key, "Beatles" has its own."""
    fields = plain_fields(name)
    *others, last = fields["words"]
    if not fields["shown"].islower():
        return ConceptForm(**fields, singular="")
    regular = next((end.sub(by, last) for end, by in _PLURALS if end.search(last)), last)
    singular = _SINGULARS.get(last, regular)
    return ConceptForm(**{**fields, "keys": frozenset({squashed((*others, singular))})}, singular=singular)


# -- tools ------------------------------------------------------------------------------------------------------------

_VERSION: Final = re.compile(
    r"(?:(?<=\S)\s+v?|(?<=\S)[\s@-]v)(\d+(?:\.\d+)*)$|(?<=[a-z])(\d+(?:\.\d+)+)$", re.IGNORECASE
)
_JAVASCRIPT: Final = re.compile(r"(?<=\w\w)[\s.]?js$", re.IGNORECASE)


@attrs.frozen(kw_only=True)
class ToolForm(Form):
    """A tool's name: ``stem`` is its key without a version, ``version`` the numbers of the version.

    A number after a space or a "v", or with a dot in it, is a version ("Python 3", "python3.11"); any other is part of
    the name ("GPT-4", "EC2").
    """

    stem: str
    version: tuple[str, ...]

    def fits(self, other: Form) -> bool:
        """As `Form.fits`, or one lacks the version, the minor version or the vendor."""
        return isinstance(other, ToolForm) and (self._leaves_out(other) or Form.fits(self, other))

    def plainly_fits(self, other: Form, initials: int) -> bool:
        """As `Form.plainly_fits`, or one lacks the version or the vendor."""
        return self._leaves_out(other) or Form.plainly_fits(self, other, initials)

    def _leaves_out(self, other: Form) -> bool:
        if not isinstance(other, ToolForm):
            return False
        if self.stem == other.stem and (self.version or other.version):
            return self.agrees(other) is not False
        return _vendor_apart(self, other) or _vendor_apart(other, self)

    def agrees(self, other: Form) -> bool | None:
        """Whether two versions of one tool have the same major number; None for anything else."""
        if not isinstance(other, ToolForm) or self.stem != other.stem or not (self.version and other.version):
            return None
        return self.version[0] == other.version[0]

    def goes_with(self, other: Form) -> bool:
        """As `Form.goes_with`; a name with a version always fits."""
        return (isinstance(other, ToolForm) and bool(other.version)) or Form.goes_with(self, other)

    def lookups(self) -> tuple[str, ...]:
        """As `Form.lookups`, and all short names of the tool."""
        return (*Form.lookups(self), self.stem, *(short for short, name in SHORT_NAMES.items() if name == self.stem))


def tool_form(name: str) -> ToolForm:
    """Parse a name as a tool's: drop ".js", replace well-known short names."""
    shown = tidy(name)
    found = _VERSION.search(shown)
    version = numbers_in([found[1] or found[2]]) if found else ()
    bare = shown[: found.start()] if found else shown
    stem = _key(bare if _key(bare) in OTHER_WITH_JS else _JAVASCRIPT.sub("", bare))
    keys = frozenset({stem + squashed(version)})
    fields = plain_fields(name, shown=shown, words=spoken_words(_apart(shown)), keys=keys)
    return ToolForm(**fields, stem=stem, version=version)


def _vendor_apart(long: ToolForm, short: ToolForm) -> bool:
    return len(long.words) > 1 and long.words[0] in VENDORS and squashed(long.words[1:]) in short.keys


def _key(text: str) -> str:
    words: tuple[str, ...] = without_the(spoken_words(_apart(text))) or (text,)
    while len(words) > 1 and words[-1] in TOOL_WORDS:
        words = words[:-1]
    if len(words) > 1:
        words = (SAME_VENDORS.get(words[0], words[0]), *words[1:])
    key = squashed(words)
    return SHORT_NAMES.get(key, key)


def _apart(text: str) -> str:
    return text.replace("_", " ")


# -- files ------------------------------------------------------------------------------------------------------------

_SLASHES: Final = re.compile(r"[/\\]+")
_LINE_NUMBER: Final = re.compile(r"(?<=\w)(?:(?::\d++){1,3}|#L\d+(?:-L?\d+)?)$")
_ABOUT_A_FILE: Final = re.compile(r"^(?:the\s+)?(?:file\s+)?|(?<!\s)\s++file$", re.IGNORECASE)


@attrs.frozen(kw_only=True)
class FileForm(Form):
    """A path; ``words`` are its parts, in their original case."""

    @property
    def partial(self) -> bool:
        """Whether it is a file name without a folder."""
        return len(self.words) == 1

    def fits(self, other: Form) -> bool:
        """Whether one path ends with the other, ignoring case; never for names common to many folders ("README.md")."""
        short, long = sorted((_folded(self.words), _folded(other.words)), key=len)
        if len(short) == 1 < len(long) and _in_every_folder(short[0]):
            return False
        return long[len(long) - len(short) :] == short

    def plainly_fits(self, other: Form, initials: int) -> bool:  # noqa: ARG002 - a path has none
        """As `fits`: only files have paths."""
        return self.fits(other)

    def agrees(self, other: Form) -> bool | None:
        """Whether both may be the same path: similar file names are no evidence."""
        return self.same(other) or self.fits(other)

    def misspells(self, other: Form) -> bool:  # noqa: ARG002 - never, whatever the other is
        """Always False: "main.c" and "main.h" are one letter apart."""
        return False

    def lookups(self) -> tuple[str, ...]:
        """The longest word of the file name."""
        return tuple(sorted(spoken_words(self.words[-1].replace("_", " ")), key=len)[-1:])


def file_form(name: str) -> FileForm:
    """Parse a name as a path: "./a/b.py", "a//b.py", "a/b.py:12" and the like with backslashes are "a/b.py"."""
    text = unicodedata.normalize("NFKC", _ABOUT_A_FILE.sub("", tidy(name))).removeprefix("file://")
    path = _SLASHES.sub("/", _LINE_NUMBER.sub("", text))
    shown = posixpath.normpath(path) if path else tidy(name)
    words = tuple(part for part in shown.split("/") if part) or (shown,)
    return FileForm(
        shown=shown,
        keys=frozenset({shown}),
        words=words,
        parts=words,
        numbers=numbers_in(words),
        abbreviated=False,
    )


def _in_every_folder(name: str) -> bool:
    return name in PACKAGE_FILES or name.partition(".")[0] in FILES_OF_EVERY_FOLDER


def _folded(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word.casefold() for word in words)
