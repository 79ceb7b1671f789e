"""Arguments and options shared by several commands, and the parsers of their values."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated
from uuid import UUID

import attrs
import typer

from graphsearch.cli.environment import choose_llm
from graphsearch.ingest import DEFAULT_EXTRACTOR, KnownName, TextExtractor
from graphsearch.ingest.screening.instructions import InstructionFlag
from graphsearch.ingest.screening.redaction import Redaction
from graphsearch.ingest.write.options import IngestOptions
from graphsearch.llms import Budget, BudgetedLLM
from graphsearch.model import validation as check
from graphsearch.protocols import LLM, Extractor
from graphsearch.recall.options import Workload


class Walk(StrEnum):
    """The traversals that have a name."""

    K_HOP = "k_hop"
    PAGERANK = "pagerank"


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
Depth = Annotated[int, typer.Option(min=0, max=10, help="The number of hops.")]
MaxHops = Annotated[int, typer.Option(min=1, max=10, help="The maximum number of hops.")]
AsOf = Annotated[datetime | None, typer.Option(parser=moment, help="Only what was valid at this time; default: now.")]
KnownAt = Annotated[datetime | None, typer.Option(parser=moment, help="Only what was known at this time.")]
WorkloadName = Annotated[
    Workload | None,
    typer.Option("--workload", help="The kind of questions: the graph counts twice, once, half or not at all."),
]
TraversalName = Annotated[
    Walk | None, typer.Option("--traversal", help="How the graph is walked: by hops (default), or by PageRank.")
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


@attrs.frozen(kw_only=True)
class Reading:
    """How texts are read, and what is done to all that is written."""

    known: KnownNames = None
    user: User = ""
    redact: Redact = False
    flag_instructions: FlagInstructions = False
    label: Labels = None
    ceiling: Ceilings = None

    @property
    def rules(self) -> Extractor:
        """The rules that read texts, with known names and the name of the user."""
        with_names = self.known or self.user
        return TextExtractor(known=known_names(self.known), user=self.user) if with_names else DEFAULT_EXTRACTOR

    @property
    def options(self) -> IngestOptions:
        """The options of an ingest."""
        pairs = [each.rpartition("=") for each in self.ceiling or ()]
        try:
            ceilings = {label: float(confidence) for label, _, confidence in pairs}
        except ValueError as error:
            raise typer.BadParameter(f"--ceiling must be LABEL=CONFIDENCE, such as web=0.4: {error}") from error
        return IngestOptions(
            redact=Redaction() if self.redact else None,
            flag=InstructionFlag() if self.flag_instructions else None,
            labels=tuple(self.label or ()),
            ceilings=ceilings,
        )


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


@attrs.frozen(kw_only=True, slots=False)
class Budgeted:
    """A language model within a budget."""

    llm: Model = ""
    llm_url: ModelUrl = ""
    llm_calls: Annotated[int | None, typer.Option(min=0, help="The maximum number of calls of the model.")] = None
    llm_tokens: Annotated[
        int | None, typer.Option(min=0, help="The maximum number of tokens of prompts and answers.")
    ] = None

    def model(self, needed_by: str) -> LLM:
        """The language model. Raises `typer.BadParameter` if there is none."""
        chosen = choose_llm(self.llm, self.llm_url)
        if chosen is None:
            raise typer.BadParameter(f"{needed_by} --llm (or GRAPHSEARCH_LLM)")
        return BudgetedLLM(chosen, Budget(calls=self.llm_calls, tokens=self.llm_tokens))
