"""Requests to Cedar as JSON: a principal, its projects and the resources. Pure.

A uid begins with its scope and is unambiguous: slashes and percent signs inside its parts are escaped. The
principal's uid is the id established by the caller's authentication.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs

from graphsearch.model import Action, ElementKind, Principal, Scope
from graphsearch.model.signatures import Resource

Json = dict[str, Any]

_TYPES: Final = {ElementKind.ENTITY: "Entity", ElementKind.RELATION: "Relation", ElementKind.MEMORY: "Memory"}
_OPTIONAL: Final = ("name", "source", "owner", "sensitivity")
_WHOLE_NUMBERS: Final = range(-(2**63), 2**63)
"""Cedar's Long."""


@attrs.frozen
class Question:
    """Whether a principal may perform an action in a scope."""

    principal: Principal
    action: Action
    scope: Scope

    def surroundings(self) -> list[Json]:
        """The principal, and every project of the principal or the question, with their organisations."""
        scopes = sorted({self.scope, *self.principal.projects})
        given = self.principal.attributes
        return [
            *(_entity(_uid("Org", org_id)) for org_id in sorted({scope.org_id for scope in scopes})),
            *(_entity(_project(scope), parents=[_uid("Org", scope.org_id)]) for scope in scopes),
            _entity(
                self._who,
                attributes={
                    **{name: value for name, value in given.items() if _has_type(value)},
                    "id": self.principal.id,
                },
                parents=[_project(scope) for scope in sorted(set(self.principal.projects))],
                tags=given,
            ),
        ]

    def describe(self, resource: Resource, number: int) -> Json:
        """A resource in its project. Empty optional attributes are left out, so that `has` can test for them.

        A resource without an id stands for all resources of its signature. Its uid, made of its number, has one slash
        more than that of any element.
        """
        optional = {name: value for name in _OPTIONAL if (value := getattr(resource, name))}
        place = (self.scope.org_id, self.scope.project_id)
        parts = (*place, resource.id) if resource.id else (*place, "", str(number))
        return _entity(
            _uid(_TYPES[resource.kind], *parts),
            attributes={"type": resource.type, "labels": list(resource.labels), **optional},
            parents=[_project(self.scope)],
            tags=resource.tags,
        )

    def request(self, resource: Json) -> Json:
        """The request for one described resource."""
        return {
            "principal": self._who,
            "action": {"type": "Action", "id": self.action.value},
            "resource": resource["uid"],
            "context": json.dumps({"project": {"__entity": _project(self.scope)}}),
        }

    @property
    def _who(self) -> Json:
        return {"type": self.principal.type, "id": self.principal.id}


def _uid(type_: str, *parts: str) -> Json:
    return {"type": type_, "id": "/".join(part.replace("%", "%25").replace("/", "%2F") for part in parts)}


def _project(scope: Scope) -> Json:
    return _uid("Project", scope.org_id, scope.project_id)


def _entity(
    uid: Json,
    *,
    attributes: Mapping[str, Any] | None = None,
    parents: Sequence[Json] = (),
    tags: Mapping[str, Any] | None = None,
) -> Json:
    texts = {name: _as_text(value) for name, value in (tags or {}).items()}
    return {"uid": uid, "attrs": dict(attributes or {}), "parents": list(parents), "tags": texts}


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=dict, sort_keys=True)


def _has_type(value: object) -> bool:
    """Whether Cedar has a type for a value: text, booleans, whole numbers and lists of those."""
    if isinstance(value, (list, tuple)):
        return all(isinstance(item, (str, int)) and _has_type(item) for item in value)
    return isinstance(value, str) or (isinstance(value, int) and value in _WHOLE_NUMBERS)
