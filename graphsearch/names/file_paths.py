"""Names of files: paths that are equal up to notation and leading folders."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from typing import Final

import attrs

from graphsearch.names.forms import Form, numbers_in, tidy
from graphsearch.names.vocabulary import FILES_OF_EVERY_FOLDER, PACKAGE_FILES
from graphsearch.text.trigrams import spoken_words

_SLASHES: Final = re.compile(r"[/\\]+")
_LINE_NUMBER: Final = re.compile(r"(?<=\w)(?:(?::\d+)+|#L\d+(?:-L?\d+)?)$")
_ABOUT_A_FILE: Final = re.compile(r"^(?:the\s+)?(?:file\s+)?|\s+file$", re.IGNORECASE)


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
