"""Gates: a principal with the authorizer that decides what it may do; elements as policies see them; and the past.

Any failure to decide is a deny. A `graphsearch.access.gatekeeper.Gatekeeper` queries a gate on behalf of one question.

In a question about what was known earlier, memories that were not known, or had not occurred, are hidden. So what they
prove, name and state is left out by the same rules as what policies hide, and the answer is that of a graph which has
never heard of them. Feedback, importance, merges and other curation are those of the present.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Hashable, Iterable, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Final

import attrs

from graphsearch.errors import AccessDeniedError
from graphsearch.model import Action, ElementKind, Entity, Memory, Principal, Relation, Scope, View
from graphsearch.model import validation as check
from graphsearch.model.signatures import Resource
from graphsearch.protocols import Authorizer
from graphsearch.stores.graph import GraphStore

_log = logging.getLogger(__name__)

_NAMED_ATTRIBUTES: Final = frozenset({"source", "owner", "sensitivity"})


# -- gates --------------------------------------------------------------------------------------------------------


class StatisticsOf(StrEnum):
    """What the statistics of words cover: N, document frequencies and the average length of BM25."""

    SCOPE = "scope"
    """The whole scope, as the store maintains them: they count what is hidden, and show in scores."""
    VISIBLE = "visible"
    """What the principal may see: no score depends on anything hidden.

    All that a question searches is read: once for each version of the scope, by one engine, where the authorizer has a
    ``policy_version``.
    """


@attrs.frozen
class AllowAll:
    """An authorizer that allows everything to everybody; gates do not call it."""

    by_signature = True

    async def authorize(
        self, principal: Principal, action: Action, resources: Sequence[Resource], *, scope: Scope
    ) -> Sequence[bool]:
        """True for each resource."""
        del principal, action, scope
        return [True] * len(resources)


def _statistics(value: str) -> StatisticsOf:
    check.refuse("gate", check.one_of("statistics", value, tuple(map(str, StatisticsOf))))
    return StatisticsOf(value)


@attrs.frozen(repr=False)
class Gate:
    """A principal, and the authorizer that decides what it may do.

    A gate has no scope or action of its own: whatever takes a gate binds it to the scope of its store, and to the
    actions that it needs. For decisions of your own, write an `Authorizer`. ``statistics`` is what scores by words are
    computed from. With ``explains``, results count what each policy hid, for those who may know it.
    """

    authorizer: Authorizer
    principal: Principal
    statistics: StatisticsOf = attrs.field(default=StatisticsOf.SCOPE, converter=_statistics)
    explains: bool = False

    def bind(self, scope: Scope, action: Action = Action.READ) -> BoundGate:
        """The gate for one action in one scope."""
        return BoundGate(self.authorizer, self.principal, scope, action, self.statistics, self.explains)

    @property
    def allows_all(self) -> bool:
        """Whether nothing is ever denied, so that no authorizer needs to be called."""
        return isinstance(self.authorizer, AllowAll)

    def enters(self, scope: Scope) -> bool:
        """Whether the principal may see anything in a scope, as far as the authorizer can tell without an element.

        An authorizer that can has a method ``enters(principal, scope) -> bool``; False promises that it denies all.
        """
        decide = getattr(self.authorizer, "enters", None)
        return decide is None or decide(self.principal, scope) is True

    def __repr__(self) -> str:
        return "ALLOW_ALL" if self == ALLOW_ALL else f"Gate({self.authorizer!r}, {self.principal!r})"


ALLOW_ALL: Final = Gate(AllowAll(), Principal(id="owner"))
"""The gate of the owner of a graph, to whom everything is allowed: for use without policies."""


@attrs.frozen
class BoundGate:
    """A gate for one action in one scope. Several tasks may use it concurrently.

    If the authorizer raises, or returns too few or too many answers, all are denied; an answer other than True denies.
    """

    authorizer: Authorizer
    principal: Principal
    scope: Scope
    action: Action = Action.READ
    statistics: StatisticsOf = StatisticsOf.SCOPE
    explains: bool = False
    failures: list[str] = attrs.field(factory=list, init=False, eq=False, repr=False)
    """How decisions failed so far."""

    @property
    def allows_all(self) -> bool:
        """As `Gate.allows_all`."""
        return isinstance(self.authorizer, AllowAll)

    @property
    def policies(self) -> BoundGate:
        """The gate by policies alone, whatever it is combined with."""
        return self

    @property
    def by_signature(self) -> bool:
        """As `Authorizer.by_signature`."""
        return self.authorizer.by_signature is True

    @property
    def question(self) -> Hashable | None:
        """All that determines an answer apart from the resource; None for an authorizer without `policy_version`."""
        version = getattr(self.authorizer, "policy_version", None)
        if version is None:
            return None
        who = (self.principal, repr(self.principal.attributes))  # equal attributes may be of different types
        return (type(self.authorizer), version, self.action, self.scope, *who)

    async def permits(self, resources: Sequence[Resource]) -> Sequence[bool]:
        """One answer per resource, in order; all denied if the authorizer fails. Logs no text of the graph."""
        if not resources:
            return []
        try:
            given = await self.authorizer.authorize(self.principal, self.action, resources, scope=self.scope)
            answers = [answer is True for answer in given]
        except Exception as error:  # noqa: BLE001 - whatever fails in an authorizer, the answer is no
            # no traceback: it could quote the graph
            self.failures.append(type(error).__name__)
            _log.error("authorization raised %s: %d resources denied", type(error).__name__, len(resources))
            return [False] * len(resources)
        if len(answers) != len(resources):
            self.failures.append("count")
            _log.error("authorization gave %d answers: %d resources denied", len(answers), len(resources))
            return [False] * len(resources)
        return answers

    def reasons(self, resources: Sequence[Resource]) -> Sequence[Sequence[str]]:
        """The policies that deny each resource, by id, where the authorizer has such a method."""
        find = getattr(self.authorizer, "reasons", None)
        return find(self.principal, self.action, resources, scope=self.scope) if find else [()] * len(resources)

    async def demand(self, elements: Iterable[Entity | Relation | Memory]) -> None:
        """Raise `AccessDeniedError` unless the action is allowed for every element."""
        if self.allows_all:
            return
        if not all(await self.permits([resource_of(element) for element in elements])):
            raise AccessDeniedError(self.action.value)


# -- resources ----------------------------------------------------------------------------------------------------


def resource_of(element: Entity | Relation | Memory) -> Resource:
    """An element as policies see it, with its id, its name (a memory's subject) and its other attributes as tags."""
    attributes = element.attributes
    named = {name: str(attributes[name]) for name in _NAMED_ATTRIBUTES if name in attributes}
    tags = {key: value for key, value in attributes.items() if key not in named} if named else attributes
    id_, labels = str(element.id), element.labels
    match element:
        case Relation():
            return Resource(kind=ElementKind.RELATION, type=element.type, labels=labels, id=id_, tags=tags, **named)
        case Entity():
            kind, name = ElementKind.ENTITY, element.name
            return Resource(kind=kind, type=element.type, labels=labels, id=id_, name=name, tags=tags, **named)
        case Memory():
            named["source"] = element.source
            return Resource(kind=ElementKind.MEMORY, labels=labels, id=id_, name=element.subject, tags=tags, **named)


@attrs.frozen
class PastGate(BoundGate):
    """A gate that denies, besides what another one denies, the memories that a view does not know."""

    gate: BoundGate = attrs.field(kw_only=True)
    store: GraphStore = attrs.field(kw_only=True)
    view: View = attrs.field(kw_only=True)

    @property
    def allows_all(self) -> bool:
        """False."""
        return False

    @property
    def policies(self) -> BoundGate:
        """The other gate."""
        return self.gate

    @property
    def by_signature(self) -> bool:
        """False: a signature has no time."""
        return False

    async def permits(self, resources: Sequence[Resource]) -> Sequence[bool]:
        """What the other gate permits, without memories that were not known."""
        answers = [True] * len(resources) if self.gate.allows_all else await self.gate.permits(resources)
        asked = [each.id for each, allow in zip(resources, answers, strict=True) if allow and _is_memory(each)]
        if not asked:
            return answers
        known = {each.id for each in await self.store.get_memories(asked) if self._knows(each)}
        return [
            allow and (not _is_memory(each) or each.id in known) for each, allow in zip(resources, answers, strict=True)
        ]

    def _knows(self, memory: Memory) -> bool:
        """Whether a memory was known, and if the view knows nothing later than it looks at, had occurred."""
        if not self.view.known(memory.created_at, None):
            return False
        return self.view.known_at > self.view.as_of or self.view.holds(memory.occurred_at, None)


def known_by(gate: BoundGate, store: GraphStore, view: View, now: datetime) -> BoundGate:
    """The gate with what was not known yet hidden, where a view is of what was known before the present."""
    if view.known_at >= now:
        return gate
    of = gate.authorizer, gate.principal, gate.scope, gate.action, StatisticsOf.VISIBLE
    return PastGate(*of, gate=gate, store=store, view=view)


def _is_memory(resource: Resource) -> bool:
    return resource.kind is ElementKind.MEMORY


_ROWS: Final = 1_000
"""Rows read at a time."""


async def stored_elements(store: GraphStore) -> AsyncIterator[Sequence[Entity | Memory | Relation]]:
    """Every element of a scope, page by page."""
    for kind in ElementKind:
        after = None
        while page := await store.page(kind, after=after, limit=_ROWS):
            after = page[-1].key
            yield [getattr(row, kind) for row in page]


async def demand_everything(store: GraphStore, gate: Gate | None, action: Action) -> None:
    """Raise `AccessDeniedError` unless a principal may do something to every element; without a gate anybody may."""
    if gate is None or gate.allows_all:
        return
    bound = gate.bind(store.scope, action)
    async for elements in stored_elements(store):
        await bound.demand(elements)
