"""Ranking: triplets, memories and entities, each scored by named parts that explain it."""
