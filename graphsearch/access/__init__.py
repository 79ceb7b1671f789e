"""What one principal may see: the gate, the one reader of a store, and what is read through it."""
