"""Validators and converters of attributes.

A model class checks all of its rules at once, so that an error lists every fault of the input. A validator returns the
fault it found, or None; a converter passes on what it cannot convert, for a validator to report.
"""

from __future__ import annotations

import ast
import json
import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import MAXYEAR, MINYEAR, UTC, datetime
from functools import cache, partial
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Final, NoReturn, TypeAlias, TypeVar
from uuid import UUID

import attrs

from graphsearch.errors import InvalidInputError
from graphsearch.model.identity import snake_case

_LARGEST: Final = sys.float_info.max  # an int can be larger, which no store can hold

LONGEST_KEY: Final = 1_000
"""The most bytes of an id of a memory or a session: two of them fit an entry of an index, with their scope."""

# -- limits: far above what real data hold, and low enough that one value cannot occupy a process or its memory -------

LONGEST_NAME: Final = 10_000
"""The most characters of a name, an alias, a label, a type or a speaker; titles and qualified names have up to 100."""
MOST_NAME_WORDS: Final = 1_000
"""The most words of a name; long titles have up to 20."""
MOST_NAMES: Final = 10_000
"""The most aliases, or labels, of one element."""
LONGEST_LINE: Final = 10_000
"""The most characters of a subject or a source."""
LONGEST_QUESTION: Final = 200_000
"""The most characters of a question; an agent may ask with a whole page, of which the beginning is read for names."""
LONGEST_TEXT: Final = 5_000_000
"""The most characters of a text, a description or a fact, and of all attributes of one element together."""
DEEPEST: Final = 32
"""The most levels of lists and objects in attributes, and in any JSON value that is read."""
LARGEST_RECORD: Final = 32 << 20
"""The most bytes of one line, or one JSON document, that is parsed at once: it takes some 30 times as much memory."""

_EDGES: Final = (MINYEAR, MAXYEAR)

_LONG: Final = 128
"""Integers of more bits are not written out in messages."""

type_ = type  # `type` names a field in most of the model
T = TypeVar("T")
Check: TypeAlias = Callable[[str, Any], str | None]
"""Of the name of a field and its value: what is wrong, or None."""


def refuse(subject: str, *faults: str | None) -> None:
    """Raise `InvalidInputError` with all faults, if there are any."""
    found = [fault for fault in faults if fault is not None]
    if found:
        raise InvalidInputError(subject, found)


def _shown(value: object) -> str:
    """A value in a message; Python refuses to write an integer of more than some thousand digits."""
    if isinstance(value, int) and value.bit_length() > _LONG:
        return f"an integer of {value.bit_length()} bits"
    return repr(value)


def text(field: str, value: object, *, empty: bool = False, longest: int = LONGEST_TEXT) -> str | None:
    """Text that every store can hold: no NUL, no lone surrogates, not too long, and not blank unless ``empty``."""
    if not isinstance(value, str):
        return f"{field} must be text, not {type_(value).__name__}"
    if len(value) > longest:
        return f"{field} must have at most {longest:,} characters, not {len(value):,}: shorten or split it"
    if not empty and not value.strip():
        return f"{field} must not be empty"
    if "\0" in value:
        return f"{field} must not contain NUL"
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            return f"{field} must be valid Unicode (it has a lone surrogate)"
    return None


def key(field: str, value: object, *, empty: bool = False, longest: int = LONGEST_KEY) -> str | None:
    """`text` by which stores find elements: at most ``longest`` bytes in UTF-8, so that it fits an index."""
    fault = text(field, value, empty=empty)
    if fault is None and isinstance(value, str) and len(value) * 4 > longest and len(value.encode()) > longest:
        return f"{field} must have at most {longest} bytes in UTF-8, not {len(value.encode())}"
    return fault


def name(field: str, value: object, *, empty: bool = False) -> str | None:
    """`text` that can be a name: at most `LONGEST_NAME` characters and `MOST_NAME_WORDS` words."""
    fault = text(field, value, empty=empty, longest=LONGEST_NAME)
    if fault is None and isinstance(value, str) and len(value) > 2 * MOST_NAME_WORDS - 2:
        words = len(value.split())
        return (
            f"{field} must have at most {MOST_NAME_WORDS:,} words, not {words:,}" if words > MOST_NAME_WORDS else None
        )
    return fault


def line(field: str, value: object, *, empty: bool = False) -> str | None:
    """`text` of at most `LONGEST_LINE` characters."""
    return text(field, value, empty=empty, longest=LONGEST_LINE)


def each_of(check: Check, field: str, values: object) -> str | None:
    """A collection in which every item passes a check."""
    if not isinstance(values, Iterable):
        return f"{field} must be a list, not {type_(values).__name__}"
    return next((fault for value in values if (fault := check(f"each of {field}", value))), None)


texts: Final[Check] = partial(each_of, text)
"""A collection in which every item is non-empty `text`."""


def names(field: str, values: object) -> str | None:
    """A collection of at most `MOST_NAMES`, in which every item can be a `name`."""
    if isinstance(values, tuple):
        if len(values) > MOST_NAMES:
            return f"{field} must be at most {MOST_NAMES:,}, not {len(values):,}"
        if sum(len(each) for each in values if isinstance(each, str)) > LONGEST_TEXT:
            return f"{field} must have at most {LONGEST_TEXT:,} characters together"
        return each_of(name, field, values)
    return texts(field, values)


def number(field: str, value: object, low: float, high: float = math.inf) -> str | None:
    """A finite number in [low, high]."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) <= _LARGEST:
        return f"{field} must be a finite number, not {_shown(value)}"
    if not low <= value <= high:
        bound = f"in [{low:g}, {high:g}]" if high < math.inf else f"at least {low:g}"
        return f"{field} must be {bound}, not {_shown(value)}"
    return None


def within(low: float, high: float = math.inf) -> Check:
    """A check for a finite number in [low, high]."""
    return partial(number, low=low, high=high)


def count(field: str, value: object) -> str | None:
    """A whole number from 0 on that every store can hold."""
    return _whole(field, value, 0, 2**63 - 1)


def integer(field: str, value: object, low: int = 0) -> str | None:
    """A whole number from ``low`` on that a column of four bytes can hold."""
    return count(field, value) or number(field, value, low, 2**31 - 1)


def dimensions(field: str, value: object) -> str | None:
    """How many numbers a vector has: a whole number that every store can hold."""
    return _whole(field, value, 1, 16_000)


def _whole(field: str, value: object, low: int, high: int) -> str | None:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        return f"{field} must be a whole number in [{low}, {high}], not {_shown(value)}"
    return None


def truth(field: str, value: object) -> str | None:
    """True or False."""
    return None if isinstance(value, bool) else f"{field} must be true or false, not {_shown(value)}"


def instance(field: str, value: object, kind: type[Any]) -> str | None:
    """A value of a class."""
    return None if isinstance(value, kind) else f"{field} must be a {kind.__name__}, not {type_(value).__name__}"


def unit(field: str, value: object) -> str | None:
    """A score, confidence or weight: a number in [0, 1]."""
    return number(field, value, 0.0, 1.0)


units: Final[Check] = partial(each_of, unit)
"""A collection of numbers in [0, 1]."""


def items(field: str, values: object, kind: type[Any]) -> str | None:
    """Values of one class, as `as_tuple` or `as_frozenset` collects them."""
    if not isinstance(values, (tuple, frozenset)):
        return f"{field} must be a list, not {type_(values).__name__}"
    strange = {type_(value).__name__ for value in values if not isinstance(value, kind)}
    return f"each of {field} must be {kind.__name__}, not {', '.join(sorted(strange))}" if strange else None


def instant(field: str, value: object) -> str | None:
    """A timezone-aware time that is in the calendar as UTC too, or None."""
    if value is None:
        return None
    if not isinstance(value, datetime):
        return instance(field, value, datetime)
    offset = value.utcoffset()
    if offset is None:
        return f"{field} must be timezone-aware, not {value.isoformat()}"
    if offset and value.year in _EDGES:
        try:
            value.astimezone(UTC)
        except OverflowError:
            return f"{field} must be in the years 1 to 9999 as UTC, not {value.isoformat()}"
    return None


def moment(field: str, value: object) -> str | None:
    """A timezone-aware time that is in the calendar as UTC too."""
    return f"{field} must be a datetime, not None" if value is None else instant(field, value)


def in_order(field: str, start: datetime | None, last: str, end: datetime | None) -> str | None:
    """Two times, each of its field, of which the first is not after the second, where both are given."""
    return f"{field} must not be after {last}" if start and end and start > end else None


def ordered(value: Any) -> str | None:
    """Something with a period whose start is not after its end."""
    return in_order("valid_from", value.valid_from, "valid_to", value.valid_to)


def mapping(field: str, value: object) -> str | None:
    """A mapping, of whatever keys and values."""
    return None if isinstance(value, Mapping) else f"{field} must be a mapping, not {type_(value).__name__}"


def json_object(field: str, value: object) -> str | None:
    """A mapping from text to JSON values, without NUL, NaN or infinity, at most `DEEPEST` deep, not too large."""
    if value is NOTHING:
        return None
    if not isinstance(value, Mapping):
        return mapping(field, value)
    fault: str | None = None
    size = 0
    waiting: list[tuple[str, object, int]] = [(field, value, 1)]
    for place, each, depth in waiting:  # grows while iterating, level by level
        if depth > DEEPEST and isinstance(each, (Mapping, list, tuple)):
            return f"{field} is nested too deeply: flatten it to {DEEPEST} levels, or store it as a text"
        if isinstance(each, Mapping):
            wrong = next((key for key in each if not isinstance(key, str) or "\0" in key), None)
            fault = None if wrong is None else f"{place}[{wrong!r}]: keys must be text without NUL"
            waiting += ((f"{field}[{key!r}]" if depth == 1 else place, item, depth + 1) for key, item in each.items())
            size += sum(len(key) for key in each if isinstance(key, str))
        elif isinstance(each, (list, tuple)):
            waiting += ((place, item, depth + 1) for item in each)
        else:
            fault = _json(place, each)
            size += len(each) if isinstance(each, str) else 0
        if fault is not None:
            return fault
        if (size := size + 1) > LONGEST_TEXT:
            return f"{field} must have at most {LONGEST_TEXT:,} characters and values together: store it elsewhere"
    return None


def _json(field: str, value: object) -> str | None:
    """The fault of a JSON value that has no parts."""
    if isinstance(value, str):
        return text(field, value, empty=True)
    if isinstance(value, float):
        return None if math.isfinite(value) else f"{field} must be finite"
    return (
        None
        if value is None or isinstance(value, int)
        else f"{field} must be a JSON value, not {type_(value).__name__}"
    )


def parse_json(content: str | bytes, *, finite: bool = True, longest: int = LARGEST_RECORD) -> Any:
    """The JSON value of a text from outside; NaN and infinity only unless ``finite``. Raises `ValueError`."""
    if len(content) > longest:
        raise ValueError(f"longer than {longest:,} bytes")
    try:
        return json.loads(content, parse_constant=_no_constant if finite else None)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def one_of(field: str, value: object, choices: tuple[object, ...]) -> str | None:
    """One of a few values."""
    return None if value in choices else f"{field} must be one of {', '.join(map(repr, choices))}, not {_shown(value)}"


def among(*choices: object) -> Check:
    """A check for one of a few values."""
    return partial(one_of, choices=choices)


NOTHING: Final[Mapping[Any, Any]] = MappingProxyType({})


def type_name(value: str) -> str:
    """The name of a type as it is stored: in snake case."""
    return snake_case(value) if isinstance(value, str) else value


def read_only(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """A read-only copy of a mapping."""
    if value is NOTHING or not isinstance(value, Mapping):
        return value
    return MappingProxyType(dict(value)) if value else NOTHING


def distinct(value: Iterable[str]) -> tuple[str, ...]:
    """Texts without repetitions, in order of their first occurrence."""
    if isinstance(value, tuple) and not value:
        return ()
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, Iterable):
        return value
    words = tuple(value)
    return tuple(dict.fromkeys(words)) if all(isinstance(word, str) for word in words) else words


def sorted_distinct(value: Iterable[str]) -> tuple[str, ...]:
    """Texts without repetitions, sorted."""
    if isinstance(value, tuple) and not value:
        return ()
    words = distinct(value)
    return tuple(sorted(words)) if texts("words", words) is None else words


def as_tuple(value: Iterable[Any]) -> tuple[Any, ...]:
    """Any iterable as a tuple."""
    return tuple(value) if isinstance(value, Iterable) else value


def as_frozenset(value: Iterable[str]) -> frozenset[str]:
    """Any iterable of texts as a frozenset."""
    return frozenset(value) if isinstance(value, Iterable) else value


def hydrated(kind: type[T], fields: Mapping[str, Any]) -> T:
    """A value of what is stored, as `copy` makes it: validated when it was written, and readable under later limits."""
    made = object.__new__(kind)
    made.__setstate__(fields)  # type: ignore[attr-defined]
    return made


def revised(value: T, **changes: Any) -> T:
    """A copy of a stored value with other fields, which are of their final types."""
    kind: Any = type_(value)
    read, setters = _slots(kind)
    made: T = object.__new__(kind)
    for put, own in zip(setters, read(value), strict=True):
        put(made, own)
    for name, own in changes.items():
        object.__setattr__(made, name, own)
    return made


@cache
def _slots(kind: Any) -> tuple[Callable[[Any], Sequence[Any]], Sequence[Callable[[Any, Any], None]]]:
    """What reads all fields of a class, and what sets each."""
    names = [each.name for each in attrs.fields(kind)]
    return attrgetter(*names), [getattr(kind, each).__set__ for each in names]


# -- of classes -------------------------------------------------------------------------------------------------------

_BY_TYPE: Final[Mapping[str, Check]] = MappingProxyType(
    {
        "str": text,
        "UUID": partial(instance, kind=UUID),
        "bool": truth,
        "int": count,
        "float": unit,
        "datetime": moment,
        "tuple[str, ...]": names,
        "Mapping[str, Any]": json_object,
    }
)


def checked(
    subject: str, /, *rules: Callable[[Any], str | None], **checks: Check | type[Any] | None
) -> Callable[[type[T]], type[T]]:
    """Let an attrs class, when it is made, refuse what is wrong: one `InvalidInputError` has all faults of its fields.

    A field is checked as its annotation says (`_BY_TYPE`), or by a check of its own, which a subclass inherits; a class
    stands for what it is, or for what it holds. None is in order where the annotation has it, and an empty text where
    that is the default. ``rules`` are about several fields; they see none of a wrong type. The subject may name fields:
    "memory {0.id!r}".
    """

    def declare(made: Any) -> Any:
        own = {**getattr(made, "__checks__", {}), **checks}
        further = (*getattr(made, "__rules__", ()), *rules)

        def refuse_faults(self: Any) -> None:
            found = [fault for name, check in of_fields(self.__class__) if (fault := check(name, getattr(self, name)))]
            if found := found or [fault for rule in further if (fault := rule(self))]:
                raise InvalidInputError(subject.format(self), found)

        @cache
        def of_fields(kind: Any) -> list[tuple[str, Check]]:
            return [(each.name, check) for each in attrs.fields(kind) if (check := _check_of(each, own))]

        made.__checks__, made.__rules__, made.__attrs_post_init__ = own, further, refuse_faults
        return made

    return declare


def _check_of(field: attrs.Attribute[Any], checks: Mapping[str, Any]) -> Check | None:
    kind, _, optionally = str(field.type).partition(" | ")
    check: Any = checks.get(field.name, _BY_TYPE.get(kind))
    if kind.startswith("Literal["):
        check = among(*ast.literal_eval(f"({kind[8:-1]},)"))
    elif isinstance(check, type_):
        check = partial(items if kind.startswith(("tuple", "frozenset")) else instance, kind=check)
    elif check and kind == "str" and field.default == "":
        check = partial(check, empty=True)
    return partial(_unless_none, check) if check and optionally else check


def _unless_none(check: Check, field: str, value: Any) -> str | None:
    return None if value is None else check(field, value)
