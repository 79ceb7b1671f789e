"""The policies and schema that come with graphsearch."""
