"""As many lines as a prompt has room for: pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from graphsearch.model import validation as check
from graphsearch.protocols import TokenCounter


def places_within(
    lines: Sequence[str],
    prompt: Callable[[Sequence[int]], str],
    schema: Mapping[str, Any],
    budget: int,
    counter: TokenCounter,
) -> list[int]:
    """The places of the lines that fit, in order; one that does not is skipped and the next one tried.

    ``prompt`` is the whole prompt with the lines in some places. The budget is in tokens, for the prompt with the JSON
    ``schema`` of the answer. Raises `InvalidInputError` where the prompt does not even fit without a line.
    """

    def whole(places: Sequence[int]) -> int:
        return counter.count(prompt(places)) + counter.count(json.dumps(schema))

    needed, kept = whole(()), list[int]()
    check.refuse(
        "question",
        None if needed <= budget else f"it needs {needed} of the {budget} tokens of a prompt: ask in fewer words",
    )
    for place, line in enumerate(lines):
        cost = counter.count(line + "\n")
        if needed + cost <= budget:
            kept.append(place)
            needed += cost
    while whole(kept) > budget:  # lines, which fit one by one, need not add up to the whole
        kept.pop()
    return kept
