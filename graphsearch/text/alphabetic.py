"""Marks and enclosed letters that count as letters: Unicode's property Other_Alphabetic, which Python does not tell.

Data for `graphsearch.text.trigrams`, from DerivedCoreProperties of Unicode 14. What lies inside a range and is not
assigned, or is a letter anyway, does no harm there: it keeps the table short.
"""

from __future__ import annotations

from typing import Final

_RANGES: Final = """
    345 5b0-5bd 5bf 5c1-5c2 5c4-5c5 5c7 610-61a 64b-657 659-65f 670 6d6-6dc 6e1-6e8 6ed 711-73f 7a6-7b0 816-817
    81b-82c 8d4-8df 8e3-8e9 8f0-93b 93e-94c 94e-94f 955-963 981-983 9be-9cc 9d7-9e3 a01-a03 a3e-a4c a51-a75 a81-a83
    abe-acc ae2-ae3 afa-afc b01-b03 b3e-b4c b56-b63 b82-bcc bd7 c00-c03 c3e-c4c c55-c63 c81-c83 cbe-ccc cd5-d03
    d3e-d4c d57 d62-d63 d81-d83 dcf-df3 e31-e3a e4d eb1-eb9 ebb-ebc ecd f71-f81 f8d-fbc 102b-1036 1038 103b-103e
    1056-109d 1712-1713 1732-1733 1752-1773 17b6-17c8 1885-1938 1a17-1a1b 1a55-1a5e 1a61-1a74 1abf-1ac0 1acc-1b04
    1b35-1b43 1b80-1ba9 1bac-1bad 1be7-1bf1 1c24-1c36 1de7-1df4 24b6-24e9 2de0-2dff a674-a67b a69e-a69f a802
    a80b-a827 a880-a8c3 a8c5 a8ff-a92a a947-a952 a980-a983 a9b4-a9bf a9e5-aa4d aa7b-aabe aaeb-aaef aaf5 abe3-abea
    fb1e 10376-1037a 10a01-10a0f 10d24-10d27 10eab-10eac 11000-11045 11073-11074 11082-110b8 110c2 11100-11132
    11145-11146 11180-111bf 111ce-111cf 1122c-11234 11237 1123e 112df-112e8 11300-11303 1133e-1134c 11357-11363
    11435-11441 11443-11445 114b0-114c1 115af-115be 115dc-1163e 11640 116ab-116b5 1171d-1172a 1182c-11838
    11930-1193c 11940-11942 119d1-119df 119e4-11a0a 11a35-11a3e 11a51-11a97 11c2f-11c3e 11c92-11d41 11d43
    11d47-11d96 11ef3-11ef6 16f4f-16f92 16ff0-16ff1 1bc9e 1e000-1e02a 1e947 1f130-1f149 1f150-1f169 1f170-1f189
"""


def _code_points(ranges: str) -> frozenset[int]:
    found: set[int] = set()
    for item in ranges.split():
        first, _, last = item.partition("-")
        found.update(range(int(first, 16), int(last or first, 16) + 1))
    return frozenset(found)


OTHER_ALPHABETIC: Final = _code_points(_RANGES)
