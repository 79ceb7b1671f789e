"""Fits the shares of confidence of the reader of texts to statements that were judged by hand."""
