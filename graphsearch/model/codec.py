"""The one JSON form of every value, in and out, and its JSON Schema.

`encode` writes a value by its fields. `decode` reads what a type annotation asks for, and names every fault with its
place. `schema` says beforehand what `decode` takes, `schema_of_result` what `encode` gives.
"""

from __future__ import annotations

import math
import types
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import UTC, date, datetime, timedelta
from difflib import get_close_matches
from enum import Enum
from functools import cache, partial
from operator import attrgetter
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeAlias, TypeVar, Union, overload
from typing import get_args as arguments_of
from typing import get_origin as origin_of
from typing import get_type_hints as hints_of
from uuid import UUID

import attrs
import numpy as np

from graphsearch.errors import InvalidInputError
from graphsearch.model.elements import Scope
from graphsearch.model.identity import id_or_name
from graphsearch.model.validation import parse_json, refuse

VERSION: Final = 1
"""Of the form: raised when what was written before cannot be read any more."""

Json: TypeAlias = Any
"""null, true, false, a number, text, or a list or an object of these."""
T = TypeVar("T")


@attrs.frozen
class Says:
    """What is said of an argument: a sentence, its bounds, and the texts that it may be.

    ``least`` and ``most`` bound a number, or the length of a text or a list. It is given as
    ``Annotated[int, Says(...)]``, or as ``metadata={"says": Says(...)}`` of a field, which has precedence.
    """

    text: str = ""
    least: float | None = None
    most: float | None = None
    of: tuple[str, ...] = ()


COMPUTED: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "Community": ("size",),
        "CommunitySummary": ("text",),
        "GraphPath": ("hops",),
        "RecalledMemory": ("parts",),
        "ScorePart": ("contribution",),
        "Sentence": ("cites",),
        "Summary": ("text",),
        "Triplet": ("score", "parts"),
    }
)
"""The properties that are written besides the fields, by the name of the class; what reads them drops them."""
UNSAID: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType({"Sentence": ("sources",)})
"""The fields that are not written."""


class _Field(NamedTuple):
    name: str
    alias: str
    """The name of the argument that takes it; empty for what is computed."""
    kind: Any
    says: Says | None
    default: Any

    @property
    def needed(self) -> bool:
        return self.default is attrs.NOTHING


@cache
def _fields(kind: Any) -> tuple[_Field, ...]:
    """What is written of a class, in order."""
    hints = hints_of(kind, include_extras=True)
    if not attrs.has(kind):
        defaults = kind._field_defaults
        return tuple(_Field(name, name, hints[name], None, defaults.get(name, attrs.NOTHING)) for name in kind._fields)
    unsaid = UNSAID.get(kind.__name__, ())
    fields = [
        _Field(
            each.name,
            each.alias or each.name if each.init else "",
            hints.get(each.name, each.type),
            each.metadata.get("says"),
            _default_of(each) if each.init else None,
        )
        for each in attrs.fields(kind)
        if not each.name.startswith("_") and each.name not in unsaid
    ]
    computed = COMPUTED.get(kind.__name__, ())
    returned = {name: hints_of(getattr(kind, name).fget, include_extras=True)["return"] for name in computed}
    return (*fields, *(_Field(name, "", returned[name], None, None) for name in computed))


def _default_of(field: attrs.Attribute[Any]) -> Any:
    """The default of a field; None where it follows from the other fields."""
    factory: Any = field.default
    return (None if factory.takes_self else factory.factory()) if isinstance(factory, attrs.Factory) else factory  # type: ignore[arg-type]


def _is_object(kind: Any) -> bool:
    return attrs.has(kind) or (issubclass(kind, tuple) and hasattr(kind, "_fields"))


# -- out --------------------------------------------------------------------------------------------------------------

_AS_IS: Final = frozenset({str, int, float, bool, type(None)})


def encode(value: Any, *, sparse: bool = False) -> Json:
    """The JSON of a value; ``sparse`` leaves out fields that are at their default. Raises `TypeError` for functions.

    Objects have the fields of their class in order, and `COMPUTED` ones. Enums are their values, times ISO 8601,
    periods seconds, sets sorted lists, and vectors float16 in base64.
    """
    kind = type(value)
    return value if kind in _AS_IS else _writer(kind)(value, sparse)


@cache
def _writer(kind: type) -> Callable[[Any, bool], Json]:
    if issubclass(kind, Enum):
        return lambda value, _: value.value
    if issubclass(kind, UUID | PurePath):
        return lambda value, _: str(value)
    if issubclass(kind, date):
        return lambda value, _: value.isoformat()
    if issubclass(kind, timedelta):
        return lambda value, _: value.total_seconds()
    if issubclass(kind, np.generic):
        return lambda value, _: value.item()
    if issubclass(kind, np.ndarray):
        return lambda value, _: b64encode(value.astype("<f2").tobytes()).decode()
    if issubclass(kind, Mapping):
        return lambda value, sparse: {_key(key): encode(each, sparse=sparse) for key, each in value.items()}
    if _is_object(kind):
        return _object_writer(kind)
    if issubclass(kind, str | int | float):
        base = next(each for each in (str, int, float) if issubclass(kind, each))
        return lambda value, _: base(value)
    if issubclass(kind, AbstractSet):
        return lambda value, sparse: [encode(each, sparse=sparse) for each in sorted(value)]
    if issubclass(kind, Collection):
        return lambda value, sparse: [encode(each, sparse=sparse) for each in value]
    raise TypeError(f"{kind.__name__} has no JSON form")


def _key(key: Any) -> str:
    return ":".join(map(_key, key)) if isinstance(key, tuple) else str(encode(key) if isinstance(key, Enum) else key)


def _object_writer(kind: type) -> Callable[[Any, bool], Json]:
    fields = _fields(kind)
    names = [field.name for field in fields]
    read = attrgetter(*names, "__class__", "__class__")  # of two names or more it always gives a tuple

    def write(value: Any, sparse: bool) -> Json:
        found = zip(fields if sparse else names, read(value), strict=False)
        if sparse:
            return {field.name: encode(each, sparse=True) for field, each in found if not _is_default(field, each)}
        return {name: each if type(each) in _AS_IS else encode(each) for name, each in found}

    return write


def _is_default(field: _Field, value: Any) -> bool:
    return value is field.default or (field.default is not None and bool(value == field.default))


# -- in ---------------------------------------------------------------------------------------------------------------

_Place: TypeAlias = tuple[str | int, ...]


class _Reader(NamedTuple):
    """How a kind is read: in words what it must be, and a function of data, their place, and the faults so far."""

    what: str
    read: Callable[[Any, _Place, list[str]], Any]


@overload
def decode(kind: type[T], data: Json, subject: str = "value", *, lenient: bool = False) -> T: ...
@overload
def decode(kind: Any, data: Json, subject: str = "value", *, lenient: bool = False) -> Any: ...
def decode(kind: Any, data: Json, subject: str = "value", *, lenient: bool = False) -> Any:
    """The value of a kind, any type annotation, from its JSON. Raises `InvalidInputError` with every fault.

    ``UUID | str`` is an id where the text reads as one. ``datetime | str`` is a time where the text is as `encode`
    writes times, else text. A time without an offset is in UTC. Members of a union that JSON cannot carry are skipped.

    ``lenient`` is for clients that are not exact: null or an empty text for what has a default counts as left out,
    lists and objects may be JSON text, and numbers, true and false may be text, or numbers text.
    """
    faults: list[str] = []
    value = _reader(kind, None, lenient).read(data, (), faults)
    refuse(subject, *faults)
    return value


@cache
def _reader(kind: Any, says: Says | None, lenient: bool) -> _Reader:
    """How a kind is read. Raises `TypeError` for a kind that JSON cannot carry."""
    if says is not None:
        return _bounded(_reader(_plain(kind), None, lenient), says)
    origin, arguments = origin_of(kind) or kind, arguments_of(kind)
    if origin is Annotated:
        return _reader(arguments[0], _said(kind), lenient)
    if origin in (Union, types.UnionType):
        return _union(arguments, lenient)
    if origin is Literal:
        return _choice({each: each for each in arguments})
    if origin in (Any, object):
        return _Reader("JSON", lambda data, *_: data)
    if not isinstance(origin, type):
        raise TypeError(f"{kind} has no JSON form")
    if origin in _LEAVES:
        what, make = _LEAVES[origin]
        return _Reader(what, partial(_read_leaf, what, make, lenient))
    if issubclass(origin, Enum):
        return _choice({each.value: each for each in origin})
    if _is_object(origin):
        return _object(origin, lenient)
    if issubclass(origin, Mapping):
        return _mapping(*arguments or (str, Any), lenient)
    if issubclass(origin, tuple) and arguments and arguments[-1] is not Ellipsis:
        return _row([_reader(each, None, lenient) for each in arguments])
    if issubclass(origin, Iterable):
        make = list if origin is list else frozenset if issubclass(origin, AbstractSet) else tuple
        return _list(make, _reader(arguments[0] if arguments else Any, None, lenient), lenient)
    raise TypeError(f"{kind} has no JSON form")


def _plain(kind: Any) -> Any:
    return arguments_of(kind)[0] if origin_of(kind) is Annotated else kind


def _said(kind: Any) -> Says | None:
    """What the annotation says."""
    extras = arguments_of(kind)[1:] if origin_of(kind) is Annotated else ()
    return next((each for each in extras if isinstance(each, Says)), None)


def _fault(place: _Place, fault: str) -> str:
    return f"{'.'.join(map(str, place))}: {fault}" if place else fault


def _mismatch(place: _Place, what: str, data: Any) -> str:
    return _fault(place, f"must be {what}, not {_shown(data)}")


_LONGEST: Final = 60


def _shown(data: Any) -> str:
    """Data in a message, never more than 60 characters of it."""
    if isinstance(data, Mapping):
        return "an object"
    if isinstance(data, list | tuple):
        return "a list"
    if data is None or isinstance(data, bool):
        return {None: "null", True: "true", False: "false"}[data]
    if isinstance(data, int) and abs(data) >= 10**_LONGEST:  # Python refuses to write some of them
        return "a number that large"
    written = repr(data[:_LONGEST] if isinstance(data, str) else data)
    return written if len(written) <= _LONGEST else f"{written[: _LONGEST - 1]}…"


def _text(data: Any, lenient: bool) -> str:
    if isinstance(data, str):
        return data
    if lenient and isinstance(data, int | float) and not isinstance(data, bool):
        return str(data)
    raise ValueError


def _whole(data: Any, lenient: bool) -> int:
    if type(data) is int:
        return data
    if lenient and isinstance(data, str):
        return int(data)
    if lenient and isinstance(data, float) and data.is_integer():
        return int(data)
    raise ValueError


def _real(data: Any, lenient: bool) -> float:
    if isinstance(data, bool) or not isinstance(data, int | float | (str if lenient else float)):
        raise ValueError
    if not math.isfinite(found := float(data)):
        raise ValueError
    return found


def _truth(data: Any, lenient: bool) -> bool:
    if isinstance(data, bool):
        return data
    if lenient and isinstance(data, str) and data.strip().casefold() in ("true", "false"):
        return data.strip().casefold() == "true"
    raise ValueError


def _moment(data: Any, _: bool) -> datetime:
    found = datetime.fromisoformat(_text(data, False))
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found


def _moment_or_text(data: Any, lenient: bool) -> datetime | str:
    try:
        found = datetime.fromisoformat(_text(data, False))
    except ValueError:
        return _text(data, lenient)
    return found if found.tzinfo and found.isoformat() == data else data


def _vector(data: Any, _: bool) -> Any:
    try:
        return np.frombuffer(b64decode(_text(data, False), validate=True), "<f2").astype(np.float16)
    except Base64Error as error:
        raise ValueError from error


_LEAVES: Final[Mapping[Any, tuple[str, Callable[[Any, bool], Any]]]] = MappingProxyType(
    {
        str: ("text", _text),
        int: ("a whole number", _whole),
        float: ("a number", _real),
        bool: ("true or false", _truth),
        UUID: ("an id", lambda data, _: UUID(_text(data, False))),
        datetime: ("a time, such as 2024-05-01T09:00:00Z", _moment),
        timedelta: ("a number of seconds", lambda data, lenient: timedelta(seconds=_real(data, lenient))),
        Path: ("a path", lambda data, _: Path(_text(data, False))),
        np.ndarray: ("float16 numbers in base64", _vector),
    }
)
_ID_OR_NAME: Final = ("text", lambda data, lenient: id_or_name(_text(data, lenient)))
_TIME_OR_WORDS: Final = ("text", _moment_or_text)


def _read_leaf(
    what: str, make: Callable[[Any, bool], Any], lenient: bool, data: Any, place: _Place, faults: list[str]
) -> Any:
    try:
        return make(data, lenient)
    except (ValueError, OverflowError):
        faults.append(_mismatch(place, what, data))


def _choice(values: Mapping[Any, Any]) -> _Reader:
    what = f"one of {', '.join(_shown(each) for each in values)}"

    def read(data: Any, place: _Place, faults: list[str]) -> Any:
        if isinstance(data, str | int | float) and data in values and not isinstance(data, bool) | (data is None):
            return values[data]
        if isinstance(data, bool) and any(each is data for each in values):
            return values[data]
        faults.append(_mismatch(place, what, data))
        return None

    return _Reader(what, read)


def _union(kinds: Sequence[Any], lenient: bool) -> _Reader:
    """Strict readings are tried before lenient ones."""
    others = [kind for kind in kinds if kind is not type(None)]
    leaves = []
    for more, leaf in ((UUID, _ID_OR_NAME), (datetime, _TIME_OR_WORDS)):
        if str in others and more in others:
            others = [kind for kind in others if kind not in (str, more)]
            leaves.append(leaf)
    steps = (False, True) if lenient else (False,)
    readers = [reader for step in steps for reader in _carried(others, leaves, step)]
    nullable = len(others) + 2 * len(leaves) < len(kinds)
    if len(readers) == len(steps):
        (*_, only) = readers
        return _Reader(
            only.what, lambda data, place, faults: None if data is None and nullable else only.read(data, place, faults)
        )
    what = " or ".join(dict.fromkeys(reader.what for reader in readers)) or "null"

    def read(data: Any, place: _Place, faults: list[str]) -> Any:
        if data is None and nullable:
            return None
        inner: list[str] = []
        for reader in readers:
            own: list[str] = []
            value = reader.read(data, place, own)
            if not own:
                return value
            inner = inner if own == [_mismatch(place, reader.what, data)] else own
        faults += inner or [_mismatch(place, what, data)]  # faults inside of the member that it is meant to be
        return None

    return _Reader(what, read)


def _carried(kinds: Iterable[Any], leaves: Iterable[Any], lenient: bool) -> Iterable[_Reader]:
    """Readers of the members of a union that JSON can carry."""
    for what, make in leaves:
        yield _Reader(what, partial(_read_leaf, what, make, lenient))
    for kind in kinds:
        try:
            yield _reader(kind, None, lenient)
        except TypeError:
            continue


def _parsed(data: Any, opening: str) -> Any:
    """The list or the object that a text is the JSON of; else as it is."""
    try:
        return parse_json(data) if isinstance(data, str) and data.lstrip().startswith(opening) else data
    except ValueError:
        return data


def _object(kind: Any, lenient: bool) -> _Reader:
    fields = {field.name: field for field in _fields(kind)}
    readers: dict[str, _Reader] = {}
    for name, field in fields.items():
        try:
            if field.alias:
                readers[name] = _reader(field.kind, field.says, lenient)
        except TypeError:
            if field.needed:
                raise
    needed = [name for name, field in fields.items() if field.needed]

    def read(data: Any, place: _Place, faults: list[str]) -> Any:
        given = _parsed(data, "{") if lenient else data
        if not isinstance(given, Mapping):
            faults.append(_mismatch(place, "an object", data))
            return None
        before, values = len(faults), {}
        for name, each in given.items():
            if name not in readers:
                if name not in fields or fields[name].alias:
                    faults.append(_fault((*place, _shown_key(name)), f"is unknown{_hint(name, readers)}"))
            elif not lenient or fields[name].needed or not (each is None or each == ""):
                values[fields[name].alias] = readers[name].read(each, (*place, name), faults)
        faults += [_fault((*place, name), "is needed") for name in needed if name not in given]
        if len(faults) > before:
            return None
        try:
            return kind(**values)
        except InvalidInputError as error:
            faults += [_fault(place, each) for each in error.faults]
            return None

    return _Reader("an object", read)


def _shown_key(name: Any) -> str:
    return name if isinstance(name, str) and name.isidentifier() and len(name) <= _LONGEST else _shown(name)


def _hint(name: Any, known: Iterable[str]) -> str:
    near = get_close_matches(str(name)[:_LONGEST], known, 1)
    return f": did you mean {near[0]}?" if near else ""


def _mapping(key_kind: Any, kind: Any, lenient: bool) -> _Reader:
    key = _Reader("org/project", _read_scope) if key_kind is Scope else _reader(key_kind, None, True)
    reader = _reader(kind, None, lenient)

    def read(data: Any, place: _Place, faults: list[str]) -> Any:
        given = _parsed(data, "{") if lenient else data
        if not isinstance(given, Mapping):
            faults.append(_mismatch(place, "an object", data))
            return None
        if reader.what == "JSON" and key_kind is str:
            return given
        return {
            key.read(name, place, faults): reader.read(each, (*place, _shown_key(name)), faults)
            for name, each in given.items()
        }

    return _Reader("an object", read)


def _read_scope(data: Any, place: _Place, faults: list[str]) -> Any:
    org, _, project = data.partition("/")
    if "/" not in project:
        return decode(Scope, {"org_id": org, "project_id": project})
    faults.append(_mismatch(place, "org/project", data))
    return None


def _list(make: Callable[[Iterable[Any]], Any], item: _Reader, lenient: bool) -> _Reader:
    def read(data: Any, place: _Place, faults: list[str]) -> Any:
        given = _parsed(data, "[") if lenient else data
        if not isinstance(given, list | tuple):
            faults.append(_mismatch(place, "a list", data))
            return None
        before = len(faults)
        found = [item.read(each, (*place, number), faults) for number, each in enumerate(given)]
        return make(found) if len(faults) == before else None

    return _Reader("a list", read)


def _row(items: Sequence[_Reader]) -> _Reader:
    what = f"a list of {len(items)}"

    def read(data: Any, place: _Place, faults: list[str]) -> Any:
        if not isinstance(data, list | tuple) or len(data) != len(items):
            faults.append(_mismatch(place, what, data))
            return None
        return tuple(
            item.read(each, (*place, number), faults)
            for number, (item, each) in enumerate(zip(items, data, strict=True))
        )

    return _Reader(what, read)


def _bounded(reader: _Reader, says: Says) -> _Reader:
    """A reader that refuses what is out of bounds."""

    def read(data: Any, place: _Place, faults: list[str]) -> Any:
        before = len(faults)
        value = reader.read(data, place, faults)
        if len(faults) == before and (fault := _beyond(value, says)):
            faults.append(_fault(place, fault))
        return value

    return _Reader(reader.what, read)


def _beyond(value: Any, says: Says) -> str:
    """The fault of a value that is out of bounds; empty if there is none."""
    if value is None:
        return ""
    if says.of and (
        strange := [each for each in (value if isinstance(value, tuple) else [value]) if each not in says.of]
    ):
        return f"must be one of {', '.join(says.of)}, not {_shown(strange[0])}"
    size, unit = value, ""
    if isinstance(value, str | Collection):
        size, unit = len(value), " characters" if isinstance(value, str) else " items"
    elif isinstance(value, timedelta):
        size, unit = value.total_seconds(), " seconds"
    verb = "have" if unit else "be"
    if says.least is not None and size < says.least:
        return (
            "must not be empty"
            if unit and not size
            else f"must {verb} at least {says.least:,g}{unit}, not {_shown(size)}"
        )
    if says.most is not None and size > says.most:
        return f"must {verb} at most {says.most:,g}{unit}, not {_shown(size)}"
    return ""


# -- JSON Schema ------------------------------------------------------------------------------------------------------


def schema(kind: Any) -> Json:
    """The JSON Schema (2020-12) of what `decode` takes for a kind: as short as it can be."""
    return _schema(kind, None, out=False)


def schema_of_result(kind: Any) -> Json:
    """The JSON Schema of what `encode` gives of a kind."""
    return _schema(kind, None, out=True)


_LEAF_SCHEMAS: Final[Mapping[Any, Json]] = MappingProxyType(
    {
        str: {"type": "string"},
        int: {"type": "integer"},
        float: {"type": "number"},
        bool: {"type": "boolean"},
        type(None): {"type": "null"},
        UUID: {"type": "string", "format": "uuid"},
        datetime: {"type": "string", "format": "date-time"},
        timedelta: {"type": "number"},
        Path: {"type": "string"},
        np.ndarray: {"type": "string", "contentEncoding": "base64"},
    }
)


def _schema(kind: Any, says: Says | None, *, out: bool) -> Json:
    if says := says or _said(kind):
        return _saying(_schema(_plain(kind), None, out=out), says)
    kind = _plain(kind)
    inner = partial(_schema, says=None, out=out)
    origin, arguments = origin_of(kind) or kind, arguments_of(kind)
    if origin in (Union, types.UnionType):
        return _any_of([inner(each) for each in arguments if out or (each is not type(None) and _is_carried(each))])
    if origin is Literal:
        return _enum(arguments)
    if origin in _LEAF_SCHEMAS:
        return dict(_LEAF_SCHEMAS[origin])
    if origin in (Any, object) or not isinstance(origin, type):
        return {}
    if issubclass(origin, Enum):
        return _enum([each.value for each in origin])
    if _is_object(origin):
        return _object_schema(origin, out=out)
    if issubclass(origin, Mapping):
        item = inner(arguments[1]) if arguments else {}
        return {"type": "object", "additionalProperties": item} if item else {"type": "object"}
    if issubclass(origin, tuple) and arguments and arguments[-1] is not Ellipsis:
        size = {"minItems": len(arguments), "maxItems": len(arguments)}
        return {"type": "array", "prefixItems": [inner(each) for each in arguments], **size}
    if issubclass(origin, Iterable):
        item = inner(arguments[0]) if arguments else {}
        return {"type": "array", "items": item} if item else {"type": "array"}
    return {}


def _is_carried(kind: Any) -> bool:
    return any(_carried([kind], (), False))


def _enum(values: Sequence[Any]) -> Json:
    texts = all(isinstance(each, str) for each in values)
    return {"type": "string", "enum": list(values)} if texts else {"enum": list(values)}


def _any_of(schemas: Iterable[Json]) -> Json:
    """One of some schemas; a text of a certain format is a text."""
    distinct = list({repr(each): each for each in schemas}.values())
    if _LEAF_SCHEMAS[str] in distinct:
        distinct = [each for each in distinct if each.get("type") != "string" or each == _LEAF_SCHEMAS[str]]
    if len(distinct) == 1 or {} in distinct:
        return distinct[0] if len(distinct) == 1 else {}
    if all(each.keys() == {"type"} for each in distinct):
        return {"type": [each["type"] for each in distinct]}
    return {"anyOf": distinct}


def _saying(found: Json, says: Says) -> Json:
    """A schema with the description and the bounds."""
    kind = found.get("type")
    low, high = {"string": ("minLength", "maxLength"), "array": ("minItems", "maxItems")}.get(
        kind, ("minimum", "maximum")
    )
    bounds = {low: says.least, high: says.most}
    more = {name: int(each) if float(each).is_integer() else each for name, each in bounds.items() if each is not None}
    if says.of and kind == "array":
        more["items"] = _enum(says.of)
    elif says.of:
        more["enum"] = list(says.of)
    return {**found, **more, **({"description": says.text} if says.text else {})}


def _object_schema(kind: Any, *, out: bool) -> Json:
    properties = {}
    for field in _fields(kind):
        if not out and (not field.alias or (not field.needed and not _is_carried(field.kind))):
            continue
        properties[field.name] = _schema(field.kind, field.says, out=out)
        default = None if out or field.needed else encode(field.default)
        if default not in (None, "", [], {}):
            properties[field.name]["default"] = default
    needed = [field.name for field in _fields(kind) if out or field.needed]
    return {
        "type": "object",
        "properties": properties,
        **({"required": needed} if needed else {}),
        **({} if out else {"additionalProperties": False}),
    }
