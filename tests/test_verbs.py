"""One name a verb: the table of operations is compared with the library, its blocking twin and the command line.

What one of them lacks is in a table here with the reason.
"""

import importlib.util
import inspect
from pathlib import Path

import click
import pytest

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
from graphsearch.cli.app import NAMES, app, groups
from graphsearch.operations.operation import Profile
from graphsearch.operations.table import operations

SENTENCES = {name: sentence for group in groups().values() for name, sentence in group.items()}
ROOT = Path(__file__).parents[1]
OTHER_NAMES = {"build": "context", "apply": "feedback"}
"""Methods whose class names their object: ``ContextBuilder.build``, ``FeedbackService.apply``."""
OTHER_ROWS = {"context": "graph_query", "neighbors": "graph_neighbors", "path": "graph_path"}
"""Verbs whose rows have the names by which agents know them."""

NOT_ROWS = {
    "search_and_recall": "`graph_query` searches and recalls at once, and logs what it shows for `feedback`",
    "add": "it reads the folders of the machine that it runs on",
    "export": "it writes a file of that machine",
    "import": "it reads files of that machine",
    "reembed": "it runs for minutes or hours, with another model than that of the server",
}
MORE_COMMANDS = {
    "add": "`Ingestor.add`",
    "completion": "for shells",
    "demo": "tells what there is to see",
    "eval": "`graphsearch.evaluation.evaluate`",
    "export": "`graphsearch.export_scope`",
    "import": "`graphsearch.import_scope`, `graphsearch.moving.import_export`",
    "init": "prepares a database, as `graphsearch.migrate`",
    "install": "writes the configuration of a coding agent",
    "mcp": "serves the table",
    "reembed": "`graphsearch.reembed`",
    "serve": "keeps all loaded for other commands",
    "ui": "serves the page",
    "uninstall": "takes out what `install` wrote",
    "where": "says where commands work",
}


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
ROWS = operations().keys()


def command(name: str) -> click.Command:
    found = app.get_command(click.Context(app), name)
    assert found is not None, name
    return found


def test_each_verb_of_the_library_is_a_row_or_is_missing_for_a_reason():
    named = {OTHER_ROWS.get(name, name) for name in LIBRARY}
    assert named - ROWS == NOT_ROWS.keys()
    assert all("." not in operations()[name].verb.__qualname__ for name in ROWS - named), "functions of a caller alone"


def test_the_blocking_library_has_the_same_verbs():
    blocking = (
        *(sync.GraphSearchEngine, sync.FederatedEngine, sync.Curator),
        *(sync.Ingestor, sync.ContextBuilder, sync.FeedbackService),
    )
    assert verbs(*blocking) | FUNCTIONS.keys() == LIBRARY
    assert all(hasattr(sync, function.__name__) for function in FUNCTIONS.values())


def test_each_row_is_a_command_and_each_command_a_row_or_more_for_a_reason():
    commands = {name.replace("-", "_") for name in SENTENCES}
    assert commands - {NAMES.get(name, name) for name in ROWS} == MORE_COMMANDS.keys()
    assert {NAMES.get(name, name) for name in ROWS} <= commands


@pytest.mark.parametrize("row", operations().values(), ids=lambda row: row.name)
def test_a_command_says_and_takes_what_its_row_does(row):
    shown = NAMES.get(row.name, row.name).replace("_", "-")
    made = command(row.name.replace("_", "-"))
    assert made.name == command(shown).name
    if row.name == "remember":
        return  # of files, and of the facts in them: written by hand
    assert made.get_short_help_str(400) == SENTENCES[shown] == row.people.replace("_", "-")
    fields = row.request.__annotations__.keys() - {"details"}
    assert fields <= {parameter.name for parameter in made.params}


def test_the_reference_lists_all_commands():
    spec = importlib.util.spec_from_file_location("commands_of_site", ROOT / "docs/project/building/commands.py")
    assert spec
    assert spec.loader
    building = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(building)
    page = building.on_page_markdown((ROOT / "docs" / "reference" / "command-line.md").read_text())
    assert building.MARK not in page
    for name, sentence in SENTENCES.items():
        assert f"| `{name}" in page
        assert f" | {sentence} | " in page


def test_how_many_results_is_called_limit_everywhere():
    strange = {"k", "top_k", "n", "count", "max_results"}
    for owner in (GraphSearchEngine, Curator, Ingestor, ContextBuilder):
        for verb in verbs(owner) & vars(owner).keys():
            assert not strange & inspect.signature(getattr(owner, verb)).parameters.keys()
    for row in operations().values():
        assert not strange & row.request.__annotations__.keys()
    for name in SENTENCES:
        if name != "eval":  # where k is that of recall@k
            options = {option for parameter in command(name).params for option in parameter.opts}
            assert not {"-k", "--k", "--top-k", "--count"} & options


def test_what_ends_a_project_or_is_paid_for_is_of_the_console_alone():
    console = {name for name, row in operations().items() if row.profile is Profile.CONSOLE}
    assert {"remove_scope", "judge_duplicates", "summarise_communities"} <= console
