"""Summaries written by a language model, in which every sentence cites its sources."""
