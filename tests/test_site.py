"""The documentation is built as a site, without the network, and without a link that leads nowhere."""

import importlib
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from graphsearch._support.lazy import lazy_imports

ROOT = Path(__file__).parents[1]
OFFERED = re.compile(r"^from [\w.]+ import (\w+) as \1$", re.MULTILINE)
PACKAGES = sorted(
    ".".join(path.parent.relative_to(ROOT).parts)
    for room in (ROOT / "graphsearch", *(ROOT / "graphsearch" / link for link in ("stores", "authz", "context")))
    for path in room.rglob("__init__.py")
    if (text := path.read_text()) and ("lazily(__name__)" in text or "__all__" in text or OFFERED.search(text))
)


class Anchors(HTMLParser):
    """What a page defines, and what it loads as soon as it is opened."""

    def __init__(self, html):
        super().__init__()
        self.ids, self.loaded, self.links = set(), [], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.ids |= {attributes["id"]} if attributes.get("id") else set()
        if tag == "a":
            self.links.append(attributes.get("href") or "")
        elif tag in {"script", "link", "img", "iframe"}:
            self.loaded.append(attributes.get("src") or attributes.get("href") or "")


def build(source, site):
    """As `make docs` does it, but for the index of the search; with --quiet, nothing would be strict about warnings."""
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", site],
        cwd=source,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1", "SITE_SEARCH": "false", "PYTHONWARNINGS": "default"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    done = build(ROOT, folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site):
    return {path.relative_to(site): Anchors(path.read_text()) for path in site.rglob("*.html")}


def test_every_page_of_the_docs_is_there(site):
    docs = ROOT / "docs"
    names = {page.relative_to(docs).with_suffix("") for page in docs.rglob("*.md") if page.stem != "index"}
    assert {Path("glossary"), Path("explanation/search"), Path("how-to/export-graphs")} < names
    assert {name for name in names if not (site / name / "index.html").is_file()} == set()
    assert not (site / "project" / "building").exists()


def test_the_readme_is_the_first_page(site, pages):
    assert "ten-lines" in pages[Path("index.html")].ids
    assert "explanation/search/" in pages[Path("index.html")].links


def test_source_files_that_pages_link_to_are_pages(site):
    assert "permit" in (site / "source/authz/policies/default.cedar/index.html").read_text()
    assert "GraphStore" in (site / "source/stores/graph.py/index.html").read_text()


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_is_in_the_reference(package, pages):
    ids = set().union(*(page.ids for path, page in pages.items() if path.parts[0] == "reference"))
    module = importlib.import_module(package)
    names = getattr(module, "__all__", None) or OFFERED.findall(Path(module.__file__ or "").read_text())
    homes = lazy_imports(package) if hasattr(module, "lazily") else dict.fromkeys(names, package)
    missing = [name for name, home in homes.items() if not {f"{home}.{name}", f"{package}.{name}"} & ids]
    assert {*missing} <= {"__version__"}


def test_the_reference_leads_from_graphsearch_to_every_name_it_offers(pages):
    links = {urlsplit(link).fragment for link in pages[Path("reference/index.html")].links}
    named = lazy_imports("graphsearch").items()
    assert [name for name, home in named if f"{home}.{name}" not in links] == ["__version__"]


def test_attrs_classes_tell_how_they_are_made_and_docstrings_lead_on(site):
    text = (site / "reference/engine/index.html").read_text()
    assert "below_floor" in text.split('id="graphsearch.modes.result.SearchResult"')[1].split("</pre>")[0]
    assert 'id="graphsearch.modes.result.SearchResult.below_floor"' not in text
    for name in ("engine.Engine.search", "modes.result.SearchRequest"):
        shown = text.split(f'id="graphsearch.{name}"')[1].split("</pre>")[0]
        assert [each for each in ("query", "min_score", "max_hops") if each not in shown] == []
    assert 'href="../recall/#graphsearch.ranking.recall_result.RecallRequest"' in text


def test_no_page_loads_anything_from_elsewhere(pages):
    assert [link for page in pages.values() for link in page.loaded if urlsplit(link).netloc] == []


def test_a_link_that_leads_nowhere_fails_the_build(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "page.md").write_text("# Page\n\n[lost](lost.md) [out](../lost.py) [part](index.md#lost)\n")
    (tmp_path / "README.md").write_text("# Home\n\n[page](docs/page.md)\n")
    (tmp_path / "mkdocs.yml").write_text(
        f"site_name: x\nhooks: [{ROOT}/docs/project/building/pages.py]\n"
        "validation: {links: {not_found: warn, anchors: warn, unrecognized_links: warn}}\n"
    )
    done = build(tmp_path, tmp_path / "site")
    assert done.returncode != 0
    assert [fault for fault in ("'lost.md'", "'../lost.py'", "'index.md#lost'") if fault not in done.stderr] == []
