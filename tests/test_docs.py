"""Every example of the README and of the docs runs as a reader runs it, see `tests.page_runner`.

The pages of `SHOWN` show the output of their examples, and they print it.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from graphlib import TopologicalSorter
from itertools import count
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from graphsearch.stores import embedded
from graphsearch.stores.embedded import EmbeddedPostgres
from tests.fix_postgres import copied
from tests.llms.llm_server import serving
from tests.page_runner import DATABASE, MODELS, README, ROOT, SERVER, commands, examples, run_page
from tests.test_layout import folder_imports

TUTORIAL = ROOT / "docs" / "tutorial" / "first-graph.md"
SHOWN = (TUTORIAL, ROOT / "docs" / "explanation" / "from-input-to-block.md")
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")
PAGES = [README, *sorted((ROOT / "docs").rglob("*.md"))]
INSTALLED = re.compile(r"pip install\s+'(?:graphsearch|\.)\[([a-z,-]+)\]'")
"""The extras that a page installs."""
NOT_RUN = {
    "README.md": [  # a file of the reader's; docs/ten-minutes.md runs them
        "graphsearch demo                             # sample data, what it knows, and a page to look at",
        "graphsearch remember notes.md                # a file: text, chats, tables, PDF",
        "graphsearch add src                          # or a folder, of documents and code",
        'graphsearch "who leads the backend?"',
    ],
    "docs/how-to/look-at-the-page.md": ["graphsearch ui"],  # runs until it is stopped
    "docs/ten-minutes.md": ["graphsearch demo", "graphsearch ui", "graphsearch mcp"],  # run until they are stopped
    "docs/how-to/export-graphs.md": [  # Graphviz
        'graphsearch entity-graph "Priya Sharma" --format dot | dot -Tsvg > priya.svg'
    ],
    "docs/how-to/import-from-other-memory-layers.md": [  # exports of other programs
        "graphsearch import all_memories.json --org acme --project web",
        "graphsearch import graph.json --format zep --org acme --project web",
        "graphsearch import export.jsonl --group team --org acme --project web",
        "graphsearch import nodes.jsonl edges.jsonl --format cognee --org acme --project web",
    ],
    "docs/how-to/run-on-postgres.md": [  # a server called db
        "graphsearch init --admin-dsn postgresql://admin@db/graphs --dsn postgresql://graphsearch_app@db/graphs",
        'async with PostgresGraphStore.open("postgresql://graphsearch_app@db/graphs") as graph:',
    ],
    "docs/how-to/serve-over-mcp.md": [  # runs until it is stopped
        (
            "graphsearch mcp --embedded /var/lib/graphsearch/server --org acme --project web --http 0.0.0.0:8080"
            " --tokens tokens.json --allow-host graphs.example.com"
        )
    ],
    "docs/tutorial/first-graph.md": ["git clone <this repository> graphsearch && cd graphsearch"],
    "docs/reference/evaluation-files.md": [  # files of the reader's
        (
            "graphsearch eval --graph entities.jsonl relations.jsonl --questions questions.jsonl --gold triplets"
            " --now 2025-10-31"
        ),
    ],
    "docs/project/details/evaluation-files.md": [  # the same
        "graphsearch eval --code src --questions questions.jsonl --gold entities",
        "graphsearch eval --graph entities.jsonl relations.jsonl --questions questions.jsonl --gold entities",
        (
            "graphsearch eval --corpus turns.jsonl --questions questions.jsonl --gold answers --names entities.jsonl"
            " --budget 300"
        ),
    ],
}
"""The examples, by a line, that need what a test has not."""
RUN_ELSEWHERE = {"docs/how-to/operate-postgres.md", "docs/project/run-on-citus.md"}
"""Recipes for servers: `tests/operating` runs them."""


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


_numbers = count()
WITH_EXAMPLES = [
    page for page in PAGES if name_of(page) not in RUN_ELSEWHERE and any(kind != "text" for kind, _ in examples(page))
]


@pytest.fixture(scope="session")
async def page_server(finished_folder: Path) -> AsyncIterator[tuple[Path, str]]:
    """The folder of a running server in which each page has a database of its own, and its owner's DSN."""
    with copied(finished_folder) as folder:
        async with EmbeddedPostgres(folder) as server:
            yield folder, make_conninfo(server.admin_dsn, dbname="postgres")


@pytest.fixture
def reader(tmp_path, tmp_path_factory, monkeypatch, page_server):
    """An empty folder, a home of its own, keys of vendors, and loopback servers in place of the reader's."""
    folder, admin_dsn = page_server
    database = f"page_{os.getpid()}_{next(_numbers)}"
    with psycopg.connect(admin_dsn, autocommit=True) as admin:
        made = sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy")
        admin.execute(made.format(sql.Identifier(database), sql.Identifier(embedded._DATABASE)))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(embedded, "_DATABASE", embedded._DATABASE)  # which the runner changes, like this:
    monkeypatch.setattr(EmbeddedPostgres, "__init__", EmbeddedPostgres.__init__)
    monkeypatch.setenv(DATABASE, database)
    for variable in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "VOYAGE_API_KEY"):
        monkeypatch.setenv(variable, "a-key-for-no-one")
    for variable in ("DATA", "STATE", "CONFIG"):
        monkeypatch.setenv(f"XDG_{variable}_HOME", str(tmp_path_factory.mktemp("home")))
    for variable in ("EMBEDDED", "ORG", "PROJECT"):
        monkeypatch.setenv(f"GRAPHSEARCH_{variable}", "")
    with serving() as models:
        monkeypatch.setenv(MODELS, models.openai_url)
        monkeypatch.setenv(SERVER, str(folder))
        yield


@pytest.mark.usefixtures("reader")
@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=name_of)
def test_examples_run_as_they_are_written(page, capfd):
    extras = INSTALLED.findall(page.read_text())
    skipped = NOT_RUN.get(name_of(page), [])
    if page == TUTORIAL:  # in the cloned repository
        shutil.copytree(ROOT / "examples", "examples")
    if extras:
        command = [sys.executable, "-m", "tests.page_runner", page, ",".join(extras), *skipped]
        ran = subprocess.run(
            command, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False, stdin=subprocess.DEVNULL
        )
        assert ran.returncode == 0
    else:
        run_page(page, frozenset(skipped))
    if page == README:
        assert "do_handshake" in re.findall(r"^- .*", capfd.readouterr().out, re.MULTILINE)[0]
    if page in SHOWN:
        assert capfd.readouterr().out.startswith("".join(text for kind, text in examples(page) if kind == "text"))


def test_every_command_that_is_not_run_is_in_a_page():
    for name, lines in NOT_RUN.items():
        assert {*lines} <= {each for _, text in examples(ROOT / name) for each in commands(text)}, name
    assert sum(map(len, NOT_RUN.values())) == 21


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_example_hides_from_being_run(page):
    prose = re.sub(r"^ *```.*?^ *```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    assert re.findall(r"^    (?:graphsearch|pip|import|from \w+ import|async with) .*", prose, re.MULTILINE) == []


def test_the_pages_for_users_are_short():
    words = sum(len(page.read_text().split()) for page in PAGES if "project" not in page.relative_to(ROOT).parts)
    assert words <= 35_000


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page):
    missing = [link for link in LINK.findall(page.read_text()) if not (page.parent / link).exists()]
    assert missing == []


def test_the_picture_of_the_packages_is_that_of_their_imports():
    """Imported packages can be reached in the picture, and each of its arrows and packages is in the code."""
    text = (ROOT / "docs" / "project" / "rooms.md").read_text()
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
