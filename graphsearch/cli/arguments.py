"""Arguments and options shared by several commands, and the parsers of their values."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer

from graphsearch.ingest import DEFAULT_EXTRACTOR, TextExtractor
from graphsearch.ingest.extract.rules.vocabulary import KnownName
from graphsearch.ingest.screening.instructions import InstructionFlag
from graphsearch.ingest.screening.redaction import Redaction
from graphsearch.ingest.write.options import IngestOptions
from graphsearch.model import validation as check
from graphsearch.protocols import Extractor
from graphsearch.recall.options import Workload


def moment(text: str) -> datetime:
    """Parse a time in ISO 8601; UTC without an offset."""
    try:
        read = datetime.fromisoformat(text)
    except ValueError as error:
        raise typer.BadParameter(f"must be a time such as 2024-05-01T09:00:00Z, not {text!r}") from error
    return read if read.tzinfo else read.replace(tzinfo=UTC)


def identifier(text: str) -> UUID:
    """Parse an id."""
    try:
        return UUID(text)
    except ValueError as error:
        raise typer.BadParameter(f"must be an id such as `search --json` prints, not {text!r}") from error


Entity = Annotated[str, typer.Argument(help="An entity: its id, its name or an alias that only it has.")]
Question = Annotated[str, typer.Argument(help="The question.")]
Also = Annotated[
    list[str] | None,
    typer.Option("--also", metavar="PROJECT", help="Another project of the organisation to ask; may be repeated."),
]
Mode = Annotated[str, typer.Option(help="The search mode.")]
Limit = Annotated[int, typer.Option(min=1, help="The number of results to show.")]
TripletLimit = Annotated[int, typer.Option(min=1, help="The number of triplets to show.")]
Seeds = Annotated[int, typer.Option(min=1, help="The number of nearest entities to start from.")]
Depth = Annotated[int, typer.Option(min=0, max=10, help="The number of hops.")]
MaxHops = Annotated[int, typer.Option(min=1, max=10, help="The maximum number of hops.")]
AsOf = Annotated[datetime | None, typer.Option(parser=moment, help="Only what was valid at this time; default: now.")]
Since = Annotated[
    datetime | None, typer.Option(parser=moment, help="Only what was valid at any time from then to --as-of.")
]
KnownAt = Annotated[datetime | None, typer.Option(parser=moment, help="Only what was known at this time.")]
MinConfidence = Annotated[float, typer.Option(min=0.0, max=1.0, help="Leave out relations with less confidence.")]
MinScore = Annotated[float, typer.Option(min=0.0, max=1.0, help="Leave out triplets with a lower score.")]
Diversity = Annotated[float, typer.Option(min=0.0, max=1.0, help="Weight of the diversity of triplets; 0: none.")]
WorkloadName = Annotated[
    Workload | None,
    typer.Option("--workload", help="The kind of questions: the graph counts twice, once, half or not at all."),
]
Redact = Annotated[
    bool, typer.Option("--redact", help="Replace secrets and personal data in all texts before they are stored.")
]
FlagInstructions = Annotated[
    bool, typer.Option("--flag-instructions", help="Label memories with instructions to a language model.")
]
Labels = Annotated[
    list[str] | None, typer.Option("--label", help="A label of all memories, such as web; may be repeated.")
]
Ceilings = Annotated[
    list[str] | None,
    typer.Option(
        "--ceiling",
        metavar="LABEL=CONFIDENCE",
        help="The confidence above which memories with this label prove nothing; may be repeated.",
    ),
]


def ingest_options(
    *, redact: bool, flag_instructions: bool, labels: list[str] | None, ceilings: list[str] | None
) -> IngestOptions:
    """The options of an ingest."""
    pairs = [each.rpartition("=") for each in ceilings or ()]
    try:
        limits = {label: float(confidence) for label, _, confidence in pairs}
    except ValueError as error:
        raise typer.BadParameter(f"--ceiling must be LABEL=CONFIDENCE, such as web=0.4: {error}") from error
    return IngestOptions(
        redact=Redaction() if redact else None,
        flag=InstructionFlag() if flag_instructions else None,
        labels=tuple(labels or ()),
        ceilings=limits,
    )


KnownNames = Annotated[
    Path | None,
    typer.Option(
        "--known",
        metavar="FILE",
        help='Names that texts have in any case, as JSON lines: {"name": "Keelbook", "type": "tool", "aliases": []}.',
    ),
]
User = Annotated[
    str, typer.Option(help='The name of the person who speaks as "user" or "human", or is called "the user".')
]


def known_names(file: Path | None) -> tuple[KnownName, ...]:
    """The known names in a file of JSON lines."""
    if file is None:
        return ()
    try:
        lines = [check.parse_json(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
        return tuple(KnownName(**line) for line in lines)
    except (OSError, ValueError, TypeError) as error:
        raise typer.BadParameter(f"--known must be JSON lines with name, type and aliases: {error}") from error


def rules_with(known: Path | None, user: str) -> Extractor:
    """The rules that read texts, with known names and the name of the user."""
    return TextExtractor(known=known_names(known), user=user) if known or user else DEFAULT_EXTRACTOR


Model = Annotated[
    str,
    typer.Option(
        "--llm",
        envvar="GRAPHSEARCH_LLM",
        show_envvar=True,
        metavar="VENDOR:MODEL",
        help="A language model, such as openai:gpt-5-mini or anthropic:claude-sonnet-5.",
    ),
]
ModelUrl = Annotated[
    str,
    typer.Option(
        "--llm-url", envvar="GRAPHSEARCH_LLM_URL", show_envvar=True, help="The URL of its server, if not the vendor's."
    ),
]
Facts = Annotated[bool | None, typer.Option("--facts/--no-facts", help="Embed the facts of relations too (default).")]
Calls = Annotated[
    int | None, typer.Option("--llm-calls", min=0, help="The maximum number of calls of the language model.")
]
Tokens = Annotated[
    int | None, typer.Option("--llm-tokens", min=0, help="The maximum number of tokens of prompts and answers.")
]
