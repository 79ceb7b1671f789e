"""The kinds of file that an ingest reads, one module a kind."""
