"""What a forgetting takes along in memory beside the elements themselves, and what it reports."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import attrs

from graphsearch.model import ElementKind, ElementRef, Injection, WriteReport
from graphsearch.stores.in_memory.state import State


def forget_references(state: State, dropped: Iterable[tuple[ElementKind, Any]]) -> tuple[State, int]:
    """The state with a log that does not name elements that were dropped; how often it did.

    The id of a memory is a text like any other.
    """
    gone = {ElementRef(kind, str(key)) for kind, key in dropped if key not in state.elements(kind).items}
    cleaned = dict[str, Injection]()
    removed = 0
    for key, injection in state.injections.items():
        if not gone.isdisjoint(injection.elements):
            kept = tuple(element for element in injection.elements if element not in gone)
            removed += len(injection.elements) - len(kept)
            cleaned[key] = attrs.evolve(injection, elements=kept)
    return (state.successor(injections={**state.injections, **cleaned}) if cleaned else state), removed


def counted(report: WriteReport, before: State, after: State) -> WriteReport:
    """A report with the numbers of mentions, claims and links that there were before and are no more."""
    return attrs.evolve(
        report,
        mentions_removed=_total(before.mentions.values()) - _total(after.mentions.values()),
        claims_removed=_total(before.claims.values()) - _total(after.claims.values()),
        links_removed=_links(before) - _links(after),
    )


def _total(parts: Iterable[tuple[object, ...] | frozenset[object]]) -> int:
    return sum(map(len, parts))


def _links(state: State) -> int:
    """Each stands at both of its ends."""
    return (_total(state.links.values()) + _total(state.distinct.values())) // 2
