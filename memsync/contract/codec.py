"""The contract as JSON: every request and result to a plain object and back, strictly.

How a class is written and read is worked out once, from its fields and type hints: a dataclass
or, where a cold command pays for it, a named tuple.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import StrEnum
from typing import Any, TypeVar, Union, cast, get_args, get_origin

from memsync import errors

T = TypeVar("T")
_Encode = Callable[[Any], Any]
_Decode = Callable[[Any, str], Any]
_PLAIN = (str, int, float, bool)


def _once(make: Callable[[Any], T]) -> Callable[[Any], T]:
    """Work out an answer once for each type; types are few and live as long as the process."""
    known: dict[Any, T] = {}

    def get(kind: Any) -> T:
        found = known.get(kind)
        if found is None:
            found = known[kind] = make(kind)
        return found

    return get


def camel(name: str) -> str:
    """``project_key`` as it is spelled in files and JSON: ``projectKey``."""
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)


def fields_of(kind: Any) -> dict[str, Any] | None:
    """name -> default (``MISSING`` for none) of the fields of a class; None for any other type."""
    if is_dataclass(kind):
        listed = fields(kind)
        return {f.name: None if f.default_factory is not MISSING else f.default for f in listed}
    names: tuple[str, ...] | None = getattr(kind, "_fields", None)
    if names is None:
        return None
    return {name: kind._field_defaults.get(name, MISSING) for name in names}


def to_json(value: object) -> Any:
    """A value of the contract as JSON. Absent optional fields and empty lists stay out."""
    return _encoder(type(value))(value)


def from_json(kind: type[T], value: object, where: str = "$") -> T:
    """Read JSON as a class of the contract.

    Raises RequestInvalid, which says where, for an unknown or missing field or a wrong type.
    """
    return cast(T, _reader(kind)(value, where))


# --- writing -------------------------------------------------------------------------------


@_once
def _encoder(kind: Any) -> _Encode:
    found = fields_of(kind)
    if found is not None:
        return _object_encoder(found)
    if issubclass(kind, StrEnum):
        return lambda value: value.value
    if issubclass(kind, tuple | list):
        return lambda value: [_encoder(type(inner))(inner) for inner in value]
    if issubclass(kind, Mapping):
        return lambda value: {k: _encoder(type(inner))(inner) for k, inner in value.items()}
    return lambda value: value


def _object_encoder(named: Mapping[str, Any]) -> _Encode:
    plan = [(name, camel(name)) for name in named if name != "extra"]
    known = frozenset(key for _, key in plan)
    keeps_extra = "extra" in named

    def encode(value: Any) -> dict[str, Any]:
        found = {}
        for name, key in plan:
            inner = getattr(value, name)
            if inner is None or inner == ():
                continue
            found[key] = inner if type(inner) in _PLAIN else _encoder(type(inner))(inner)
        if keeps_extra and value.extra:
            for key, inner in value.extra.items():
                found[_escaped(key) if key in known or key[:1] == "/" else key] = inner
        return found

    return encode


def _escaped(key: str) -> str:
    """An unknown key that is spelled like a known one, told apart."""
    return "/" + key


# --- reading -------------------------------------------------------------------------------


@_once
def _reader(kind: Any) -> _Decode:
    hints = {
        name: hint
        for name, hint in typing.get_type_hints(kind).items()
        if get_origin(hint) is not typing.ClassVar
    }
    named = {name: default for name, default in (fields_of(kind) or {}).items() if name != "extra"}
    readers = {camel(n): (n, _plain_kind(hints[n]), _decoder(hints[n])) for n in named}
    required = [name for name, default in named.items() if default is MISSING]
    absent = _absent({name: hints[name] for name in required})
    needed = [(name, camel(name)) for name in required if name not in absent]
    keeps_extra = "extra" in hints

    def read(value: Any, where: str) -> Any:
        if not isinstance(value, dict):
            raise errors.RequestInvalid(where=where, detail="an object is expected")
        arguments = dict(absent)
        extra = {}
        for key, inner in value.items():
            found = readers.get(key)
            if found is not None:
                name, plain, decode = found
                # Most values are plain: they need neither a call nor the words of an error.
                arguments[name] = inner if type(inner) is plain else decode(inner, f"{where}.{key}")
            elif keeps_extra:
                extra[key.removeprefix("/")] = inner
            else:
                raise errors.RequestInvalid(where=where, detail=f"unknown field {key}")
        for name, key in needed:
            if name not in arguments:
                raise errors.RequestInvalid(where=where, detail=f"the field {key} is missing")
        if extra:
            arguments["extra"] = extra
        return kind(**arguments)

    return read


def _plain_kind(hint: Any) -> Any:
    """The plain type that a hint allows; None where it allows another."""
    kinds = [kind for kind in get_args(hint) or (hint,) if kind is not type(None)]
    return kinds[0] if len(kinds) == 1 and kinds[0] in _PLAIN else None


def _absent(hints: Mapping[str, Any]) -> dict[str, Any]:
    """What stands for the fields without a default that writing leaves out when empty."""
    found: dict[str, Any] = {}
    for name, hint in hints.items():
        if type(None) in get_args(hint):
            found[name] = None
        elif Ellipsis in get_args(hint):
            found[name] = ()
    return found


@_once
def _decoder(hint: Any) -> _Decode:
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return _optional(_decoder(next(a for a in inner if a is not type(None))), inner)
    if origin is tuple:
        return _list_reader(inner)
    if origin in (dict, Mapping) or hint is Mapping:
        return _mapping_reader(_decoder(inner[1]))
    if fields_of(hint) is not None:
        return _reader(hint)
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return _enum_reader(hint)
    if hint in _PLAIN:
        return _plain_reader(hint)
    if hint in (object, Any):
        return lambda value, where: value  # noqa: ARG005 - any value is fine
    raise AssertionError(f"the contract has no codec for {hint}")


def _optional(read: _Decode, kinds: tuple[Any, ...]) -> _Decode:
    allowed = type(None) in kinds
    return lambda value, where: None if value is None and allowed else read(value, where)


def _list_reader(inner: tuple[Any, ...]) -> _Decode:
    endless = len(inner) == 2 and inner[1] is Ellipsis
    readers = [_decoder(hint) for hint in inner if hint is not Ellipsis]

    def read(value: Any, where: str) -> Any:
        if not isinstance(value, list) or not (endless or len(value) == len(readers)):
            raise errors.RequestInvalid(where=where, detail="a list is expected")
        if endless:
            return tuple([readers[0](v, f"{where}[{n}]") for n, v in enumerate(value)])
        return tuple(r(v, where) for r, v in zip(readers, value, strict=True))

    return read


def _mapping_reader(inner: _Decode) -> _Decode:
    def read(value: Any, where: str) -> Any:
        if not isinstance(value, dict):
            raise errors.RequestInvalid(where=where, detail="an object is expected")
        return {str(k): inner(v, f"{where}.{k}") for k, v in value.items()}

    return read


def _enum_reader(kind: type[StrEnum]) -> _Decode:
    known = {member.value: member for member in kind}

    def read(value: Any, where: str) -> Any:
        found = known.get(value) if isinstance(value, str) else None
        if found is None:
            raise errors.RequestInvalid(where=where, detail=f"one of {', '.join(kind)}")
        return found

    return read


def _plain_reader(kind: type) -> _Decode:
    def read(value: Any, where: str) -> Any:
        if type(value) is kind:
            return value
        if kind is float and type(value) is int:
            return float(value)
        raise errors.RequestInvalid(where=where, detail=f"a {kind.__name__} is expected")

    return read
