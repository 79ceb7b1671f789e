"""What the rules find in a sentence, before it is known whether it counts."""

from __future__ import annotations

import attrs


@attrs.frozen(kw_only=True)
class Found:
    """Characters [start, end) of a text that may be a name.

    ``named`` is False for what is no name and hides none, such as an e-mail address. ``tentative``: it counts only if
    something else in the memory confirms it.
    """

    start: int
    end: int
    type: str
    confidence: float
    pattern: str
    named: bool = True
    tentative: bool = False
    refers: Found | None = None
    """The name that it stands for, where it is a pronoun."""
    beside: str = ""
    """The name, where it stands in another text."""
