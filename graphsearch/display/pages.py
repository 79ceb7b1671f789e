"""Answers in notebooks, as injection-safe HTML, and in terminals, as short tables of text. Pure.

HTML has every text escaped on entry, and no script, style sheet or link: styles are in attributes, and colours are
those of the surrounding text, so that a page is readable on white and on black. Stored text passes through `safe_text`.
"""

from __future__ import annotations

import html
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import attrs

from graphsearch.model import ElementKind, ScorePart
from graphsearch.text.rendering import safe_text

LONGEST: Final = 500
"""Most characters shown of a text."""

_BORDER: Final = "border-bottom:1px solid #8884;padding:.2em .6em;text-align:left;vertical-align:top"


class Html(str):
    """Text that is HTML already: created by `element` alone."""

    __slots__ = ()


def element(name: str, *content: str, **attributes: str) -> Html:
    """``<name attribute="…">content</name>``: content is escaped unless it is `Html`, attributes always."""
    written = "".join(f' {key}="{html.escape(value)}"' for key, value in attributes.items())
    return Html(f"<{name}{written}>{''.join(map(_inside, content))}</{name}>")


def page(*content: str) -> Html:
    """The page of one value in a notebook."""
    return element("div", *content, style="max-width:70em;overflow-x:auto")


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> Html:
    """A table with cells of text or `Html`."""
    return element(
        "table",
        element("thead", element("tr", *(element("th", cell, scope="col", style=_BORDER) for cell in head))),
        element("tbody", *(element("tr", *(element("td", cell, style=_BORDER) for cell in row)) for row in rows)),
        style="border-collapse:collapse",
    )


def bar(value: float, title: str = "") -> Html:
    """A number in [0, 1] with a bar of proportional length."""
    length = f"{max(0.0, min(1.0, value)) * 4:.2f}em"
    style = f"display:inline-block;height:.6em;margin-left:.4em;width:{length};background:rgba(64,128,224,.6)"
    return element("span", f"{value:.4f}", element("span", style=style), title=title, style="white-space:nowrap")


def quiet(text: str) -> Html:
    """A secondary remark."""
    return element("p", text, style="opacity:.7;margin:.3em 0")


def block(text: str) -> Html:
    """Text with its line breaks, not cut."""
    return element("pre", Html(html.escape(_visible(text))), style="white-space:pre-wrap;margin:.3em 0")


def _inside(content: str) -> str:
    return content if isinstance(content, Html) else html.escape(cut(_visible(content), LONGEST))


def _visible(text: str) -> str:
    """Without control and format characters, which could reorder or hide adjacent text."""
    return "".join(each if each.isprintable() or each == "\n" else " " * each.isspace() for each in text)


@attrs.frozen
class Shown:
    """A value as a page of a notebook, and as text where there are no pages."""

    html: Html
    text: str


class Displayed(ABC):
    """A value that `print` shows as text, and notebooks, by ``_repr_mimebundle_`` or ``_repr_html_``, as a page."""

    __slots__ = ()

    @abstractmethod
    def _shown(self) -> Shown:
        """The value as it is shown; pure, and made when it is asked for."""

    def __str__(self) -> str:
        return self._shown().text

    def _repr_html_(self) -> str:
        return self._shown().html

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:  # noqa: ARG002
        """Both forms: whoever asks takes what it ``include``s, as the protocol has it."""
        shown = self._shown()
        return {"text/html": shown.html, "text/plain": shown.text}


@attrs.frozen(kw_only=True)
class Listing:
    """A question, one line about its answer, and a table of what was found, or the ``reason`` why nothing was.

    ``rows`` have a score, its parts and the other cells; ``lines`` are what was found for a prompt, or ``text`` is,
    which is shown with ``above`` before the table. ``below`` is shown behind it.
    """

    query: str
    summary: str
    head: Sequence[str]
    rows: Sequence[tuple[float, Sequence[ScorePart], Sequence[str]]]
    lines: Iterable[str]
    reason: str
    denied: Mapping[ElementKind, int]
    text: str = ""
    above: Sequence[Html] = ()
    below: Sequence[Html] = ()

    @property
    def line(self) -> str:
        """The summary, and how much was hidden."""
        return "; ".join(filter(None, (self.summary, hidden(self.denied))))


class Listed(Displayed):
    """An answer that lists what was found."""

    __slots__ = ()

    @abstractmethod
    def _listing(self) -> Listing:
        """The answer as a list; pure, and made when it is asked for."""

    def __str__(self) -> str:
        found = self._listing()
        rows = text_table(("score", *found.head), ((f"{score:.4f}", *cells) for score, _, cells in found.rows))
        lines = (cut(safe_text(found.query), WIDTH), found.line, found.text, found.reason or rows)
        return "\n".join(filter(None, lines))

    def _shown(self) -> Shown:
        found = self._listing()
        rows = [(bar(score, sum_of(parts)), *cells) for score, parts, cells in found.rows]
        listed = quiet(found.reason) if found.reason else table(("score", *found.head), rows)
        content = (element("b", found.query), quiet(found.line), *found.above, listed, *found.below)
        return Shown(page(*content), found.text or "\n".join(filter(None, found.lines)) or found.reason)


def hidden(denied: Mapping[ElementKind, int]) -> str:
    """``3 hidden by policy (2 entity, 1 relation)``, for the caller; empty where nothing was."""
    counts = ", ".join(f"{count} {kind.value}" for kind, count in denied.items() if count)
    return f"{sum(denied.values())} hidden by policy ({counts})" if counts else ""


def sum_of(parts: Iterable[ScorePart]) -> str:
    """``proximity 0.4000 + importance 0.1000 + feedback 0.0500``: what a score adds up from."""
    return " + ".join(f"{part.name} {part.contribution:.4f}" for part in parts)


WIDTH: Final = 118
"""Characters of a row."""
_CELL: Final = 28
"""Characters of a cell at most; the last column has what is left of the width."""
_GAP: Final = "  "


def text_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Aligned columns of at most `WIDTH` characters, cells cut where they are longer; empty without rows."""
    lines = [head, *([safe_text(cell) for cell in row] for row in rows)]
    if len(lines) == 1:
        return ""
    widths = [min(_CELL, max(map(len, column))) for column in zip(*lines, strict=True)][:-1]
    widths.append(WIDTH - sum(widths) - len(_GAP) * len(widths))
    return "\n".join(
        _GAP.join(cut(cell, width).ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def cut(cell: str, width: int) -> str:
    """A text of at most ``width`` characters."""
    return cell if len(cell) <= width else f"{cell[: width - 1]}…"
