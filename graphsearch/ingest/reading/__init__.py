"""The reader of texts: names, and what sentences state about them."""
