"""Comparison of names of people, organisations, tools and files: which of them may denote the same entity."""
