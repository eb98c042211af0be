"""The demo runs the real program on real files, and README shows what it prints."""

from __future__ import annotations

import json
import os
import pty
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from memsync import errors
from memsync.cli import demo
from memsync.cli.screen import columns
from tests.conftest import Memory, make_project, variables_for

README = (Path(__file__).resolve().parent.parent / "README.md").read_text(encoding="utf-8")


def a_machine(root: Path) -> Memory:
    """A machine whose temporary folder is its own, so that what is left in it is seen."""
    (root / ".gitconfig").write_text("[user]\n\tname = Mona\n\temail = mona@example.invalid\n")
    (root / "tmp").mkdir()
    return Memory(root, {**variables_for(root), "TMPDIR": str(root / "tmp")})


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> tuple[Memory, str]:
    """A machine on which the demo ran once, and what it printed."""
    machine = a_machine(tmp_path_factory.mktemp("demo"))
    done = machine.run("demo")
    assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()
    assert done.stderr == b""
    return machine, done.stdout.decode()


def test_the_demo_shows_the_main_job_from_beginning_to_end(shown: tuple[Memory, str]) -> None:
    _machine, told = shown
    commands = re.findall(r"^\$ memsync (\w+)", told, re.MULTILINE)
    assert commands == [
        *("status", "remember", "diff", "retrieve", "retrieve", "explain"),
        *("forget", "explain", "retrieve", "rollback", "history"),
    ]
    assert re.findall(r"^── (\d)\.", told, re.MULTILINE) == [*"12345678"]
    assert demo.CHINESE_TASK in told
    assert demo.ENGLISH_TASK in told


def test_the_demo_fits_a_terminal_of_80_columns_and_has_no_colours(
    shown: tuple[Memory, str],
) -> None:
    _machine, told = shown
    assert [line for line in told.splitlines() if columns(line) > 80] == []
    assert "\x1b" not in told
    assert all(line == line.rstrip() for line in told.splitlines())


def test_the_demo_leaves_no_trace_on_the_machine(shown: tuple[Memory, str]) -> None:
    machine, _told = shown
    left = sorted(str(p.relative_to(machine.root)) for p in machine.root.rglob("*"))
    assert left == [".gitconfig", "tmp"]


def test_the_demo_on_a_terminal_speaks_the_language_and_keeps_the_folder(tmp_path: Path) -> None:
    machine = a_machine(tmp_path).begin()
    machine.remember("只有我自己知道的事")
    before = machine.git("rev-parse", "HEAD")
    told = on_a_terminal(machine, "demo", "--keep", LANG="zh_CN.UTF-8")
    assert "\x1b[1m── 2. 记住 " in told
    assert "已记住 m-" in told
    assert "只有我自己知道的事" not in told
    assert machine.git("rev-parse", "HEAD") == before
    folder = Path(re.findall(r"文件夹保留在：(\S+)", told)[0])
    assert folder.parent == tmp_path / "tmp"
    log = machine.git("log", "--format=%s", "--reverse", folder=folder / "memory").splitlines()
    title = "改密码之后，所有设备都要退出登录"
    assert log == [
        "The sample memory",
        *(f"{verb}: {title}" for verb in ("remember", "by hand", "forget", "rollback")),
    ]
    code = folder / "api"
    assert machine.git("rev-list", "--count", "HEAD", folder=code) == "3"
    assert machine.git("status", "--porcelain", folder=code) == ""


def on_a_terminal(machine: Memory, *arguments: str, **variables: str) -> str:
    """Run the program on a pseudo-terminal; what it printed."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "memsync", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        cwd=machine.root,
        env={**machine.variables, "TERM": "xterm", **variables},
    )
    os.close(theirs)
    told = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        told += part
    os.close(ours)
    assert process.wait(60) == 0, told.decode()
    return told.decode().replace("\r\n", "\n")


def test_the_demo_as_json_is_one_object_with_every_step(tmp_path: Path) -> None:
    machine = a_machine(tmp_path)
    told = machine.json("demo")
    assert told["schema"] == "memsync.cli.v1"
    assert [step["status"] for step in told["steps"]] == [4, *[0] * 10]
    assert told["steps"][1]["command"][:2] == ["memsync", "remember"]
    assert told["folder"] is None
    assert [*(tmp_path / "tmp").iterdir()] == []


def test_a_step_that_fails_ends_the_demo_with_an_error(machine: Memory) -> None:
    stage = demo.prepare(str(machine.root), machine.variables, "en", quiet=True)
    with pytest.raises(errors.DemoFailed) as failed:
        stage.run("show", "nothing")
    assert failed.value.facts["command"] == "memsync show nothing"
    assert failed.value.facts["detail"] == "it ended with status 3"
    told = stage.run("status", status=4)
    with pytest.raises(errors.DemoFailed):
        stage.expect(told, "no such words")
    with pytest.raises(errors.DemoFailed):
        stage.expect(told, "acme-api", there=False)


def test_without_git_the_demo_says_so_and_leaves_nothing(tmp_path: Path) -> None:
    machine = a_machine(tmp_path)
    done = machine.run("demo", variables={"PATH": str(tmp_path)})
    assert done.returncode == 1
    assert done.stderr.decode().startswith("error[git-missing]")
    assert [*(tmp_path / "tmp").iterdir()] == []


def test_what_the_shell_of_the_person_says_about_git_does_not_reach_the_demo(
    machine: Memory,
) -> None:
    theirs = make_project(machine, "theirs")
    variables = {
        **machine.variables,
        "GIT_DIR": str(theirs / ".git"),
        "GIT_INDEX_FILE": str(theirs / "index"),
        "XDG_CONFIG_HOME": str(machine.root / "xdg"),
        "MEMSYNC_HOME": str(theirs),
        "LC_ALL": "zh_CN.UTF-8",
    }
    stage = demo.prepare(str(machine.root), variables, "en", quiet=True)
    told = stage.run("status", status=4)
    assert told.split()[:3] == ["Memory", "in", f"{machine.root}/memory"]
    assert machine.git("status", "--porcelain", folder=theirs) == ""


# --- README --------------------------------------------------------------------------------


def blanked(text: str) -> str:
    """A text without what differs from run to run."""
    text = re.sub(r"m-[0-9a-z]{16}", "m-ID", text)
    return re.sub(r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\dZ)?", "DAY", text)


def test_the_session_in_the_readme_is_what_the_demo_prints(shown: tuple[Memory, str]) -> None:
    _machine, told = shown
    block = re.findall(r"```console\n(.*?)```", README, re.DOTALL)[0]
    left = blanked(told)
    parts = blanked(block).split("…\n")
    assert len(parts) > 5
    for part in parts:
        assert "\n" + part in left, part
        left = left[left.index("\n" + part) + len(part) :]


def test_what_people_do_first_works_in_the_order_of_the_readme(memory: Memory) -> None:
    # The memory of the fixture is not begun: the first command does that.
    machine = Memory(memory.root, {**memory.variables, "MEMSYNC_HOME": str(memory.root / "new")})
    project = make_project(machine, "api", "git@github.com:acme/api.git")
    section = README.partition("## What people do first")[2].partition("\n## ")[0]
    commands = re.findall(r"^\| `memsync (.+?)` \|", section, re.MULTILINE)
    assert len(commands) == 10
    record_id = "ID"
    for command in commands:
        words = [record_id if word == "ID" else word for word in shlex.split(command)]
        done = machine.run(*words, folder=project, variables={"EDITOR": "true"})
        told = done.stdout.decode()
        assert done.returncode == 0, (command, done.stderr.decode())
        if words[0] == "remember":
            record_id = told.split()[1].rstrip(":")
        if words[0] in ("retrieve", "search", "list"):
            assert "Use pnpm, never npm" in told
    assert (machine.home / "memsync.yaml").is_file()


def test_what_an_agent_is_told_to_run_works(memory: Memory, project: Path) -> None:
    memory.remember("Use pnpm, never npm", project, paths=("web/**",))
    section = README.partition("## Give it to an agent")[2].partition("\n## ")[0]
    (command,) = re.findall(r"^    memsync (.+)$", section, re.MULTILINE)
    done = memory.run(*shlex.split(command), folder=project)
    assert b"Use pnpm, never npm" in done.stdout, done.stderr


def test_the_copy_that_the_readme_makes_is_a_whole_memory(memory: Memory) -> None:
    section = README.partition("## Keep a copy")[2].partition("\n## ")[0]
    block = re.findall(r"```sh\n(.*?)```", section, re.DOTALL)[0]
    cloned, begun = re.findall(r"`((?:git clone|memsync init)[^`]*)`", section)
    remote = memory.root / "remote.git"
    memory.git("init", "-q", "--bare", str(remote), folder=memory.root)
    first = memory.remember("Prefer tabs").record.id
    for script, home in ((block, memory.home), (cloned, memory.root / "other")):
        here = script.replace("~/.memsync", str(home))
        here = here.replace("git@example.org:you/memory.git", str(remote))
        subprocess.run(["sh", "-ec", here], env=memory.variables, cwd=memory.root, check=True)
    other = Memory(memory.root, {**memory.variables, "MEMSYNC_HOME": str(memory.root / "other")})
    assert other.run(*begun.split()[1:]).returncode == 0
    assert other.json("show", first)["record"]["title"] == "Prefer tabs"


def test_the_readme_names_only_files_that_are_there() -> None:
    root = Path(__file__).resolve().parent.parent
    links = re.findall(r"\]\(([^)#:]+)\)", README)
    assert len(links) > 5
    assert [link for link in links if not (root / link).exists()] == []
    for target in re.findall(r"^make (\w+)", README, re.MULTILINE):
        assert f"\n{target}:" in (root / "Makefile").read_text(encoding="utf-8")


def test_a_command_is_shown_as_one_types_it() -> None:
    assert demo.typed(("show", "m-1")) == "$ memsync show m-1"
    long = demo.typed(("retrieve", "--task", "a b " * 10, "--path", "x/y.go", "--max-entries", "2"))
    assert [columns(line) <= 80 for line in long.splitlines()] == [True, True]
    assert json.loads(json.dumps(shlex.split(long.replace("\\\n", ""))))[3] == "--task"


def test_a_quoted_paragraph_flows_and_a_list_does_not() -> None:
    wide = "> " + "word " * 18
    assert len(demo.paragraphs(f"{wide}\n> and on\n> - item\n> - item")) == 3
    assert demo.paragraphs("> short\n> lines") == ["> short", "> lines"]
    folded = demo.folded(wide.rstrip()).splitlines()
    assert len(folded) == 2
    assert all(line.startswith("> ") and columns(line) <= 80 for line in folded)
    assert demo.folded("- " + "item " * 20).splitlines()[1].startswith("  item")
