"""The page of settings says what the code does: every default on it is read from the code."""

from __future__ import annotations

import ast
import inspect
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import attrs
import click
import pytest

import graphsearch
from graphsearch import caching, ingest, llms, stores
from graphsearch.cli.app import app
from graphsearch.integrations import mcp

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "settings.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (`.*?`) \| `([^`]*)` \|", re.MULTILINE)
SETTING = re.compile(r"`([\w.]+)\((\w+)\)`")
CONSTANT = re.compile(r"`([\w.]+)\.([A-Z_]+)`")


def value_of(text: str) -> object:
    """A literal, or a value of a class with literals for its fields."""
    node = ast.parse(text, mode="eval").body
    if not isinstance(node, ast.Call):
        return ast.literal_eval(node)
    fields = {str(each.arg): ast.literal_eval(each.value) for each in node.keywords}
    return called(ast.unparse(node.func))(**fields)


def settings() -> list[tuple[str, str, object]]:
    return [(*found, value_of(value)) for names, value in ROW.findall(PAGE) for found in SETTING.findall(names)]


def constants() -> list[tuple[str, str, object]]:
    return [(*found, value_of(value)) for names, value in ROW.findall(PAGE) for found in CONSTANT.findall(names)]


def called(name: str) -> Any:
    """The class or function of a name on the page."""
    first, *others = name.split(".")
    found = next(
        getattr(place, first) for place in (graphsearch, stores, ingest, caching, llms, mcp) if hasattr(place, first)
    )
    for part in others:
        found = getattr(found, part)
    return found


def defaults(name: str) -> dict[str, object]:
    parameters = inspect.signature(called(name)).parameters.values()
    return {each.name: each.default for each in parameters if each.default is not inspect.Parameter.empty}


@pytest.mark.parametrize(("name", "parameter", "value"), settings())
def test_a_default_is_that_of_the_code(name: str, parameter: str, value: object) -> None:
    assert defaults(name)[parameter] == value


@pytest.mark.parametrize(("module", "name", "value"), constants())
def test_a_limit_is_that_of_the_code(module: str, name: str, value: object) -> None:
    assert getattr(import_module(module), name) == value


def test_no_number_and_no_switch_is_left_out() -> None:
    listed: dict[str, set[str]] = {}
    for name, parameter, _ in settings():
        listed.setdefault(name, set()).add(parameter)
    assert len(listed) >= 10
    for name, parameters in listed.items():
        assert {each for each, value in defaults(name).items() if isinstance(value, (bool, int, float))} <= parameters


def test_the_options_of_the_server_are_those_of_the_service() -> None:
    command = app.get_command(click.Context(app), "mcp")
    assert command is not None
    options = {each.name: each for each in command.params}
    for field in attrs.fields(mcp.GraphService):
        if field.name in options and field.name != "profile":  # a name there, a number here
            assert options[field.name].default == field.default, field.name
