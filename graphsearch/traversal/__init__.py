"""Ways to walk from seeds into the graph."""
