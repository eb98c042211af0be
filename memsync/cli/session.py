"""One call of the program: what it was given, and the machine it speaks to."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import click

from memsync import bootstrap, config, errors, record
from memsync.contract import Provider
from memsync.contract.shared import ProjectRef
from memsync.language import Translate, translator

F = TypeVar("F", bound=Callable[..., Any])

if TYPE_CHECKING:
    _Text = click.ParamType[str]
else:
    _Text = click.ParamType  # older releases of click do not take the parameter


class Session:
    """The call: its environment, its folder, its way of answering.

    ``changed`` says whether it has changed something already: what fails from then on is the
    telling.
    """

    def __init__(
        self, variables: Mapping[str, str], folder: str | None = None, as_json: bool = False
    ) -> None:
        self.variables = variables
        self.folder = folder
        self.as_json = as_json
        self.changed = False

    @cached_property
    def machine(self) -> bootstrap.Machine:
        """This machine's memory."""
        from memsync.cli.screen import progress

        return bootstrap.Machine(bootstrap.environment(self.variables), progress)

    @property
    def provider(self) -> Provider:
        """The provider that is configured."""
        return self.machine.provider

    @cached_property
    def translate(self) -> Translate:
        """Labels in the person's language."""
        return translator(self.language)

    @cached_property
    def language(self) -> str:
        """The person's language."""
        try:
            return self.machine.language()
        except errors.MemsyncError:
            return config.early_language(self.variables)

    def project(self, path: str | None = None) -> ProjectRef:
        """The code project of a folder: the one named, else ``-C``, else here."""
        chosen = path or self.folder or "."
        if path and self.folder:
            chosen = os.path.join(self.folder, path)
        if not os.path.exists(chosen):
            raise errors.PathNotFound(path=chosen)
        return ProjectRef(path=os.path.abspath(chosen))

    def here(self, memory: str | None) -> ProjectRef:
        """Where a command that changes ``memory`` is called; a whole id needs no place."""
        whole = memory is None or record.is_id(memory)
        return ProjectRef() if whole else self.project()

    def close(self) -> None:
        """Close what was opened."""
        if "machine" in self.__dict__:
            self.machine.close()


def with_session(command: F) -> F:
    """Give a command its session, and the options that every command has."""

    def apply(ctx: click.Context, param: click.Parameter, value: Any) -> None:
        if value:
            session: Session = ctx.find_object(Session) or ctx.ensure_object(Session)
            setattr(session, str(param.name), value)

    command = click.pass_obj(command)  # type: ignore[assignment]
    command = click.option(
        "--json",
        "as_json",
        is_flag=True,
        expose_value=False,
        callback=apply,
        help="One JSON object instead of text.",
    )(command)
    return click.option(
        "-C",
        "folder",
        metavar="PATH",
        expose_value=False,
        callback=apply,
        help="Work as if started in this folder.",
    )(command)


class MemoryId(_Text):
    """An id, a unique prefix or an exact title; the shell completes ids."""

    name = "id"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[Any]:
        """The ids that begin like this, with their titles."""
        from click.shell_completion import CompletionItem

        from memsync.contract.memories import ManageQuery

        session = Session(os.environ)
        try:
            listing = session.provider.query(ManageQuery())
        except errors.MemsyncError:
            return []
        return [
            CompletionItem(entry.record.id, help=entry.record.title)
            for entry in listing.records
            if entry.record.id.startswith(incomplete)
        ]


class ProjectKey(_Text):
    """The key or name of a known project; the shell completes keys."""

    name = "project"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[Any]:
        """The keys that begin like this, with their names."""
        from click.shell_completion import CompletionItem

        try:
            known = Session(os.environ).machine.reader().known_projects()
        except errors.MemsyncError:
            return []
        return [CompletionItem(k.key, help=k.name) for k in known if k.key.startswith(incomplete)]
