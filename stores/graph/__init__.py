"""A graph over what a store implements: what can be asked of it and done to it, once for every store."""

from graphsearch.stores.graph.store import GraphStore as GraphStore
