"""Token counts of prompts: an upper bound without a vocabulary, and the selection of lines that fit a budget. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from graphsearch.model import validation as check
from graphsearch.protocols import TokenCounter


class ByteCounter:
    """Counts one token for each byte of UTF-8: an upper bound for every tokenizer that falls back to bytes.

    The tokenizers of well-known models do, and make about a quarter as many tokens of English text. Where the
    difference matters, pass a counter for the model, such as `graphsearch.context.TiktokenCounter`.
    """

    def count(self, text: str) -> int:
        """Number of bytes; a lone surrogate counts as the three bytes that it would take."""
        return len(text.encode(errors="surrogatepass"))


def fitting_lines(
    lines: Sequence[str],
    prompt: Callable[[Sequence[int]], str],
    schema: Mapping[str, Any],
    budget: int,
    counter: TokenCounter,
) -> list[int]:
    """The indexes of the lines that fit a prompt, in order; a line that does not fit is skipped.

    ``prompt`` makes the whole prompt with the lines at some indexes. ``budget`` is in tokens, for the prompt and the
    JSON ``schema`` of the answer. Raises `InvalidInputError` if the prompt does not fit without any line.
    """

    def whole(indexes: Sequence[int]) -> int:
        return counter.count(prompt(indexes)) + counter.count(json.dumps(schema))

    needed, kept = whole(()), list[int]()
    check.refuse(
        "question",
        None if needed <= budget else f"it needs {needed} of the {budget} tokens of a prompt: ask in fewer words",
    )
    for index, line in enumerate(lines):
        cost = counter.count(line + "\n")
        if needed + cost <= budget:
            kept.append(index)
            needed += cost
    while whole(kept) > budget:  # the tokens of the lines need not add up to those of the whole
        kept.pop()
    return kept
