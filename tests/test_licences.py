"""The page on extras describes each, and that on licences names every package that they bring, with what it states."""

import re
from importlib import metadata
from typing import Final

from tests.integrations.extras import EXTRAS, ROOT, closure

EXTRAS_PAGE: Final = (ROOT / "docs" / "reference" / "extras.md").read_text()
PAGE: Final = (ROOT / "docs" / "project" / "licences.md").read_text()
ROW: Final = re.compile(r"^\| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
LOCK: Final = re.findall(r"^([\w.-]+)==", (ROOT / "requirements" / "dev.lock").read_text(), re.MULTILINE)
AS_SPDX: Final = {
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD-3-Clause",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
    "": "states none",
}
READ: Final = {"cedarpy": "Apache-2.0", **dict.fromkeys(("cobble", "mammoth"), "BSD-2-Clause")}
"""Licences of packages whose metadata have none, or not which of several, but a file."""


def licence(name: str) -> str:
    """What the metadata of a package state, by the names of SPDX; several where it lists several."""
    found = metadata.metadata(name)
    classified = dict.fromkeys(each for each in found.get_all("Classifier") or () if each.startswith("License ::"))
    expression, words = (found[field] if field in found else "" for field in ("License-Expression", "License"))  # noqa: SIM401 - its type has no get
    listed = "; ".join(AS_SPDX[each.split(" :: ")[-1]] for each in classified)
    stated = expression or listed or words.partition("\n")[0]
    return READ.get(name) or AS_SPDX.get(stated, stated)


def test_every_package_of_an_extra_is_named_with_its_licence() -> None:
    named = {name: stated for stated, names in ROW.findall(PAGE) for name in names.split(", ")}
    brought = {name for extra in EXTRAS for name in closure(extra)}
    assert {name: licence(name) for name in brought} == {name: named.get(name) for name in brought}
    assert set(named) - {"packages", "---"} <= {name.lower().replace("_", "-") for name in LOCK}


def test_every_extra_is_described() -> None:
    assert set(re.findall(r"^\| `([\w-]+)` \|", EXTRAS_PAGE, re.MULTILINE)) == {*EXTRAS}


def test_the_lock_holds_what_is_tested_and_names_no_host() -> None:
    text = (ROOT / "requirements" / "dev.lock").read_text()
    assert not re.search(r"://|@|^-", text, re.MULTILINE)
    locked = {name.lower().replace("_", "-").replace(".", "-") for name in LOCK}
    assert {name for extra in EXTRAS for name in closure(extra)} <= locked
