"""How fast graphsearch is, divided by the bare cost of the same work in the same run: docs/measurements/benchmarks.md."""
