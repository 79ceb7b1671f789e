"""The writing end of an ingest: extracted memories resolved, embedded and written in transactions."""
