"""An adapter without its package raises an error that names what to install; the rest of graphsearch works."""

import subprocess
import sys

import pytest

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
