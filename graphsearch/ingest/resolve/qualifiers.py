"""The group by which a text distinguishes people of one first name: "Sam from the Night team".

A qualifier belongs to the name. That somebody is, has joined or has left a group is a statement about a person who is
known already, and distinguishes nobody.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Final
from uuid import UUID

import attrs

from graphsearch.ingest.resolve.contexts import MEMBERSHIP
from graphsearch.model import Claim, Mention

_BETWEEN: Final = re.compile(
    r"(?:,? (?:over )?(?:of|from|in|on|at) | \(|, )(?:of |from |in |on )?(?:the |our |my |their |your )?", re.IGNORECASE
)
"""Text between a name and its qualifier: "Sam from the", "Sam (", "Sam, of our"."""
_OWNER: Final = re.compile("(?:'s|’s|s['’]) ")
"""Text between a qualifier and its name: "the Night team's Sam"."""
_CHANGE: Final = re.compile(
    r"\b(?:moved?|moves|moving|switch(?:ed|es)?|transferred|swapped|(?:re)?joine?(?:d|s|ing)?|left|leaves?|leaving|quit|"
    r"until|since|now|formerly|previously|used to|no longer|any more)\b",
    re.IGNORECASE,
)
"""Words of a sentence by which somebody changes groups."""


@attrs.frozen(eq=False)
class StatedGroups:
    """What a memory states about the people of one first name and their groups.

    ``named`` has the group that qualifies each of their mentions, None for none; ``joined`` are groups that the memory
    states somebody to be in, otherwise than by a qualifier; ``changed`` those that a sentence with a word of change
    names.
    """

    named: Mapping[Mention, UUID | None]
    joined: frozenset[UUID]
    changed: frozenset[UUID]


def stated_groups(
    text: str, people: Collection[Mention], groups: Iterable[Mention], claims: Iterable[Claim]
) -> StatedGroups:
    """What a memory with this text states, given its claims, and its mentions of people so called and of groups."""
    placed = [each for each in groups if each.span is not None]
    named = {each: next((to.entity_id for to in placed if _qualifies(each, to, text)), None) for each in people}
    qualifying, ids = set(named.values()), {each.entity_id for each in people}
    joined, changed = set[UUID](), set[UUID]()
    for claim in claims:
        ends = {claim.source_id, claim.target_id}
        if ids.isdisjoint(ends):
            continue
        others = ends - ids - qualifying
        if claim.type in MEMBERSHIP:
            joined |= others
        if is_change(claim):
            changed |= others
    return StatedGroups(named, frozenset(joined), frozenset(changed))


def is_change(claim: Claim) -> bool:
    """Whether a claim is about a time, or its sentence about a change."""
    return bool(claim.valid_from or claim.valid_to or _CHANGE.search(claim.fact))


def _qualifies(name: Mention, group: Mention, text: str) -> bool:
    one, other = name.span, group.span
    if one is None or other is None:
        return False
    if one.end <= other.start:
        return _BETWEEN.fullmatch(text, one.end, other.start) is not None
    return _OWNER.fullmatch(text, other.end, one.start) is not None


def distinguishing_groups(stated: Iterable[StatedGroups], nouns: Mapping[UUID, str]) -> frozenset[UUID]:
    """The groups that distinguish people of one first name: qualifiers of one kind, by the ``nouns`` of groups.

    Nobody is distinguished by a group that somebody so called changes to or from, nor by those that one memory states
    the same person to be in.
    """
    given = list(stated)
    shared = {group for each in given for group in each.changed}
    shared |= {group for each in given if len(each.joined) > 1 for group in each.joined}
    kinds: defaultdict[str, set[UUID]] = defaultdict(set)
    for group in {group for each in given for group in each.named.values() if group is not None} - shared:
        if group in nouns:
            kinds[nouns[group]].add(group)
    return frozenset(group for groups in kinds.values() if len(groups) > 1 for group in groups)
