"""The parts of the Postgres store: transactions in one scope, and what is read and written inside them."""
