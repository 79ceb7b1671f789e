"""Federated search: one question to several scopes of one organisation, with one ranking and one block."""
