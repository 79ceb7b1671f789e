"""Logic that all stores share."""
