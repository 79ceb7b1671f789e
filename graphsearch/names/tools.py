"""Names of tools: versions, vendors and common short names."""

from __future__ import annotations

import re
from typing import Final

import attrs

from graphsearch.names.forms import Form, numbers_in, plain_form, squashed, tidy, without_the
from graphsearch.names.vocabulary import OTHER_WITH_JS, SAME_VENDORS, SHORT_NAMES, TOOL_WORDS, VENDORS
from graphsearch.text.trigrams import spoken_words

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
    form = plain_form(name, shown=shown, words=spoken_words(_apart(shown)), keys={stem + squashed(version)})
    return ToolForm(**attrs.asdict(form, recurse=False), stem=stem, version=version)


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
