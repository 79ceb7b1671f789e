"""Text analysis and rendering: terms, BM25, trigrams, sentences, name spans, dates."""
