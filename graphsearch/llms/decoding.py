"""JSON from outside, read with care."""

from __future__ import annotations

import json


def decoded(content: str | bytes) -> object:
    """The JSON value in a text. Raises ValueError for what is not one, or is nested too deep."""
    try:
        return json.loads(content)
    except RecursionError as error:
        raise ValueError("nested too deep") from error
