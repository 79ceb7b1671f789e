"""Graph queries: questions as validated data, which a language model writes and a store runs."""
