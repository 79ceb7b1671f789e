"""context and feedback: the context block of a session, and its outcome. Both evaluate the policies."""

from __future__ import annotations

from typing import Annotated
from uuid import uuid4

import attrs
import typer

from graphsearch.cli.arguments import (
    AsOf,
    Attributes,
    Mode,
    Model,
    ModelUrl,
    Policies,
    PrincipalId,
    PrincipalType,
    Question,
    Schema,
    gate_of,
)
from graphsearch.cli.commands import Answer
from graphsearch.cli.environment import Place, open_engine, open_for
from graphsearch.cli.json_shapes import (
    asked_time_pairs,
    counts_json,
    pairs,
    plain,
    summary_json,
    summary_lines,
    triplet_json,
)
from graphsearch.context import ContextBuilder, WorkType
from graphsearch.model import Outcome
from graphsearch.modes.options import SearchMode


def _outcome(text: str) -> Outcome:
    try:
        return Outcome[text.upper()]
    except KeyError as error:
        raise typer.BadParameter(f"must be accepted, rework or rejected, not {text!r}") from error


Session = Annotated[str, typer.Option(help="The session of the block; default: a new one.")]


async def context(
    place: Place,
    question: Question,
    principal: PrincipalId,
    principal_type: PrincipalType = "User",
    attribute: Attributes = None,
    session: Session = "",
    budget: Annotated[int | None, typer.Option(min=0, help="The token budget; default: that of the work type.")] = None,
    work_type: Annotated[WorkType, typer.Option(help="The kind of work of the session.")] = WorkType.UNKNOWN,
    mode: Mode = SearchMode.GRAPH_COMPLETION,
    observations: Annotated[bool, typer.Option(help="Include recalled memories.")] = True,
    graph: Annotated[bool, typer.Option(help="Include triplets.")] = True,
    as_of: AsOf = None,
    llm: Model = "",
    llm_url: ModelUrl = "",
    policies: Policies = None,
    schema: Schema = None,
) -> Answer:
    """Build the context block for a session: what answers the question, is visible to the principal and fits."""
    gate = gate_of(place, principal, principal_type, attribute, policies, schema)
    session_id = session or f"cli-{uuid4()}"
    async with open_for(place, mode, llm=llm, llm_url=llm_url) as engine:
        block = await ContextBuilder(engine).build(
            question,
            gate=gate,
            session_id=session_id,
            budget=budget,
            work_type=work_type,
            observations=observations,
            graph=graph,
            mode=mode,
            as_of=as_of,
        )
    data = {
        "session": session_id,
        "text": block.text,
        "tokens": block.tokens,
        "budget": block.budget,
        "skipped": block.skipped,
        "skipped_memories": block.skipped_memories,
        "reason": block.reason,
        "asked": plain(block.asked),
        "denied": counts_json(block.denied),
        "injection_id": block.injection_id,
        "memories": plain(block.memories),
        "triplets": [triplet_json(triplet) for triplet in block.triplets],
        "summary": summary_json(block.summary),
    }
    denied = ", ".join(f"{number} {kind}" for kind, number in counts_json(block.denied).items() if number) or "nothing"
    facts = [("session", session_id), ("tokens", f"{block.tokens} of {block.budget}"), ("denied", denied)]
    skipped = f"{block.skipped_memories} memories, {block.skipped} triplets"
    summary = () if block.summary is None else summary_lines(block.summary)
    facts.append(("skipped", skipped))
    if block.reason:
        facts.append(("reason", block.reason))
    return Answer(data, (block.text, *summary, pairs([*facts, *asked_time_pairs(block.asked)])))


async def feedback(
    place: Place,
    session: Annotated[str, typer.Argument(help="The session, as `context` was given or printed it.")],
    outcome: Annotated[
        Outcome, typer.Argument(parser=_outcome, metavar="accepted|rework|rejected", help="The outcome.")
    ],
    principal: PrincipalId,
    principal_type: PrincipalType = "User",
    attribute: Attributes = None,
    policies: Policies = None,
    schema: Schema = None,
) -> Answer:
    """Report the outcome of a session; the weights of the elements surfaced to it move accordingly."""
    gate = gate_of(place, principal, principal_type, attribute, policies, schema)
    async with open_engine(place) as engine:
        report = await ContextBuilder(engine).feedback(session, outcome, gate=gate)
    data = {
        name: [{"kind": element.kind.value, "id": element.id} for element in value] if name != "denied" else value
        for name, value in attrs.asdict(report, recurse=False).items()
    }
    counts = [(name, value if name == "denied" else len(value)) for name, value in data.items()]
    return Answer(data, (pairs(counts),))
