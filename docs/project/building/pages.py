"""The README is the site's first page, and what the pages link to outside docs/ is part of the site.

So the same links work where the repository is read, and here: a linked source file becomes a page of its own, a linked
folder a list of its files. A link that leads nowhere is left as it is, for the build to complain of.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path, PurePosixPath
from typing import Final

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

HOME: Final = "index.md"
SOURCE: Final = "source"
"""Folder of the site for what lies outside docs/."""

_LINK: Final = re.compile(r"(?<=\]\()(?![a-z]+:)([^)#\s]+)")
_SYNTAX: Final = {".py": "python", ".sql": "sql", ".toml": "toml", ".json": "json", ".yaml": "yaml", ".yml": "yaml"}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the first page, and a page for each file that a page links to."""
    root = Path(config.docs_dir).parent
    files.append(File.generated(config, HOME, content=(root / "README.md").read_text()))
    waiting = list(files.documentation_pages())
    while waiting:
        page = waiting.pop()
        for path in _outside(page.content_string, _folder(page.src_uri), root):
            if (linked := _page_of(path, root)) not in files.src_uris:
                files.append(File.generated(config, linked, content=_content(root / path)))
                waiting.append(files.src_uris[linked])
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Point every link at the page that the site has for it."""
    root = Path(config.docs_dir).parent
    here, folder = posixpath.dirname(page.file.src_uri), _folder(page.file.src_uri)

    def lead(link: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(folder, link[1]))
        target = _page_of(path, root)
        return posixpath.relpath(target, here or ".") if target in files.src_uris else link[0]

    return _LINK.sub(lead, markdown)


def _outside(markdown: str, folder: str, root: Path) -> list[str]:
    """The files outside docs/ that a text links to, as paths in the repository."""
    paths = (posixpath.normpath(posixpath.join(folder, link)) for link in _LINK.findall(markdown))
    return [path for path in paths if _page_of(path, root).startswith(SOURCE) and (root / path).exists()]


def _folder(page: str) -> str:
    """Where in the repository the text of a page stands."""
    if page == HOME:
        return ""
    if page.startswith(f"{SOURCE}/"):
        return posixpath.dirname(page.removeprefix(f"{SOURCE}/"))
    return posixpath.dirname(f"docs/{page}")


def _page_of(path: str, root: Path) -> str:
    """The page that the site has, or would have, for a path in the repository."""
    if path == "README.md":
        return HOME
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if (root / path).is_dir():
        return f"{SOURCE}/{path}/{'README' if (root / path / 'README.md').is_file() else 'index'}.md"
    return f"{SOURCE}/{path}" if path.endswith(".md") else f"{SOURCE}/{path}.md"


def _content(file: Path) -> str:
    if (file / "README.md").is_file():
        return (file / "README.md").read_text()
    if file.is_dir():
        names = sorted(each.name for each in file.iterdir() if each.is_file())
        return f"# {file.name}\n\n" + "".join(f"* [{name}]({name})\n" for name in names)
    text = file.read_text()
    if file.suffix == ".md":
        return text
    fence = "`" * (max(map(len, re.findall("`+", text)), default=2) + 1)
    return f"# {PurePosixPath(file).name}\n\n{fence}{_SYNTAX.get(file.suffix, 'text')}\n{text}\n{fence}\n"
