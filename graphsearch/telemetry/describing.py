"""What is told of an operation: numbers and names of parts, never a text that came in or that came out. Pure."""

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
"""The fields of a result that are told, by operation: a number as it is, of anything else how many it holds."""

MODEL_CALLS: Final = frozenset({"chat", "embeddings"})
"""Operations named as the semantic conventions of generative AI name them."""


def attributes_of(operation: str, result: Any) -> Attributes:
    """What a result amounts to."""
    if operation == "search_and_recall":
        found, recalled = result
        return attributes_of("search", found) | attributes_of("recall", recalled)
    if operation == "neighbors":
        return {"graphsearch.triplets": len(result)}
    if result is None:  # there is no path
        return {}
    counted = _COUNTED.get(operation, ())
    told: Attributes = {f"graphsearch.{field}": _number(getattr(result, field)) for field in counted}
    if mode := getattr(result, "mode", ""):
        told["graphsearch.mode"] = str(mode)
    if hasattr(result, "denied"):
        told["graphsearch.denied"] = sum(denied_of(result).values())
    return told


def denied_of(result: Any) -> Mapping[str, int]:
    """How many elements the policies hid or refused, by kind; "element" where the kind is not told."""
    if isinstance(result, tuple):  # of `search_and_recall`: both tell of the same elements
        return denied_of(result[0]) if result else {}
    denied = getattr(result, "denied", {})
    by_kind = {"element": denied} if isinstance(denied, int) else denied
    return {str(kind): count for kind, count in by_kind.items() if count}


def model_of(operation: str, owner: Any) -> Attributes:
    """A model that is called, as the semantic conventions tell it."""
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
    """The class of an error, by its full name; never its message, which may quote what it is about."""
    kind = type(error)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _adapter(owner: object) -> str:
    """The module of the adapter, which has the name of the vendor or of the library."""
    ours = (each.__module__ for each in type(owner).__mro__ if each.__module__.startswith("graphsearch."))
    return next(ours, type(owner).__module__).rpartition(".")[2]


def _number(value: Any) -> int:
    return value if isinstance(value, int) else len(value)
