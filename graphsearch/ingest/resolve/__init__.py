"""Names in texts to entities: the cascade from cheap to dear (design 6)."""
