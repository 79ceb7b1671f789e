import pytest

from graphsearch.sync.bridge import Bridge


@pytest.fixture
def own():
    """A bridge of the test's own."""
    made = Bridge()
    yield made
    made.close()
