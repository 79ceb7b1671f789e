"""What makes `print` and notebooks show a value as more than its repr."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import attrs

from graphsearch.display.markup import Html


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
