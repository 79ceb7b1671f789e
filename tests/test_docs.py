"""Every Python example in the README and the docs runs, each file's in order, in one namespace."""

import re
from pathlib import Path

import pytest

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
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "tls.py").write_text(SOURCE)
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_run(page):
    namespace = {"__name__": "__main__"}
    for example in EXAMPLE.findall(page.read_text()):
        exec(compile(example, str(page), "exec"), namespace)  # noqa: S102 - our own documentation


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    missing = [link for link in LINK.findall(page.read_text()) if not (page.parent / link).exists()]
    assert missing == []
