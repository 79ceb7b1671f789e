"""The one table of relations, for stated facts and for texts."""
