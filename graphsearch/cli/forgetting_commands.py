"""Commands that forget: forget, expire, remove-scope, and verify-receipt."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer

from graphsearch.cli.commands import Answer
from graphsearch.cli.environment import Place, open_engine
from graphsearch.cli.output import as_json, in_words, pairs
from graphsearch.curation import Curator, Receipt
from graphsearch.errors import UnknownElementError

ReceiptFile = Annotated[Path | None, typer.Option(help="A file for a receipt, which verify-receipt checks.")]


async def forget(
    place: Place,
    memory: Annotated[str, typer.Argument(help="The id of a memory.")] = "",
    session: Annotated[str, typer.Option(help="Or all memories of a session.")] = "",
    source: Annotated[str, typer.Option(help="Or all memories of a source.")] = "",
    subject: Annotated[str, typer.Option(help="Or all memories about a subject.")] = "",
    owner: Annotated[str, typer.Option(help="Or all memories of an owner.")] = "",
    label: Annotated[str, typer.Option(help="Or all memories with a label.")] = "",
    receipt: ReceiptFile = None,
) -> Answer:
    """Forget memories, and everything that rests on them alone."""
    given = {"session_id": session, "source": source, "subject": subject, "owner": owner, "label": label}
    if sum(map(bool, (memory, *given.values()))) != 1:
        raise typer.BadParameter("give the id of a memory, --session, --source, --subject, --owner or --label")
    which = {name: value for name, value in given.items() if value}
    async with open_engine(place) as engine:
        curator = Curator(engine)
        made = None if receipt is None else await curator.forget_with_receipt(memory or None, **which)
        removed = made.removed if made else as_json(await curator.forget(memory or None, **which))
    if memory and not removed.get("memories"):
        raise UnknownElementError(f"there is no memory {memory!r}, and nothing was forgotten")
    return await _with_receipt(made, receipt) if made and receipt else _forgotten(removed)


def _forgotten(data: Mapping[str, object]) -> Answer:
    shown = pairs(in_words({name: value for name, value in data.items() if value}))
    return Answer(data, (shown if data["memories"] else "there is no such memory, and nothing was forgotten",))


async def _with_receipt(made: Receipt, file: Path) -> Answer:
    await asyncio.to_thread(file.write_text, made.to_json() + "\n", encoding="utf-8")
    removed = as_json(made.removed)
    return Answer(removed, (pairs(in_words(removed)), f"receipt {made.digest} in {file}"))


async def expire(
    place: Place,
    days: Annotated[float, typer.Option(min=0, max=1e6, help="The age from which on memories are forgotten.")],
    label: Annotated[str | None, typer.Option(help="Memories with this label, such as session-note.")] = None,
    source: Annotated[str | None, typer.Option(help="Memories from this source; with --label, both must fit.")] = None,
) -> Answer:
    """Forget the memories of a label or a source that are older than some days. For a scheduler."""
    async with open_engine(place) as engine:
        return _forgotten(as_json(await Curator(engine).expire(timedelta(days=days), label=label, source=source)))


async def remove_scope(
    place: Place,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    receipt: ReceiptFile = None,
) -> Answer:
    """Remove the project and everything in it."""
    if not yes:
        typer.confirm(f"Remove everything in {place.org}/{place.project}?", abort=True, err=True)
    async with open_engine(place) as engine:
        made = await Curator(engine).remove_scope()
    if receipt is not None:
        return await _with_receipt(made, receipt)
    removed = as_json(made.removed)
    return Answer(removed, (pairs(in_words(removed)),))


async def verify_receipt(
    place: Place, receipt: Annotated[Path, typer.Argument(help="The file that forget --receipt wrote.")]
) -> Answer:
    """Check a receipt of forgetting: that it was not changed, and that nothing of what it names is left."""
    text = await asyncio.to_thread(receipt.read_text, encoding="utf-8")
    async with open_engine(place) as engine:
        found = await Curator(engine).verify_receipt(Receipt.from_json(text))
    data = {**as_json(found), "holds": found.holds}
    shown = {"the receipt": "holds" if found.holds else "does not hold", "as it was made": found.intact}
    return Answer(data, (pairs(in_words({**shown, **found.left, "written again": ", ".join(found.again)})),))
