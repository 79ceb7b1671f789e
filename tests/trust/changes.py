"""Everything by which a principal may change a graph, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tests.tools import Tool
from tests.trust.questions import Question, Side, Subject, neighbors, plain, tool_question


async def feedback(side: Side, about: Subject) -> Any:
    """An outcome, and what it moved."""
    await side.caller.builder.build(about.query, gate=side.gate, session_id="f", budget=400)
    answer = await Tool("feedback").run(side.caller, {"session_id": "f", "outcome": "accepted"})
    return answer, await neighbors(side, about)


def _corrections(about: Subject) -> Mapping[str, Any]:
    every: list[dict[str, Any]] = [
        {"description": "tall"},
        {"type": "concept"},
        {"type": "person", "aliases": ["Kay"]},
        {"name": about.other},
    ]
    return {"entity": about.one, **every[len(about.one + about.memory + about.mode) % len(every)]}


async def undo_merge(side: Side, about: Subject) -> Any:
    """The last merge, undone, and what is around an entity then."""
    made = await side.curator.merges()
    if not made:
        return None
    undone = await Tool("undo_merge").run(side.caller, {"merge_id": str(made[-1].id)})
    return plain(undone), await neighbors(side, about)


async def register_type(side: Side, about: Subject) -> Any:
    """A type, changed, and what is around an entity then."""
    changed = await Tool("register_type").run(side.caller, {"name": "knows", "functional": True, "prior": 0.7})
    return plain(changed), await neighbors(side, about)


CHANGES: Final[Mapping[str, Question]] = {
    "tool feedback": feedback,
    "tool update_entity": tool_question(Tool("update_entity"), _corrections),
    "tool merge_entities": tool_question(
        Tool("merge_entities"), lambda about: {"source": about.one, "target": about.other, "dry_run": True}
    ),
    "tool link_memories": tool_question(
        Tool("link_memories"), lambda about: {"from_id": about.memory, "to_id": "m0", "type": "follows"}
    ),
    "tool mark_distinct": tool_question(Tool("mark_distinct"), lambda about: {"one": about.one, "other": about.other}),
    "tool undo_merge": undo_merge,
    "tool detect_communities": tool_question(Tool("detect_communities"), lambda _: {}),
    "tool refresh_communities": tool_question(Tool("refresh_communities"), lambda _: {}),
    "tool register_type": register_type,
    "tool expire": tool_question(Tool("expire"), lambda _: {"days": 46, "source": "chat"}),
    "tool forget": tool_question(Tool("forget"), lambda about: {"memory": about.memory}),
    "tool remember": tool_question(
        Tool("remember"), lambda about: {"text": f"{about.one} lives in Kent.", "labels": ["note"]}
    ),
}
"""By name, all that changes a graph; last what resolves its names among all of the scope, so that graphs part ways."""
