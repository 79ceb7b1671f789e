"""Counting tokens without a vocabulary: more than there are, and never fewer."""

from __future__ import annotations


class ByteCounter:
    """Counts a token for each byte of UTF-8.

    Tokenizers that fall back to bytes, as those of the well-known models do, never make more of a text; of English
    they make about a quarter. Pass a counter of the model's own where the difference counts, such as
    `graphsearch.context.TiktokenCounter`.
    """

    def count(self, text: str) -> int:
        """Number of bytes; a lone surrogate counts as the three that it would take."""
        return len(text.encode(errors="surrogatepass"))
