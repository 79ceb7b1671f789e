"""The mixin that makes notebooks show a value as more than its repr."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import attrs

from graphsearch.display.markup import Html


@attrs.frozen
class Shown:
    """A value as HTML for a notebook, and as plain text."""

    html: Html
    text: str


class Displayed(ABC):
    """A value that notebooks show: they call ``_repr_mimebundle_`` or ``_repr_html_``."""

    __slots__ = ()

    @abstractmethod
    def _shown(self) -> Shown:
        """The value as it is shown; pure, and computed on request."""

    def _repr_html_(self) -> str:
        return self._shown().html

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:  # noqa: ARG002
        """Both forms; a caller that wants only one names it in ``include``, per the protocol."""
        shown = self._shown()
        return {"text/html": shown.html, "text/plain": shown.text}
