"""Recall of memories: words, meaning, conversation and graph, in one order (design 5.2)."""
