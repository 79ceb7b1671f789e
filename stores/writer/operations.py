"""The changes of a graph, as a store calls them; each reads what it needs, computes, and writes each kind once."""

from graphsearch.stores.writer.forgetting import delete, forget
from graphsearch.stores.writer.merging import merge, undo_merge
from graphsearch.stores.writer.writing import register_types, write

__all__ = ["delete", "forget", "merge", "register_types", "undo_merge", "write"]
