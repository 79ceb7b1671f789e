"""Names recognised by their shape: addresses, paths, handles, code in backticks, services such as billing-api."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

MAX_MARK: Final = 500
"""Characters of an address or a path; a longer one is a blob, not a name."""


class Mark(NamedTuple):
    """Characters [start, end) of a text that are a name of a ``type``, "" if unknown, by the ``pattern`` that matched.

    ``named`` is False for what is no name but contains none either, such as an e-mail address.
    """

    start: int
    end: int
    type: str
    pattern: str
    named: bool = True


_PART: Final = "api|backend|cli|daemon|db|exporter|frontend|gateway|proxy|sdk|service|svc|ui"
_HINT: Final = re.compile(rf"[`@/\\]|www\.|\.[a-z]{{1,5}}\b|-(?:{_PART})\b")
_SUFFIXES: Final = (
    "py|pyi|js|ts|tsx|jsx|md|rst|txt|json|jsonl|toml|yaml|yml|sql|csv|html|css|sh|rs|go|java|cpp|h|hpp|rb|ipynb"
    "|cfg|ini|lock|log|xml|pdf|docx|xlsx|pptx|png|jpg|jpeg|svg|gif|parquet|proto|tf|cedar|env|conf|zip|tar|gz"
    "|swift|kt|scala|php"
)
_MARK: Final = re.compile(
    r"(?P<url>(?:https?://|ftp://|www\.)[^\s<>\"'`|\\^{}]+)|(?P<email>(?<![\w.+-])[\w.+-]{1,64}+@[\w-]++(?:\.[\w-]++)++)"
    r"|(?P<handle>(?<![\w.@/])@\w[\w.-]{0,63})(?![/\w])|`(?P<code>[^`\n]{1,120})`"
    r"|(?P<component>(?<![\w@/.-])(?!(?:civil|cross|customer|food|full|in|inter|multi|non|out|pre|post|public|room|self)-)"
    rf"[a-z][a-z0-9]+(?:-[a-z0-9]+)*-(?:{_PART})(?![\w@/-]|\.\w))"
    r"|(?P<windows>(?<!\w)[A-Za-z]:\\(?:[\w. -]{1,64}\\)*[\w.-]+)"
    rf"|(?P<path>(?<![\w/.~@-])(?:(?<!<)(?:~|\.{{1,2}})?/(?:[\w.@-]+/)*[\w.@-]+/?"
    rf"|(?:[\w.@-]+/)+[\w@-]*(?:\.[\w-]+)*\.(?:{_SUFFIXES})(?!\w)|[\w-]+(?:\.[\w-]+)*\.(?:{_SUFFIXES})(?![\w/])))"
)
_FILE: Final = re.compile(rf"(?:[~.\w-]*/)*[\w.-]+\.(?:{_SUFFIXES})|(?:~|\.{{1,2}})?/[\w./-]+")
_CODE: Final = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::|->|#)[A-Za-z_$][\w$]*)*(?P<called>\(\))?")
_CLASS: Final = re.compile(r"(?:^|[.:>#])[A-Z](?=\w*[a-z])\w*+\(\)$")
_PACKAGE: Final = re.compile(r"@?[A-Za-z][\w-]*(?:[/.][\w-]+)*")
_LIBRARY: Final = re.compile(r"[A-Z][\w-]*\.(?:js|ts|py|rs|go)")


def marked_names(text: str, start: int, end: int) -> Iterator[Mark]:
    """The addresses, paths, handles and code in [start, end) of a text, in order and without overlaps.

    A span with ``named`` False, such as an e-mail address, only keeps other names from being found there.
    """
    if _HINT.search(text, start, end):
        for match in _MARK.finditer(text, start, end):
            pattern = match.lastgroup or ""
            written = _without_marks(match[pattern], pattern)
            type_ = _type(written, pattern)
            first = match.start(pattern)
            yield Mark(
                first, first + len(written), type_ or "", pattern, type_ is not None and 0 < len(written) <= MAX_MARK
            )


def _without_marks(written: str, pattern: str) -> str:
    """What is written without the marks of the sentence after it."""
    if pattern == "url":
        written = written.rstrip(".,;:!?*_'\"”’")
        while written.endswith((")", "]")) and sum(map(written.count, ")]")) > sum(map(written.count, "([")):
            written = written[:-1].rstrip(".,;:!?*_")
        return written
    return written.rstrip({"handle": ".-", "path": "."}.get(pattern, " "))


def _type(written: str, pattern: str) -> str | None:
    """The type of what is named; None if it is no name."""
    if pattern in ("path", "windows"):
        drawn = not any(map(str.isalnum, written))  # "/_/"
        return None if drawn else "tool" if _LIBRARY.fullmatch(written) else "file"
    if pattern != "code":
        return {"url": "url", "handle": "person", "component": ""}.get(pattern)
    if _FILE.fullmatch(written):
        return "file"
    if code := _CODE.fullmatch(written):
        return ("class" if _CLASS.search(written) else "function") if code["called"] else ""
    return "" if _PACKAGE.fullmatch(written) else None
