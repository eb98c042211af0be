"""The options that say more of a memory than its text, for `remember` and `correct`."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import click

from memsync.cli.session import F
from memsync.record import MemoryClass, MemoryType


def values(kind: type[StrEnum]) -> list[str]:
    """The values of an enum: click would offer the names of its members."""
    return [member.value for member in kind]


def detail_options(command: F) -> F:
    """Give a command these options."""
    for option in reversed(
        (
            click.option("--title", help="The title; default: the first line."),
            click.option("--category", help="A word to group by, such as testing."),
            click.option("--tag", "tags", multiple=True, help="A tag; may be repeated."),
            click.option(
                *("--path", "paths"),
                multiple=True,
                help="Only for these paths (as in .gitignore).",
            ),
            click.option("--task", "tasks", multiple=True, help="Only for tasks with these words."),
            click.option(
                "--operation", "operations", multiple=True, help="Only for this operation."
            ),
            click.option("--phase", "phases", multiple=True, help="Only in this phase of work."),
            click.option(
                *("--type", "memory_type"),
                type=click.Choice(values(MemoryType)),
                help="What kind it is.",
            ),
            click.option(
                *("--class", "memory_class"),
                type=click.Choice(values(MemoryClass)),
                help="What of.",
            ),
            click.option("--valid-from", help="The first day on which it holds."),
            click.option("--valid-until", help="The last day on which it holds."),
        )
    ):
        command = option(command)
    return command


def typed(options: dict[str, Any]) -> dict[str, Any]:
    """What was given of these options, as the contract takes it."""
    kinds = {"memory_type": MemoryType, "memory_class": MemoryClass}
    return {
        name: kinds[name](given) if given and name in kinds else given
        for name, given in options.items()
    }
