"""Which files of a folder are taken in."""

from pathlib import Path

import attrs
import pytest

from graphsearch.errors import InvalidInputError
from graphsearch.ingest.extract.extraction import Fault, UnreadableError
from graphsearch.ingest.sources import files
from graphsearch.ingest.sources.memory_files import is_read


def fill(root: Path, *paths: str) -> Path:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("")
    return root


def found(root: Path, *only: str) -> list[str]:
    return files.survey(files.locate(root, only=only), is_read)[0]


def test_source_lines_and_documents_are_found_and_what_tools_keep_is_not(tmp_path: Path) -> None:
    fill(tmp_path, "a.py", "b/c.jsonl", "b/d.txt", "b/e.md", "b/f.png", "venv/h.py")
    fill(tmp_path, ".hidden/e.py", "__pycache__/f.py", "node_modules/g.py")
    fill(tmp_path, "env/pyvenv.cfg", "env/i.py", "lib/site-packages/j.py", ".venv/k.py", "l.py")
    assert found(tmp_path) == ["a.py", "l.py", "b/c.jsonl", "b/d.txt", "b/e.md", "venv/h.py"]


KEY = "-----BEGIN {}PRIVATE KEY-----\nMIIE\n"


def test_what_is_hidden_or_a_private_key_is_skipped_and_named(tmp_path: Path) -> None:
    fill(tmp_path, "a.md", ".env", ".env.md", ".notes/b.md", ".notes/deep/.c.md", "docs/.draft.txt", ".git/d.md")
    keys = ["id_rsa", "ID_ed25519.txt", "server.pem", "tls/prod.key.md", "v.kdbx", "x.P12", "_netrc", "credentials"]
    fill(tmp_path, *keys, ".netrc", "monkey.md", "keys.md", "tls/pem.md")
    (tmp_path / "plain.txt").write_text("Our key:\n  " + KEY.format("RSA "))
    (tmp_path / "pgp.txt").write_text("-----BEGIN PGP PRIVATE KEY BLOCK-----")
    (tmp_path / "keys.md").write_text("It begins with " + KEY.format("") + "-----BEGIN PUBLIC KEY-----")
    taken = ["a.md", "keys.md", "monkey.md", "tls/pem.md"]
    hidden = [".env.md", ".notes/b.md", ".notes/deep/.c.md", "docs/.draft.txt"]
    folder = files.locate(tmp_path)
    paths, skipped = files.survey(folder, is_read)
    assert sorted(paths) == taken
    assert {each.path for each in skipped} == {
        *(*keys, "plain.txt", "pgp.txt", ".netrc"),
        *(".env.md", ".notes/", "docs/.draft.txt"),
    }
    folder = attrs.evolve(folder, hidden=True)
    paths, skipped = files.survey(folder, is_read)
    assert sorted(paths) == sorted([*taken, *hidden])
    assert {each.path for each in skipped} == {*keys, "plain.txt", "pgp.txt", ".netrc", "no suffix"}
    assert found(tmp_path, ".notes", ".env.md", "plain.txt", "tls/prod.key.md") == [
        *(".env.md", ".notes/b.md", "plain.txt", "tls/prod.key.md")
    ]
    assert found(tmp_path / ".env.md") == [".env.md"]


def test_what_has_no_reader_is_counted_by_suffix_and_links_are_too(tmp_path: Path) -> None:
    fill(tmp_path, *(f"images/{at}.png" for at in range(5)), "a.md", "data.xlsx", "Makefile", ".gitignore", "late.PDF")
    (tmp_path / "out.md").symlink_to("/etc/passwd")
    (tmp_path / "package.json").write_text('{"name": "web"}')
    (tmp_path / "prices.csv").write_text("product,price\nink,3\n")
    (tmp_path / "build.zip").write_bytes(b"PK")
    paths, skipped = files.survey(files.locate(tmp_path), is_read)
    assert sorted(paths) == ["a.md", "late.PDF"]
    assert [str(each) for each in skipped] == [
        "*.csv: 1 not read: prices.csv",
        "*.json: 1 not read: package.json",
        "*.png: 5 not read: images/0.png, images/1.png, images/2.png and 2 more",
        "*.xlsx: 1 not read: data.xlsx",
        "*.zip: 1 not read: build.zip",
        "links: 1 not read: out.md",
        "no suffix: 1 not read: Makefile",
    ]


def test_symbolic_links_are_never_followed(tmp_path: Path) -> None:
    outside = fill(tmp_path / "outside", "secret.py", "folder/more.py")
    inside = fill(tmp_path / "inside", "a.py", "real/b.py")
    (inside / "link.py").symlink_to(outside / "secret.py")
    (inside / "folder").symlink_to(outside / "folder")
    (inside / "again").symlink_to(inside / "real")
    (inside / "broken.py").symlink_to(outside / "nothing.py")
    assert found(inside) == ["a.py", "real/b.py"]
    assert found(inside, "folder", "link.py", "folder/more.py", "again/b.py") == []


def test_only_keeps_to_parts_of_the_folder(tmp_path: Path) -> None:
    fill(tmp_path, "a.py", "pkg/b.py", "pkg/sub/c.py", "pkgs/d.py")
    assert found(tmp_path, "pkg", "a.py") == ["a.py", "pkg/b.py", "pkg/sub/c.py"]
    folder = files.locate(tmp_path, only=["pkg"])
    assert [folder.covers(path) for path in ("pkg/b.py", "pkg", "pkgs/d.py")] == [True, True, False]
    assert found(tmp_path, "nothing") == []


@pytest.mark.parametrize("part", ["/etc", "../above", "a/../../b", "."])
def test_only_never_leads_out(tmp_path: Path, part: str) -> None:
    with pytest.raises(InvalidInputError, match="only must hold paths inside the folder"):
        files.locate(tmp_path, only=[part])


def test_a_package_is_taken_in_from_where_its_imports_start(tmp_path: Path) -> None:
    fill(tmp_path, "src/pkg/__init__.py", "src/pkg/sub/__init__.py", "src/pkg/sub/m.py", "src/other.py")
    whole = files.locate(tmp_path / "src/pkg/sub/m.py")
    assert (whole.root, whole.name, whole.only) == (tmp_path / "src", "src", ("pkg/sub/m.py",))
    assert files.locate(tmp_path / "src/pkg", only=["sub"]).only == ("pkg/sub",)
    assert files.locate(tmp_path / "src/pkg", only=["sub"], name="mine").name == "mine"
    assert files.locate(tmp_path / "src").only == ()
    assert found(tmp_path / "src/other.py") == ["other.py"]


def test_a_path_must_be_there_and_of_a_known_kind(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="no file or folder at"):
        files.locate(tmp_path / "nothing")
    with pytest.raises(InvalidInputError, match=r"neither a folder nor one of \.py, \.jsonl"):
        files.locate(fill(tmp_path, "a.png") / "a.png")


def test_a_file_that_is_too_large_or_gone_is_a_fault(tmp_path: Path) -> None:
    folder = files.locate(fill(tmp_path, "a.py"))
    (tmp_path / "a.py").write_text("12345")
    assert files.read(folder, "a.py", limit=5) == b"12345"
    with pytest.raises(UnreadableError, match="larger than 4 bytes"):
        files.read(folder, "a.py", limit=4)
    with pytest.raises(UnreadableError, match="cannot be read: No such file"):
        files.read(folder, "gone.py")
    with pytest.raises(UnreadableError, match="cannot be read: No such file"):
        files.fingerprint(folder, "gone.py", "1")
    with pytest.raises(UnreadableError, match="not valid Unicode"):
        files.read(folder, "a\udcff.py")


def test_a_fingerprint_tells_content_version_and_part_apart(tmp_path: Path) -> None:
    fill(tmp_path, "pkg/a.py", "b.py")
    folder = files.locate(tmp_path)
    same = files.fingerprint(folder, "b.py", "1")
    assert same == files.fingerprint(folder, "pkg/a.py", "1")
    assert same != files.fingerprint(folder, "b.py", "2")
    assert same != files.fingerprint(files.locate(tmp_path, only=["b.py"]), "b.py", "1")
    (tmp_path / "b.py").write_text("x")
    assert same != files.fingerprint(folder, "b.py", "1")


def test_a_fault_reads_as_a_place() -> None:
    assert str(Fault("a.py", 3, "bad")) == "a.py:3: bad"
    assert str(Fault("a.py", 0, "bad")) == "a.py: bad"
