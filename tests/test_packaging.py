"""The wheel holds every package, every data file, each once, and nothing else."""

import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PARTS = ("graphsearch", "stores", "authz", "context", "tests", "pyproject.toml", "README.md", "LICENSE")
DATA = (".sql", ".cedar", ".jsonl", ".cedarschema", ".typed", ".txt", ".lua", ".npz", ".html", ".css", ".js", ".svg")
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built by the setuptools of this environment, in a copy, so that no network and no stale build/ take part."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, source / part, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / part, source / part)
    script = f"from setuptools.build_meta import build_wheel; build_wheel({str(out)!r})"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=source, check=False)
    assert done.returncode == 0, done.stderr
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def names(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return [name for name in archive.namelist() if ".dist-info/" not in name]


def shipped() -> set[str]:
    """What a user must get: every Python file, stub and data file under graphsearch/, the linked rooms among it."""
    rooms = [ROOT / "graphsearch", *(path for path in (ROOT / "graphsearch").iterdir() if path.is_symlink())]
    return {
        str(path.relative_to(ROOT))
        for room in rooms
        for path in room.rglob("*")
        if path.suffix in (".py", ".pyi", *DATA)
    }


def test_every_folder_with_an_init_is_listed_as_a_package() -> None:
    found = {name.removesuffix("/__init__.py").replace("/", ".") for name in shipped() if name.endswith("__init__.py")}
    assert sorted(SETTINGS["packages"]) == sorted(found)


def test_listed_packages_lie_where_they_are_declared() -> None:
    linked = {"stores", "authz", "context"}
    for package in SETTINGS["packages"]:
        parts = package.split(".")
        folder = "/".join(parts[1:] if set(parts) & linked else parts)
        assert (ROOT / folder / "__init__.py").is_file()
        if set(parts) & linked:
            assert SETTINGS["package-dir"][package] == folder


def test_the_wheel_holds_what_is_under_graphsearch_each_file_once(names: list[str]) -> None:
    assert sorted(names) == sorted(shipped())
    assert {"graphsearch/py.typed", "graphsearch/stores/__init__.py", "graphsearch/authz/__init__.py"} <= set(names)
    assert any(name.endswith(".sql") for name in names)
    assert any(name.endswith(".cedar") for name in names)
    assert any(name.endswith(".cedarschema") for name in names)


def test_the_wheel_lands_only_in_graphsearch(names: list[str]) -> None:
    assert {name.split("/")[0] for name in names} == {"graphsearch"}


def test_the_installed_wheel_works_away_from_the_repository(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    script = """
import sys
sys.path.insert(0, sys.argv[1])
import graphsearch.authz, graphsearch.context, graphsearch.stores
from importlib.resources import files
print(all(module.__file__.startswith(sys.argv[1]) for name, module in sys.modules.items()
          if name.split(".")[0] == "graphsearch"))
print(len([path for path in files("graphsearch.authz.policies").iterdir() if path.name.endswith(".cedar")]) > 0)
print(len([path for path in files("graphsearch.stores.sql").iterdir() if path.name.endswith(".sql")]) > 0)
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "site")],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.stdout.split() == ["True", "True", "True"], done.stderr
