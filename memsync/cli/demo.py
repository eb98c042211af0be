"""demo: the main job, run for real on a sample memory and a small code repository."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

import click

from memsync import errors, language, resources
from memsync.cli.screen import columns, give, safe, say, style, wrapped
from memsync.cli.session import Session, with_session
from memsync.gitrepo.run import Git
from memsync.language import Translate

WIDTH = 80
#: The sample memory knows a project by this remote.
REMOTE = "git@github.com:acme/api.git"
#: One commit each: its message, and the files that it writes.
CODE: tuple[tuple[str, dict[str, str]], ...] = (
    (
        "Begin the API",
        {
            "go.mod": "module github.com/acme/api\n\ngo 1.23\n",
            "README.md": "# api\n\nThe shop's API: `go test ./...` runs its tests.\n",
        },
    ),
    (
        "Let people sign in",
        {
            "internal/auth/session.go": (
                "package auth\n\n"
                "// Session is one signed-in device.\n"
                "type Session struct {\n\tID, User string\n}\n"
            ),
            "internal/auth/login.go": (
                "package auth\n\n"
                "// Login opens a session for a user whose secret fits.\n"
                "func Login(user, secret string) (*Session, error) {\n"
                "\treturn &Session{User: user}, nil\n}\n"
            ),
        },
    ),
    (
        "Test the sign-in",
        {
            "internal/auth/login_test.go": (
                'package auth\n\nimport "testing"\n\n'
                "func TestLoginOpensASession(t *testing.T) {\n"
                '\tif s, err := Login("mona", "x"); err != nil || s.User != "mona" {\n'
                "\t\tt.Fatal(s, err)\n\t}\n}\n"
            ),
        },
    ),
)
_LOGIN = "internal/auth/login.go"
#: A task in each language: whoever runs the demo sees that both are understood.
ENGLISH_TASK = "Modify the authentication module"
CHINESE_TASK = "给登录接口写数据库测试"
#: Memories of the sample: one that the Chinese task finds, one whose place another has taken.
FOUND_IN_CHINESE = "数据库测试连真库，不要 mock"
SUPERSEDED = "Migrations run by hand, the morning before a deploy"
_ID = re.compile(r"m-[0-9a-z]{16}")
_PLAIN = re.compile(r"[\w@%+=:,./-]+", re.ASCII)


@click.command("demo")
@click.option("--keep", is_flag=True, help="Keep the folder, and say where it is.")
@with_session
def demo_command(session: Session, keep: bool) -> int:
    """See it work: a sample memory and a code repository, in a temporary folder."""
    folder = tempfile.mkdtemp(prefix="memsync-demo-")
    try:
        stage = prepare(folder, session.variables, session.language, quiet=session.as_json)
        play(stage, session.translate)
        if session.as_json:
            give(steps=[asdict(step) for step in stage.steps], folder=folder if keep else None)
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
    if not session.as_json:
        _tell_end(folder if keep else None, stage, session.translate)
    return 0


def _tell_end(folder: str | None, stage: Stage, _: Translate) -> None:
    say()
    if folder is None:
        say(_("That was all of it; the temporary folder is gone again."))
        return
    say(_("That was all of it. The folder is kept: {}").replace("{}", safe(folder)))
    say(_("To look around in it:"))
    say(safe(f"  cd {stage.code}"))
    say(safe(f"  export MEMSYNC_HOME={stage.memory}"))


# --- the stage -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Step:
    """One command that was run: its words, its exit status, what it printed."""

    command: tuple[str, ...]
    status: int
    output: str


@dataclass
class Stage:
    """A memory and a code repository of their own, and a way to run the program on them."""

    memory: str
    code: str
    variables: Mapping[str, str]
    quiet: bool = False
    steps: list[Step] = field(default_factory=list)

    def run(self, *arguments: str, status: int = 0) -> str:
        """Run ``memsync`` as typed in the code repository, show it, give what it printed.

        Raises DemoFailed where it does not end with ``status``.
        """
        if not self.quiet:
            say()
            say(style(typed(arguments), fg="green"))
        done = subprocess.run(
            [sys.executable, "-m", "memsync", *arguments],
            cwd=self.code,
            env=dict(self.variables),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        told = done.stdout.decode("utf-8", "replace").rstrip("\n")
        self.steps.append(Step(("memsync", *arguments), done.returncode, told))
        if not self.quiet:
            for line in paragraphs(told):
                say(safe(folded(line)))
        if done.returncode != status:
            detail = f"it ended with status {done.returncode}"
            raise errors.DemoFailed(command=self.last, detail=detail)
        return told

    @property
    def last(self) -> str:
        """The last command."""
        return " ".join(self.steps[-1].command)

    def expect(self, told: str, wanted: str, there: bool = True) -> None:
        """Check that an answer has a text, or has it not. Raises DemoFailed."""
        if (wanted in told) != there:
            detail = f"its answer lacks {wanted}" if there else f"its answer still has {wanted}"
            raise errors.DemoFailed(command=self.last, detail=detail)

    def tell(self, heading: str, *sentences: str) -> None:
        """The heading of a step, and what to look at."""
        if self.quiet:
            return
        say()
        line = f"── {heading} "
        say(style(line + "─" * (WIDTH - columns(line)), bold=True))
        for sentence in sentences:
            say(wrapped(sentence, WIDTH))


def prepare(folder: str, variables: Mapping[str, str], spoken: str, quiet: bool = False) -> Stage:
    """Lay out the sample memory and a code repository below ``folder``."""
    home, memory, code = (os.path.join(folder, name) for name in ("home", "memory", "api"))
    os.mkdir(home)
    _write(home, {".gitconfig": "[user]\n\tname = You\n\temail = you@example.invalid\n"})
    private = _private(variables, home, memory)
    shutil.copytree(resources.folder("sample-repo"), memory)
    _speak(os.path.join(memory, "memsync.yaml"), spoken)
    git = Git(memory, private)
    git.run("init", "--quiet", "--initial-branch=main")
    git.run("add", "--all")
    git.run("commit", "--quiet", "--message=The sample memory")
    os.mkdir(code)
    git = Git(code, private)
    git.run("init", "--quiet", "--initial-branch=main")
    git.run("remote", "add", "origin", REMOTE)
    for message, written in CODE:
        _write(code, written)
        git.run("add", "--all")
        git.run("commit", "--quiet", f"--message={message}")
    return Stage(memory, code, private, quiet)


def _private(variables: Mapping[str, str], home: str, memory: str) -> dict[str, str]:
    """The environment of the demo's commands: nothing in it leads to the person's own files."""
    own = ("GIT_", "LC_", "MEMSYNC_", "XDG_")
    kept = {name: value for name, value in variables.items() if not name.startswith(own)}
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    paths = [package, *filter(None, [variables.get("PYTHONPATH")])]
    kept.update(
        HOME=home,
        MEMSYNC_HOME=memory,
        LANG="C.UTF-8",
        PYTHONUTF8="1",
        PYTHONPATH=os.pathsep.join(paths),
        COLUMNS=str(WIDTH),
        NO_COLOR="1",
    )
    return kept


def _speak(path: str, spoken: str) -> None:
    """Let the copy of the sample speak the person's language."""
    chosen = spoken if spoken in language.CONTRACTS else "en"
    with open(path, encoding="utf-8") as stream:
        text = stream.read()
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(re.sub(r"(?m)^language: .*$", f"language: {chosen}", text))


def _write(folder: str, written: Mapping[str, str]) -> None:
    for name, text in written.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(text)


# --- the play ------------------------------------------------------------------------------


def play(stage: Stage, _: Translate) -> None:
    """Remembered, edited by hand, retrieved with reasons, forgotten, brought back.

    Raises DemoFailed where a command does not do what it is shown to do.
    """
    if not stage.quiet:
        say(
            wrapped(
                _(
                    "A sample memory and a small code repository in a temporary folder. Your own "
                    "memory and your Git settings are not touched; every command below is real."
                ),
                WIDTH,
            )
        )
    stage.tell(
        _("1. How the memory stands"),
        _("One memory has an open conflict, so the exit status is 4: somebody should look."),
    )
    told = stage.run("status", status=int(errors.Exit.ATTENTION))
    stage.expect(told, "acme-api-9f3c1e7a")
    record_id, path = _remember(stage, _)
    edited = _edit(stage, record_id, path, _)
    _retrieve(stage, record_id, edited, _)
    _forget(stage, record_id, _)
    _bring_back(stage, record_id, path, edited, _)


def _remember(stage: Stage, _: Translate) -> tuple[str, str]:
    """Remember a convention; gives its id and the path of its file."""
    stage.tell(
        _("2. Remember"),
        _("A memory is a Markdown file; this one holds for some paths and kinds of tasks."),
    )
    told = stage.run(
        "remember",
        _("Sign out every device after a password change"),
        *("--path", "internal/auth/**"),
        *("--task", "authentication"),
        *("--task", "登录"),
    )
    found = _ID.search(told)
    if found is None:
        raise errors.DemoFailed(command=stage.last, detail="its answer lacks an id")
    path = told.splitlines()[-1].strip()
    return found[0], os.path.join(stage.memory, path)


def _edit(stage: Stage, record_id: str, path: str, _: Translate) -> str:
    """Change the file as a person does; gives the new line."""
    stage.tell(
        _("3. Edit it by hand"),
        _("The file is yours. Here a line is added at its end, as any editor would do it:"),
        "  " + os.path.relpath(path, stage.memory),
    )
    line = _("Keep the one that changed it signed in.")
    with open(path, "a", encoding="utf-8") as stream:
        stream.write(line + "\n")
    stage.expect(stage.run("diff", record_id), f"+{line}")
    return line


def _retrieve(stage: Stage, record_id: str, edited: str, _: Translate) -> None:
    stage.tell(
        _("4. What a task gets, and why"),
        _("This is the text for an agent: each memory says why it applies."),
    )
    told = stage.run("retrieve", "--task", ENGLISH_TASK, "--path", _LOGIN, "--max-entries", "2")
    stage.expect(told, record_id)
    stage.expect(told, edited)
    stage.tell(_("5. The same for a task in Chinese"))
    told = stage.run("retrieve", "--task", CHINESE_TASK, "--max-entries", "3")
    stage.expect(told, record_id)
    stage.expect(told, FOUND_IN_CHINESE)
    stage.tell(
        _("6. Why a memory stays out"),
        _("Saved? Matched? Delivered? A memory is named by its id or by its title."),
    )
    told = stage.run("explain", SUPERSEDED, "--task", ENGLISH_TASK)
    stage.expect(told, _("no: {}").replace("{}", _("another memory has taken its place")))


def _forget(stage: Stage, record_id: str, _: Translate) -> None:
    stage.tell(
        _("7. Forget"),
        _("The edit by hand is committed first, so that nothing is lost. Then the file goes."),
    )
    stage.run("forget", record_id)
    stage.run("explain", record_id, "--task", ENGLISH_TASK, "--path", _LOGIN)
    told = stage.run("retrieve", "--task", ENGLISH_TASK, "--path", _LOGIN, "--max-entries", "2")
    stage.expect(told, record_id, there=False)


def _bring_back(stage: Stage, record_id: str, path: str, edited: str, _: Translate) -> None:
    stage.tell(
        _("8. Bring it back"),
        _("Every step was a Git commit, so the text is as it was, with the edit by hand."),
    )
    stage.run("rollback", record_id)
    with open(path, encoding="utf-8") as stream:
        stage.expect(stream.read(), edited)
    told = stage.run("history", record_id)
    for step in ("remember:", "by hand:", "forget:", "rollback:"):
        stage.expect(told, step)


# --- how it is shown -----------------------------------------------------------------------


def typed(arguments: tuple[str, ...]) -> str:
    """A command as a person types it, within the width."""
    lines, words = ["$ memsync"], list[str]()
    for argument in arguments:
        shown = argument if _PLAIN.fullmatch(argument) else f'"{argument}"'
        if words and words[-1].startswith("--") and " " not in words[-1]:
            words[-1] += " " + shown
        else:
            words.append(shown)
    for shown in words:
        if columns(lines[-1]) + columns(shown) + 3 > WIDTH:
            lines[-1] += " \\"
            lines.append("   ")
        lines[-1] += " " + shown
    return "\n".join(lines)


def paragraphs(text: str) -> list[str]:
    """The lines of an answer; a quoted paragraph that is too wide flows as one line."""
    lines: list[str] = []
    for line in text.splitlines():
        flows = line.startswith("> ") and not re.match(r"> ([-*#>|]|\d+\.|\s)", line)
        if flows and lines and lines[-1].startswith("> ") and columns(lines[-1]) > WIDTH:
            lines[-1] += " " + line[2:]
        else:
            lines.append(line)
    return lines


def folded(line: str) -> str:
    """A line of an answer within the width; quotes stay quotes, items stay items."""
    start = next((mark for mark in ("> ", "- ") if line.startswith(mark)), "")
    rest = wrapped(line.removeprefix(start), WIDTH - len(start)) if line.strip() else line
    following = start if start == "> " else " " * len(start)
    return start + rest.replace("\n", "\n" + following)
