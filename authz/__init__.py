"""Who may see what, decided by Cedar."""
