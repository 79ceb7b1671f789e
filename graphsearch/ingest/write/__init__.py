"""Writing: resolve what was extracted from memories, embed it, and write it in transactions."""
