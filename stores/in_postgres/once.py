"""What one snapshot has read: it stays as it is for as long as that lasts, and need not be read again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import attrs
from numpy.typing import NDArray

from graphsearch.model import ElementKind, View

KEPT: Final = 10_000
"""Elements of a kind that are kept; where there are more, keeping begins anew."""


@attrs.define(eq=False)
class ReadOnce:
    """What a search asks for at several of its steps: to find relations, to rank, to compare and to show them."""

    related: dict[View, Sequence[NDArray[Any]]] = attrs.field(factory=dict)
    """Relations as steps, in columns of which the first has their keys; see `relating`."""
    _elements: dict[ElementKind, dict[Any, Any]] = attrs.field(factory=dict)

    def elements(self, kind: ElementKind) -> dict[Any, Any]:
        """Those of a kind by id, or its bytes, which are found sooner; for more to be put among them."""
        known = self._elements.get(kind)
        if known is None or len(known) > KEPT:
            known = self._elements[kind] = {}
        return known
