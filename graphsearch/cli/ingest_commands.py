"""Commands that prepare and fill a store: init, add and remember."""

from __future__ import annotations

import asyncio
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from graphsearch.access.gate import ALLOW_ALL
from graphsearch.cli.arguments import (
    Calls,
    Ceilings,
    Facts,
    FlagInstructions,
    KnownNames,
    Labels,
    Model,
    ModelUrl,
    Redact,
    Tokens,
    User,
    ingest_options,
    moment,
    rules_with,
)
from graphsearch.cli.commands import Answer, progress_bar
from graphsearch.cli.environment import Place, budgeted_llm, open_engine
from graphsearch.cli.output import as_json, pairs, sorted_counts
from graphsearch.engine import GraphSearchEngine
from graphsearch.ingest import CombinedExtractor, Ingestor, LLMExtractor
from graphsearch.ingest.sources.memory_files import read_memories
from graphsearch.ingest.write.options import IngestOptions
from graphsearch.model import Memory
from graphsearch.protocols import LLM, Extractor
from graphsearch.stores.embedded import EmbeddedPostgres
from graphsearch.stores.in_postgres.session.migrating import LOCK_TIMEOUT, migrate
from graphsearch.text.rendering import safe_text


class ReadBy(StrEnum):
    """The extractor of texts."""

    RULES = "rules"
    LLM = "llm"
    BOTH = "both"


By = Annotated[
    ReadBy, typer.Option("--extractor", help="What extracts from texts: rules, the language model, or both.")
]
Judge = Annotated[
    bool, typer.Option("--judge", help="Ask the language model whether new names refer to known entities.")
]


async def init(
    place: Place,
    admin_dsn: Annotated[
        str, typer.Option(envvar="GRAPHSEARCH_ADMIN_DSN", help="The same database, as the role that owns the schema.")
    ] = "",
    lock_timeout: Annotated[
        float, typer.Option(min=0.001, help="The number of seconds to wait for each table in use.")
    ] = LOCK_TIMEOUT,
    distributed: Annotated[
        bool, typer.Option("--distributed", help="Distribute the tables over the nodes of a cluster of Citus.")
    ] = False,
) -> Answer:
    """Prepare a database: migrate its schema to this version and create the app role that --dsn names."""
    if place.embedded is not None and distributed:
        raise typer.BadParameter("an embedded server is no cluster: name the coordinator with --dsn and --admin-dsn")
    if place.embedded is not None:
        async with EmbeddedPostgres(place.embedded):
            applied: list[str] = []
            where = f"the embedded server in {place.embedded} is ready"
    elif not admin_dsn:
        raise typer.BadParameter("--admin-dsn (or GRAPHSEARCH_ADMIN_DSN) is needed to prepare the database of --dsn")
    else:
        role, password = _role_of(place.dsn)
        applied = await migrate(
            admin_dsn, app_role=role, app_password=password, lock_timeout=lock_timeout, distributed=distributed
        )
        where = f"the database is ready for the role {role}"
    done = f"applied {', '.join(applied)}; " if applied else ""
    return Answer({"applied": applied, "ready": True}, (f"{done}{where}",))


async def add(
    place: Place,
    path: Annotated[Path, typer.Argument(help="A folder, or a file, of Python source, JSON lines, Markdown and text.")],
    only: Annotated[list[str] | None, typer.Option(help="Only this file or folder in it; may be repeated.")] = None,
    name: Annotated[str | None, typer.Option(help="The name of the folder, if not its own.")] = None,
    hidden: Annotated[bool, typer.Option("--hidden", help="Also read hidden files and folders.")] = False,
    facts: Facts = None,
    known: KnownNames = None,
    user: User = "",
    extractor: By = ReadBy.RULES,
    judge: Judge = False,
    llm: Model = "",
    llm_url: ModelUrl = "",
    llm_calls: Calls = None,
    llm_tokens: Tokens = None,
    redact: Redact = False,
    flag_instructions: FlagInstructions = False,
    label: Labels = None,
    ceiling: Ceilings = None,
) -> Answer:
    """Add a folder; later runs write only what changed and forget what was deleted."""
    options = ingest_options(redact=redact, flag_instructions=flag_instructions, labels=label, ceilings=ceiling)
    rules = rules_with(known, user)
    async with open_engine(place, embed=True) as engine:
        ingestor = _ingestor(
            engine,
            by=extractor,
            rules=rules,
            judge=judge,
            llm=llm,
            llm_url=llm_url,
            calls=llm_calls,
            tokens=llm_tokens,
            facts=facts,
            options=options,
        )
        with progress_bar() as progress:
            report = await ingestor.add(path, only=only or (), name=name, hidden=hidden, progress=progress)
    data = as_json(report)
    shown = pairs((name, _number(value)) for name, value in data.items())
    problems = (*map(str, (*report.faults, *report.skipped)), *report.refused, *report.unanswered)
    return Answer(data, (shown, *map(safe_text, problems)))


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
    known: KnownNames = None,
    user: User = "",
    extractor: By = ReadBy.RULES,
    judge: Judge = False,
    llm: Model = "",
    llm_url: ModelUrl = "",
    llm_calls: Calls = None,
    llm_tokens: Tokens = None,
    redact: Redact = False,
    flag_instructions: FlagInstructions = False,
    label: Labels = None,
    ceiling: Ceilings = None,
) -> Answer:
    """Add memories: extract the entities and relations of their texts."""
    if bool(files) == bool(text):
        raise typer.BadParameter("give files, or --text with --id")
    memories = await asyncio.to_thread(
        lambda: [each for file in files or () for each in read_memories(file, session_id=session, occurred_at=at)]
    )
    if text:
        memories = [Memory(id=id, text=text, speaker=speaker, session_id=session, occurred_at=at)]
    options = ingest_options(redact=redact, flag_instructions=flag_instructions, labels=label, ceilings=ceiling)
    rules = rules_with(known, user)
    async with open_engine(place, embed=True) as engine:
        ingestor = _ingestor(
            engine,
            by=extractor,
            rules=rules,
            judge=judge,
            llm=llm,
            llm_url=llm_url,
            calls=llm_calls,
            tokens=llm_tokens,
            facts=facts,
            options=options,
        )
        with progress_bar() as progress:
            report = await ingestor.remember(memories, progress=progress)
    counts = report.resolutions
    data = {
        **as_json(report),
        "resolutions": sorted_counts(counts.by_stage),
        "resolution_fail_rate": counts.fail_rate,
        "resolution_baseline": counts.baseline,
    }
    shown = pairs((name, _number(value)) for name, value in data.items() if value)
    echoes = (f"{each.memory_id} repeats {', '.join(each.sources)}" for each in report.echoes)
    problems = (*report.conflicts, *report.unanswered, *map(str, report.unread), *report.refused, *echoes)
    return Answer(data, (shown, *map(safe_text, problems)))


def _ingestor(
    engine: GraphSearchEngine,
    *,
    by: ReadBy,
    rules: Extractor,
    judge: bool,
    llm: str,
    llm_url: str,
    calls: int | None,
    tokens: int | None,
    facts: bool | None,
    options: IngestOptions,
) -> Ingestor:
    """The ingestor configured by the options. An operator may read everything, so the judge may as well."""
    if by is ReadBy.RULES and not judge:
        return Ingestor(engine, extractor=rules, facts=facts, options=options)
    needed_by = "--extractor llm, --extractor both and --judge need"
    model = budgeted_llm(llm, llm_url, calls=calls, tokens=tokens, needed_by=needed_by)
    extractor = _extractor(by, rules, model)
    judge_model = model if judge else None
    return Ingestor(engine, extractor=extractor, judge=judge_model, gate=ALLOW_ALL, facts=facts, options=options)


def _extractor(by: ReadBy, rules: Extractor, llm: LLM) -> Extractor:
    if by is ReadBy.RULES:
        return rules
    return LLMExtractor(llm) if by is ReadBy.LLM else CombinedExtractor(rules, LLMExtractor(llm))


def _number(value: object) -> object:
    """The length of a list, any other value as it is."""
    return len(value) if isinstance(value, list) else value


def _role_of(dsn: str) -> tuple[str, str | None]:
    """The user and the password of a connection string."""
    from psycopg import ProgrammingError  # noqa: PLC0415 - a driver is loaded only by what needs one
    from psycopg.conninfo import conninfo_to_dict  # noqa: PLC0415

    try:
        parts = conninfo_to_dict(dsn)
    except ProgrammingError as error:
        raise typer.BadParameter(f"--dsn is no connection string: {error}") from error
    if not parts.get("user"):
        raise typer.BadParameter("--dsn must name the app role, as in postgresql://graphsearch_app:…@host/database")
    password = parts.get("password")
    return str(parts["user"]), None if password is None else str(password)
