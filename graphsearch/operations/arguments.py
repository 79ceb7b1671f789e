"""What the arguments of operations mean, by name: one word for one thing, whichever operation takes it.

Bounds hold for those who call from outside: a library user may ask for more.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from graphsearch.model.codec import Says

_ENTITY: Final = Says("Its id, name or alias.", 1, 400)
_MEMORY: Final = Says("The id of a memory.", 1, 400)

ARGUMENTS: Final[Mapping[str, Says]] = MappingProxyType(
    {
        "query": Says("What you want to know, as one question.", 1, 4_000),
        "entity": _ENTITY,
        "source": _ENTITY,
        "target": _ENTITY,
        "one": _ENTITY,
        "other": _ENTITY,
        "memory": _MEMORY,
        "from_id": _MEMORY,
        "to_id": _MEMORY,
        "relation_id": Says("The id of a relation."),
        "merge_id": Says("The id of a merge."),
        "limit": Says("At most so many, best first.", 1, 100),
        "seeds": Says("The number of nearest entities to start from.", 1, 50),
        "depth": Says("The number of relations to follow.", 0, 10),
        "max_hops": Says("The most relations to follow.", 1, 10),
        "candidates": Says("The number of candidates to rank.", 1, 1_000),
        "mode": Says(
            "By meaning (graph_completion), around the entities that are named (neighborhood), by the wording of facts"
            " (triplet_completion), or by a language model, if there is one (natural_language, summary).",
            1,
            100,
        ),
        "traversal": Says("By hops, or by what most paths lead to.", of=("k_hop", "pagerank")),
        "ranking": Says("What counts besides words and meaning."),
        "workload": Says("How much the graph counts: twice, once, half, not at all."),
        "work_type": Says("The kind of work, which sets the budget."),
        "budget": Says("The most tokens of the text.", 0, 100_000),
        "observations": Says("Include memories."),
        "graph": Says("Include triplets."),
        "as_of": Says("What was valid then; default: now."),
        "known_at": Says("What was known then; default: now."),
        "since": Says("Only from this time on."),
        "until": Says("Only before this time."),
        "min_edge_confidence": Says("Leave out relations of less confidence.", 0, 1),
        "min_relevance": Says("Return nothing where the best is less relevant.", 0, 1),
        "weights": Says("The weights of the ranking's parts."),
        "min_score": Says("Leave out what scores less.", 0, 1),
        "diversity": Says("The weight of diversity; 0: none.", 0, 1),
        "skip_types": Says("Relations of these types are left out.", most=100),
        "type": Says("Its type, such as person or tool.", 1, 100),
        "session_id": Says("The session.", 1, 200),
        "outcome": Says("The work was right, had to be changed, or was wrong."),
        "labels": Says("Words that policies refer to, such as private.", most=20),
        "name": Says("Its name.", 1, 400),
        "aliases": Says("All of its aliases.", most=50),
        "description": Says("Its description.", most=4_000),
        "attributes": Says("All of its attributes."),
        "importance_weight": Says("Its importance; 0.5 is usual.", 0, 1),
        "dry_run": Says("Only report what would change."),
        "retype": Says("Also if they have two types: the target's counts."),
        "distinct": Says("false removes the mark."),
        "threshold": Says("The least similarity of names.", 0.6, 1),
        "seed": Says("The seed of the order in which entities are visited.", 0),
        "min_size": Says("The fewest members of a community.", 2),
        "subject": Says("All memories about a subject, as they state it.", 1, 400),
        "owner": Says("All memories of an owner.", 1, 400),
        "label": Says("All memories with a label.", 1, 100),
        "proposal": Says("The id of a proposal."),
        "comment": Says("Why, for whoever proposed it.", most=1_000),
        "days": Says("The age from which on memories are forgotten.", 0.000_001, 1e6),
        "prior": Says("How reliable its relations are.", 0, 1),
        "half_life_days": Says("The age at which its relations count half; 0: they do not age.", 0),
        "hop_scores": Says("Its score by distance.", most=10),
        "functional": Says("A source has one target at a time."),
        "causal": Says("The source is a cause of the target."),
        "skip": Says("Searches leave its relations out."),
        "state": Says("Its relations hold until something ends them."),
        "receipt": Says("A receipt of forgetting."),
        "kind": Says("What the id belongs to."),
        "id": Says("The id of a relation, an entity or a memory.", 1, 400),
        "text": Says("A note or document, as Markdown.", 1, 200_000),
        "turns": Says("The turns of a conversation, in order.", most=500),
        "facts": Says("What it says, fact by fact.", most=500),
        "entities": Says("Whom and what it is about.", most=500),
        "occurred_at": Says("When it was written."),
        "details": Says("Also ids and scores of its lines."),
    }
)
