"""Extraction by a language model, which has to prove each statement by a quote from the text."""
