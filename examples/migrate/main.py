"""The command line of both migrations."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from inspect import signature
from pathlib import Path

from examples.migrate.gathering import MigrationReport
from graphsearch.errors import InvalidInputError


def main(convert: Callable[..., MigrationReport], about: str | None) -> None:
    """Convert the files of the command line, and print a report."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, help="the export, JSON lines")
    parser.add_argument("--out", required=True, type=Path, help="the file to write, for `graphsearch add`")
    if "group" in signature(convert).parameters:
        parser.add_argument("--group", help="the group_id to carry, where there are several")
    given = vars(parser.parse_args())
    try:
        report = convert(given.pop("files"), given.pop("out"), **given)
    except InvalidInputError as error:
        sys.exit(f"error: {error}")
    for fault in report.faults:
        print(f"left out     {fault}")
    for loss in report.losses:
        print(f"in part      {loss}")
    print(
        f"{report.entities} entities, {report.memories} memories with {report.claims} claims,"
        f" {report.relations} relations of no memory; {len(report.faults)} lines left out, {len(report.losses)} in part"
    )
