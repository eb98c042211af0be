"""Help in the person's language, by the columns that its characters take."""

from __future__ import annotations

from collections.abc import Iterable

import click

from memsync.cli.screen import columns, words, wrapped


class Formatter(click.HelpFormatter):
    """Writes help as click does, in another language."""

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        """How the command is called."""
        _ = words()
        super().write_usage(prog, args, _("Usage:") + " ")

    def write_heading(self, heading: str) -> None:
        """The name of a section."""
        super().write_heading(words()(heading))

    def write_text(self, text: str) -> None:
        """What the command does."""
        told = words()(text)
        if told == text:
            super().write_text(text)
        else:
            self.write(wrapped(told, self.width, " " * self.current_indent) + "\n")

    def write_dl(
        self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2
    ) -> None:
        """Options or commands, and what each is for."""
        given = [*rows]
        said = [(name, _said(told)) for name, told in given]
        if said == given:
            super().write_dl(given, col_max, col_spacing)
            return
        room = min(max(columns(name) for name, _ in said), col_max)
        before = self.current_indent + room + col_spacing
        for name, told in said:
            first, *more = wrapped(told, self.width - before).splitlines() or [""]
            head = " " * self.current_indent + name
            if columns(name) > room:
                self.write(head + "\n")
                head = ""
            self.write(head + " " * (before - columns(head)) + first + "\n")
            for line in more:
                self.write(" " * before + line + "\n")


def _said(told: str) -> str:
    """What an option is for, in the person's language; click adds its default in brackets."""
    _ = words()
    text, mark, more = told.partition("  [")
    return _(text) + mark + more.replace("default: ", _("default: "))
