"""Benchmarks, relative to the bare cost of the same work in the same run; see docs/measurements/benchmarks.md."""
