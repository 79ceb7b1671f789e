"""Questions that a graph can answer, as examples to begin with."""

from __future__ import annotations

from typing import Final

from graphsearch.access.gate import Gate
from graphsearch.access.reader import reading
from graphsearch.claims.folding import CO_OCCURRENCE_TYPES
from graphsearch.engine import GraphSearchEngine
from graphsearch.model import Relation
from graphsearch.model.identity import CASE_SENSITIVE_TYPES

_READ: Final = 300
"""The relations that questions are made of, the first by id."""
_LONGEST: Final = 60
"""The most characters of a name in a question."""


async def example_questions(engine: GraphSearchEngine, *, limit: int = 4, gate: Gate | None = None) -> tuple[str, ...]:
    """Questions for the source of a relation, as in "who leads Atlas?": of each type the surest visible one."""
    async with reading(engine.store, gate=gate) as reader:
        relations = await reader.shown(await engine.store.list_relations(limit=_READ))
        stated = [each for each in relations if reader.view.holds(each.valid_from, each.valid_to)]
        best: dict[str, Relation] = {}
        for each in sorted(stated, key=lambda each: (-len(each.evidence), -each.confidence, each.id)):
            if each.type not in reader.view.skipped_types | CO_OCCURRENCE_TYPES:
                best.setdefault(each.type, each)
        ends = {end for each in best.values() for end in (each.source_id, each.target_id)}
        known = {each.id: each for each in await reader.get_entities(sorted(ends))}
    pairs = [(each, known[each.source_id], known[each.target_id]) for each in best.values()]
    pairs.sort(key=lambda pair: pair[1].type in CASE_SENSITIVE_TYPES)  # code is asked for by those who read it
    return tuple(
        f"{'who' if source.type == 'person' else 'what'} {_said(each.type)} {target.name}?"
        for each, source, target in pairs
        if len(target.name) <= _LONGEST and not target.name.startswith("__")
    )[:limit]


def _said(type_: str) -> str:
    """A type as a question says it: "member_of" has no verb of its own."""
    verb, *rest = type_.split("_")
    return " ".join((verb, *rest) if verb.endswith("s") else ("is", verb, *rest))
