"""Chat transcripts to memories, one per turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from graphsearch.errors import InvalidInputError
from graphsearch.model import Memory
from graphsearch.model import validation as check

FIELDS: Final = ("id", "role", "speaker", "content", "time")


def transcript_memories(turns: Sequence[Mapping[str, Any]], *, session_id: str, source: str = "") -> tuple[Memory, ...]:
    """A memory for each turn, in order, with its position in the session.

    A turn is ``{"role" or "speaker": text, "content": text, "time": …}``. The speaker is ``speaker``, else ``role``,
    such as "user" or "assistant", which no extractor takes for a person. ``time`` is a timezone-aware datetime, ISO
    8601 with its offset, or seconds since 1970; missing or None, it is unknown. The ``id`` of a turn defaults to the
    session id and its position.

    Raises `InvalidInputError` with every fault of every turn, by index.
    """
    faults = [fault] if (fault := check.text("session_id", session_id)) else []
    memories: list[Memory] = []
    seen: dict[str, int] = {}
    for index, turn in enumerate(turns):
        try:
            memory = _memory(turn, index, session_id, source)
        except InvalidInputError as error:
            faults += [f"turn {index}: {each}" for each in error.faults]
            continue
        first = seen.setdefault(memory.id, index)
        if first != index:
            faults.append(f"turn {index}: turn {first} has the id {memory.id!r} already")
        memories.append(memory)
    check.refuse("transcript", *faults)
    return tuple(memories)


def _memory(turn: object, position: int, session_id: str, source: str) -> Memory:
    if not isinstance(turn, Mapping):
        raise InvalidInputError("turn", [f"must be an object, not {type(turn).__name__}"])
    given = {name: turn[name] for name in FIELDS if turn.get(name) is not None}
    faults = [f"has no field {name!r}; its fields are {', '.join(FIELDS)}" for name in turn if name not in FIELDS]
    if "role" not in given and "speaker" not in given:
        faults.append("needs a role or a speaker")
    texts = [check.text(name, given.get(name, "-")) for name in ("id", "role", "speaker")]
    moment, timing = _moment(given.get("time"))
    check.refuse("turn", *faults, *texts, check.text("content", given.get("content", "")), timing)
    return Memory(
        id=given.get("id", f"{session_id}:{position}"),
        text=given["content"],
        speaker=given.get("speaker", given.get("role", "")),
        session_id=session_id,
        position=position,
        occurred_at=moment,
        source=source,
        attributes={"role": given["role"]} if "role" in given else {},
    )


def _moment(time: object) -> tuple[datetime | None, str | None]:
    """The parsed time and None, or None and its fault."""
    try:
        if isinstance(time, (int, float)) and not isinstance(time, bool):
            return datetime.fromtimestamp(time, UTC), None
        moment = datetime.fromisoformat(time) if isinstance(time, str) else time
    except (ValueError, OverflowError, OSError):
        return None, f"time must be ISO 8601 or seconds since 1970, not {time!r}"
    fault = check.instant("time", moment)
    return (None, fault) if fault or not isinstance(moment, datetime) else (moment, None)
