"""Exports of chats, as the turns of transcripts: Slack's days of a channel, and the conversations of ChatGPT."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from html import unescape
from pathlib import PurePosixPath
from typing import Any, Final

_SPOKEN: Final = ("", "bot_message", "file_share", "me_message", "thread_broadcast")
"""Kinds of messages that somebody wrote; of the others, such as channel_join, Slack itself is the author."""
_MARKUP: Final = re.compile(r"<([@#!]?)([^<>|]{1,2000})(?:\|([^<>|]{0,2000}))?>")

Turns = list[dict[str, Any]]


def slack_users(users: object) -> dict[str, str]:
    """The names of people by id, of the ``users.json`` of an export."""
    return {str(each["id"]): name for each in _objects(users) if "id" in each and (name := _name(each))}


def exported(content: object, *, day: PurePosixPath, users: Mapping[str, str]) -> list[tuple[str, Turns]]:
    """The sessions of an export and their turns: conversations, or a day in the folder of its channel; else none."""
    objects = _objects(content)
    if any("mapping" in each for each in objects):
        return [*_chatgpt_turns(objects)]
    channel = day.parent.name
    is_slack = any("ts" in each for each in objects)
    return [(f"{channel}/{day.name}", _slack_turns(objects, channel, users))] if is_slack else []


def _slack_turns(messages: Sequence[Mapping[str, Any]], channel: str, users: Mapping[str, str]) -> Turns:
    """The turns of a day of a channel, with names for ids; what nobody wrote is left out."""
    return [
        {
            "id": f"slack:{channel}:{each['ts']}",
            "speaker": users.get(str(each.get("user")))
            or _name(_object(each.get("user_profile")))
            or str(each.get("username") or each.get("user") or "bot"),
            "content": unescape(_MARKUP.sub(lambda found: _shown(found, users), str(each["text"]))),
            "time": _number(each["ts"]),
        }
        for each in messages
        if each.get("text") and "ts" in each and each.get("subtype", "") in _SPOKEN
    ]


def _number(value: object) -> object:
    """Seconds, which Slack writes as text; anything else is refused where turns are read."""
    try:
        return float(str(value))
    except ValueError:
        return value


def _name(user: Mapping[str, Any]) -> str:
    profile = _object(user.get("profile"))
    found = (each.get(name) for name in ("real_name", "display_name", "name") for each in (profile, user))
    return str(next(filter(None, found), ""))


def _shown(found: re.Match[str], users: Mapping[str, str]) -> str:
    """A mention, a channel or a link as people see it."""
    kind, target, label = found.groups()
    return {"@": users.get(target) or label or target, "#": f"#{label or target}"}.get(kind) or label or target


def _chatgpt_turns(conversations: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Turns]]:
    """The id of each conversation and the turns of its last branch: those of the user and of the assistant."""
    for at, each in enumerate(conversations):
        nodes, turns = _object(each.get("mapping")), []
        node = each.get("current_node") or next(iter([*nodes][::-1]), None)
        seen = set[object]()
        while isinstance(node, str) and node not in seen:  # from the last message to the first
            seen.add(node)
            found = _object(nodes.get(node))
            message = _object(found.get("message"))
            role, text = _object(message.get("author")).get("role"), _text(_object(message.get("content")))
            if text and role in ("user", "assistant"):
                time = message.get("create_time")
                turns.append({"id": f"chatgpt:{node}", "role": role, "content": text, "time": time})
            node = found.get("parent")
        yield str(each.get("conversation_id") or each.get("id") or f"chatgpt:{at}"), turns[::-1]


def _text(content: Mapping[str, Any]) -> str:
    """The texts of a message; not its images, nor what its tools wrote and read."""
    parts = content.get("parts") if content.get("content_type") in ("text", "multimodal_text") else ()
    texts = (_object(each).get("text", each) for each in (parts if isinstance(parts, list) else ()))
    return "\n".join(each for each in texts if isinstance(each, str)).strip()


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _objects(value: object) -> Sequence[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []
