"""The statements of the Postgres store."""
