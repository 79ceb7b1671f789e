"""Reads of a graph in Postgres, by capability."""
