"""Train the tagger of names, and build its lexicon, from data at hand."""
