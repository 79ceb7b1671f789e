"""The examples run, on less input than they are made for."""

import re
import sys
from pathlib import Path

from examples import demo, library, quickstart, team
from graphsearch.engine import GraphSearchEngine
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.testing.fakes import HashEmbedder


async def test_quickstart_prints_a_block(folder: Path, capsys):
    await quickstart.main(folder, "where is the TLS handshake done?")
    printed = capsys.readouterr().out
    assert printed.startswith("## Knowledge Graph Triplets\n- ")
    assert "_check" in printed, "what members store is shown to members"
    assert re.search(r"\d+ tokens; [1-9]\d* weights moved", printed)


async def test_demo_shows_the_whole_product(capsys, monkeypatch):
    monkeypatch.setattr(library, "PACKAGES", ("json",))
    monkeypatch.setattr(library, "MODULES", ("ssl.py", "not_there.py"))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    await demo.main()
    printed = capsys.readouterr().out
    assert re.search(r"first: (\d+) files, \1 written", printed)
    assert re.search(r"again: \d+ files, 0 written, 0 entities, 0 relations, 0 texts embedded, 0 faults", printed)
    for question in library.QUESTIONS:
        assert question in printed
    assert re.search(r"for bob: \d+ of 300 tokens, [1-9]\d* hidden by policy \([1-9]\d* entity", printed)
    assert "private names in Bob's block: 0" in printed
    assert re.search(r"weights moved: [1-9]\d*; the same report again moves 0", printed)
    gains = [float(gain) for gain in re.findall(r"\(([+-]0\.\d+)\)", printed)]
    assert gains
    assert all(0 < gain <= 0.03 for gain in gains)


async def test_demo_says_what_was_left_out(tmp_path, capsys):
    (tmp_path / "json").mkdir()
    (tmp_path / "json" / "bad.py").write_text("def f(:\n")
    (tmp_path / "json" / "good.py").write_text('def f(): """Decode."""')
    store = InMemoryGraphStore().with_scope(org_id="a", project_id="b")
    await library.ingest(GraphSearchEngine(store=store, embedder=HashEmbedder()), tmp_path)
    assert "left out json/bad.py:1: not valid Python" in capsys.readouterr().out


async def test_the_second_act_tells_a_teams_year(capsys):
    await team.act(InMemoryGraphStore().with_scope(org_id="a", project_id="b"))
    printed = capsys.readouterr().out
    assert re.search(r"first: (\d+) memories, \1 written", printed)
    assert re.search(r"again: \d+ memories, 0 written, 0 entities, 0 relations", printed)
    ((triplets, observations),) = re.findall(
        r"\| ## Knowledge Graph Triplets\n((?:  \| - .*\n)+)  \| ## Relevant Past Observations\n((?:  \| - .*\n)+)",
        printed,
    )
    assert re.match(r"  \| - 2025-\d\d-\d\d [A-Z]\w+ [A-Z]\w+: ", observations)
    assert re.match(r"  \| - .+ --\w+--> ", triplets)
    before, after = re.findall(r"as of 2025-\d\d-\d\d:\n((?:  .*\n)+)", printed)
    assert "Priya Sharma --reports_to--> Sarah Chen" in before
    assert "Priya Sharma" not in after
    assert "Lena Fischer --reports_to--> Sarah Chen" in after
    assert "Lena Fischer" not in before
    assert re.search(r"2025-07-01  ended +--reports_to--> Sarah Chen\n.*started  --reports_to--> Dana Levy", printed)
    merged, undone = re.findall(r"Sharma is (\(.*\))", printed)
    assert "@priya" in merged
    assert "@priya" not in undone
    assert re.search(r"forgot team:\d+: .* 1 entities; called \S+ now: 0", printed)
    assert re.search(r"health: 0\.\d+|health: 1\.00", printed)
