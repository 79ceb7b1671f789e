"""The options for extraction: by rules, a language model, or both; and the judge of names."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from graphsearch.access.gate import ALLOW_ALL
from graphsearch.cli.environment import choose_llm
from graphsearch.engine import GraphSearchEngine
from graphsearch.ingest import CombinedExtractor, Ingestor, LLMExtractor, TextExtractor
from graphsearch.llms import Budget, BudgetedLLM
from graphsearch.protocols import LLM, Extractor


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
Calls = Annotated[
    int | None, typer.Option("--llm-calls", min=0, help="The maximum number of calls of the language model.")
]
Tokens = Annotated[
    int | None, typer.Option("--llm-tokens", min=0, help="The maximum number of tokens of prompts and answers.")
]


def ingestor_of(
    engine: GraphSearchEngine, *, by: ReadBy, judge: bool, llm: str, llm_url: str, budget: Budget, facts: bool | None
) -> Ingestor:
    """The ingestor configured by the options. An operator may read everything, so the judge may as well."""
    if by is ReadBy.RULES and not judge:
        return Ingestor(engine, facts=facts)
    model = within(budget, llm, llm_url, needed_by="--extractor llm, --extractor both and --judge need")
    return Ingestor(
        engine,
        extractor=_extractor(by, model),
        judge=model if judge else None,
        gate=ALLOW_ALL,
        facts=facts,
    )


def within(budget: Budget, llm: str, llm_url: str, *, needed_by: str) -> LLM:
    """The language model named by the options, within a budget. Raises `typer.BadParameter` if there is none."""
    chosen = choose_llm(llm, llm_url)
    if chosen is None:
        raise typer.BadParameter(f"{needed_by} --llm (or GRAPHSEARCH_LLM)")
    return BudgetedLLM(chosen, budget)


def _extractor(by: ReadBy, llm: LLM) -> Extractor | None:
    if by is ReadBy.RULES:
        return None
    return LLMExtractor(llm) if by is ReadBy.LLM else CombinedExtractor(TextExtractor(), LLMExtractor(llm))
