"""Formulas: pure functions of numbers, no I/O."""
