"""Authorization by Cedar policies."""

from graphsearch.authz.cedar import CedarAuthorizer

__all__ = ["CedarAuthorizer"]
