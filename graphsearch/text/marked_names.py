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
    r"|(?<![\w.@/])@(?P<handle>\w[\w.-]{0,63})(?![/\w])|`(?P<code>[^`\n]{1,120})`"
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
            yield _FOUND[match.lastgroup or ""](match)


def _url(match: re.Match[str]) -> Mark:
    written = match[0].rstrip(".,;:!?*_'\"”’")
    while written.endswith((")", "]")) and written.count(")") + written.count("]") > written.count("(") + written.count(
        "["
    ):
        written = written[:-1].rstrip(".,;:!?*_")
    return _found(match, match.start(), match.start() + len(written), "url", "url")


def _email(match: re.Match[str]) -> Mark:
    return Mark(match.start(), match.end(), "", "email", named=False)


def _handle(match: re.Match[str]) -> Mark:
    written = match[0].rstrip(".-")
    return _found(match, match.start(), match.start() + len(written), "person", "handle")


def _code(match: re.Match[str]) -> Mark:
    start, end = match.span("code")
    written = match["code"]
    if _FILE.fullmatch(written):
        return _found(match, start, end, "file", "code_path")
    code = _CODE.fullmatch(written)
    if code:
        called = "class" if _CLASS.search(written) else "function"
        return _found(match, start, end, called if code["called"] else "", "code")
    if _PACKAGE.fullmatch(written):
        return _found(match, start, end, "", "code")
    return Mark(match.start(), match.end(), "", "code", named=False)


def _component(match: re.Match[str]) -> Mark:
    return _found(match, *match.span(), "", "component")


def _path(match: re.Match[str]) -> Mark:
    written = match[0].rstrip(".")
    if not any(map(str.isalnum, written)):  # a drawing
        return Mark(match.start(), match.end(), "", "path", named=False)
    end = match.start() + len(written)
    if _LIBRARY.fullmatch(written):
        return _found(match, match.start(), end, "tool", "library")
    return _found(match, match.start(), end, "file", "path")


def _found(match: re.Match[str], start: int, end: int, type: str, pattern: str) -> Mark:
    named = match.start() <= start < end <= start + MAX_MARK
    return Mark(start, end, type, pattern, named)


_FOUND: Final = {
    "url": _url,
    "email": _email,
    "handle": _handle,
    "code": _code,
    "component": _component,
    "windows": _path,
    "path": _path,
}
