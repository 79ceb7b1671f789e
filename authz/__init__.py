"""Who may see what, decided by Cedar."""

from graphsearch.authz.cedar import CedarAuthorizer

__all__ = ["CedarAuthorizer"]
