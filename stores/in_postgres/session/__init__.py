"""Connections to Postgres, transactions in one scope, and the statements and rows sent through them."""
