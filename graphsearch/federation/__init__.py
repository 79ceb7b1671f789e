"""Federated search: one question to several scopes of one organisation, with one ranking and one block."""

from typing import TYPE_CHECKING

from graphsearch._support.lazy import lazily

if TYPE_CHECKING:
    from graphsearch.federation.engine import FederatedEngine as FederatedEngine

__getattr__, __dir__ = lazily(__name__)
