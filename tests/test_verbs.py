"""One name a verb: the library, its blocking twin, the command line and the MCP tools are compared.

A verb that one of them lacks is in a table here with the reason.
"""

import inspect

import pytest
import typer

from graphsearch import ContextBuilder, Curator, FeedbackService, GraphSearchEngine, Ingestor, sync
from graphsearch.cli.app import app
from graphsearch.integrations.mcp.server import TOOLS

OTHER_NAMES = {"build": "context", "apply": "feedback"}
"""Methods whose class names their object: ``ContextBuilder.build``, ``FeedbackService.apply``."""

NOT_COMMANDS = {
    "search_and_recall": "for builders of blocks; `search` and `recall` are commands, and `context` is both",
    "forget_with_receipt": "`forget --receipt`",
    "merges": "merge-entities and judge-duplicates print the ids that undo-merge takes",
    "update_entity": "attributes have types that a shell has not; for programs and, over MCP, for agents",
    "recall_entity": "for agents; people read entity-graph, entity-timeline and backlinks",
    "recall_related": "for agents; people read neighbors, path and entity-graph",
    "link_memories": "for agents, which know why two memories belong together",
}
MORE_COMMANDS = {
    "init": "prepares a database, as `graphsearch.migrate`",
    "stats": "`GraphStore.statistics`",
    "mcp": "serves the tools",
    "eval": "`graphsearch.evaluation.evaluate`",
}

_BOTH = "`context` searches and recalls at once, and logs what it shows for `feedback`"
_OPERATOR = "for the people who look after a graph, not for agents"
NOT_TOOLS = {
    "search": _BOTH,
    "search_and_recall": _BOTH,
    "rank_entities": "search_entities finds entities by name, `context` what answers a question",
    "add": "an agent has no folders on the machine of the server",
    "forget_with_receipt": _OPERATOR,
    "verify_receipt": _OPERATOR,
    "why": "triplets come with the ids of their evidence, and `recall` with its words",
    "merges": _OPERATOR,
    "undo_merge": _OPERATOR,
    "find_duplicates": _OPERATOR,
    "judge_duplicates": _OPERATOR,
    "mark_distinct": _OPERATOR,
    "contradictions": _OPERATOR,
    "communities": _OPERATOR,
    "refresh_communities": _OPERATOR,
    "graph_health": _OPERATOR,
}


def verbs(*owners: type) -> set[str]:
    """The public methods of classes that are awaited, or wait."""
    found = {
        name
        for owner in owners
        for name, method in vars(owner).items()
        if inspect.isfunction(method) and not name.startswith("_")
    }
    return {OTHER_NAMES.get(name, name) for name in found}


LIBRARY = verbs(GraphSearchEngine, Curator, Ingestor, ContextBuilder, FeedbackService)
COMMANDS = {str(name).replace("-", "_") for name in typer.main.get_command(app).commands}  # type: ignore[attr-defined]
NAMED_TOOLS = {tool.name for tool in TOOLS}


def test_the_blocking_library_has_the_same_verbs():
    blocking = (sync.GraphSearchEngine, sync.Curator, sync.Ingestor, sync.ContextBuilder, sync.FeedbackService)
    assert verbs(*blocking) == LIBRARY


@pytest.mark.parametrize(
    ("named", "absent", "more"), [(COMMANDS, NOT_COMMANDS, MORE_COMMANDS), (NAMED_TOOLS, NOT_TOOLS, {})]
)
def test_each_verb_has_the_name_of_the_library_or_is_missing_for_a_reason(named, absent, more):
    assert LIBRARY - named == absent.keys()
    assert named - LIBRARY == more.keys()


def test_how_many_results_is_called_limit_everywhere():
    for owner in (GraphSearchEngine, Curator, Ingestor, ContextBuilder):
        for verb in verbs(owner) & vars(owner).keys():
            parameters = inspect.signature(getattr(owner, verb)).parameters
            assert not {"k", "top_k", "n", "count", "max_results"} & parameters.keys()
    for tool in TOOLS:
        assert not {"k", "top_k", "n", "count", "max_results"} & tool.arguments.model_fields.keys()
    for name, command in typer.main.get_command(app).commands.items():  # type: ignore[attr-defined]
        if name != "eval":  # where k is that of recall@k
            options = {option for parameter in command.params for option in parameter.opts}
            assert not {"-k", "--k", "--top-k", "--count"} & options
