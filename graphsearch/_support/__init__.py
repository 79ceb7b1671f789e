"""Helpers of every package that know nothing of graphs: optional extras, lazy names, retries, timing, watching."""
