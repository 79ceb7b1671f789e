"""Bounds on the size and the nesting of policies, checked before they are parsed.

The policy engine parses and evaluates recursively, in native code: an expression that nests too deeply overflows the
stack and ends the process. On a stack of 8 MB this begins at some 800 operators or 400 brackets.
"""

from __future__ import annotations

import re
from typing import Final

from graphsearch.errors import PolicyError

LARGEST: Final = 1_000_000
"""The most characters of policies and their schema together."""
DEEPEST: Final = 200
"""The deepest nesting of an expression: each operator of a chain counts 1, each bracket 2."""

_BRACKET: Final = 2
_TOKEN: Final = re.compile(
    r"""
    //[^\n]*                            # a comment
    | "(?:[^"\\]|\\.)*"?                # a text
    | (?P<open>[(\[{]) | (?P<close>[)\]}]) | (?P<end>[;,])
    | (?P<operator>&& | \|\| | [-+*!] | \bif\b) | (?P<dot>\.)
    """,
    re.VERBOSE | re.DOTALL,
)


def refuse_unbounded(policies: str, schema: str) -> None:
    """Raise `PolicyError` for policies that are too large, or nest too deeply, to be parsed safely."""
    size = len(policies) + len(schema)
    if size > LARGEST:
        raise PolicyError(f"The policies and their schema have {size:,} characters; at most {LARGEST:,} are read.")
    for text in (policies, schema):
        if _nests_deeper(text, DEEPEST):
            raise PolicyError(
                f"A policy nests more than {DEEPEST} operators and brackets: split it into several, or compare "
                "with a set, as in `[…].contains(…)`."
            )


def _nests_deeper(text: str, limit: int) -> bool:
    """Whether an upper bound of the nesting exceeds a limit anywhere in a text."""
    operators = [0]  # in each open bracket: those so far, which nest in each other, and the bracket itself
    total = suffixes = 0  # of these; and the dots and brackets since the last operator, each a suffix of the one before
    for token in _TOKEN.finditer(text):
        if token["operator"]:
            operators[-1] += 1
            total, suffixes = total + 1, 0
        elif token["dot"]:
            suffixes += 1
        elif token["open"]:
            operators.append(_BRACKET)
            total, suffixes = total + _BRACKET, suffixes + 1
        elif token["close"] and len(operators) > 1:
            total -= operators.pop()
        elif token["end"]:
            kept = _BRACKET if len(operators) > 1 else 0
            total, suffixes = total - operators[-1] + kept, 0
            operators[-1] = kept
        if total + suffixes > limit:
            return True
    return False
