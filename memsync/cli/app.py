"""The program: its groups of commands, loaded when called, and the boundary for errors."""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from memsync import __version__, errors

#: group -> command -> (module below ``memsync.cli``, what it does). Hidden ones have no text.
COMMANDS: dict[str, dict[str, tuple[str, str]]] = {
    "Memories": {
        "remember": ("memories", "Keep a text."),
        "list": ("memories", "List the memories of this project and the global ones."),
        "show": ("memories", "Show one memory whole."),
        "search": ("memories", "Find memories by words."),
        "edit": ("memories", "Open a memory in your editor."),
        "correct": ("changes", "Put another text, or other details, in a memory's place."),
        "forget": ("changes", "Forget a memory; --permanent also removes its history."),
        "rollback": ("changes", "Bring back an earlier version, or a forgotten memory."),
        "history": ("changes", "Show the versions of a memory."),
        "diff": ("changes", "Show what changed between two versions."),
        "conflicts": ("changes", "List the memories with an open conflict."),
        "resolve": ("changes", "Settle a conflict."),
        "tombstones": ("changes", "List what was forgotten."),
        "inbox": ("inbox", "What was concluded from work and waits for your word."),
    },
    "Tasks": {
        "retrieve": ("tasks", "What the memory says about a task, and why."),
        "expand": ("tasks", "Give the whole of a memory that a task was offered."),
        "explain": ("tasks", "Why a memory reaches a task, or why not."),
    },
    "Repository": {
        "init": ("repository", "Begin a memory repository, or complete one."),
        "status": ("repository", "How the memory stands, and what needs you."),
        "lint": ("repository", "Check every file of a memory."),
        "doctor": ("repository", "Check the installation; --fix mends what is safe to mend."),
        "import": ("transfer", "Read memories from a stream."),
        "export": ("transfer", "Write everything as one JSON Lines stream."),
        "config": ("repository", "Show or change settings."),
        "pause": ("repository", "Pause a memory, a project, learning or retrieval."),
        "resume": ("repository", "Take a pause back."),
        "demo": ("demo", "See it work, on a sample memory in a temporary folder."),
    },
    "Projects": {
        "project": ("projects", "Show which project a folder belongs to, and the known ones."),
    },
}
_WHERE = {name: module for group in COMMANDS.values() for name, (module, _) in group.items()}
_BRIEF = {name: text for group in COMMANDS.values() for name, (_, text) in group.items()}


class Context(click.Context):
    """A call whose help speaks the person's language."""

    def make_formatter(self) -> click.HelpFormatter:
        """What writes the help."""
        from memsync.cli.spoken import Formatter

        return Formatter(width=self.terminal_width, max_width=self.max_content_width)


class Program(click.Group):
    """A group whose commands are imported when they are called, not when help is shown."""

    context_class = Context

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names, in the order of the groups."""
        return [*_WHERE]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        module = _WHERE.get(cmd_name)
        if module is None:
            return None
        from importlib import import_module

        found = getattr(import_module(f"memsync.cli.{module}"), f"{cmd_name}_command")
        assert isinstance(found, click.Command)
        found.context_class = Context
        for inner in getattr(found, "commands", {}).values():
            inner.context_class = Context
            inner.short_help = inner.help  # click would cut it
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, and name the nearest one where there is none."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from difflib import get_close_matches

            near = get_close_matches(args[0], [*_WHERE], 1)
            if near:
                told = f"{error.message} Did you mean {near[0]!r}?"
                raise click.UsageError(told, ctx) from error
            raise

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands under their group's heading; nothing is imported for it."""
        from memsync.cli.screen import words

        _ = words()
        for group, commands in COMMANDS.items():
            with formatter.section(_(group)):
                formatter.write_dl([(name, _(text)) for name, (_m, text) in commands.items()])


@click.group(
    cls=Program,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option("-C", "folder", metavar="PATH", help="Work as if started in this folder.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
@click.version_option(__version__, "-V", "--version", message="memsync %(version)s")
@click.pass_context
def program(ctx: click.Context, folder: str | None, as_json: bool) -> None:
    """Memory for coding agents: Markdown files in a Git repository that you own.

    Every COMMAND takes -C PATH, a folder of the code project; the default is here.
    """
    from memsync.cli.session import Session

    ctx.obj = Session(os.environ, folder=folder, as_json=as_json)
    ctx.call_on_close(ctx.obj.close)


#: A group that was called without a command, whose help answers; older clicks print it themselves.
_BARE: Any = getattr(click.exceptions, "NoArgsIsHelpError", ())


def run(arguments: Sequence[str]) -> int:
    """Run the program; the boundary where errors become words and an exit status."""
    as_json = "--json" in [*itertools.takewhile(lambda given: given != "--", arguments)]
    _ready_streams()
    try:
        result = _called([*arguments])
        return result if isinstance(result, int) else 0
    except errors.MemsyncError as error:
        return _told(error, as_json)
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.Abort:
        return _told(errors.Interrupted(), as_json)
    except _BARE as bare:
        click.echo(bare.format_message())
        return 0
    except click.ClickException as error:
        return _wrong_call(error, as_json)
    except KeyboardInterrupt:
        return _told(errors.Interrupted(), as_json)
    except BrokenPipeError:
        # The reader of our output has gone; there is nobody to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        detail = error.strerror or str(error)
        if error.filename is None and isinstance(error, FileNotFoundError):
            return _told(errors.CurrentFolderGone(), as_json)  # nothing else is sought without name
        if error.filename is None:  # what reads and writes files names them: this is our output
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return _told(errors.CannotWrite(path="stdout", detail=detail), as_json)
        return _told(errors.CannotRead(path=str(error.filename), detail=detail), as_json)


def _called(arguments: list[str]) -> Any:
    """Call the command. click's own ``main`` is left to the shell's completion: it would turn a
    reader that has gone into a failure."""
    if "_MEMSYNC_COMPLETE" in os.environ:
        return program.main(args=arguments, prog_name="memsync", standalone_mode=False)
    with program.make_context("memsync", arguments) as context:
        try:
            result = program.invoke(context)
            sys.stdout.flush()
            return result
        except OSError as error:
            if error.filename or isinstance(error, BrokenPipeError) or not context.obj.changed:
                raise
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise errors.AnswerLost(detail=error.strerror or str(error)) from error


def _ready_streams() -> None:
    """Streams that never fail over a character; a stream that was closed leads nowhere."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # it gets the lowest free number, which is this one
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8")  # noqa: SIM115 - it lives as long as we do
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _told(error: errors.MemsyncError, as_json: bool) -> int:
    from memsync.cli.screen import tell_error

    tell_error(error, as_json)
    return int(error.exit_status)


def _wrong_call(error: click.ClickException, as_json: bool) -> int:
    from memsync.cli.screen import note, tell_error, words

    tell_error(errors.UsageWrong(detail=error.format_message()), as_json)
    context = getattr(error, "ctx", None)
    if context is not None and not as_json:
        _ = words()
        note("  " + context.get_usage())
        note("  " + _("`{} --help` says more.").replace("{}", context.command_path))
    return int(errors.Exit.USAGE)
