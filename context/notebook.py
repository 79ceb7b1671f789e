"""What a block looks like in a notebook. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphsearch.display.displayed import Shown
from graphsearch.display.markup import block as lines
from graphsearch.display.markup import page, quiet
from graphsearch.display.results import cited, hidden

if TYPE_CHECKING:
    from graphsearch.context.builder import ContextBlock


def shown_block(block: ContextBlock) -> Shown:
    """The text as a prompt has it, and what is known of it."""
    told = [
        f"{block.tokens} of {block.budget} tokens",
        f"{len(block.memories)} memories and {len(block.triplets)} triplets",
        f"{block.skipped_memories} and {block.skipped} more were found",
        hidden(block.denied),
    ]
    summary = cited(block.summary) if block.summary else []
    return Shown(page(lines(block.text), *summary, quiet("; ".join(filter(None, told)))), block.text)
