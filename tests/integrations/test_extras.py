"""Each documented extra alone does what it is for, without a network; what is missing is named with its extra."""

import json
import subprocess
import sys
from collections import Counter
from contextlib import ExitStack
from importlib import metadata
from pathlib import Path

import pytest

from tests.fix_postgres import folder_for_a_server
from tests.integrations.extras import (
    BEGIN,
    EXTRAS,
    OFFLINE,
    ROOT,
    body,
    closure,
    documented,
    environment,
    implied,
    steps_of,
)

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


FORKING = """
import json, os, sys, traceback
sys.path.append(sys.argv[1])
begin, programs = sys.argv[2:]
exec(begin.rpartition("async def first")[0])
failed = False
for extras, folder, site, body in json.loads(programs):
    if not (child := os.fork()):
        try:
            os.chdir(folder)
            sys.path.append(site)
            exec("async def first():\\n" + body)
            asyncio.run(first())
            print(repr(extras), flush=True)
        except BaseException:
            print(repr(extras), traceback.format_exc(), file=sys.stderr, flush=True)
            os._exit(1)
        os._exit(0)
    failed |= os.waitpid(child, 0)[1] != 0
sys.exit(failed)
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


def test_the_public_names_of_adapters_are_there_when_asked_for() -> None:
    script = """
import sys
from graphsearch.integrations import langchain, langgraph
assert "langchain_core" not in sys.modules, "imported when it is first used"
for adapter in (langchain, langgraph):
    names = adapter.__all__
    print(bool(names), all(getattr(adapter, name) is not None for name in names), set(names) <= set(dir(adapter)))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["True"] * 6, done.stderr


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
            inside = file.parts[0] not in ("..", "graphsearch")  # linked whole: an old list of its files adds none
            if inside and not file.name.startswith("__editable__") and not place.exists():
                place.parent.mkdir(parents=True, exist_ok=True)
                place.symlink_to(Path(str(each.locate_file(str(file)))).resolve())
    return folder


def test_documented_extras_work_alone_and_offline(shared: set[str]) -> None:
    """Each in a process forked from one that has only the core, unless fewer extras take all of its steps."""
    brought = {extras: frozenset(closure(extras)) for extras in documented() if extras != "all"}
    with ExitStack() as stack:
        folders = {
            each: stack.enter_context(folder_for_a_server()).parent for each in brought if not derived(each, brought)
        }
        sites = {each: str(view(folder / "site", each, shared)) for each, folder in folders.items()}
        programs = [(each, str(folder), sites[each], body(each)) for each, folder in folders.items()]
        arguments = [sys.executable, "-I", "-S", "-c", FORKING, sites[""], f"{OFFLINE}{BEGIN}", json.dumps(programs)]
        done = subprocess.run(arguments, capture_output=True, text=True, env=environment(), check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [repr(each) for each in folders], done.stderr
    assert len(folders) > len(EXTRAS) - 1


def derived(extras: str, brought: dict[str, frozenset[str]]) -> bool:
    """Whether each step of some extras is taken with fewer of them, which bring nothing that these do not."""
    fewer = [each for each in brought if implied(each) < implied(extras) and brought[each] <= brought[extras]]
    return {*steps_of(extras)} <= {step for each in fewer for step in steps_of(each)}
