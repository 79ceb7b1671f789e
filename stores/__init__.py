"""Where graphs are kept: in memory, in Postgres, in an embedded Postgres."""
