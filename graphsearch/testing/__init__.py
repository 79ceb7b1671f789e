"""Fakes and the store conformance suite, for the tests of this library and of your own stores."""
