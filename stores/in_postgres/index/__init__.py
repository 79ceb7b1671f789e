"""Search indexes maintained by writes: documents, vectors, names and signatures."""
