"""Text as it is compared, searched and shown: terms, BM25, trigrams, sentences, name spans, dates."""
