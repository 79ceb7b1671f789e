"""The numbered changes that lead to schema.sql."""
