"""Claims and their fold: which relations they prove together, and what entities are called."""
