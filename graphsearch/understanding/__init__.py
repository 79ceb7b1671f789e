"""The meaning of a question in one scope: its names, and the relation, the kind of answer and the time it asks for."""
