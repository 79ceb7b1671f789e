"""Summaries that a language model writes of what was found, sentence by sentence with its sources."""
