"""The options of each verb: fields of one exported class, which the verb lists, `help` shows and editors complete."""

import inspect
import pydoc
import subprocess
import sys
from pathlib import Path

import attrs
import pytest

import graphsearch
from graphsearch import (
    ContextBuilder,
    ContextRequest,
    ExplainRequest,
    FederatedEngine,
    GraphSearchEngine,
    RankRequest,
    RecallRequest,
    SearchRequest,
    sync,
)
from graphsearch.context import build_graph_context_block

VERBS = [
    (GraphSearchEngine.search, SearchRequest),
    (GraphSearchEngine.recall, RecallRequest),
    (GraphSearchEngine.rank_entities, RankRequest),
    (ContextBuilder.build, ContextRequest),
]
WRONG = "# type: ignore["


@pytest.mark.parametrize(("verb", "request_"), VERBS)
def test_a_verb_lists_and_documents_the_fields_of_its_request(verb, request_):
    _, *listed = inspect.signature(verb).parameters.values()
    assert listed == [*inspect.signature(request_).parameters.values()]
    assert [each.name for each in listed if each.kind is not inspect.Parameter.KEYWORD_ONLY] == ["query"]
    shown = pydoc.plain(pydoc.render_doc(verb))
    assert [each for each in attrs.fields_dict(request_) if each != "query" and f"``{each}``" not in shown] == []
    assert getattr(graphsearch, request_.__name__) is request_
    assert verb.request is request_


def test_verbs_of_an_engine_of_several_scopes_and_blocking_ones_are_the_same():
    for owner in (FederatedEngine, sync.GraphSearchEngine, sync.FederatedEngine):
        for name in ("search", "recall", "rank_entities"):
            ours, theirs = getattr(owner, name), getattr(GraphSearchEngine, name)
            assert inspect.signature(ours) == inspect.signature(theirs)
            assert inspect.getdoc(ours) == inspect.getdoc(theirs)


def test_a_block_has_no_default_gate():
    for build in (ContextBuilder.build, build_graph_context_block):
        assert inspect.signature(build).parameters["gate"].default is inspect.Parameter.empty


def test_an_explanation_takes_the_options_of_what_it_explains():
    own = {name for answer in (SearchRequest, RecallRequest, RankRequest) for name in attrs.fields_dict(answer)}
    assert {*attrs.fields_dict(ExplainRequest)} == {*own, "element"}


def test_type_checkers_know_the_options_and_find_wrong_ones(tmp_path):
    """So does mypy, which checks the file as it is, and reports an error that is ignored in vain."""
    use = (Path(__file__).parent / "typed_options.py").read_text(encoding="utf-8")
    wrong = {number for number, line in enumerate(use.splitlines(), 1) if WRONG in line}
    (tmp_path / "use.py").write_text(use.replace(WRONG, "# wrong ["))
    done = subprocess.run(
        [sys.executable, "-m", "pyright", str(tmp_path / "use.py")],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
    found = {int(line.split("use.py:")[1].split(":")[0]) for line in done.stdout.splitlines() if " error: " in line}
    assert found == wrong != set(), done.stdout
