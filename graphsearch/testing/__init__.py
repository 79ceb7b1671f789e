"""Fakes and the conformance suite for stores, for the tests of this library and of your own stores."""

from typing import TYPE_CHECKING

from graphsearch._support.lazy import lazily

if TYPE_CHECKING:
    from graphsearch.testing.conformance import StoreConformance as StoreConformance

__getattr__, __dir__ = lazily(__name__)
