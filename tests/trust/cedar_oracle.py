"""An evaluator of Cedar policies that shares nothing with Cedar: expressions as values, their text, and what they mean.

It covers what generated policies use: scopes with ``==``, ``in`` and ``is``, and conditions with attributes, ``has``,
``like``, sets, tags, comparisons and connectives. As the authorizer does, it denies where any policy that applies
cannot be evaluated, and outside the projects of the principal.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final, TypeAlias

import attrs

from graphsearch.model import Action, ElementKind, Principal, Scope
from graphsearch.model.signatures import Resource

_KINDS: Final = {ElementKind.ENTITY: "Entity", ElementKind.RELATION: "Relation", ElementKind.MEMORY: "Memory"}


class CannotEvaluateError(Exception):
    """A missing attribute or tag, or a value of another type than an operator takes."""


# -- expressions --------------------------------------------------------------------------------------------------


@attrs.frozen
class Uid:
    """An entity of Cedar: its type, and the parts of its id."""

    type: str
    parts: tuple[str, ...]


@attrs.frozen
class Literal:
    """A text, a boolean, a whole number, or an entity."""

    value: str | bool | int | Uid


@attrs.frozen
class SetOf:
    """A set of literals."""

    items: tuple[Literal, ...]


@attrs.frozen
class Variable:
    """``principal``, ``resource``, ``action`` or ``context.project``."""

    name: str


@attrs.frozen
class Attribute:
    """An attribute; with ``tests``, whether it is there."""

    of: Expression
    name: str
    tests: bool = False


@attrs.frozen
class Operation:
    """Two operands; ``&&`` and ``||`` evaluate the second only if it matters."""

    operator: str
    left: Expression
    right: Expression


@attrs.frozen
class Not:
    """A negation."""

    of: Expression


@attrs.frozen
class Choice:
    """``if … then … else …``."""

    condition: Expression
    then: Expression
    otherwise: Expression


@attrs.frozen
class Like:
    """A text with a pattern: pieces with anything in between."""

    of: Expression
    pieces: tuple[str, ...]


@attrs.frozen
class Call:
    """A method of a set or an entity."""

    of: Expression
    method: str
    argument: Expression | None = None


@attrs.frozen
class Is:
    """Whether an entity is of a type, and in another if that is given."""

    of: Expression
    type: str
    place: Expression | None = None


Expression: TypeAlias = (
    Literal | SetOf | Variable | Attribute | Operation | Not | Choice | Like | Call | Is
)  # fmt: skip


@attrs.frozen
class Policy:
    """An effect, whom and what it applies to, and its conditions, each ``when`` (True) or ``unless`` (False)."""

    permits: bool
    principal: Expression
    action: Expression
    resource: Expression
    conditions: tuple[tuple[bool, Expression], ...] = ()


ANYTHING: Final = Literal(value=True)
"""A scope without a constraint."""

# -- text ---------------------------------------------------------------------------------------------------------


def text_of(policy: Policy) -> str:
    """The policy in Cedar's syntax."""
    scope = ", ".join(
        name if constraint == ANYTHING else written(constraint, scope=True)
        for name, constraint in zip(
            ("principal", "action", "resource"), (policy.principal, policy.action, policy.resource), strict=True
        )
    )
    conditions = "".join(f"\n{'when' if when else 'unless'} {{ {written(each)} }}" for when, each in policy.conditions)
    return f"{'permit' if policy.permits else 'forbid'} ({scope}){conditions};"


def written(expression: Expression, *, scope: bool = False) -> str:  # noqa: C901 - one case an expression
    """An expression in Cedar's syntax; scopes have no brackets."""
    match expression:
        case Literal(value=Uid(type=type_, parts=parts)):
            escaped = parts if type_ in ("User", "Agent", "Action") else [_escaped(part) for part in parts]
            return f"{type_}::{json.dumps('/'.join(escaped))}"
        case Literal(value=value):
            return json.dumps(value)
        case SetOf(items=items):
            return f"[{', '.join(map(written, items))}]"
        case Variable(name=name):
            return name
        case Attribute(of=of, name=name, tests=tests):
            return f"({written(of)} has {name})" if tests else f"{written(of)}.{name}"
        case Operation(operator=operator, left=left, right=right):
            inside = f"{written(left)} {operator} {written(right)}"
            return inside if scope else f"({inside})"
        case Not(of=of):
            return f"!({written(of)})"
        case Choice(condition=condition, then=then, otherwise=otherwise):
            return f"(if {written(condition)} then {written(then)} else {written(otherwise)})"
        case Like(of=of, pieces=pieces):
            return f"({written(of)} like {'*'.join(json.dumps(each)[1:-1] for each in pieces).join(chr(34) * 2)})"
        case Call(of=of, method=method, argument=argument):
            return f"{written(of)}.{method}({'' if argument is None else written(argument)})"
        case Is(of=of, type=type_, place=place):
            inside = f"{written(of)} is {type_}" + ("" if place is None else f" in {written(place)}")
            return inside if scope else f"({inside})"


def _escaped(part: str) -> str:
    return part.replace("%", "%25").replace("/", "%2F")


# -- meaning ------------------------------------------------------------------------------------------------------


@attrs.frozen
class Asked:
    """A principal, an action and a resource in a scope."""

    principal: Principal
    action: Action
    resource: Resource
    scope: Scope

    def allowed(self, policies: Sequence[Policy]) -> bool:
        """Whether a permit applies and no forbid does, in a project of the principal, without any error."""
        if self.scope not in self.principal.projects:
            return False
        try:
            effects = [policy.permits for policy in policies if self._applies(policy)]
        except CannotEvaluateError:
            return False
        return bool(effects) and all(effects)

    def _applies(self, policy: Policy) -> bool:
        if not all(self._is_true(each) for each in (policy.principal, policy.action, policy.resource)):
            return False
        return all(self._is_true(each) is when for when, each in policy.conditions)

    def _is_true(self, expression: Expression) -> bool:
        value = self.value(expression)
        if not isinstance(value, bool):
            raise CannotEvaluateError
        return value

    def value(self, expression: Expression) -> Any:  # noqa: C901, PLR0912 - one case an expression
        """The value of an expression: a text, a boolean, a number, a `Uid`, or a frozenset of tagged values."""
        match expression:
            case Literal(value=value):
                return value
            case SetOf(items=items):
                return frozenset(_tagged(each.value) for each in items)
            case Variable(name=name):
                return self._variables()[name]
            case Attribute(of=of, name=name, tests=tests):
                attributes = self._attributes(self.value(of))
                if tests:
                    return name in attributes
                if name not in attributes:
                    raise CannotEvaluateError
                return attributes[name]
            case Operation(operator="&&", left=left, right=right):
                return self._is_true(left) and self._is_true(right)
            case Operation(operator="||", left=left, right=right):
                return self._is_true(left) or self._is_true(right)
            case Operation(operator=operator, left=left, right=right):
                return self._compared(operator, self.value(left), self.value(right))
            case Not(of=of):
                return not self._is_true(of)
            case Choice(condition=condition, then=then, otherwise=otherwise):
                return self.value(then if self._is_true(condition) else otherwise)
            case Like(of=of, pieces=pieces):
                return _is_like(_text(self.value(of)), pieces)
            case Call(of=of, method=method, argument=argument):
                return self._called(self.value(of), method, None if argument is None else self.value(argument))
            case Is(of=of, type=type_, place=place):
                entity = self.value(of)
                return entity.type == type_ and (place is None or self._is_in(entity, self.value(place)))

    def _variables(self) -> dict[str, Uid]:
        place = (self.scope.org_id, self.scope.project_id)
        return {
            "principal": Uid(self.principal.type, (self.principal.id,)),
            "action": Uid("Action", (self.action.value,)),
            "resource": Uid(_KINDS[self.resource.kind], (*place, self.resource.id)),
            "context.project": Uid("Project", place),
        }

    def _attributes(self, entity: Uid) -> dict[str, Any]:
        if entity == self._variables()["principal"]:
            given = self.principal.attributes.items()
            typed = {name: _cedar(value) for name, value in given}
            return {**{name: each for name, each in typed.items() if each is not None}, "id": self.principal.id}
        if entity != self._variables()["resource"]:
            return {}
        optional = {name: getattr(self.resource, name) for name in ("name", "source", "owner", "sensitivity")}
        own = {"type": self.resource.type, "labels": frozenset(map(_tagged, self.resource.labels))}
        return {**own, **{name: value for name, value in optional.items() if value}}

    def _tags(self, entity: Uid) -> dict[str, str]:
        of_principal = entity == self._variables()["principal"]
        tags = self.principal.attributes if of_principal else self.resource.tags
        return {
            name: value if isinstance(value, str) else json.dumps(value, default=dict, sort_keys=True)
            for name, value in tags.items()
        }

    def _is_in(self, entity: Uid, place: Any) -> bool:
        if isinstance(place, frozenset):
            return any(self._is_in(entity, each) for _, each in place)
        if entity == place:
            return True
        if entity.type == "Project":
            return bool(place == Uid("Org", entity.parts[:1]))
        if entity == self._variables()["principal"]:
            projects = {(each.org_id, each.project_id) for each in self.principal.projects}
        elif entity == self._variables()["resource"]:
            projects = {(self.scope.org_id, self.scope.project_id)}
        else:
            return False
        return any(self._is_in(Uid("Project", each), place) for each in projects)

    def _compared(self, operator: str, left: Any, right: Any) -> bool:
        if operator in ("==", "!="):
            return (_tagged(left) == _tagged(right)) is (operator == "==")
        if operator == "in":
            return self._is_in(left, right)
        if type(left) is not int or type(right) is not int:
            raise CannotEvaluateError
        return {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[operator]

    def _called(self, of: Any, method: str, argument: Any) -> Any:
        if method in ("hasTag", "getTag"):
            tags = self._tags(of)
            if method == "hasTag":
                return argument in tags
            if argument not in tags:
                raise CannotEvaluateError
            return tags[argument]
        if not isinstance(of, frozenset):
            raise CannotEvaluateError
        match method:
            case "contains":
                return _tagged(argument) in of
            case "containsAll":
                return of >= argument
            case "containsAny":
                return bool(of & argument)
        return not of  # isEmpty


def _tagged(value: Any) -> tuple[str, Any]:
    """A value with its type: True is no 1."""
    return type(value).__name__, value


def _cedar(value: Any) -> Any:
    """A value of the principal as Cedar has it; None for values that Cedar has no type for."""
    if isinstance(value, (list, tuple)):
        items = [_cedar(each) for each in value]
        return (
            None
            if any(each is None or isinstance(each, frozenset) for each in items)
            else frozenset(map(_tagged, items))
        )
    if isinstance(value, (str, bool)) or (isinstance(value, int) and -(2**63) <= value < 2**63):
        return value
    return None


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise CannotEvaluateError
    return value


def _is_like(text: str, pieces: tuple[str, ...]) -> bool:
    """Whether a text is the pieces in their order with anything in between."""
    first, *others = pieces
    if not others:
        return text == first
    *middle, last = others
    if not text.startswith(first):
        return False
    at = len(first)
    for piece in middle:
        found = text.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    return len(text) - at >= len(last) and text.endswith(last)
