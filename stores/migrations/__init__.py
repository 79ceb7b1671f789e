"""The numbered changes that lead to the schema of sql/schema*.sql."""
