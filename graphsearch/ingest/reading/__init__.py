"""The reader of texts: names by a tagger and what is known, relations by clauses and the table of frames."""
