"""The options of each verb: one exported class that names and documents them, and one signature that lists them."""

import inspect
import typing
from inspect import Parameter

import pytest

import graphsearch
from graphsearch import sync
from graphsearch._support.options import with_options
from graphsearch.context import ContextBuilder, ContextOptions, build_graph_context_block
from graphsearch.context.builder import CANDIDATES
from graphsearch.engine import GraphSearchEngine
from graphsearch.explaining.explanation import ExplainOptions
from graphsearch.modes.options import SearchOptions, SearchRequest
from graphsearch.ranking.options import RankOptions, RankRequest
from graphsearch.recall.options import RecallOptions, RecallRequest

if typing.TYPE_CHECKING:

    async def checked_by_type_checkers(engine: GraphSearchEngine) -> None:
        """What mypy and pyright refuse: else they find the comments unused."""
        await engine.search("", limits=5)  # type: ignore[call-arg] # pyright: ignore[reportCallIssue]
        await engine.recall("", limit="5")  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]


CHECKED = {
    "search": (SearchOptions, SearchRequest),
    "recall": (RecallOptions, RecallRequest),
    "rank_entities": (RankOptions, RankRequest),
}


def listed(verb) -> dict[str, object]:
    """The keyword options of a verb with their defaults."""
    parameters = inspect.signature(verb).parameters.values()
    assert all(each.kind is not inspect.Parameter.VAR_KEYWORD for each in parameters)
    return {each.name: each.default for each in parameters if each.kind is inspect.Parameter.KEYWORD_ONLY}


@pytest.mark.parametrize("verb", CHECKED)
def test_names_types_and_defaults_agree(verb):
    options, request = CHECKED[verb]
    fields = inspect.signature(request).parameters
    assert listed(getattr(GraphSearchEngine, verb)) == {
        name: field.default for name, field in fields.items() if name != "query"
    }
    hints = typing.get_type_hints(request)
    assert typing.get_type_hints(options) == {name: hints[name] for name in fields if name != "query"}


def test_an_explanation_takes_the_options_of_what_it_explains():
    own = [typing.get_type_hints(options) for options, _ in CHECKED.values()]
    merged = {name: hint for hints in own for name, hint in hints.items()}
    assert all(merged[name] == hint for hints in own for name, hint in hints.items())
    assert typing.get_type_hints(ExplainOptions) == merged
    shown = listed(GraphSearchEngine.explain)
    assert (shown["depth"], shown["health"], shown["candidates"]) == (2, None, 20)
    assert shown["limit"] is ...  # 10 triplets and memories, but 5 entities


def test_a_block_lists_the_options_of_a_search_as_it_takes_them():
    expected = {**listed(GraphSearchEngine.search), "limit": CANDIDATES}
    for build in (ContextBuilder.build, build_graph_context_block, sync.ContextBuilder.build):
        shown = listed(build)
        assert shown["gate"] is Parameter.empty  # a block has no default gate
        assert expected.keys() <= shown.keys()
        assert {name: shown[name] for name in expected if name != "gate"} == {
            name: default for name, default in expected.items() if name != "gate"
        }
    own = typing.get_type_hints(ContextOptions).keys() - expected.keys()
    assert own == {"budget", "work_type", "observations", "graph", "channels", "health", "workload"}
    assert own <= listed(ContextBuilder.build).keys()


@pytest.mark.parametrize(
    ("options", "verb"),
    [(options, getattr(GraphSearchEngine, name)) for name, (options, _) in CHECKED.items()],
)
def test_each_option_is_documented_where_help_shows_it(options, verb):
    for name in typing.get_type_hints(options):
        assert f"``{name}``" in (options.__doc__ or "")
        assert f"``{name}``" in (inspect.getdoc(verb) or "")


def test_the_blocking_verbs_have_the_same_signatures():
    for name in ("search", "recall", "rank_entities", "explain"):
        blocking, own = (getattr(each, name) for each in (sync.GraphSearchEngine, GraphSearchEngine))
        assert inspect.signature(blocking) == inspect.signature(own)
        assert inspect.getdoc(blocking) == inspect.getdoc(own)


def test_the_classes_are_exported():
    for options in (SearchOptions, RecallOptions, RankOptions, ExplainOptions, ContextOptions):
        assert getattr(graphsearch, options.__name__) is options


def test_a_function_without_documentation_shows_that_of_its_options():
    class Options(typing.TypedDict, total=False):
        """Options.

        * ``one``: the first.
        """

        one: int

    @with_options(Options)
    def verb(two: int = 2, **options: typing.Unpack[Options]) -> object:
        return two, options

    assert str(inspect.signature(verb)) == "(two: int = 2, *, one: int = Ellipsis) -> object"
    assert verb.__doc__ == "* ``one``: the first."
    assert verb(1, one=3) == (1, {"one": 3})
