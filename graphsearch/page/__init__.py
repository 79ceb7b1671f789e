"""The page to look at a graph: the answers that it needs beside those of the other surfaces, and its files."""
