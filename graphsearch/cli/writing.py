"""init, add, remember, export, import and reembed: the commands that prepare, fill and move a project."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import attrs
import click

from graphsearch._support.files import STANDARD
from graphsearch.access.gate import ALLOW_ALL
from graphsearch.cli.commands import Answer, progress_bar
from graphsearch.cli.environment import Model, Place, Server, embedder_called, open_caller, open_scopes
from graphsearch.cli.options import Options, refuse
from graphsearch.cli.showing import number_of, pairs
from graphsearch.engine import GraphSearchEngine
from graphsearch.ingest import DEFAULT_EXTRACTOR, CombinedExtractor, Ingestor, KnownName, LLMExtractor, TextExtractor
from graphsearch.ingest.extract.extraction import Fault
from graphsearch.ingest.screening import InstructionFlag, Redaction
from graphsearch.ingest.sources.files import several
from graphsearch.ingest.sources.memory_files import read_memories
from graphsearch.ingest.sources.stated import note_id, of_now, outcome_lines, read_stated, state, text_of
from graphsearch.ingest.write.ledger import or_nothing
from graphsearch.ingest.write.options import IngestOptions
from graphsearch.model import Memory
from graphsearch.model import validation as check
from graphsearch.model.codec import Says, encode
from graphsearch.moving import (
    ExportFormat,
    ExportReport,
    ForeignReport,
    ImportReport,
    detect_format,
    export_scope,
    import_export,
    import_scope,
)
from graphsearch.protocols import Extractor
from graphsearch.reembedding import BATCH, SAMPLE, ReembedEstimate, ReembedReport, estimate_reembedding
from graphsearch.reembedding import reembed as run
from graphsearch.stores.in_postgres.session.migrating import LOCK_TIMEOUT, migrate
from graphsearch.text.rendering import safe_text

_KNOWN: Final = Says('Names that texts have in any case, as JSON lines: {"name": "Keelbook", "type": "tool"}.')
_CEILING: Final = Says("The confidence above which memories with this label prove nothing.")


@attrs.frozen(kw_only=True, slots=False)
class Reading(Options):
    """How texts are read, and what is done to all that is written."""

    known: Annotated[Path | None, _KNOWN, {"metavar": "FILE"}] = None
    user: Annotated[str, Says('The name of the person who speaks as "user" or "human".')] = ""
    redact: Annotated[bool, Says("Replace secrets and personal data in all texts before they are stored.")] = False
    flag_instructions: Annotated[bool, Says("Label memories with instructions to a language model.")] = False
    label: Annotated[tuple[str, ...], Says("A label of all memories, such as web.")] = ()
    ceiling: Annotated[tuple[str, ...], _CEILING, {"metavar": "LABEL=CONFIDENCE"}] = ()

    @property
    def rules(self) -> Extractor:
        """The rules that read texts, with known names and the name of the user."""
        if not (self.known or self.user):
            return DEFAULT_EXTRACTOR
        try:
            rows = self.known.read_text(encoding="utf-8").splitlines() if self.known else []
            known = tuple(KnownName(**check.parse_json(row)) for row in rows if row.strip())
        except (OSError, ValueError, TypeError) as error:
            raise click.UsageError(f"--known must be JSON lines with name, type and aliases: {error}") from error
        return TextExtractor(known=known, user=self.user)

    @property
    def options(self) -> IngestOptions:
        """The options of an ingest."""
        try:
            ceilings = {label: float(most) for label, _, most in (each.rpartition("=") for each in self.ceiling)}
        except ValueError as error:
            raise click.UsageError(f"--ceiling must be LABEL=CONFIDENCE, such as web=0.4: {error}") from error
        return IngestOptions(
            redact=Redaction() if self.redact else None,
            flag=InstructionFlag() if self.flag_instructions else None,
            labels=self.label,
            ceilings=ceilings,
        )


@attrs.frozen(kw_only=True)
class IngestReading(Reading, Model):
    """The same for commands that may have a language model, whose operator may show it everything."""

    facts: Annotated[bool | None, Says("Embed the facts of relations too (default).")] = None
    extractor: Annotated[
        Literal["rules", "llm", "both", "none"], Says("What reads texts: rules, the language model, both, or nothing.")
    ] = "rules"
    judge: Annotated[bool, Says("Ask the language model whether new names refer to known entities.")] = False

    def ingestor(self, engine: GraphSearchEngine) -> Ingestor:
        """The ingestor that they configure."""
        extractor: Extractor | None = self.rules if self.extractor in ("rules", "both") else None
        needs_model = self.judge or self.extractor in ("llm", "both")
        model = self.chosen("--extractor llm, --extractor both and --judge need") if needs_model else None
        if model is not None and self.extractor != "rules":
            by_model = LLMExtractor(model)
            extractor = CombinedExtractor(extractor, by_model) if extractor else by_model
        return Ingestor(
            engine,
            extractor=extractor,
            judge=model if self.judge else None,
            gate=ALLOW_ALL,
            facts=self.facts,
            options=self.options,
        )


async def init(
    server: Server,
    *,
    admin_dsn: Annotated[
        str, Says("The same database, as the role that owns the schema."), {"envvar": "GRAPHSEARCH_ADMIN_DSN"}
    ] = "",
    lock_timeout: Annotated[float, Says("The seconds to wait for each table in use.", 0.001)] = LOCK_TIMEOUT,
    distributed: Annotated[bool, Says("Distribute the tables over the nodes of a cluster of Citus.")] = False,
) -> Answer:
    """Prepare a database: migrate its schema and create the app role of --dsn."""
    if server.folder is not None:
        refuse(distributed, "an embedded server is no cluster: name the coordinator with --dsn and --admin-dsn")
        async with open_scopes(server):
            return Answer({"applied": [], "ready": True}, [f"the embedded server in {server.folder} is ready"])
    refuse(not admin_dsn, "--admin-dsn (or GRAPHSEARCH_ADMIN_DSN) is needed to prepare the database of --dsn")
    role, password = _role_of(server.dsn)
    applied = await migrate(
        admin_dsn, app_role=role, app_password=password, lock_timeout=lock_timeout, distributed=distributed
    )
    done = f"applied {', '.join(applied)}; " if applied else ""
    return Answer({"applied": applied, "ready": True}, [f"{done}the database is ready for the role {role}"])


async def add(
    path: Annotated[Path, Says("A folder or a file: source, documents, tables, transcripts, exports.")],
    *,
    only: Annotated[tuple[str, ...], Says("Only this file or folder in it.")] = (),
    name: Annotated[str | None, Says("The name of the folder, if not its own.")] = None,
    hidden: Annotated[bool, Says("Also read hidden files and folders.")] = False,
    reading: IngestReading,
    place: Place,
) -> Answer:
    """Add a folder; later runs write only what changed and forget what was deleted."""
    async with open_caller(place, embed=True) as caller:
        ingestor = reading.ingestor(caller.engine)
        with progress_bar() as progress:
            report = await ingestor.add(path, only=only, name=name, hidden=hidden, progress=progress)
    problems = (*_grouped(report.faults), *map(str, report.skipped), *report.refused, *report.unanswered)
    facts = outcome_lines([each.fact for each in report.stated], report.stated)
    return Answer(encode(report), [*_counts(report), *map(safe_text, problems), *facts])


async def remember(
    files: Annotated[
        tuple[Path, ...], Says("Transcripts and exports of chats, memories, tables, documents, by suffix.")
    ] = (),
    *,
    text: Annotated[str, Says("Or the text of one memory.")] = "",
    fact: Annotated[
        tuple[str, ...],
        Says("A fact that they state: subject | relation | object, then | since …, | until …, | ended or a quote."),
        {"metavar": "A | RELATION | B | …"},
    ] = (),
    entity: Annotated[
        tuple[str, ...], Says("What they name: name | type | alias, alias."), {"metavar": "NAME | TYPE | …"}
    ] = (),
    id: Annotated[str, Says("The id of that memory; default: one made of its text.")] = "",
    speaker: Annotated[str, Says("The speaker.")] = "",
    session: Annotated[str, Says("The session it belongs to; of a transcript, its name.")] = "",
    at: Annotated[datetime | None, Says("The time of the statement or document; default of a text: now.")] = None,
    reading: IngestReading,
    place: Place,
) -> Answer:
    """Add memories: the entities and relations of their texts, and the facts that are stated of them."""
    none = not (files or text or fact or entity)
    refuse(none or (files and text), "give files, or --text, or --fact and --entity")
    stated = read_stated({"facts": fact, "entities": entity})
    facts, entities = stated["facts"], stated["entities"]
    memories = await asyncio.to_thread(
        lambda: [each for file in files for each in read_memories(file, session_id=session, occurred_at=at)]
    )
    if not (files or text):  # what is stated is not read once more
        text, reading = text_of(facts, entities), attrs.evolve(reading, extractor="none")
    if not files:
        memories = [Memory(id=id or note_id(text, at), text=text, speaker=speaker, session_id=session, occurred_at=at)]
    memories = state(memories, facts, entities)
    async with open_caller(place, embed=True) as caller:
        if not (files or at):  # a note is of now, or of when it was first written
            known = await or_nothing(caller.engine.store.get_memories([each.id for each in memories]))
            memories = of_now(memories, {each.id: each for each in known}, caller.engine.store.clock.now())
        ingestor = reading.ingestor(caller.engine)
        with progress_bar() as progress:
            report = await ingestor.remember(memories, progress=progress)
    echoes = (f"{each.memory_id} repeats {', '.join(each.sources)}" for each in report.echoes)
    problems = (*report.conflicts, *report.unanswered, *map(str, report.unread), *report.refused, *echoes)
    stated_of = [each for memory in memories for each in memory.facts]
    shown = outcome_lines(facts or stated_of, report.stated)
    counts = _counts(report, resolutions=report.resolutions.by_stage)
    return Answer(encode(report), [*counts, *map(safe_text, problems), *shown])


def _grouped(faults: Sequence[Fault]) -> Iterator[str]:
    """Each fault in a line, and one for all files that have the same."""
    paths: dict[str, list[str]] = {}
    for each in faults:
        if not each.line:
            paths.setdefault(each.message, []).append(each.path)
    yield from (f"{several(some)}: {message}" for message, some in paths.items())
    yield from (str(each) for each in faults if each.line)


def _counts(report: Any, **also: Any) -> list[str]:
    found = {**attrs.asdict(report, recurse=False), **also}
    return [*pairs((name, number_of(value)) for name, value in found.items() if value or name == "changed")]


def _role_of(dsn: str) -> tuple[str, str | None]:
    """The user and the password of a connection string."""
    from psycopg import ProgrammingError  # noqa: PLC0415 - a driver is loaded only by what needs one
    from psycopg.conninfo import conninfo_to_dict  # noqa: PLC0415

    try:
        parts = conninfo_to_dict(dsn)
    except ProgrammingError as error:
        raise click.UsageError(f"--dsn is no connection string: {error}") from error
    needed = "--dsn must name the app role, as in postgresql://graphsearch_app:…@host/database"
    refuse(not parts.get("user"), needed)
    password = parts.get("password")
    return str(parts["user"]), None if password is None else str(password)


# -- a whole project --------------------------------------------------------------------------------------------------


async def export(
    place: Place,
    file: Annotated[str, Says("The file to write, compressed if it ends in .gz; - for standard output.")],
    *,
    vectors: Annotated[bool, Says("Write the vectors of elements.")] = True,
) -> ExportReport | None:
    """Export the whole project to a file that `import` reads into any store."""
    async with open_caller(place) as caller:
        with progress_bar() as progress:
            report = await export_scope(caller.engine.store, file, vectors=vectors, progress=progress)
    return None if file == STANDARD else report  # that is where the records went


async def import_(
    place: Place,
    files: Annotated[tuple[str, ...], Says("The export; - for standard input."), {"required": True}],
    *,
    format: Annotated[ExportFormat | None, Says("The format, where the files do not show it.")] = None,
    replace: Annotated[bool, Says("Remove what the project holds first.")] = False,
    embed: Annotated[bool, Says("Embed texts with the model chosen here, unless the file has its vectors.")] = False,
    group: Annotated[str | None, Says("The group_id to import of Graphiti, where there are several.")] = None,
) -> ImportReport | ForeignReport:
    """Import an export of graphsearch into an empty project, or that of another memory layer into any."""
    first, *others = files
    known = format or (None if STANDARD in files else await asyncio.to_thread(detect_format, Path(first)))
    is_ours = known in (None, ExportFormat.GRAPHSEARCH)
    refuse(replace and not is_ours, "--replace is for exports of graphsearch; others are added to the project")
    refuse(is_ours and (others or group), "an export of graphsearch is one file, without groups")
    async with open_caller(place, embed=embed or not is_ours) as caller:
        if not is_ours:
            return await import_export(Ingestor(caller.engine), [*map(Path, files)], format=known, group=group)
        with progress_bar() as progress:
            return await import_scope(
                caller.engine.store, first, embedder=caller.engine.embedder, replace=replace, progress=progress
            )


async def reembed(
    place: Place,
    *,
    model: Annotated[str, Says("The embedder: wordllama, minilm, voyage, or a model of Voyage.")] = "",
    dry_run: Annotated[bool, Says("Only report what it takes.")] = False,
    restart: Annotated[bool, Says("Discard an unfinished change first.")] = False,
    cancel: Annotated[bool, Says("Discard an unfinished change, and stop; without --model.")] = False,
    per_second: Annotated[float | None, Says("The most texts to embed in a second.", 1e-6)] = None,
    batch: Annotated[int, Says("The most texts to embed at a time.", 1)] = BATCH,
    sample: Annotated[int, Says("Texts of each kind that --dry-run embeds to measure.", 0)] = SAMPLE,
) -> ReembedReport | ReembedEstimate | Mapping[str, bool]:
    """Change the embedding model: embed all texts again beside the old vectors, then switch at once."""
    refuse(bool(model) == cancel, "give either --model or --cancel")
    embedder = embedder_called(model) if model else None
    async with open_caller(place) as caller:
        if embedder is None:
            return {"cancelled": await caller.engine.store.cancel_reembedding()}
        if dry_run:
            return await estimate_reembedding(caller.engine.store, embedder, sample=sample)
        with progress_bar() as progress:
            return await run(
                caller.engine.store, embedder, restart=restart, per_second=per_second, batch=batch, progress=progress
            )
