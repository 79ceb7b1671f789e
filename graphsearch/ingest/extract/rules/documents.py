"""What parts of documents have and conversations lack: no speaker, and headings or a source."""

from __future__ import annotations

import re
from typing import Final

from graphsearch.model import Memory
from graphsearch.text.name_spans import NameSpan

HEADINGS: Final = "headings"
"""The attribute of a memory that lists the headings above it, the outermost first."""

_LEAD: Final = re.compile(r"(?:(?:The|A|An|In \w+,) )?[*_`\"“]{0,3}")


def is_of_document(memory: Memory) -> bool:
    """Whether a memory is a part of a document, and has no speaker."""
    return not memory.speaker and (HEADINGS in memory.attributes or bool(memory.source))


def opens(text: str, start: int, name: NameSpan) -> bool:
    """Whether a name or pronoun is the first word of the sentence that begins at ``start``, after an article."""
    lead = _LEAD.match(text, start)
    return start <= name.start <= (lead.end() if lead else start)
