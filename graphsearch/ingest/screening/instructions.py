"""Instructions in stored texts: what is addressed to a language model is flagged by a label.

Blocks render stored texts as data, whatever they say. The label lets policies hide such texts, and operators find them.

A text is flagged for what ordinary prose has no use for: the control tokens by which chat templates separate messages,
and sentences that order the reader to disregard their instructions. A text that orders something in other words is not
recognized.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

import attrs

INSTRUCTIONS: Final = "instructions"
"""The label."""

_CONTROL: Final = re.compile(
    r"<\|[a-z_]{2,20}\|>"  # ChatML, Llama 3, Phi
    r"|\[/?INST\]|<</?SYS>>"  # Llama 2, Mistral
    r"|</?(?:function_calls|tool_call|tool_response|antml:\w+)\b[^>\n]{0,80}>"  # tool calls
    r"|^[ \t]*###[ \t]*(?:system|instruction|assistant|response|human)[ \t]*:[ \t]*$",  # Alpaca, Vicuna
    re.IGNORECASE | re.MULTILINE,
)
_DISREGARD: Final = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass)\b(?:\s+(?:all|any|every|the|your|of|these|those)\b){0,4}"
    r"\s+(?:(?:previous|prior|above|earlier|preceding|existing|original|system|safety)\s+){1,3}"
    r"(?:instruction|prompt|rule|message|direction|directive|guideline|policy|policie|context)s?\b",
    re.IGNORECASE,
)


@attrs.frozen
class InstructionFlag:
    """Flags texts with instructions to a language model by the label "instructions"."""

    name = "flag:instructions"

    def labels(self, text: str) -> Iterable[str]:
        """The labels of a text: "instructions", or none."""
        return (INSTRUCTIONS,) if _CONTROL.search(text) or _DISREGARD.search(text) else ()
