"""Commands that prepare and fill a store: init, add and remember."""

from __future__ import annotations

import asyncio
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import attrs
import typer

from graphsearch.access.gate import ALLOW_ALL
from graphsearch.cli.arguments import Budgeted, Facts, Reading, moment
from graphsearch.cli.commands import Answer, progress_bar
from graphsearch.cli.environment import Place, open_engine
from graphsearch.cli.output import as_json, pairs, sorted_counts
from graphsearch.engine import GraphSearchEngine
from graphsearch.ingest import CombinedExtractor, Ingestor, LLMExtractor
from graphsearch.ingest.sources.memory_files import read_memories
from graphsearch.ingest.sources.stated import note_id, outcome_lines, read_stated, state, text_of
from graphsearch.model import Memory
from graphsearch.protocols import Extractor
from graphsearch.stores.embedded import EmbeddedPostgres
from graphsearch.stores.in_postgres.session.migrating import LOCK_TIMEOUT, migrate
from graphsearch.text.rendering import safe_text


class ReadBy(StrEnum):
    """The extractor of texts."""

    RULES = "rules"
    LLM = "llm"
    BOTH = "both"
    NONE = "none"


By = Annotated[
    ReadBy, typer.Option("--extractor", help="What reads texts: rules, the language model, both, or nothing.")
]
Judge = Annotated[
    bool, typer.Option("--judge", help="Ask the language model whether new names refer to known entities.")
]


@attrs.frozen(kw_only=True)
class IngestReading(Reading, Budgeted):
    """The same for commands that may have a language model, whose operator may show it everything."""

    facts: Facts = None
    extractor: By = ReadBy.RULES
    judge: Judge = False

    def ingestor(self, engine: GraphSearchEngine) -> Ingestor:
        """The ingestor that they configure."""
        model, rules = None, self.rules
        if self.judge or self.extractor in (ReadBy.LLM, ReadBy.BOTH):
            model = self.model("--extractor llm, --extractor both and --judge need")
        read_by: dict[ReadBy, Extractor | None] = {ReadBy.RULES: rules, ReadBy.NONE: None}
        if model is not None:
            read_by |= {ReadBy.LLM: LLMExtractor(model), ReadBy.BOTH: CombinedExtractor(rules, LLMExtractor(model))}
        return Ingestor(
            engine,
            extractor=read_by[self.extractor],
            judge=model if self.judge else None,
            gate=ALLOW_ALL,
            facts=self.facts,
            options=self.options,
        )


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
    *,
    reading: IngestReading,
) -> Answer:
    """Add a folder; later runs write only what changed and forget what was deleted."""
    async with open_engine(place, embed=True) as engine:
        ingestor = reading.ingestor(engine)
        with progress_bar() as progress:
            report = await ingestor.add(path, only=only or (), name=name, hidden=hidden, progress=progress)
    data = as_json(report)
    shown = pairs((name, _number(value)) for name, value in data.items())
    problems = (*map(str, (*report.faults, *report.skipped)), *report.refused, *report.unanswered)
    facts = outcome_lines([each.fact for each in report.stated], report.stated)
    return Answer(data, (shown, *map(safe_text, problems), *facts))


async def remember(
    place: Place,
    files: Annotated[
        list[Path] | None,
        typer.Argument(help="Chat transcripts (.json), memories (.jsonl), documents (.md, .txt)."),
    ] = None,
    text: Annotated[str, typer.Option(help="Or the text of one memory.")] = "",
    fact: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A | RELATION | B | …",
            help="A fact that they state: subject | relation | object, then | since …, | until …, | ended or a quote;"
            " may be repeated.",
        ),
    ] = None,
    entity: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME | TYPE | …", help="What they name: name | type | alias, alias; may be repeated."),
    ] = None,
    id: Annotated[str, typer.Option("--id", help="The id of that memory; default: one made of its text.")] = "",
    speaker: Annotated[str, typer.Option(help="The speaker.")] = "",
    session: Annotated[str, typer.Option(help="The session it belongs to; of a transcript, its name.")] = "",
    at: Annotated[datetime | None, typer.Option(parser=moment, help="The time of the statement or document.")] = None,
    *,
    reading: IngestReading,
) -> Answer:
    """Add memories: the entities and relations of their texts, and the facts that are stated of them."""
    if bool(files) == bool(text) and (files or not (fact or entity)):
        raise typer.BadParameter("give files, or --text, or --fact and --entity")
    stated = read_stated({"facts": fact, "entities": entity})
    facts, entities = stated["facts"], stated["entities"]
    memories = await asyncio.to_thread(
        lambda: [each for file in files or () for each in read_memories(file, session_id=session, occurred_at=at)]
    )
    if not (files or text):  # what is stated is not read once more
        text, reading = text_of(facts, entities), attrs.evolve(reading, extractor=ReadBy.NONE)
    if not files:
        memories = [Memory(id=id or note_id(text, at), text=text, speaker=speaker, session_id=session, occurred_at=at)]
    memories = state(memories, facts, entities)
    async with open_engine(place, embed=True) as engine:
        ingestor = reading.ingestor(engine)
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
    stated_of = [each for memory in memories for each in memory.facts]
    return Answer(data, (shown, *map(safe_text, problems), *outcome_lines(facts or stated_of, report.stated)))


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
