"""The values that everything is made of: immutable, and validated when they are created."""

from graphsearch.model.batches import MAX_WORD_WEIGHT, Batch, Given, Group, Vector, WriteReport
from graphsearch.model.elements import Claim, ElementKind, Entity, Memory, Mention, Outcome, Relation, Scope, Span
from graphsearch.model.feedback import ElementRef, FeedbackReport, Injection, OutcomeRecord
from graphsearch.model.relation_types import KNOWN_ENTITY_TYPES, KNOWN_RELATION_TYPES, EdgeKind, RelationType
from graphsearch.model.reports import (
    Community,
    Contradiction,
    MemoryLink,
    Merge,
    NameMatch,
    Saying,
    SimilarName,
    SimilarPair,
    Statistics,
    UndoReport,
)
from graphsearch.model.triplets import ScorePart, Triplet, TripletScore
from graphsearch.model.views import Action, Principal, View

__all__ = [
    "KNOWN_ENTITY_TYPES",
    "KNOWN_RELATION_TYPES",
    "MAX_WORD_WEIGHT",
    "Action",
    "Batch",
    "Claim",
    "Community",
    "Contradiction",
    "EdgeKind",
    "ElementKind",
    "ElementRef",
    "Entity",
    "FeedbackReport",
    "Given",
    "Group",
    "Injection",
    "Memory",
    "MemoryLink",
    "Mention",
    "Merge",
    "NameMatch",
    "Outcome",
    "OutcomeRecord",
    "Principal",
    "Relation",
    "RelationType",
    "Saying",
    "Scope",
    "ScorePart",
    "SimilarName",
    "SimilarPair",
    "Span",
    "Statistics",
    "Triplet",
    "TripletScore",
    "UndoReport",
    "Vector",
    "View",
    "WriteReport",
]
