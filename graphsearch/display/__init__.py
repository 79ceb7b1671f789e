"""Values in notebooks: HTML without scripts or external resources, and plain text."""
