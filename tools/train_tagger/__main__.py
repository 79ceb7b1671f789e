"""Build the lexicon and learn the weights of the tagger from the sources in a folder; see README.md for these.

usage: python -m tools.train_tagger FOLDER [--without SET …]

Writes graphsearch/names/lexicon.txt and tagger.npz, and prints how well names are found in sentences kept for testing.
With --without, sets whose names begin so are left out and tested on, and nothing is written.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Final

from tools.train_tagger.lexicon import build
from tools.train_tagger.scoring import score
from tools.train_tagger.training import in_small_letters, learn, read_sentences, write

NAMES: Final = Path(__file__).parents[2] / "graphsearch" / "names"
LEARNED: Final = {"wnut17-train": 2_394, "wnut17-dev": 0, "btc-abegh": 0, "redocred-1": 0, "redocred-2": 0}
"""The sets that are learned, and how many sentences at the beginning of each are not: README.md says why."""
TESTED: Final = ("wnut17-test", "btc-f")


def main(arguments: list[str]) -> None:
    """Build, learn, write and test."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--without", nargs="+", default=[])
    asked = parser.parse_args(arguments)
    if not asked.without:  # before anything asks for a word: features are learned with the lexicon that ships
        (NAMES / "lexicon.txt").write_text(build(asked.folder), encoding="utf-8")
    sets = {name: list(read_sentences(asked.folder / f"{name}.conll.gz")) for name in (*LEARNED, *TESTED)}
    learned = [name for name in LEARNED if not name.startswith(tuple(asked.without))]
    model = learn([sentence for name in learned for sentence in sets[name][LEARNED[name] :]])
    if not asked.without:
        write(model, NAMES / "tagger.npz")
    for name in sorted(sets.keys() - learned):
        for case, sentences in (("as written", sets[name]), ("in small letters", [*map(in_small_letters, sets[name])])):
            figures = ", ".join(f"{figure} {value:.3f}" for figure, value in score(sentences, model).items())
            sys.stdout.write(f"{name} {case}: {figures}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
