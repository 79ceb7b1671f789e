"""Extraction of entities and structural claims from Python source."""
