"""The traversal that a user names or passes."""

from __future__ import annotations

from typing import Final, cast

from graphsearch.errors import InvalidInputError
from graphsearch.protocols import Traversal
from graphsearch.stores.graph import GraphStore
from graphsearch.traversal.k_hop import KHopTraversal
from graphsearch.traversal.pagerank import PersonalizedPageRank

NAMES: Final = ("k_hop", "pagerank")


def as_traversal(part: Traversal | str, store: GraphStore) -> Traversal:
    """The traversal of a name, or a user's own. Raises `InvalidInputError` for anything else, and for a class."""
    if isinstance(part, str) and part in NAMES:
        return KHopTraversal(store) if part == NAMES[0] else PersonalizedPageRank()
    if hasattr(part, "traverse") and not isinstance(part, type):
        return cast("Traversal", part)
    what = f"{part.__name__}, a class: pass {part.__name__}(…)" if isinstance(part, type) else repr(part)
    raise InvalidInputError("traversal", [f"must be {' or '.join(NAMES)}, or have async traverse(…), not {what}"])
