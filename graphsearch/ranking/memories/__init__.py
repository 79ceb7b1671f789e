"""Recall of memories: words, meaning, conversation and graph, fused into one ranking."""
