"""Traversals from seeds into the graph."""
