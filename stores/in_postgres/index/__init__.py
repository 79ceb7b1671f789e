"""What a write prepares for searches: documents, vectors, names and signatures."""
