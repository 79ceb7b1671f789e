"""Fakes and the conformance suite for stores, for the tests of this library and of your own stores."""
