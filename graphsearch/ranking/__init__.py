"""Ranking of the entities that a question asks for (design 5.3)."""
