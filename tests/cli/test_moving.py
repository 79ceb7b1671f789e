"""export and import."""

import json

from tests.moving.test_foreign import GRAPHITI, MEMORIES


def test_a_project_is_exported_and_imported(line, folder, tmp_path):
    line.run("add", folder)
    file = tmp_path / "web.jsonl.gz"
    exported = line.json("export", file)
    assert exported["counts"]["entity"] == 4
    assert "entity" in line.run("export", file).stdout
    line.shared = ("--org", "acme", "--project", "copy", *line.shared[4:])
    assert line.json("import", file)["counts"] == exported["counts"]
    assert "holds something already" in line.run("import", file, code=1).stderr
    assert line.json("import", file, "--replace", "--embed")["embedded"] == 0
    assert line.json("stats")["entities"] == 4


def test_standard_output_has_the_records_and_nothing_else(line, folder):
    line.run("add", folder)
    first, *_, last = line.run("export", "-", "--no-vectors").stdout.splitlines()
    assert json.loads(first)["graphsearch"]["with_vectors"] is False
    assert "end" in json.loads(last)


def test_exports_of_others_are_added_and_nothing_is_lost_silently(line, tmp_path):
    printed = line.run("import", GRAPHITI[0], "--group", "team").stdout
    left_out, in_part = printed.split("left out:")[1].split("in part:")
    assert "a community" in left_out
    assert "not carried: further labels" in in_part
    file = tmp_path / "mem0.json"
    file.write_text(json.dumps({"results": MEMORIES}))
    found = line.json("import", file)
    assert (found["format"], found["converted"]["memories"]) == ("mem0", 2)
    assert "--replace is for exports of graphsearch" in line.run("import", file, "--replace", code=2).stderr
    assert "is one file" in line.run("import", file, file, "--format", "graphsearch", code=2).stderr
    assert "cannot read nowhere" in line.run("import", "nowhere", "--format", "zep", code=1).stderr
