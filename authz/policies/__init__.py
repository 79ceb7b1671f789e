"""The policies and the schema shipped with graphsearch."""
