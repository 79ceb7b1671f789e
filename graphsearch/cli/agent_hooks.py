"""What the hooks of a coding agent do: tell it the id of its session, remember what was said, report its outcome.

An agent waits for its hooks, so a hook only reads the event and hands it over to a process of its own; nothing heavy is
imported before that. What fails is a line on standard error, or in the log of that process, and never an exit code.

The outcome of a session is known only to the person in it. It is reported when their message is nothing but
"graphsearch: accepted", "graphsearch: rework" or "graphsearch: rejected"; the last one counts. How a session ends, how
long it was or how it sounds says nothing about it.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, cast

if TYPE_CHECKING:
    from graphsearch.access.gate import Gate
    from graphsearch.engine import GraphSearchEngine
    from graphsearch.ingest import Ingestor

SECONDS: Final = 120
"""The time that remembering a session may take."""
_LONGEST: Final = 100_000
"""The characters of a turn that are remembered: longer ones are logs and files that somebody pasted."""
_ENDS: Final = ("stop", "sessionend")
_SAID: Final = {"user_message": "user", "agent_message": "assistant"}
"""The messages in a transcript of Codex that are shown to people, by their type."""
_NOT_SAID: Final = ("isMeta", "isSidechain", "isCompactSummary", "isApiErrorMessage")
"""What Claude Code writes on a line that no person and no main agent said."""
_MACHINE: Final = (
    *("<command-", "<local-command-", "<system-reminder>", "<bash-", "<task-notification>", "<ide_"),
    "[Request interrupted",
)
"""The beginnings of texts that agents put into messages of a user."""
_OUTCOMES: Final = tuple(f"graphsearch: {outcome}" for outcome in ("accepted", "rework", "rejected"))


def run(given: str, *, again: Sequence[str], log: Path) -> str:
    """Answer an event in JSON, with what the agent should read; at the end of a turn, start ``again`` with the event.

    That process outlives the agent, and writes what fails to ``log``.
    """
    try:
        event = json.loads(given)
        name, session = event["hook_event_name"], session_of(event)
        if name.casefold() == "sessionstart":
            return greeting(name, session)
        if name.casefold() in _ENDS and event.get("transcript_path"):
            log.parent.mkdir(parents=True, exist_ok=True)
            with log.open("ab") as errors:
                started = subprocess.Popen(  # noqa: S603 - the command that runs here, once more
                    again, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True
                )
            with cast("IO[bytes]", started.stdin) as pipe:
                pipe.write(given.encode())
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        sys.stderr.write(f"graphsearch: the hook did nothing: {error!r}\n")
    return "{}"


async def record(
    given: str, *, agent: str, engine: GraphSearchEngine, ingestor: Ingestor, gate: Gate, seconds: float = SECONDS
) -> None:
    """Remember what was said in the session of an event so far, and report its outcome if a person stated it.

    A turn is known by its place, so that a session that goes on adds what is new. ``gate`` is that of the principal to
    whom the server shows blocks. Raises `TimeoutError`, and what `Ingestor.remember` and `FeedbackService.apply` raise.
    """
    from graphsearch.feedback import FeedbackService  # noqa: PLC0415 - heavy, see above
    from graphsearch.ingest import transcript_memories  # noqa: PLC0415
    from graphsearch.model import Outcome  # noqa: PLC0415

    event = json.loads(given)
    session = session_of(event)
    async with asyncio.timeout(seconds):
        text = await asyncio.to_thread(Path(event["transcript_path"]).read_text, encoding="utf-8", errors="replace")
        turns, outcome = turns_of(text.split("\n"))
        await ingestor.remember(transcript_memories(turns, session_id=session, source=agent))
        if outcome:
            await FeedbackService(engine.store).apply(session, Outcome[outcome.upper()], gate=gate)


def session_of(event: Mapping[str, Any]) -> str:
    """The id of the session of an event; Cursor calls it a conversation."""
    return str(event.get("session_id") or event["conversation_id"])


def greeting(name: str, session: str) -> str:
    """What an agent reads at the start of a session, in the JSON that it takes."""
    text = (
        f"graphsearch: this session has the id {session!r}. Pass it as session_id to graph_query. When the user says"
        " that the work is accepted, needs rework or is rejected, report that with feedback."
    )
    if name == "sessionStart":  # Cursor
        return json.dumps({"additional_context": text})
    return json.dumps({"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}})


def turns_of(lines: Iterable[str]) -> tuple[list[dict[str, Any]], str | None]:
    """The turns of a transcript as `transcript_memories` takes them, and the outcome if a person stated one.

    Of Claude Code, Codex or Cursor, by the shape of each line. What tools and models say among themselves is left out:
    calls, results, thinking, images, summaries, sub-agents; and lines that are no JSON or not written to their end.
    """
    turns: list[dict[str, Any]] = []
    outcome = None
    for line in lines:
        try:
            role, text, time = _said(json.loads(line))
        except (ValueError, LookupError, TypeError, AttributeError):
            continue
        if role == "user" and text.casefold() in _OUTCOMES:
            outcome = text.casefold().rpartition(" ")[2]
        elif text:
            turns.append({"role": role, "content": text, **time})
    return turns, outcome


def _said(entry: Mapping[str, Any]) -> tuple[str, str, Mapping[str, datetime]]:
    """Who says what on a line, and when; raises `LookupError` and the like for a line of another kind."""
    if entry.get("type") == "event_msg":
        role, content = _SAID[entry["payload"]["type"]], entry["payload"]["message"]
    else:
        role, content = entry.get("role", entry.get("type")), entry["message"]["content"]
    if role not in _SAID.values() or any(entry.get(name) for name in _NOT_SAID):
        raise LookupError(role)
    parts = [content] if isinstance(content, str) else [each["text"] for each in content if each["type"] == "text"]
    if role == "user":
        parts = [_typed(part) for part in parts]
    text = "\n".join(filter(None, parts)).replace("\0", "").encode(errors="replace").decode().strip()
    return role, text[:_LONGEST], _time(entry.get("timestamp"))


def _time(value: Any) -> Mapping[str, datetime]:
    try:
        time = datetime.fromisoformat(value)
    except (ValueError, TypeError):  # a turn without a time is a turn
        return {}
    return {"time": time} if time.tzinfo else {}


def _typed(text: str) -> str:
    """What a person typed of a text: Cursor puts it between tags, and other texts are an agent's own."""
    _, found, typed = text.partition("<user_query>")
    if found:
        return typed.partition("</user_query>")[0].strip()
    return "" if text.lstrip().startswith(_MACHINE) else text
