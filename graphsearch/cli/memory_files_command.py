"""remember: ingest texts written by agents."""

from __future__ import annotations

import asyncio
from datetime import datetime
from pathlib import Path
from typing import Annotated

import attrs
import typer

from graphsearch.cli.arguments import Facts, Model, ModelUrl, moment
from graphsearch.cli.commands import Answer, progress_bar
from graphsearch.cli.environment import Place, open_engine
from graphsearch.cli.extractor_choice import By, Calls, Judge, ReadBy, Tokens, ingestor_of
from graphsearch.cli.json_shapes import pairs
from graphsearch.ingest import RememberReport
from graphsearch.ingest.sources.memory_files import read_memories
from graphsearch.llms import Budget
from graphsearch.model import Memory
from graphsearch.text.rendering import safe_text


async def remember(
    place: Place,
    files: Annotated[
        list[Path] | None,
        typer.Argument(help="Chat transcripts (.json), memories (.jsonl), documents (.md, .txt)."),
    ] = None,
    text: Annotated[str, typer.Option(help="Or the text of one memory.")] = "",
    id: Annotated[str, typer.Option("--id", help="The id of that memory.")] = "",
    speaker: Annotated[str, typer.Option(help="The speaker.")] = "",
    session: Annotated[str, typer.Option(help="The session it belongs to; of a transcript, its name.")] = "",
    at: Annotated[datetime | None, typer.Option(parser=moment, help="The time of the statement or document.")] = None,
    facts: Facts = None,
    extractor: By = ReadBy.RULES,
    judge: Judge = False,
    llm: Model = "",
    llm_url: ModelUrl = "",
    llm_calls: Calls = None,
    llm_tokens: Tokens = None,
) -> Answer:
    """Add memories: extract the entities and relations of their texts."""
    if bool(files) == bool(text):
        raise typer.BadParameter("give files, or --text with --id")
    memories = await asyncio.to_thread(
        lambda: [each for file in files or () for each in read_memories(file, session_id=session, occurred_at=at)]
    )
    if text:
        memories = [Memory(id=id, text=text, speaker=speaker, session_id=session, occurred_at=at)]
    async with open_engine(place, embed=True) as engine:
        ingestor = ingestor_of(
            engine,
            by=extractor,
            judge=judge,
            llm=llm,
            llm_url=llm_url,
            budget=Budget(calls=llm_calls, tokens=llm_tokens),
            facts=facts,
        )
        with progress_bar() as progress:
            report = await ingestor.remember(memories, progress=progress)
    data = _data(report)
    shown = ((name, len(value) if isinstance(value, list) else value) for name, value in data.items() if value)
    problems = (*report.conflicts, *report.unanswered, *map(str, report.unread), *report.refused)
    return Answer(data, (pairs(shown), *map(safe_text, problems)))


def _data(report: RememberReport) -> dict[str, object]:
    counts = report.resolutions
    return {
        **attrs.asdict(report, recurse=False),
        "resolutions": {str(stage): number for stage, number in sorted(counts.by_stage.items())},
        "resolution_fail_rate": counts.fail_rate,
        "resolution_baseline": counts.baseline,
        "conflicts": list(report.conflicts),
        "unanswered": list(report.unanswered),
        "refused": list(report.refused),
        "unread": [attrs.asdict(each) for each in report.unread],
    }
