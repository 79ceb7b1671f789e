"""Until recall has moved to `graphsearch.question.linking`."""

from graphsearch.question.linking import link_names

__all__ = ["link_names"]
