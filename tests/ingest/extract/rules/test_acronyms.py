"""Acronyms that a text declares; no others are short for a name."""

import pytest

from graphsearch.ingest import TextExtractor
from graphsearch.model import Memory
from graphsearch.text.dates import IsoDates

GROWERS = "Vineyard Growers Union"


async def read(text):
    [found] = await TextExtractor(dates=IsoDates()).extract([Memory(id="1", text=text)])
    return found


@pytest.mark.parametrize(
    ("text", "full"),
    [
        ("The Vineyard Growers Union (VGU) met.", GROWERS),
        ('The Vineyard Growers Union ("VGU") met.', GROWERS),
        ("The Vineyard Growers Union (hereafter VGU) met.", GROWERS),
        ("The Vineyard Growers Union, VGU for short, met.", GROWERS),
        ("The Vineyard Growers Union, or VGU, met.", GROWERS),
        ("The Vineyard Growers Union, abbreviated VGU, met.", GROWERS),
        ("The Vineyard Growers Union is called VGU.", GROWERS),
        ("VGU (Vineyard Growers Union) met.", GROWERS),
        ("VGU stands for Vineyard Growers Union.", GROWERS),
        ("The acronym VGU stands for the Vineyard Growers Union.", GROWERS),
        ("VGU is the abbreviation of Vineyard Growers Union.", GROWERS),
        ("VGU is short for Vineyard Growers Union.", GROWERS),
        ("The Society for the Protection of Cellars (SPC) met.", "Society for the Protection of Cellars"),
        ("The World Hose Organization (WHO) met.", "World Hose Organization"),
    ],
)
async def test_a_declared_acronym_is_short_for_a_name(text, full):
    found = await read(text)
    [(short, long)] = found.same
    assert long == full
    assert short in {each.name for each in found.surfaces}


@pytest.mark.parametrize(
    "text",
    [
        "The Vineyard Growers Union (XYZ) met.",
        "The Vineyard Growers Union met, and VGU stayed away.",
        "VGU means business.",
        "Ada Moss (VGU) spoke for the Vineyard Growers Union.",
        "Neither VGU nor the Vineyard Growers Union met.",
    ],
)
async def test_letters_beside_a_name_declare_nothing_else(text):
    assert (await read(text)).same == ()
