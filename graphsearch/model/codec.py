"""The one JSON form of every value, in and out, and its JSON Schema.

`encode` writes a value by its fields. `decode` reads what a type annotation asks for, and names every fault with its
place. `schema` says beforehand what `decode` takes, `schema_of_result` what `encode` gives.
"""

from __future__ import annotations

import json
import math
import types
from base64 import b64decode, b64encode
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from copy import deepcopy
from datetime import UTC, date, datetime, timedelta
from difflib import get_close_matches
from enum import Enum
from functools import cache, partial
from itertools import repeat
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

COMPUTED: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "Community": ("size",),
        "CommunitySummary": ("text",),
        "Duplicate": ("verdict",),
        "FoundEntity": ("score", "parts"),
        "GraphPath": ("hops",),
        "JudgeReport": ("judged", "merged", "distinct", "left", "why"),
        "RecalledMemory": ("parts",),
        "ScorePart": ("contribution",),
        "Sentence": ("cites",),
        "Summary": ("text",),
        "Triplet": ("score", "parts"),
        "Verification": ("holds",),
    }
)
"""Properties that are written besides the fields, by the name of the class. They are dropped when read."""
UNSAID: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {"FoundEntity": ("original", "relevance", "relevance_part", "feedback_part"), "Sentence": ("sources",)}
)
"""Fields that are not written."""
RETIRED: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType({"Signature": ("edge_kind",)})
"""Fields that were written once, and are dropped when read: databases have them."""


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


class _Field(NamedTuple):
    """``alias`` is the argument that takes it, empty for what is computed; ``default`` None also for what follows."""

    name: str
    alias: str
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
    unsaid, computed = UNSAID.get(kind.__name__, ()), COMPUTED.get(kind.__name__, ())
    own = (each for each in attrs.fields(kind) if not each.name.startswith("_") and each.name not in unsaid)
    returned = ((name, hints_of(getattr(kind, name).fget, include_extras=True)["return"]) for name in computed)
    return (
        *(_field(each, hints.get(each.name, each.type)) for each in own),
        *(_Field(name, "", kind, None, None) for name, kind in returned),
    )


def _field(field: attrs.Attribute[Any], kind: Any) -> _Field:
    default: Any = field.default
    if isinstance(default, attrs.Factory):  # type: ignore[arg-type]
        default = None if default.takes_self else default.factory()
    alias = (field.alias or field.name) if field.init else ""
    return _Field(field.name, alias, kind, field.metadata.get("says"), default if alias else None)


def _is_object(kind: Any) -> bool:
    return attrs.has(kind) or (issubclass(kind, tuple) and hasattr(kind, "_fields"))


# -- out --------------------------------------------------------------------------------------------------------------

_AS_IS: Final = frozenset({str, int, float, bool, type(None)})
_Write: TypeAlias = Callable[[Any, bool], Json]


def encode(value: Any, *, sparse: bool = False) -> Json:
    """The JSON of a value; ``sparse`` leaves out fields that are at their default. Raises `TypeError` for functions.

    Objects have the fields of their class in order, and `COMPUTED` ones. Enums are their values, times ISO 8601
    in UTC, durations seconds, sets sorted lists, and vectors float16 in base64. A scope is org/project, or an object
    where a slash in a name would make that ambiguous.
    """
    kind: Any = type(value)
    return value if kind in _AS_IS else _writer(kind)(value, sparse)


@cache
def _writer(kind: Any) -> _Write:
    if _is_object(kind) and kind is not Scope:
        return _object_writer(kind)
    for base, write in _WRITERS:
        if issubclass(kind, base):
            return write
    raise TypeError(f"{kind.__name__} has no JSON form")


_WRITERS: Final[tuple[tuple[Any, _Write], ...]] = (
    (Enum, lambda value, _: value.value),
    (Scope, lambda value, _: str(value) if str(value).count("/") == 1 else attrs.asdict(value)),
    (UUID | PurePath, lambda value, _: str(value)),
    (datetime, lambda value, _: (value.astimezone(UTC) if value.tzinfo else value).isoformat()),
    (date, lambda value, _: value.isoformat()),
    (timedelta, lambda value, _: value.total_seconds()),
    (np.generic, lambda value, _: value.item()),
    (np.ndarray, lambda value, _: b64encode(value.astype("<f2").tobytes()).decode()),
    (str, lambda value, _: str(value)),
    (Mapping, lambda value, sparse: {_key(key): encode(each, sparse=sparse) for key, each in value.items()}),
    (AbstractSet, lambda value, sparse: [encode(each, sparse=sparse) for each in sorted(value)]),
    (Collection, lambda value, sparse: [encode(each, sparse=sparse) for each in value]),
)


def _key(key: Any) -> str:
    return ":".join(map(_key, key)) if isinstance(key, tuple) else str(key.value if isinstance(key, Enum) else key)


def _object_writer(kind: Any) -> _Write:
    fields = _fields(kind)
    names = [field.name for field in fields]
    read = attrgetter(*names, "__class__", "__class__")  # of two names or more, it always gives a tuple

    def write(value: Any, sparse: bool) -> Json:
        if not sparse:
            found = zip(names, read(value), strict=False)
            return {name: each if type(each) in _AS_IS else encode(each) for name, each in found}
        told = zip(fields, read(value), strict=False)
        return {field.name: encode(each, sparse=True) for field, each in told if not _is_default(field, each)}

    return write


def _is_default(field: _Field, value: Any) -> bool:
    return value is field.default or (field.default is not None and bool(value == field.default))


# -- in ---------------------------------------------------------------------------------------------------------------

_Place: TypeAlias = tuple[str | int, ...]


class _Reading(NamedTuple):
    faults: list[str]
    lenient: bool


class _Form(NamedTuple):
    """The form of a kind: what it must be, in words, how it is read, and the schemas of what is taken and given.

    ``read`` raises `ValueError` for data that are no such thing, and lists faults inside of it. It is None for what
    JSON cannot carry.
    """

    what: str
    read: Callable[[Any, _Place, _Reading], Any] | None
    schema: Json
    result: Json


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
    reading = _Reading([], lenient)
    form = _form(kind)
    if form.read is None:
        raise TypeError(f"{kind} has no JSON form")
    value = _read(form, data, (), reading)
    refuse(subject, *reading.faults)
    return value


def schema(kind: Any) -> Json:
    """The JSON Schema (2020-12) of what `decode` takes for a kind: as short as it can be."""
    return deepcopy(_form(kind).schema)


def schema_of_result(kind: Any) -> Json:
    """The JSON Schema of what `encode` gives of a kind."""
    return deepcopy(_form(kind).result)


def _read(form: _Form, data: Any, place: _Place, to: _Reading) -> Any:
    try:
        return form.read(data, place, to)  # type: ignore[misc]
    except (ValueError, OverflowError):
        to.faults.append(_mismatch(form, data, place))


def _mismatch(form: _Form, data: Any, place: _Place) -> str:
    return _at(place, f"must be {form.what}, not {_shown(data)}")


def _at(place: _Place, fault: str) -> str:
    return f"{'.'.join(map(str, place))}: {fault}" if place else fault


_LONGEST: Final = 60


def _shown(data: Any) -> str:
    """Data in a message, never more than 60 characters of it."""
    if isinstance(data, Mapping | list | tuple):
        return "an object" if isinstance(data, Mapping) else "a list"
    if data is None or isinstance(data, bool):
        return json.dumps(data)
    if isinstance(data, int) and data.bit_length() > _LONGEST:  # Python refuses to write those of some thousand digits
        return f"an integer of {data.bit_length()} bits"
    written = repr(data[:_LONGEST] if isinstance(data, str) else data)
    return written if len(written) <= _LONGEST else f"{written[: _LONGEST - 1]}…"


def _name(name: Any) -> str:
    return _shown(name).strip("'")


@cache
def _form(kind: Any, says: Says | None = None) -> _Form:
    origin, arguments = origin_of(kind) or kind, arguments_of(kind)
    if origin is Annotated:
        return _form(arguments[0], says or next((each for each in arguments[1:] if isinstance(each, Says)), None))
    if says is not None:
        return _bounded(_form(kind), says)
    if origin in _LEAVES:
        return _LEAVES[origin]
    if origin in (Union, types.UnionType):
        return _union(arguments)
    if origin is Literal:
        return _choice({each: each for each in arguments})
    if isinstance(origin, type):
        for base, make in _FORMS:
            if issubclass(origin, base):
                return make(origin, arguments)
        if _is_object(origin):
            return _object(origin)
    return _Form("", None, {}, {})


def _scalar(kind: Any, data: Any, lenient: bool) -> Any:
    """Text, a truth value or a finite number: true is no 1, and 1.5 no whole number."""
    if lenient and kind is not str and isinstance(data, str):
        data = parse_json(data.lower())
    if kind is int and isinstance(data, float) and data.is_integer():  # JSON has one kind of number: 3.0 is 3
        data = int(data)
    if lenient and kind is str and type(data) in (int, float):
        data = str(data)
    if kind is str and isinstance(data, str):
        return str(data)
    if (type(data) is kind or (kind is float and type(data) is int)) and math.isfinite(data):
        return kind(data)
    raise ValueError


_text = partial(_scalar, str)


def _moment(data: Any, _: bool) -> datetime:
    found = datetime.fromisoformat(_text(data, False))
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _moment_or_words(data: Any, lenient: bool) -> datetime | str:
    words: str = _text(data, lenient)
    try:
        found = _moment(words, False)
    except ValueError:
        return words
    return found if encode(found) == words else words


def _scope(data: Any, _: bool) -> Scope:
    if isinstance(data, Mapping):
        return Scope(**data) if data.keys() == {"org_id", "project_id"} else _scope(None, False)
    org, project = _text(data, False).split("/")
    return Scope(org, project)


def _vector(data: Any, _: bool) -> Any:
    return np.frombuffer(b64decode(_text(data, False), validate=True), "<f2").astype(np.float16)


def _leaf(what: str, make: Callable[[Any, bool], Any], **schema: Any) -> _Form:
    return _Form(what, lambda data, _, to: make(data, to.lenient), schema, schema)


_TEXT: Final = _leaf("text", _text, type="string")
_ID_OR_NAME: Final = _leaf("text", lambda data, lenient: id_or_name(_text(data, lenient)), type="string")
_TIME_OR_WORDS: Final = _leaf("text", _moment_or_words, type="string")
_AS_GIVEN: Final = _leaf("JSON", lambda data, _: data)
_LEAVES: Final[Mapping[Any, _Form]] = MappingProxyType(
    {
        Any: _AS_GIVEN,
        object: _AS_GIVEN,
        str: _TEXT,
        int: _leaf("a whole number", partial(_scalar, int), type="integer"),
        float: _leaf("a number", partial(_scalar, float), type="number"),
        bool: _leaf("true or false", partial(_scalar, bool), type="boolean"),
        Scope: _leaf("org/project", _scope, type="string"),
        UUID: _leaf("an id", lambda data, _: UUID(_text(data, False)), type="string", format="uuid"),
        datetime: _leaf("a time, such as 2024-05-01T09:00:00Z", _moment, type="string", format="date-time"),
        timedelta: _leaf(
            "seconds", lambda data, lenient: timedelta(seconds=_scalar(float, data, lenient)), type="number"
        ),
        Path: _leaf("a path", lambda data, _: Path(_text(data, False)), type="string"),
        np.ndarray: _leaf("float16 numbers in base64", _vector, type="string", contentEncoding="base64"),
    }
)


def _choice(values: Mapping[Any, Any]) -> _Form:
    exact = {(isinstance(key, bool), key): value for key, value in values.items()}  # true is no 1

    def pick(data: Any, _: bool) -> Any:
        if isinstance(data, str | int | float) and (isinstance(data, bool), data) in exact:
            return exact[isinstance(data, bool), data]
        raise ValueError

    return _leaf(f"one of {', '.join(map(_shown, values))}", pick, **_enum([*values]))


def _union(kinds: Sequence[Any]) -> _Form:
    others = [kind for kind in kinds if kind is not type(None)]
    nullable = len(others) < len(kinds)
    forms = [_form(kind) for kind in others]
    for more, both in ((UUID, _ID_OR_NAME), (datetime, _TIME_OR_WORDS)):
        if {str, more} <= {*others}:
            forms = [both, *(form for form in forms if form not in (_TEXT, _form(more)))]
    carried = [form for form in forms if form.read]
    if not carried:
        return _Form("", None, {}, {})

    def read(data: Any, place: _Place, to: _Reading) -> Any:
        if data is None and nullable:
            return None
        inner: list[str] = []
        for lenient in (False, True)[: 1 + to.lenient]:  # what is exact as one member is not bent into another
            for form in carried:
                own = _Reading([], lenient)
                value = _read(form, data, place, own)
                if not own.faults:
                    return value
                inner = inner if own.faults == [_mismatch(form, data, place)] else own.faults
        if not inner:
            raise ValueError
        to.faults.extend(inner)  # those inside of the member that it is meant to be
        return None

    result = [*(form.result for form in forms), *([{"type": "null"}] if nullable else [])]
    what = " or ".join(dict.fromkeys(form.what for form in carried))
    return _Form(what, read, _any_of([form.schema for form in carried]), _any_of(result))


def _part(kind: Any, data: Any, to: _Reading) -> Any:
    """Data that must be a list or an object, or in lenient reading its JSON text."""
    given = parse_json(data) if to.lenient and isinstance(data, str) else data
    if isinstance(given, kind):
        return given
    raise ValueError


def _object(kind: Any) -> _Form:
    fields = {field.name: field for field in _fields(kind)}
    every = {name: _form(field.kind, field.says) for name, field in fields.items()}
    forms = {name: form for name, form in every.items() if fields[name].alias and (form.read or fields[name].needed)}
    needed = [name for name, field in fields.items() if field.needed]
    dropped = {*RETIRED.get(kind.__name__, ()), *(name for name, field in fields.items() if not field.alias)}

    def read(data: Any, place: _Place, to: _Reading) -> Any:
        before, values = len(to.faults), {}
        given = _part(Mapping, data, to)
        for name, each in given.items():
            if name in forms:
                if not to.lenient or fields[name].needed or not _is_left_out(each):
                    values[fields[name].alias] = _read(forms[name], each, (*place, name), to)
            elif name not in dropped:
                near = get_close_matches(str(name)[:_LONGEST], forms, 1)
                hint = f": did you mean {near[0]}?" if near else ""
                to.faults.append(_at((*place, _name(name)), f"is unknown{hint}"))
        to.faults.extend(_at((*place, name), "is needed") for name in needed if name not in given)
        if len(to.faults) > before:
            return None
        try:
            return kind(**values)
        except InvalidInputError as error:
            to.faults.extend(_at(place, each) for each in error.faults)

    taken = {name: _with_default(form.schema, fields[name].default) for name, form in forms.items()}
    given = {name: form.result for name, form in every.items()}
    required = {"required": needed} if needed else {}
    return _Form(
        "an object",
        read if all(form.read for form in forms.values()) else None,
        {"type": "object", "properties": taken, **required, "additionalProperties": False},
        {"type": "object", "properties": given, "required": [*given]},
    )


def _is_left_out(data: Any) -> bool:
    return data is None or (isinstance(data, str) and not data.strip())


def _mapping(_: type, arguments: Sequence[Any]) -> _Form:
    key_kind, kind = (*arguments, Any, Any)[:2]
    key, item = _form(key_kind), _form(kind)

    def read(data: Any, place: _Place, to: _Reading) -> Any:
        given = _part(Mapping, data, to)
        keys = _Reading(to.faults, True)  # numbers are text here
        return {
            _read(key, name, place, keys): _read(item, each, (*place, _name(name)), to) for name, each in given.items()
        }

    taken, result = ({"additionalProperties": each} if each else {} for each in (item.schema, item.result))
    return _Form("an object", read if item.read else None, {"type": "object", **taken}, {"type": "object", **result})


def _list(origin: type, arguments: Sequence[Any]) -> _Form:
    """A list of one kind, or a tuple of some; a class of tuples with names is an object."""
    if _is_object(origin):
        return _object(origin)
    make: Any = list if origin is list else frozenset if issubclass(origin, AbstractSet) else tuple
    fixed = len(arguments) if issubclass(origin, tuple) and ... not in arguments else 0
    forms = [_form(each) for each in arguments[: fixed or 1] or (Any,)]

    def read(data: Any, place: _Place, to: _Reading) -> Any:
        given = _part(list | tuple, data, to)
        if fixed and len(given) != fixed:
            raise ValueError
        pairs = enumerate(zip(forms if fixed else repeat(forms[0]), given, strict=False))
        return make([_read(form, each, (*place, number), to) for number, (form, each) in pairs])

    def told(items: Sequence[Json]) -> Json:
        if fixed:
            of = {"items": items[0]} if all(each == items[0] for each in items) else {"prefixItems": items}
            return {"type": "array", **of, "minItems": fixed, "maxItems": fixed}
        return {"type": "array", "items": items[0]} if items[0] else {"type": "array"}

    return _Form(
        f"a list of {fixed}" if fixed else "a list",
        read if all(form.read for form in forms) else None,
        told([form.schema for form in forms]),
        told([form.result for form in forms]),
    )


_FORMS: Final[tuple[tuple[type, Callable[[Any, Sequence[Any]], _Form]], ...]] = (
    (Enum, lambda kind, _: _choice({each.value: each for each in kind})),
    (Mapping, _mapping),
    (Iterable, _list),
)


def _bounded(form: _Form, says: Says) -> _Form:
    """A form that refuses what is out of bounds."""

    def read(data: Any, place: _Place, to: _Reading) -> Any:
        before, value = len(to.faults), form.read(data, place, to)  # type: ignore[misc]
        if value is not None and len(to.faults) == before and (fault := _beyond(value, says)):
            to.faults.append(_at(place, fault))
        return value

    return form._replace(
        read=form.read and read, schema=_with_bounds(form.schema, says), result=_with_bounds(form.result, says)
    )


def _beyond(value: Any, says: Says) -> str:
    """The fault of a value that is out of bounds; empty if there is none."""
    strange = [each for each in (value if isinstance(value, tuple) else [value]) if says.of and each not in says.of]
    if strange:
        return f"must be one of {', '.join(says.of)}, not {_shown(strange[0])}"
    if isinstance(value, UUID):  # an id where a name was bounded
        return ""
    size: Any = value
    verb, unit = "be", ""
    if isinstance(value, Collection):
        size, verb, unit = len(value), "have", " characters" if isinstance(value, str) else " items"
    elif isinstance(value, timedelta):
        size = value.total_seconds()
    if unit and says.least and not size:
        return "must not be empty"
    if says.least is not None and size < says.least:
        return f"must {verb} at least {says.least:,g}{unit}, not {_shown(size)}"
    if says.most is not None and size > says.most:
        return f"must {verb} at most {says.most:,g}{unit}, not {_shown(size)}"
    return ""


# -- JSON Schema ------------------------------------------------------------------------------------------------------


def _enum(values: Sequence[Any]) -> Json:
    kind = {"type": "string"} if all(isinstance(each, str) for each in values) else {}
    return {**kind, "enum": [*values]}


def _any_of(schemas: Sequence[Json]) -> Json:
    """One of some schemas; a text of a certain format is a text."""
    distinct = [each for place, each in enumerate(schemas) if each not in schemas[:place]]
    if _TEXT.schema in distinct:
        distinct = [each for each in distinct if each.get("type") != "string" or each == _TEXT.schema]
    if len(distinct) == 1 or {} in distinct:
        return {} if {} in distinct else distinct[0]
    plain = all(each.keys() == {"type"} for each in distinct)
    return {"type": [each["type"] for each in distinct]} if plain else {"anyOf": distinct}


def _with_bounds(found: Json, says: Says) -> Json:
    lengths = {"string": ("minLength", "maxLength"), "array": ("minItems", "maxItems")}
    names = lengths.get(str(found.get("type")), ("minimum", "maximum"))
    bounds = {name: each for name, each in zip(names, (says.least, says.most), strict=True) if each is not None}
    of = _enum(says.of) if says.of else {}
    many = {"items": of} if of and "items" in found else of
    return {**found, **many, **bounds, **({"description": says.text} if says.text else {})}


def _with_default(found: Json, default: Any) -> Json:
    told = None if default is attrs.NOTHING else encode(default)
    return {**found, "default": told} if told else found
