"""Adapters for the runtimes that agents live in; each needs an extra of its own."""
