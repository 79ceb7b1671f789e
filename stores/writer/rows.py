"""The rows of `graphsearch.protocols.rows`, by the name they are imported by."""

from graphsearch.protocols.rows import *  # noqa: F403
