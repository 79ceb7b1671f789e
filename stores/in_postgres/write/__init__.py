"""Changes to a graph in Postgres, by capability."""
