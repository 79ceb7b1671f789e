"""Extraction of surface forms and statements by rules, without a store and without a model."""
