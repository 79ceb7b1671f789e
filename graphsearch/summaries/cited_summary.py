"""A summary, and the sources of each of its sentences."""

from __future__ import annotations

from uuid import UUID

import attrs

from graphsearch.display.markup import Html, element, quiet
from graphsearch.model import ElementRef


@attrs.frozen(kw_only=True)
class Source:
    """A citable relation or memory: its number, from 1, and the line shown to the model."""

    number: int
    element: ElementRef
    line: str


@attrs.frozen(kw_only=True)
class Sentence:
    """One sentence without its citations, and the sources that it cites, at least one, in order of their numbers."""

    text: str
    sources: tuple[Source, ...]

    @property
    def citations(self) -> str:
        """As in ``[1][3]``."""
        return "".join(f"[{source.number}]" for source in self.sources)

    def __str__(self) -> str:
        return f"{self.text} {self.citations}"


@attrs.frozen(kw_only=True)
class Summary:
    """A summary of what was found, written by a language model.

    * ``sentences``: those that cite a source they were shown. Whether the source supports them is not checked.
    * ``unknown_citations``: cited numbers without a source, removed; the first 20 in order.
    * ``uncited``: sentences without a source, removed. ``beyond``: the number of sentences over the answer's budget.
    * ``sources``: everything that could be cited, by number: what fitted a prompt.
    * ``communities``: those that were summarised for it. ``note``: why there are none, if they were searched for.
    * ``calls``: number of prompts, without repairs; ``prompt_tokens`` and ``answer_tokens``: those of the prompts, and
      of the sentences in the answers, by the mode's counter. `graphsearch.llms.metered` has the numbers that the model
      itself reports.
    """

    sentences: tuple[Sentence, ...]
    sources: tuple[Source, ...]
    unknown_citations: tuple[int, ...] = ()
    uncited: tuple[str, ...] = ()
    beyond: int = 0
    communities: tuple[UUID, ...] = ()
    note: str = ""
    calls: int = 0
    prompt_tokens: int = 0
    answer_tokens: int = 0

    @property
    def text(self) -> str:
        """The sentences, each followed by its citations: ``Ada leads Apollo. [1][3]``."""
        return " ".join(map(str, self.sentences))


def cited_page(summary: Summary) -> list[Html]:
    """The sentences of a summary, each with its citations, then what was cited."""
    lines = {source.number: source.line for sentence in summary.sentences for source in sentence.sources}
    sources = (f"[{number}] {line.removeprefix('- ')}" for number, line in sorted(lines.items()))
    return [*(element("p", str(sentence)) for sentence in summary.sentences), *map(quiet, sources)]
