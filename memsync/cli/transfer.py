"""export and import."""

from __future__ import annotations

import json
import sys

import click

from memsync import errors
from memsync.cli.screen import give, note, safe, say
from memsync.cli.session import Session, with_session


@click.command("export")
@click.option("--output", "-o", type=click.Path(dir_okay=False), help="A file; default: stdout.")
@with_session
def export_command(session: Session, output: str | None) -> int:
    """Write everything that the memory holds as one JSON Lines stream."""
    from memsync.store.transfer import export, left_out

    reader = session.machine.reader()
    lines = [json.dumps(line, ensure_ascii=False) + "\n" for line in export(reader)]
    _ = session.translate
    if output is None:
        click.echo("".join(lines), nl=False)
    else:
        try:
            with open(output, "x", encoding="utf-8") as stream:
                stream.writelines(lines)
        except FileExistsError as error:
            raise errors.CannotWrite(path=output, detail="it exists already") from error
        except OSError as error:
            raise errors.CannotWrite(path=output, detail=error.strerror or "") from error
        note(_.counted("Wrote {} line", "Wrote {} lines", len(lines)))
    missing = left_out(reader)
    for path in missing:
        note(safe(_("left out: {}").replace("{}", path)))
    return int(errors.Exit.ATTENTION) if missing else 0


@click.command("import")
@click.argument("source", required=False, type=click.Path(dir_okay=False, allow_dash=True))
@click.option(
    "--from",
    "kind",
    type=click.Choice(["memsync"]),
    default="memsync",
    show_default=True,
    help="What wrote the stream.",
)
@with_session
def import_command(session: Session, source: str | None, kind: str) -> int:
    """Read memories from SOURCE (default: standard input). What is here already stays."""
    from memsync.store.transfer import read_stream, take_in

    del kind
    try:
        if source in (None, "-"):
            stream = read_stream(sys.stdin.buffer)
        else:
            with open(str(source), "rb") as opened:
                stream = read_stream(opened)
    except OSError as error:
        raise errors.CannotRead(path=str(source), detail=error.strerror or "") from error
    with session.machine.store().transaction("import") as transaction:
        found = take_in(transaction, stream)
    session.changed = found.commit is not None
    if session.as_json:
        give(changed=[*found.new], same=len(found.same), kept=[*found.kept], commit=found.commit)
    else:
        _ = session.translate
        told = (
            _.counted("Imported {} file", "Imported {} files", len(found.new)),
            _.counted("{} was here already", "{} were here already", len(found.same)),
            _.counted("{} stays as it is here", "{} stay as they are here", len(found.kept)),
        )
        say(_("{0}; {1}; {2}").format(*told))
        for path in found.kept:
            note(safe(f"  {path}"))
    return int(errors.Exit.ATTENTION) if found.kept else 0
