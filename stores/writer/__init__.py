"""The operations on a graph that change rows: each algorithm once, for every store."""
