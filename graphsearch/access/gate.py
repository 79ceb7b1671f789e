"""The gate: an authorizer with its principal, action and scope fixed, and what it is asked about.

Whatever goes wrong while asking is a deny. A `graphsearch.access.gatekeeper.Gatekeeper` asks on behalf of one question.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Hashable, Sequence
from typing import Final

import attrs

from graphsearch.model import Action, Entity, Memory, Principal, Relation, Scope
from graphsearch.model.signatures import Resource, Signature, entity_signature, memory_signature, relation_signature
from graphsearch.protocols import Authorizer

_log = logging.getLogger(__name__)

_NAMED_ATTRIBUTES: Final = frozenset({"source", "owner", "sensitivity"})


# -- gates --------------------------------------------------------------------------------------------------------


@attrs.frozen(repr=False)
class AllowAll:
    """A gate that permits everything."""

    @property
    def by_signature(self) -> bool:
        """True: nothing is read at all."""
        return True

    async def permits(self, resources: Sequence[Resource]) -> Sequence[bool]:
        """True for each resource."""
        return [True] * len(resources)

    def __repr__(self) -> str:
        return "ALLOW_ALL"


ALLOW_ALL: Final = AllowAll()
"""Permits everything: to be said aloud where no policies are wanted."""


@attrs.frozen
class AuthorizerGate:
    """What one principal may do in one scope.

    An authorizer that raises, or answers short, long or with anything but True, denies.
    """

    authorizer: Authorizer
    principal: Principal
    scope: Scope
    action: Action = Action.READ

    @property
    def by_signature(self) -> bool:
        """As `Authorizer.by_signature`."""
        return self.authorizer.by_signature

    @property
    def question(self) -> Hashable | None:
        """What the answers follow from beside the resource; None where the authorizer has no `policy_version`."""
        version = getattr(self.authorizer, "policy_version", None)
        if version is None:
            return None
        who = (self.principal, repr(self.principal.attributes))  # equal attributes may be of different types
        return (type(self.authorizer), version, self.action, self.scope, *who)

    async def permits(self, resources: Sequence[Resource]) -> Sequence[bool]:
        """One answer a resource, in order."""
        return await fail_closed(self._authorize, resources)

    async def _authorize(self, resources: Sequence[Resource]) -> Sequence[bool]:
        return await self.authorizer.authorize(self.principal, self.action, resources, scope=self.scope)


async def fail_closed(
    ask: Callable[[Sequence[Resource]], Awaitable[Sequence[bool]]], resources: Sequence[Resource]
) -> list[bool]:
    """The answers, or a deny for each resource when they cannot be had. Logs no text of the graph."""
    if not resources:
        return []
    try:
        answers = [answer is True for answer in await ask(resources)]
    except Exception as error:  # noqa: BLE001 - whatever an authorizer does wrong, the answer is no
        # no traceback: it could quote the graph
        _log.error("authorization raised %s: %d resources denied", type(error).__name__, len(resources))
        return [False] * len(resources)
    if len(answers) != len(resources):
        _log.error("authorization gave %d answers: %d resources denied", len(answers), len(resources))
        return [False] * len(resources)
    return answers


# -- resources ----------------------------------------------------------------------------------------------------


def resource_of(element: Entity | Relation | Memory) -> Resource:
    """An element as policies see it, with its id, its name (a memory's subject) and its other attributes as tags."""
    signature, name = _signature_and_name(element)
    tags = {key: value for key, value in element.attributes.items() if key not in _NAMED_ATTRIBUTES}
    return attrs.evolve(signature.resource, id=str(element.id), name=name, tags=tags)


def _signature_and_name(element: Entity | Relation | Memory) -> tuple[Signature, str]:
    if isinstance(element, Entity):
        return entity_signature(element), element.name
    if isinstance(element, Memory):
        return memory_signature(element), element.subject
    return relation_signature(element, ()), ""
