"""Explanations: why a triplet, a memory or an entity was, or was not, among the answers to a question."""
