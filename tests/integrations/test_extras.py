"""Each documented extra alone does what it is for, without a network; what is missing is named with its extra."""

import subprocess
import sys
from collections import Counter
from importlib import metadata
from pathlib import Path

import pytest

from tests.fix_postgres import folder_for_a_server
from tests.integrations.extras import ROOT, closure, documented, environment, script

SCRIPT = """
import importlib.util, sys
real = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name == sys.argv[1] else real(name, package)
import graphsearch.integrations
from graphsearch.errors import MissingExtraError
try:
    __import__(sys.argv[2])
except MissingExtraError as error:
    print(error.extra, error)
"""


@pytest.mark.parametrize(("package", "extra"), [("langchain_core", "langchain"), ("langgraph", "langgraph")])
def test_a_missing_package_is_named_with_its_extra(package: str, extra: str) -> None:
    arguments = [sys.executable, "-c", SCRIPT, package, f"graphsearch.integrations.{extra}"]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{extra} the Lang")
    assert f"pip install 'graphsearch[{extra}]'" in done.stdout


def test_a_missing_sdk_is_named_with_its_extra() -> None:
    arguments = [sys.executable, "-c", SCRIPT, "mcp", "graphsearch.integrations.mcp"]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("mcp the MCP server needs the extra 'mcp'")
    assert "pip install 'graphsearch[mcp]'" in done.stdout


@pytest.mark.parametrize("package", ["langchain", "langgraph"])
def test_the_public_names_of_an_adapter_are_there_when_asked_for(package: str) -> None:
    script = f"""
import sys
import graphsearch.integrations.{package} as adapter
assert "langchain_core" not in sys.modules, "imported when it is first used"
names = adapter.__all__
print(bool(names), all(getattr(adapter, name) is not None for name in names), set(names) <= set(dir(adapter)))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["True", "True", "True"], done.stderr


@pytest.fixture(scope="module")
def shared() -> set[str]:
    """The top folders that several distributions of this environment put files into."""
    tops = Counter(top for found in metadata.distributions() for top in {file.parts[0] for file in found.files or ()})
    return {top for top, number in tops.items() if number > 1}


def view(folder: Path, extras: str, shared: set[str]) -> Path:
    """A folder that holds what installing some extras would bring, and nothing else."""
    folder.mkdir()
    (folder / "graphsearch").symlink_to(ROOT / "graphsearch")
    for each in (metadata.distribution("graphsearch"), *closure(extras).values()):
        for file in {Path(file) if file.parts[0] in shared else Path(file.parts[0]) for file in each.files or ()}:
            place = folder / file
            if file.parts[0] != ".." and not file.name.startswith("__editable__") and not place.exists():
                place.parent.mkdir(parents=True, exist_ok=True)
                place.symlink_to(Path(str(each.locate_file(str(file)))).resolve())
    return folder


@pytest.mark.parametrize("extras", [each for each in documented() if each != "all"])  # with all the others run
def test_each_documented_extra_works_alone_and_offline(extras: str, shared: set[str]) -> None:
    with folder_for_a_server() as folder:
        site = view(folder.parent / "site", extras, shared)
        program = f"import sys; sys.path.append({str(site)!r})\n{script(extras)}"
        arguments = [sys.executable, "-I", "-S", "-c", program]
        done = subprocess.run(
            arguments, capture_output=True, text=True, cwd=folder.parent, env=environment(), check=False
        )
    assert done.returncode == 0, done.stderr
