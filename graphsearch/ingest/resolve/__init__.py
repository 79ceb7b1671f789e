"""Resolution of names in texts to entities: a cascade of stages, from cheap to expensive."""
