"""Ranking of the entities that a question asks for."""
