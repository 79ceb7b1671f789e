"""Every Python example in the README and the docs runs, each page's in order, in one namespace.

Pages other than the README may use what its example made: a store, an engine, and Ada. The tutorial shows the output of
its examples, and they print it.
"""

import ast
import asyncio
import inspect
import re
import shutil
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from graphsearch import GraphSearchEngine, Ingestor, Outcome, Principal, WordLlamaEmbedder
from graphsearch.authz import CedarAuthorizer
from graphsearch.stores import InMemoryGraphStore
from tests.llms.llm_server import serving
from tests.test_layout import folder_imports

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
TUTORIAL = ROOT / "docs" / "tutorial" / "first-graph.md"
DATA = Path("examples") / "team.json"
EXAMPLE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
OUTPUT = re.compile(r"^```text\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")
PAGES = [README, *sorted((ROOT / "docs").rglob("*.md"))]
WITH_EXAMPLES = [page for page in PAGES if page not in {README, TUTORIAL} and EXAMPLE.search(page.read_text())]

SOURCE = '''"""TLS for this project."""


class Connection:
    """One connection."""

    def do_handshake(self) -> None:
        """Do the TLS handshake."""
        self._check()

    def _check(self) -> None:
        """Check the certificate."""
'''


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder with a source file, sample data, and custom policies; a server of language models."""
    (tmp_path / "src").mkdir()
    (tmp_path / DATA.parent).mkdir()
    shutil.copy(ROOT / DATA, tmp_path / DATA)
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
@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=name_of)
def test_examples_of_the_docs_run(page):
    asyncio.run(run(EXAMPLE.findall(page.read_text())))


@pytest.mark.usefixtures("project")
def test_the_tutorial_shows_what_its_examples_print(capsys):
    asyncio.run(run(EXAMPLE.findall(TUTORIAL.read_text())))
    assert capsys.readouterr().out == "".join(OUTPUT.findall(TUTORIAL.read_text()))


@pytest.mark.usefixtures("project")
def test_the_readme_runs_as_it_is(capsys):
    namespace = {"__name__": "__main__"}
    for example in EXAMPLE.findall(README.read_text()):
        exec(compile(example, "README.md", "exec"), namespace)  # noqa: S102 - our own documentation
    assert "tls.Connection.do_handshake" in capsys.readouterr().out


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page):
    missing = [link for link in LINK.findall(page.read_text()) if not (page.parent / link).exists()]
    assert missing == []


def test_the_picture_of_the_packages_is_that_of_their_imports():
    """Imported packages can be reached in the picture, and each of its arrows and packages is in the code."""
    text = (ROOT / "docs" / "rooms.md").read_text()
    arrows: dict[str, set[str]] = {}
    for package, imported in re.findall(r"^    (\w+) --> (\w+)$", text, re.MULTILINE):
        arrows.setdefault(package, set()).add(imported)
    order = [*TopologicalSorter(arrows).static_order()]
    reached: dict[str, set[str]] = {}
    for package in order:
        below = arrows.get(package, set())
        reached[package] = below.union(*(reached[each] for each in below))
    imports: dict[str, set[str]] = {}
    for folder, others in folder_imports().items():
        if folder != "graphsearch":
            package = folder.split(".")[1]
            imports.setdefault(package, set()).update({other.split(".")[1] for other in others} - {package})
    missing = [(package, other) for package in imports for other in imports[package] - reached.get(package, set())]
    invented = [(package, other) for package in arrows for other in arrows[package] - imports.get(package, set())]
    assert (missing, invented) == ([], [])
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", text, re.MULTILINE)
    assert sorted(name for row in rows for name in re.findall(r"\w+", row)) == sorted(imports)
