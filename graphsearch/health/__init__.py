"""The health of a graph: entities that may be one, what that says about the graph, and what it is worth in recall."""
