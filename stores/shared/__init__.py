"""Parts of stores that are the same whatever they keep their graphs in."""
