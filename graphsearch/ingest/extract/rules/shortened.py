"""Expansion of shortened names where relations end: "I've left Harkin" means Harkin Dairy, the known employer."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

import attrs

from graphsearch.ingest.extract.rules.corrections import Amendment
from graphsearch.ingest.extract.rules.speakers import name_key
from graphsearch.model import EdgeKind
from graphsearch.model.extracted import ExtractedMemory, ExtractedName, Statement

MOST: Final = 20
"""Maximum latest targets of one subject and type that are remembered, for linear time."""
_POSSESSIVE: Final = re.compile(r"['’]s?(?= |$)")

Read = tuple[ExtractedMemory, Amendment | None]
_Known = defaultdict[tuple[str, str], dict[str, ExtractedName]]


def with_whole_names(read: Sequence[Read], whole: Mapping[str, str]) -> list[Read]:
    """Expand the shortened targets of relations that end; memories are in order.

    Such a target abbreviates the only earlier target of the same subject and type that begins or ends with it.
    ``whole`` maps the names of persons to full names.
    """
    ending = {each.type for extracted, _ in read for each in extracted.statements if _ends(each)}
    if not ending:
        return [*read]
    known: _Known = defaultdict(dict)
    found: list[Read] = []
    for extracted, amendment in read:
        stated = [each for each in extracted.statements if each.type in ending]
        longer = {}
        for each in stated:
            if _ends(each) and (meant := _longer(each, known[_subject(each, whole)])):
                longer[each.target] = meant
        found.append((_renamed(extracted, longer) if longer else extracted, amendment))
        for each in stated:
            if not _ends(each):
                targets = known[_subject(each, whole)]
                targets.pop(name_key(each.target.name), None)
                targets[name_key(each.target.name)] = each.target
                if len(targets) > MOST:
                    del targets[next(iter(targets))]
    return found


def _ends(stated: Statement) -> bool:
    return stated.kind is EdgeKind.LIFECYCLE and stated.valid_from is None


def _subject(stated: Statement, whole: Mapping[str, str]) -> tuple[str, str]:
    key = name_key(stated.source.name)
    return whole.get(key, key), stated.type


def _longer(stated: Statement, targets: Mapping[str, ExtractedName]) -> ExtractedName | None:
    """The only target that a shortened name can abbreviate; None if none or several."""
    key = name_key(stated.target.name)
    if not targets or key in targets:
        return None
    short = _words(key)
    fitting = [each for name, each in targets.items() if _fits(short, _words(name))]
    return fitting[0] if len(fitting) == 1 else None


def _fits(short: Sequence[str], name: Sequence[str]) -> bool:
    size = len(short)
    return size < len(name) and short in (name[:size], name[-size:])


def _words(key: str) -> list[str]:
    return _POSSESSIVE.sub("", key).removeprefix("the ").split()


def _renamed(extracted: ExtractedMemory, longer: Mapping[ExtractedName, ExtractedName]) -> ExtractedMemory:
    """Replace names by full names, which have no span in the text."""
    full_names = {name_key(short.name): attrs.evolve(meant, span=None) for short, meant in longer.items()}

    def renamed(surface: ExtractedName) -> ExtractedName:
        return full_names.get(name_key(surface.name), surface)

    return attrs.evolve(
        extracted,
        surfaces=tuple(dict.fromkeys(map(renamed, extracted.surfaces))),
        statements=tuple(
            attrs.evolve(each, source=renamed(each.source), target=renamed(each.target))
            for each in extracted.statements
        ),
    )
