"""The block of text that a session is given."""
