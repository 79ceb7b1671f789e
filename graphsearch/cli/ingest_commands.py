"""init and add: prepare and fill a store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import attrs
import typer

from graphsearch.cli.arguments import Facts, Model, ModelUrl
from graphsearch.cli.commands import Answer, progress_bar
from graphsearch.cli.environment import Place, open_engine
from graphsearch.cli.extractor_choice import By, Calls, Judge, ReadBy, Tokens, ingestor_of
from graphsearch.cli.json_shapes import pairs
from graphsearch.ingest import IngestReport
from graphsearch.llms import Budget
from graphsearch.stores.embedded import EmbeddedPostgres
from graphsearch.stores.in_postgres.session.migrating import migrate
from graphsearch.text.rendering import safe_text


async def init(
    place: Place,
    admin_dsn: Annotated[
        str, typer.Option(envvar="GRAPHSEARCH_ADMIN_DSN", help="The same database, as the role that owns the schema.")
    ] = "",
) -> Answer:
    """Prepare a database: migrate its schema to this version and create the app role that --dsn names."""
    if place.embedded is not None:
        async with EmbeddedPostgres(place.embedded):
            applied: list[str] = []
            where = f"the embedded server in {place.embedded} is ready"
    elif not admin_dsn:
        raise typer.BadParameter("--admin-dsn (or GRAPHSEARCH_ADMIN_DSN) is needed to prepare the database of --dsn")
    else:
        role, password = _role_of(place.dsn)
        applied = await migrate(admin_dsn, app_role=role, app_password=password)
        where = f"the database is ready for the role {role}"
    done = f"applied {', '.join(applied)}; " if applied else ""
    return Answer({"applied": applied, "ready": True}, (f"{done}{where}",))


async def add(
    place: Place,
    path: Annotated[Path, typer.Argument(help="A folder, or a file, of Python source, JSON lines, Markdown and text.")],
    only: Annotated[list[str] | None, typer.Option(help="Only this file or folder in it; may be repeated.")] = None,
    name: Annotated[str | None, typer.Option(help="The name of the folder, if not its own.")] = None,
    facts: Facts = None,
    extractor: By = ReadBy.RULES,
    judge: Judge = False,
    llm: Model = "",
    llm_url: ModelUrl = "",
    llm_calls: Calls = None,
    llm_tokens: Tokens = None,
) -> Answer:
    """Add a folder; later runs write only what changed and forget what was deleted."""
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
            report = await ingestor.add(path, only=only or (), name=name, progress=progress)
    data = {**attrs.asdict(report), "faults": [attrs.asdict(fault) for fault in report.faults]}
    problems = (*map(str, report.faults), *report.refused, *report.unanswered)
    return Answer(data, (pairs(_counts(report)), *map(safe_text, problems)))


def _counts(report: IngestReport) -> list[tuple[str, object]]:
    found = attrs.asdict(report, recurse=False).items()
    return [(name, len(value) if isinstance(value, tuple) else value) for name, value in found]


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
