"""One name a verb: the library, its blocking twin, the command line and the MCP tools are compared.

A verb that one of them lacks is in a table here with the reason.
"""

import inspect

import pytest
import typer

from graphsearch import (
    ContextBuilder,
    Curator,
    FederatedEngine,
    FeedbackService,
    GraphSearchEngine,
    Ingestor,
    export_scope,
    import_scope,
    reembed,
    sync,
)
from graphsearch.cli.app import app
from graphsearch.integrations.mcp.server import OPERATOR_TOOLS, TOOLS

OTHER_NAMES = {"build": "context", "apply": "feedback"}
"""Methods whose class names their object: ``ContextBuilder.build``, ``FeedbackService.apply``."""

NOT_COMMANDS = {
    "search_and_recall": "for builders of blocks; `search` and `recall` are commands, and `context` is both",
    "forget_with_receipt": "`forget --receipt`",
}
MORE_COMMANDS = {
    "init": "prepares a database, as `graphsearch.migrate`",
    "stats": "`GraphStore.statistics`",
    "mcp": "serves the tools",
    "eval": "`graphsearch.evaluation.evaluate`",
}

NOT_TOOLS = {
    "search_and_recall": "`graph_query` searches and recalls at once, and logs what it shows for `feedback`",
    "add": "an agent has no folders on the machine of the server",
    "export": "an agent has no files on the machine of the server, and its answers are no place for a whole graph",
    "import": "an agent has no files on the machine of the server",
    "reembed": "it runs for minutes or hours, and its model is one that the server starts with",
    "remove_scope": "a call that removes everything belongs to the people who run the server",
    "forget_with_receipt": "a receipt is a file, for the people who keep it",
    "verify_receipt": "it takes the file of a receipt",
    "summarise_communities": "its tokens are those of the people who run the server; `communities` shows the results",
    "judge_duplicates": "an agent judges what `find_duplicates` lists itself: merge_entities, mark_distinct",
}
MORE_TOOLS = {"stats": "`GraphStore.statistics`"}


def verbs(*owners: type) -> set[str]:
    """The public methods of classes that are awaited, or wait."""
    found = {
        name
        for owner in owners
        for name, method in inspect.getmembers(owner, inspect.isfunction)
        if inspect.iscoroutinefunction(inspect.unwrap(method)) and not name.startswith("_")
    }
    return {OTHER_NAMES.get(name, name) for name in found}


FUNCTIONS = {"export": export_scope, "import": import_scope, "reembed": reembed}
"""Verbs that are functions of a store, by the names of their commands."""
LIBRARY = (
    verbs(GraphSearchEngine, FederatedEngine, Curator, Ingestor, ContextBuilder, FeedbackService) | FUNCTIONS.keys()
)
COMMANDS = {str(name).replace("-", "_") for name in typer.main.get_command(app).commands}  # type: ignore[attr-defined]
ALL_TOOLS = (*TOOLS, *OPERATOR_TOOLS)
AGENTS_KNOW = {"graph_query": "context", "graph_neighbors": "neighbors", "graph_path": "path"}
"""Tools that have the names by which agents know them, and the verbs that they are."""
NAMED_TOOLS = {AGENTS_KNOW.get(tool.name, tool.name) for tool in ALL_TOOLS}


def test_the_blocking_library_has_the_same_verbs():
    blocking = (
        *(sync.GraphSearchEngine, sync.FederatedEngine, sync.Curator),
        *(sync.Ingestor, sync.ContextBuilder, sync.FeedbackService),
    )
    assert verbs(*blocking) | FUNCTIONS.keys() == LIBRARY
    assert all(hasattr(sync, function.__name__) for function in FUNCTIONS.values())


@pytest.mark.parametrize(
    ("named", "absent", "more"), [(COMMANDS, NOT_COMMANDS, MORE_COMMANDS), (NAMED_TOOLS, NOT_TOOLS, MORE_TOOLS)]
)
def test_each_verb_has_the_name_of_the_library_or_is_missing_for_a_reason(named, absent, more):
    assert LIBRARY - named == absent.keys()
    assert named - LIBRARY == more.keys()


def test_how_many_results_is_called_limit_everywhere():
    for owner in (GraphSearchEngine, Curator, Ingestor, ContextBuilder):
        for verb in verbs(owner) & vars(owner).keys():
            parameters = inspect.signature(getattr(owner, verb)).parameters
            assert not {"k", "top_k", "n", "count", "max_results"} & parameters.keys()
    for tool in ALL_TOOLS:
        assert not {"k", "top_k", "n", "count", "max_results"} & tool.arguments.model_fields.keys()
    for name, command in typer.main.get_command(app).commands.items():  # type: ignore[attr-defined]
        if name != "eval":  # where k is that of recall@k
            options = {option for parameter in command.params for option in parameter.opts}
            assert not {"-k", "--k", "--top-k", "--count"} & options
