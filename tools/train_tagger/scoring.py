"""Score the tagger on sentences whose names are known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from graphsearch.names.tagger import Model, tag_sentences
from tools.train_tagger.training import Sentence


def spans(tags: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """The names that tags say: first word, end and kind."""
    first = None
    for place, tag in enumerate([*tags, "O"]):
        if first is not None and not tag.startswith("I-"):
            yield first, place, tags[first][2:]
            first = None
        if tag.startswith("B-"):
            first = place


def score(sentences: Sequence[Sentence], model: Model | None = None) -> dict[str, float]:
    """Precision and recall of names, without and with their kinds."""
    gold = {(number, *span) for number, (_, tags) in enumerate(sentences) for span in spans(tags)}
    tagged = tag_sentences([words for words, _ in sentences], model)
    found = {(number, *span[:3]) for number, some in enumerate(tagged) for span in some}
    right = len({each[:3] for each in gold} & {each[:3] for each in found})
    kinds = len(gold & found)
    return {
        "precision": right / max(1, len(found)),
        "recall": right / max(1, len(gold)),
        "precision with kinds": kinds / max(1, len(found)),
        "recall with kinds": kinds / max(1, len(gold)),
    }
