"""The contract as JSON: every request and result to a plain object and back, strictly."""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import StrEnum
from functools import cache
from typing import Any, TypeVar, Union, cast, get_args, get_origin

from memsync import errors

T = TypeVar("T")


def camel(name: str) -> str:
    """``project_key`` as it is spelled in files and JSON: ``projectKey``."""
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)


@cache
def _hints(kind: type) -> dict[str, Any]:
    return {
        k: v for k, v in typing.get_type_hints(kind).items() if get_origin(v) is not typing.ClassVar
    }


def to_json(value: object) -> Any:
    """A value of the contract as JSON. Absent optional fields stay out."""
    if is_dataclass(value) and not isinstance(value, type):
        found = {}
        for item in fields(value):
            inner = getattr(value, item.name)
            if item.name == "extra":
                found.update(inner)
            elif inner is not None and inner != ():
                found[camel(item.name)] = to_json(inner)
        return found
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, tuple | list):
        return [to_json(inner) for inner in value]
    if isinstance(value, Mapping):
        return {key: to_json(inner) for key, inner in value.items()}
    return value


def from_json(kind: type[T], value: object, where: str = "$") -> T:
    """Read JSON as a dataclass of the contract.

    Raises RequestInvalid, which says where, for an unknown or missing field or a wrong type.
    """
    if not isinstance(value, dict):
        raise errors.RequestInvalid(where=where, detail="an object is expected")
    hints = _hints(cast(Any, kind))
    names = {camel(item.name): item for item in fields(cast("Any", kind))}
    keeps_extra = "extra" in hints
    unknown = {key: inner for key, inner in value.items() if key not in names}
    if unknown and not keeps_extra:
        raise errors.RequestInvalid(where=where, detail=f"unknown field {min(unknown)}")
    arguments: dict[str, Any] = {}
    for key, item in names.items():
        if item.name == "extra":
            arguments["extra"] = unknown
        elif key in value:
            arguments[item.name] = _read(hints[item.name], value[key], f"{where}.{key}")
        elif item.default is MISSING and item.default_factory is MISSING:
            raise errors.RequestInvalid(where=where, detail=f"the field {key} is missing")
    return kind(**arguments)


def _read(hint: Any, value: object, where: str) -> object:
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        if value is None and type(None) in inner:
            return None
        return _read(next(a for a in inner if a is not type(None)), value, where)
    if origin is tuple:
        if not isinstance(value, list):
            raise errors.RequestInvalid(where=where, detail="a list is expected")
        if len(inner) == 2 and inner[1] is Ellipsis:
            return tuple(_read(inner[0], v, f"{where}[{n}]") for n, v in enumerate(value))
        return tuple(_read(h, v, where) for h, v in zip(inner, value, strict=True))
    if origin is dict or origin is Mapping or hint is Mapping:
        if not isinstance(value, dict):
            raise errors.RequestInvalid(where=where, detail="an object is expected")
        return {str(k): _read(inner[1], v, f"{where}.{k}") for k, v in value.items()}
    if is_dataclass(hint):
        return from_json(cast("type[object]", hint), value, where)
    return _scalar(hint, value, where)


def _scalar(hint: Any, value: object, where: str) -> object:
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        try:
            return hint(str(value))
        except ValueError:
            allowed = ", ".join(hint)
            raise errors.RequestInvalid(where=where, detail=f"one of {allowed}") from None
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if hint in (str, int, bool, float):
        if not isinstance(value, hint) or (hint is int and isinstance(value, bool)):
            raise errors.RequestInvalid(where=where, detail=f"a {hint.__name__} is expected")
        return value
    if hint is object:
        return value
    raise AssertionError(f"the contract has no codec for {hint}")
