"""The search modes, one module each, behind one registry."""
