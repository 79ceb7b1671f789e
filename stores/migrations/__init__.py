"""The numbered changes that lead to the schema."""
