"""The parts of the store in memory: an immutable state, drafts of the next one, and indexes built from it."""
