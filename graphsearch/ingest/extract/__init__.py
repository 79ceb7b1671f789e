"""Extraction of surface forms and statements: by rules, by a language model, and from source code."""
