"""Gates for tests: somebody asks, and a rule decides."""

from collections.abc import Callable, Sequence
from typing import Final

import attrs
import pytest

from graphsearch.access.gate import Gate
from graphsearch.model import Action, Principal, Scope
from graphsearch.model.signatures import Resource

SOMEBODY: Final = Principal(id="somebody")
POLICIES: Final = pytest.mark.parametrize(
    ("scoped", "by_signature"), [("memory", False), ("postgres", True)], indirect=["scoped"]
)
"""On either store, by policies of either kind. Pairs of worlds take both kinds on both stores, by chance."""


@attrs.frozen
class Ruling:
    """An authorizer that allows the elements for which a rule holds."""

    rule: Callable[[Resource], bool]
    by_signature: bool

    async def authorize(
        self, principal: Principal, action: Action, resources: Sequence[Resource], *, scope: Scope
    ) -> Sequence[bool]:
        del principal, action, scope
        return [self.rule(resource) for resource in resources]


def allowing(rule: Callable[[Resource], bool], *, by_signature: bool = False, statistics: str = "scope") -> Gate:
    """The gate of somebody who may see the elements for which a rule holds."""
    return Gate(Ruling(rule, by_signature), SOMEBODY, statistics)


def no_secrets(*, by_signature: bool = True, statistics: str = "scope") -> Gate:
    """The gate of somebody from whom everything labelled "secret" is hidden."""
    return allowing(lambda resource: "secret" not in resource.labels, by_signature=by_signature, statistics=statistics)
