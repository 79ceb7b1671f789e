from collections.abc import Iterator

import pytest

from tests.embedders.voyage_server import VoyageServer, serving


@pytest.fixture
def voyage_server() -> Iterator[VoyageServer]:
    with serving() as server:
        yield server
