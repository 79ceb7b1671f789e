"""Extraction of surface forms and statements: by a language model, and from source code."""
