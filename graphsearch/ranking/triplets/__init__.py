"""The relevance of triplets to a question: one number in [0, 1], made of named parts."""
