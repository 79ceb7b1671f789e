"""The print order of a search's triplets, if it differs from the order of the scores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graphsearch.access.reader import Reader
from graphsearch.model import Triplet
from graphsearch.modes.findings import Findings
from graphsearch.traversal.topological import prompt_order, topological_ranks


def printed_order(found: Findings, triplets: Sequence[Triplet], reader: Reader) -> tuple[int, ...] | None:
    """Indexes of the triplets, causes before effects, if PageRank found them; None to keep the order of scores.

    The order follows from all relations of the subgraph whose type is causal, shown or not.
    """
    graph = found.subgraph
    if graph.rank is None:
        return None
    causal = np.array([reader.signatures.types[row].causal for row in graph.signatures.tolist()], dtype=np.bool_)
    ranks = topological_ranks(len(graph.entities), graph.source[causal], graph.target[causal], graph.confidence[causal])
    row_of = {id_: row for row, id_ in enumerate(reader.store.entity_ids(graph.entities))}
    return prompt_order([(row_of[triplet.source.id], row_of[triplet.target.id]) for triplet in triplets], ranks)
