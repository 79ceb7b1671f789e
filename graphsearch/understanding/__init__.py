"""What a question means in one scope: the names, the relation, the kind of answer and the time that it asks for."""
