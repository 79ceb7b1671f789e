"""Extraction by rules: texts to surface forms and statements. Pure, without a store and without a model."""
