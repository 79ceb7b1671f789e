"""The attributes of operations: numbers and names of parts, never a text of input or output. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import urlsplit

Attributes = dict[str, str | int]

_COUNTED: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "search": ("triplets", "anchors", "connections", "found", "below_floor"),
        "recall": ("memories", "found"),
        "rank_entities": ("entities", "found"),
        "path": ("relations",),
        "context": ("tokens", "budget", "triplets", "memories", "skipped", "skipped_memories"),
        "feedback": ("applied", "replaced", "repeated", "missing"),
        "add": ("files", "changed", "forgotten", "entities", "removed", "relations", "embedded", "faults"),
        "remember": ("memories", "changed", "entities", "removed", "relations", "embedded"),
    }
)
"""The reported fields of a result, by operation: numbers as they are, of everything else the length."""

MODEL_CALLS: Final = frozenset({"chat", "embeddings"})
"""The names of operations in the semantic conventions for generative AI."""


def attributes_of(operation: str, result: Any) -> Attributes:
    """The attributes of a result."""
    if operation == "search_and_recall":
        found, recalled = result
        return attributes_of("search", found) | attributes_of("recall", recalled)
    if operation == "neighbors":
        return {"graphsearch.triplets": len(result)}
    if result is None:  # no path
        return {}
    counted = _COUNTED.get(operation, ())
    told: Attributes = {f"graphsearch.{field}": _number(getattr(result, field)) for field in counted}
    if mode := getattr(result, "mode", ""):
        told["graphsearch.mode"] = str(mode)
    if hasattr(result, "denied"):
        told["graphsearch.denied"] = sum(denied_of(result).values())
    return told


def denied_of(result: Any) -> Mapping[str, int]:
    """The number of elements hidden or refused by policies, by kind; "element" if the kind is unknown."""
    if isinstance(result, tuple):  # of `search_and_recall`: both results count the same elements
        return denied_of(result[0]) if result else {}
    denied = getattr(result, "denied", {})
    by_kind = {"element": denied} if isinstance(denied, int) else denied
    return {str(kind): count for kind, count in by_kind.items() if count}


def model_of(operation: str, owner: Any) -> Attributes:
    """The attributes of a model call, by the semantic conventions."""
    told: Attributes = {
        "gen_ai.operation.name": operation,
        "gen_ai.provider.name": _adapter(owner),
        "gen_ai.request.model": owner.name,
    }
    if url := getattr(owner, "base_url", ""):
        parts = urlsplit(url)
        told["server.address"] = parts.hostname or ""
        told["server.port"] = parts.port or (443 if parts.scheme == "https" else 80)
    return told


def error_type(error: BaseException) -> str:
    """The class of an error, by its full name; never its message, which may quote stored text."""
    kind = type(error)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _adapter(owner: object) -> str:
    """The module of the adapter, which has the name of the vendor or of the library."""
    ours = (each.__module__ for each in type(owner).__mro__ if each.__module__.startswith("graphsearch."))
    return next(ours, type(owner).__module__).rpartition(".")[2]


def _number(value: Any) -> int:
    return value if isinstance(value, int) else len(value)
