"""Reading texts: the names in them, and what their sentences state."""
