"""Every Python example in the README and the docs runs, each page's in order, in one namespace.

Pages beside the README may use what its example made: a store, an engine, and Ada.
"""

import ast
import asyncio
import inspect
import re
from pathlib import Path

import pytest

from graphsearch import GraphSearchEngine, Ingestor, Outcome, Principal, WordLlamaEmbedder
from graphsearch.authz import CedarAuthorizer
from graphsearch.stores import InMemoryGraphStore
from tests.llms.llm_server import serving

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
EXAMPLE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")

SOURCE = '''"""TLS for this project."""


class Connection:
    """One connection."""

    def do_handshake(self) -> None:
        """Do the TLS handshake."""
        self._check()

    def _check(self) -> None:
        """Check the certificate."""
'''


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder with a source file, and with policies of one's own; a server of language models."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "tls.py").write_text(SOURCE)
    shipped = ROOT / "authz" / "policies"
    for copy, name in {
        "policies/ours.cedar": "default.cedar",
        "ours.cedar": "default.cedar",
        "ours.cedarschema": "schema.cedarschema",
    }.items():
        (tmp_path / copy).parent.mkdir(exist_ok=True)
        (tmp_path / copy).write_text((shipped / name).read_text())
    monkeypatch.chdir(tmp_path)
    for variable in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "VOYAGE_API_KEY"):
        monkeypatch.setenv(variable, "a-key-for-no-one")
    with serving() as server:
        monkeypatch.setenv("LLM_URL", server.openai_url)
        yield


async def run(examples: list[str]) -> None:
    store = InMemoryGraphStore().with_scope(org_id="acme", project_id="web")
    engine = GraphSearchEngine(store=store, embedder=WordLlamaEmbedder())
    await Ingestor(engine).add(Path("src"))
    ada = Principal(id="ada", projects=[store.scope])
    namespace = {"store": store, "engine": engine, "ada": ada, "__name__": "example"}
    namespace |= {known.__name__: known for known in (CedarAuthorizer, GraphSearchEngine, Outcome, Path)}
    for example in examples:
        code = compile(example, "example", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        waiting = eval(code, namespace)  # noqa: S307 - our own documentation
        if inspect.isawaitable(waiting):
            await waiting


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("page", PAGES[1:], ids=lambda page: page.name)
def test_examples_of_the_docs_run(page):
    asyncio.run(run(EXAMPLE.findall(page.read_text())))


@pytest.mark.usefixtures("project")
def test_the_readme_runs_as_it_stands(capsys):
    namespace = {"__name__": "__main__"}
    for example in EXAMPLE.findall(PAGES[0].read_text()):
        exec(compile(example, "README.md", "exec"), namespace)  # noqa: S102 - our own documentation
    assert "tls.Connection.do_handshake" in capsys.readouterr().out


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    missing = [link for link in LINK.findall(page.read_text()) if not (page.parent / link).exists()]
    assert missing == []
