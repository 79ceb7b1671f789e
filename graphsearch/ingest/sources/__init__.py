"""Sources of an ingest: files by format, documents, transcripts and files of memories."""
