"""An operation: one verb of the library, and all that its surfaces need to offer it.

A row names the function that does the work; its arguments are those of the function, its result is what the function
returns. The command line, the MCP tools, the REST routes and the reference pages are made of rows and of nothing else.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from enum import IntEnum, StrEnum
from functools import cached_property
from typing import Any, Final, get_args, get_type_hints

import attrs

from graphsearch.context import ContextBlock
from graphsearch.model import Action, Scope
from graphsearch.model.codec import Json, Says, decode, encode
from graphsearch.model.proposals import Proposed
from graphsearch.modes.result import SearchResult
from graphsearch.operations.arguments import ARGUMENTS
from graphsearch.operations.service import Caller

_GIVEN_BY_THE_CALLER: Final = frozenset({"self", "caller", "engine", "builder", "gate", "llm"})


class Effect(StrEnum):
    """What an operation does to the graph: nothing, it adds or changes, or something may be lost."""

    READS = "reads"
    WRITES = "writes"
    LOSES = "loses"


class Profile(IntEnum):
    """For whom an operation is listed: everybody in a profile also sees those of the profiles before it.

    Those of the page are no tools: agents have others for it. Those of the console run on the command line alone: they
    end a project, or pay for a language model.
    """

    AGENT = 0
    CURATOR = 1
    ALL = 2
    PAGE = 3
    CONSOLE = 4


@attrs.frozen(eq=False, kw_only=True)
class Operation:
    """A row of the table.

    * ``verb``: the function that does the work, called with ``subject(caller)`` and the fields of the request. Its
      arguments are those of the request but for those ``without``; one means the same in every operation (`ARGUMENTS`),
      unless ``says`` says otherwise.
    * ``key``: the name under which JSON shows a result that is no object.
    * ``permission``: what its principal needs on what it touches; ``repeats``: a second call changes something more.
    * ``people`` and ``agents``: what a command says of itself, which is the first line of the function's docstring, and
      a tool. ``listed``: the arguments that agents are told of; all others are accepted, too.
    """

    name: str
    verb: Callable[..., Awaitable[Any]]
    subject: Callable[[Caller], Any]
    permission: Action
    effect: Effect
    repeats: bool = False
    profile: Profile = Profile.ALL
    key: str = ""
    people: str
    agents: str
    listed: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    says: Mapping[str, Says] = attrs.field(factory=dict)

    @cached_property
    def request(self) -> type:
        """The attrs class of its arguments, made when it is first asked for."""
        left_out, known = {*_GIVEN_BY_THE_CALLER, *self.without}, {**ARGUMENTS, **self.says}
        named = {name: each for name, each in _declared(self.verb).items() if name not in left_out}
        made = attrs.make_class(
            "".join(map(str.capitalize, (*self.name.split("_"), "request"))),
            {
                name: attrs.field(default=default, metadata={"says": known.get(name, Says())})
                for name, (_, default) in named.items()
            },
            frozen=True,
            kw_only=True,
        )
        made.__annotations__ = {name: kind for name, (kind, _) in named.items()}
        return made

    @cached_property
    def result(self) -> Any:
        """The type of what it returns."""
        return get_type_hints(self.verb, include_extras=True)["return"]

    @property
    def reads(self) -> bool:
        """Whether it changes nothing."""
        return self.effect is Effect.READS

    @property
    def has_dry_run(self) -> bool:
        """Whether it can only report what it would change."""
        return "dry_run" in attrs.fields_dict(self.request)

    def read(self, given: Mapping[str, Any]) -> Any:
        """The request that a client's JSON is. Raises `InvalidInputError` with every fault."""
        return decode(self.request, dict(given), self.name, lenient=True)

    def told(self, value: Any) -> Json:
        """The JSON object of a result."""
        data = encode(value)
        return {self.key: data} if self.key and not isinstance(value, Proposed) else data

    async def run(self, caller: Caller, request: Any) -> Any:
        """Do it."""
        given = {each.name: getattr(request, each.name) for each in attrs.fields(self.request)}
        needed = {"gate", "llm"} & inspect.signature(self.verb).parameters.keys()
        given |= {name: getattr(caller, name) for name in needed}
        subject = self.subject(caller)
        own = getattr(subject, self.verb.__name__, None)  # an engine over several scopes has its own
        found = await (own(**given) if own else self.verb(subject, **given))
        return found if caller.asked is caller.engine else _as_in(caller.engine.store.scope, found)


def _as_in(scope: Scope, found: Any) -> Any:
    """An answer of several scopes, with the ids of relations in one of them: there the next call looks for them."""
    if not isinstance(found, SearchResult | ContextBlock):
        return found
    relations = (attrs.evolve(each.relation, id=each.id_in(scope)) for each in found.triplets)
    triplets = (attrs.evolve(each, relation=own) for each, own in zip(found.triplets, relations, strict=True))
    return attrs.evolve(found, triplets=tuple(triplets))


def row(
    verb: Callable[..., Awaitable[Any]],
    subject: Callable[[Caller], Any],
    permission: Action,
    *,
    agents: str = "",
    name: str = "",
    effect: Effect | None = None,
    **rest: Any,
) -> Operation:
    """A row for a function, whose arguments are read off its signature."""
    people = (inspect.getdoc(verb) or "").partition("\n")[0]
    return Operation(
        name=name or getattr(verb, "__name__", ""),
        verb=verb,
        subject=subject,
        permission=permission,
        effect=effect or (Effect.READS if permission is Action.READ else Effect.WRITES),
        people=people,
        agents=agents or people,
        **rest,
    )


def _declared(verb: Callable[..., Any]) -> dict[str, tuple[Any, Any]]:
    """The type and the default of each argument."""
    request = getattr(verb, "request", None)
    if request is not None:
        types = get_type_hints(request, include_extras=True)
        return {each.name: (types[each.name], each.default) for each in attrs.fields(request)}
    types = get_type_hints(verb, include_extras=True)
    found: dict[str, tuple[Any, Any]] = {}
    for each in inspect.signature(verb).parameters.values():
        if each.kind is each.VAR_KEYWORD:
            found |= {name: (kind, None) for name, kind in get_type_hints(get_args(types[each.name])[0]).items()}
        else:
            found[each.name] = types.get(each.name), attrs.NOTHING if each.default is each.empty else each.default
    return found
