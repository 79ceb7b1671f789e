"""How relevant a triplet is to a question: one number in [0, 1], made of named parts."""
