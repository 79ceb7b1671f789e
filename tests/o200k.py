"""The tokens of the vocabulary o200k, that of present models: the one vocabulary that a package carries whole."""

import warnings
from functools import cache
from typing import Any


@cache
def _encoding() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the package opens its data in a former way
        import bpe_openai  # noqa: PLC0415

        return bpe_openai.get_encoding("o200k_base")


def tokens(text: str) -> int:
    """The number of tokens of a text."""
    return len(_encoding().encode(text))
