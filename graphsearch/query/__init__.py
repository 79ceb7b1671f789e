"""What a question asks."""
