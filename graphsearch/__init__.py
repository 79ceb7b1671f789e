"""Turns an agent's knowledge graph into the few lines of context that answer its next question."""
