"""How fast graphsearch is, each figure divided by the bare cost of the same work in the same run: docs/benchmarks.md."""
