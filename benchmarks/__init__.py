"""Benchmarks, relative to the bare cost of the same work in the same run: docs/project/measurements/benchmarks.md."""
