"""Adapters for agent runtimes; each needs an extra of its own."""
