"""The parts that a mode requires, or an error that states how to pass them."""

from __future__ import annotations

from typing import TypeVar

from graphsearch.access.gate import Gate
from graphsearch.errors import MissingDependencyError
from graphsearch.modes.mode import Part

T = TypeVar("T")


def require(part: Part, given: T | None, mode: str) -> T:
    """A part that a mode requires. Raises `MissingDependencyError` with the mode, the part, and how to pass it."""
    if given is None:
        without = "; the mode 'neighborhood' works without one" if part == "embedder" else ""
        raise MissingDependencyError(
            f"the mode {str(mode)!r} needs an {part}: GraphSearchEngine(store=…, {part}=…){without}"
        )
    return given


def require_gate(gate: Gate | None, mode: str) -> Gate:
    """The gate that a mode needs, since what goes to a language model must have passed one.

    Raises `MissingDependencyError` that names the mode, and how to pass a gate.
    """
    if gate is None:
        raise MissingDependencyError(
            f"the mode {str(mode)!r} shows parts of the graph to a language model, and needs a gate: search(…,"
            " gate=Gate(authorizer, principal)), or gate=ALLOW_ALL where all of it may be shown"
        )
    return gate
