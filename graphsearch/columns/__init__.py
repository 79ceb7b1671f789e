"""Columns of numbers: the form in which relations pass from stores through traversal to scoring."""

from graphsearch.columns.elements import NONE, Codes, Edges, Floats, Hits, Keys, Mask, Mentioned, Rows, Subgraph, Turns
from graphsearch.columns.expansion import Expansion, FarEnds, Steps

__all__ = [
    "NONE",
    "Codes",
    "Edges",
    "Expansion",
    "FarEnds",
    "Floats",
    "Hits",
    "Keys",
    "Mask",
    "Mentioned",
    "Rows",
    "Steps",
    "Subgraph",
    "Turns",
]
