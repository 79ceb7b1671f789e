"""Request cited sentences from a language model, with budgets for prompt and answer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import attrs

from graphsearch.llms.structured import ask_with_repair
from graphsearch.model import validation as check
from graphsearch.protocols import LLM, TokenCounter
from graphsearch.summaries.citable_sources import labelled
from graphsearch.summaries.cited_summary import Sentence, Source
from graphsearch.summaries.parser import Written, written
from graphsearch.summaries.prompt import ANSWER, lines_within, prompt_for, words_within


@attrs.frozen
class Line:
    """A line of a prompt, and the sources whose numbers it begins with."""

    text: str
    sources: tuple[Source, ...]

    @classmethod
    def of_source(cls, source: Source) -> Line:
        """A triplet or a memory."""
        return cls(source.line, (source,))

    @classmethod
    def of_sentence(cls, sentence: Sentence) -> Line:
        """A sentence of an earlier summary, with its sources."""
        return cls(labelled(sentence.citations, sentence.text), sentence.sources)


@attrs.frozen
class Told:
    """The summary of the ``lines`` that fitted, and the tokens of the prompt, before any repair."""

    written: Written
    lines: tuple[Line, ...]
    prompt_tokens: int


@attrs.frozen(kw_only=True)
class Writer:
    """A language model with its budgets, in tokens of ``counter``."""

    llm: LLM
    counter: TokenCounter
    prompt_tokens: int
    answer_tokens: int

    async def write(self, question: str, lines: Sequence[Line]) -> Told:
        """Sentences that answer a question from lines, and cite their sources.

        Raises `InvalidInputError` if the budget does not fit the question and a single line.
        """
        words = words_within(self.answer_tokens, self.counter)
        texts = [line.text for line in lines]
        places = lines_within(question, texts, words=words, budget=self.prompt_tokens, counter=self.counter)
        check.refuse("question", None if places else "it leaves a prompt no room for any line: ask in fewer words")
        kept = tuple(lines[place] for place in places)
        prompt = prompt_for(question, [line.text for line in kept], words=words)
        sources = {source.number: source for line in kept for source in line.sources}
        read = partial(written, sources=sources, budget=self.answer_tokens, counter=self.counter)
        found = await ask_with_repair(self.llm, prompt, ANSWER, read)
        return Told(found, kept, self.counter.count(prompt))
