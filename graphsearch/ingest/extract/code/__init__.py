"""Python source to entities and structural claims."""
