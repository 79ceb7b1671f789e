"""The shape of the repository: its rooms, who may import whom, and how many lines it may have."""

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("graphsearch", "stores", "authz", "context", "tests")
INNER_ROOMS = ("stores", "authz", "context")
OUTER_ROOMS = ("cli", "integrations", "operations", "page", "sync", "evaluation")
COMMON = "graphsearch.stores.graph."
"""What all stores have in common: the verbs of a graph, which the engine calls."""
TOP_MODULES = {"__init__", "engine", "feedback", "errors"}
CEILING = 66_475
"""The most lines that the package may have, Python and SQL: lowered when it shrinks, never raised."""


def sources(*rooms: str) -> Iterator[Path]:
    """Python and SQL files of rooms, each once: symlinks are not followed."""
    for room in rooms:
        for path in sorted((ROOT / room).rglob("*")):
            if path.suffix in (".py", ".sql") and path.resolve() == path:
                yield path


@cache
def imported(path: Path) -> tuple[str, ...]:
    """The full names of everything that a Python file imports, wherever in the file it does."""
    return tuple(_imported(path)) if path.suffix == ".py" else ()


def _imported(path: Path) -> Iterator[str]:
    package = path.relative_to(ROOT).parent.parts
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join((*base, *filter(None, [node.module])))
            yield from (f"{module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_are_there(room: str) -> None:
    assert (ROOT / room).is_dir()
    assert not (ROOT / room).is_symlink()


@pytest.mark.parametrize("room", INNER_ROOMS)
def test_links_lead_to_the_rooms(room: str) -> None:
    link = ROOT / "graphsearch" / room
    assert link.is_symlink()
    assert link.readlink() == Path("..", room)


def test_the_package_stays_below_its_ceiling() -> None:
    assert sum(len(path.read_text().splitlines()) for path in sources("graphsearch", *INNER_ROOMS)) <= CEILING


def folder(module: str) -> str:
    """The folder of a module, by its dotted name; a module at the top of the package counts as a folder of its own."""
    parts = module.split(".")
    is_folder = ROOT.joinpath("graphsearch", *parts[1:], "__init__.py").exists()
    return module if is_folder or len(parts) == 2 else ".".join(parts[:-1])


def module_of(name: str) -> str:
    """The module that an imported name is, or is defined in."""
    file = ROOT.joinpath("graphsearch", *name.split(".")[1:])
    is_module = file.with_suffix(".py").exists() or (file / "__init__.py").exists()
    return name if is_module else name.rpartition(".")[0]


def dotted(path: Path) -> str:
    """The dotted name of a file of the package, whichever of its links leads to it."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    parts = parts if parts[0] == "graphsearch" else ("graphsearch", *parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def folder_imports() -> dict[str, set[str]]:
    """The folders that each folder of the package imports from, lazily or not, itself left out."""
    graph: dict[str, set[str]] = {}
    for path in sources("graphsearch", *INNER_ROOMS):
        here = folder(dotted(path))
        there = {folder(module_of(name)) for name in imported(path) if name.startswith("graphsearch.")}
        graph.setdefault(here, set()).update(there - {here})
    return graph


def test_no_folders_import_each_other_in_a_cycle() -> None:
    graph = folder_imports()
    del graph["graphsearch"]  # the front door leads to everything, and nothing inside uses it
    assert {"graphsearch.model", "graphsearch.access", "graphsearch.stores", "graphsearch.cli"} <= graph.keys()
    TopologicalSorter(graph).prepare()


def test_sessions_know_nothing_of_the_reads_and_writes_in_them() -> None:
    there = folder_imports()["graphsearch.stores.in_postgres.session"]
    assert {name for name in there if name.startswith("graphsearch.stores")} == set()


def test_a_cycle_of_folders_would_be_found() -> None:
    with pytest.raises(CycleError):
        TopologicalSorter({**folder_imports(), "graphsearch.model": {"graphsearch.cli"}}).prepare()


def test_nothing_inside_imports_the_front_door() -> None:
    guilty = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in sources("graphsearch", *INNER_ROOMS)
        for name in imported(path)
        if module_of(name) == "graphsearch"
    ]
    assert guilty == []


def test_few_modules_stand_outside_of_folders() -> None:
    assert {path.stem for path in (ROOT / "graphsearch").glob("*.py")} == TOP_MODULES


def test_the_engine_imports_no_store_policy_engine_or_context() -> None:
    strangers = tuple(f"graphsearch.{room}" for room in INNER_ROOMS)
    guilty = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in sources("graphsearch")
        if path.relative_to(ROOT / "graphsearch").parts[0].removesuffix(".py") not in (*OUTER_ROOMS, "__init__")
        for name in imported(path)
        if name.startswith(strangers) and not name.startswith(COMMON)
    ]
    assert guilty == []


def test_rooms_are_imported_by_their_full_names() -> None:
    guilty = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in sources(*ROOMS)
        for name in imported(path)
        if name.split(".")[0] in INNER_ROOMS
    ]
    assert guilty == []


def test_imports_are_found_in_each_of_their_forms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.test_layout.ROOT", tmp_path)
    file = tmp_path / "graphsearch" / "modes" / "mode.py"
    file.parent.mkdir(parents=True)
    file.write_text("import stores.memory\nfrom ..stores import x\nfrom . import y\ndef f():\n    from a.b import c\n")
    assert sorted(imported(file)) == [
        "a.b.c",
        "graphsearch.modes.y",
        "graphsearch.stores.x",
        "stores.memory",
    ]
