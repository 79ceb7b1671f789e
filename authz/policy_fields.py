"""The fields of a resource that policies read, from their syntax trees: the fewer, the fewer distinct decisions.

Any expression that is not recognised counts as reading every field.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Final

from cedarpy import PolicySet, pst

SIGNATURE_WORDS: Final = frozenset({"type", "labels", "source", "owner", "sensitivity"})
"""The fields that all elements of one signature share."""
ALL_WORDS: Final = SIGNATURE_WORDS | {"id", "name", "tags"}

_PLACES: Final = frozenset({"Org", "Project"})
_TAG_READS: Final = ("get_tag", "has_tag")


def words_read(policies: PolicySet) -> frozenset[str]:
    """The fields of `graphsearch.protocols.Resource`, except its kind, that can change a decision of these policies."""
    try:
        tree = policies.to_pst()
    except ValueError:  # syntax that the tree cannot represent
        return ALL_WORDS
    written = (*tree.static_policies.values(), *tree.templates.values())
    return frozenset[str]().union(*map(_words_of_policy, written))


def _words_of_policy(policy: pst.Template) -> frozenset[str]:
    return _words_of_constraint(policy.resource) | _words_of(policy.clauses)


def _words_of_constraint(constraint: pst.PrincipalOrResourceConstraint) -> frozenset[str]:
    match constraint:
        case pst.ScopeAny() | pst.ScopeIs():
            return frozenset()
        case pst.ScopeIn(entity=place) | pst.ScopeIsIn(entity=place):
            return frozenset() if isinstance(place, pst.EntityUid) and _is_place(pst.EntityLit(place)) else ALL_WORDS
        case _:
            return ALL_WORDS


def _words_of(node: Any) -> frozenset[str]:
    match node:
        case pst.Var(name="resource"):  # as a whole: compared with others, or found in a set
            return ALL_WORDS
        case pst.GetAttr(base=pst.Var(name="resource"), attr=word):
            return _word(word)
        case pst.HasAttr(base=pst.Var(name="resource"), attrs=(word, *_)):
            return _word(word)
        case pst.BinaryOp(op=op, left=pst.Var(name="resource"), right=tag) if op in _TAG_READS:
            return frozenset({"tags"}) | _words_of(tag)
        case pst.BinaryOp(op="in", left=pst.Var(name="resource"), right=place) if _is_place(place):
            return frozenset()
        case pst.Is(base=pst.Var(name="resource"), in_expr=place) if place is None or _is_place(place):
            return frozenset()
        case _:
            return frozenset[str]().union(*map(_words_of, _children(node)))


def _word(word: str) -> frozenset[str]:
    return frozenset({word}) if word in ALL_WORDS - {"id", "tags"} else ALL_WORDS


def _is_place(node: Any) -> bool:
    """Whether a node denotes organisations or projects, which contain either all elements of a scope or none."""
    match node:
        case pst.EntityLit(value=uid):
            return str(uid.type) in _PLACES
        case pst.GetAttr(base=pst.Var(name="context"), attr="project"):
            return True
        case pst.Set(elements=elements):
            return all(map(_is_place, elements))
        case _:
            return False


def _children(node: Any) -> tuple[Any, ...]:
    if isinstance(node, tuple):
        return node
    if isinstance(node, Mapping):
        return tuple(node.values())
    return tuple(getattr(node, field.name) for field in fields(node)) if is_dataclass(node) else ()
