"""What follows from each of some signatures, as columns."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Final

import attrs
import numpy as np
from numpy.typing import NDArray

from graphsearch.columns import Codes, Floats, Mask
from graphsearch.model import RelationType
from graphsearch.signature import Signature

_UNREGISTERED: Final = RelationType(name="unregistered")


@attrs.frozen(eq=False)
class SignatureTable:
    """A row for each signature: so the codes of a hop are looked up once, and all else is ``column[row]``."""

    contents: Sequence[Signature | None]
    """None for a code that the store does not know."""
    types: Sequence[RelationType]
    """What is known of a relation's type; of elements that have none, and of others, prior 1.0 and no decay."""
    priors: Floats
    half_lives: Floats
    """In days."""
    decays: bool
    """Whether any half-life is finite."""
    shared: Mask
    """As `Signature.shared`."""
    shares_none: bool
    """Whether these are all of a scope's, and none of them is shared."""
    codes: Codes | None = None
    """Of each row; None where codes are rows."""
    remembered: dict[Hashable, NDArray[np.int8]] = attrs.field(factory=dict, init=False)
    """What was decided on rows, by all that decisions follow from beside the signatures (see `SignatureJudge`)."""

    @classmethod
    def of(
        cls, contents: Iterable[Signature | None], types: Mapping[str, RelationType], codes: Codes | None = None
    ) -> SignatureTable:
        """Of signatures, in order, and what is known of types."""
        listed = tuple(contents)
        known = tuple(types.get(each.type, _UNREGISTERED) if each else _UNREGISTERED for each in listed)
        half_lives = np.array([each.ages_by for each in known], dtype=np.float64)
        shared = np.array([each is not None and each.shared for each in listed], dtype=np.bool_)
        return cls(
            contents=listed,
            types=known,
            priors=np.array([each.prior for each in known], dtype=np.float64),
            half_lives=half_lives,
            decays=bool(np.isfinite(half_lives).any()),
            shared=shared,
            shares_none=codes is None and not shared.any(),
            codes=codes,
        )

    def __len__(self) -> int:
        return len(self.contents)

    def type_names(self, rows: Iterable[int]) -> list[str]:
        """The type of the elements of each row; empty for a row that the store does not know."""
        return [content.type if (content := self.contents[row]) else "" for row in rows]

    @classmethod
    def by_code(cls, signatures: Mapping[int, Signature], types: Mapping[str, RelationType]) -> SignatureTable:
        """Of signatures whose codes are small numbers, which become their rows."""
        return cls.of(map(signatures.get, range(max(signatures, default=-1) + 1)), types)

    @classmethod
    def with_codes(cls, signatures: Mapping[int, Signature], types: Mapping[str, RelationType]) -> SignatureTable:
        """Of signatures whose codes may be any numbers."""
        codes = sorted(signatures)
        return cls.of([signatures[code] for code in codes], types, np.array(codes, dtype=np.int64))
