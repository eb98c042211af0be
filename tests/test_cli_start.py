"""Starting the program: what it loads, its help, its completion, its two names."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from memsync.cli.app import COMMANDS
from tests.asking import call
from tests.conftest import Memory, make_project

NAMES = [name for group in COMMANDS.values() for name in group]
#: What a cold start must not pay for.
HEAVY = {"git", "sqlite3", "_sqlite3", "yaml", "_yaml"}


def loaded(memory: Memory, *arguments: str) -> set[str]:
    """The modules that a call of the program leaves loaded, in a process of its own."""
    code = (
        "import sys; from memsync.cli.app import run; status = run(sys.argv[1:]);"
        "print('\\n'.join(sys.modules), file=sys.stderr); sys.exit(status)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        env=memory.variables,
        cwd=memory.root,
    )
    assert done.returncode == 0, done.stderr
    return set(done.stderr.split())


@pytest.mark.parametrize("arguments", [("--help",), ("--version",)])
def test_help_loads_neither_git_nor_sqlite_nor_yaml(
    machine: Memory, arguments: tuple[str, ...]
) -> None:
    modules = loaded(machine, *arguments)
    assert "memsync.cli.app" in modules
    assert sorted(modules & HEAVY) == []
    rooms = {name.split(".")[1] for name in modules if name.startswith("memsync.")}
    assert not rooms & {"store", "index", "gitrepo", "director", "providers", "frontmatter"}


def test_what_only_some_commands_need_is_loaded_by_those(memory: Memory) -> None:
    memory.remember("Prefer tabs")
    modules = loaded(memory, "list")
    assert "sqlite3" in modules
    assert "git" not in modules


def test_the_help_names_every_command_under_its_group(machine: Memory) -> None:
    told = call(machine, "--help").stdout.decode()
    for group, commands in COMMANDS.items():
        assert f"{group}:" in told
        for name in commands:
            assert f"\n  {name} " in told
    assert call(machine, "-h").stdout.decode() == told
    assert max(map(len, told.splitlines())) <= 100


@pytest.mark.parametrize("name", NAMES)
def test_every_command_has_a_help_that_needs_no_memory(machine: Memory, name: str) -> None:
    lost = {"HOME": "", "MEMSYNC_HOME": ""}
    done = call(machine, name, "--help", variables=lost)
    assert (done.returncode, done.stderr) == (0, b"")
    told = done.stdout.decode()
    assert told.startswith(f"Usage: memsync {name}")
    assert name == "project" or "--json" in told
    assert call(machine, name, "-h", variables=lost).stdout == done.stdout


@pytest.mark.parametrize("name", ["show", "list", "alias"])
def test_the_commands_below_project_have_a_help(machine: Memory, name: str) -> None:
    done = call(machine, "project", name, "--help")
    assert done.returncode == 0
    assert b"--json" in done.stdout


@pytest.mark.parametrize("group", [(), ("project",)])
def test_a_bare_call_shows_the_help(machine: Memory, group: tuple[str, ...]) -> None:
    done = call(machine, *group)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == call(machine, *group, "--help").stdout


# --- completion ------------------------------------------------------------------------------


def completed(memory: Memory, words: str, position: str, shell: str = "bash") -> list[str]:
    """What the shell is offered for a line, in a process as the shell starts it."""
    variables = {
        "COMP_WORDS": words,
        "COMP_CWORD": position,
        "_MEMSYNC_COMPLETE": f"{shell}_complete",
    }
    done = memory.run(variables=variables)
    assert (done.returncode, done.stderr) == (0, b"")
    return [line for line in done.stdout.decode().splitlines() if line]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_for_each_shell(machine: Memory, shell: str) -> None:
    done = machine.run(variables={"_MEMSYNC_COMPLETE": f"{shell}_source"})
    assert done.returncode == 0, done.stderr
    script = done.stdout.decode()
    assert "_memsync_completion" in script
    assert "_MEMSYNC_COMPLETE" in script
    if shutil.which(shell):
        checked = subprocess.run([shell, "-n"], input=done.stdout, capture_output=True)
        assert (checked.returncode, checked.stderr) == (0, b"")


def test_commands_ids_and_project_keys_are_completed(memory: Memory) -> None:
    code = make_project(memory, "api", "git@github.com:acme/api.git")
    mine = memory.remember("Prefer tabs").record.id
    theirs = memory.remember("In the project", code).record
    assert completed(memory, "memsync rem", "1") == ["plain,remember"]
    for command in ("show", "forget", "correct", "history", "expand", "pause"):
        offered = completed(memory, f"memsync {command} m-", "2")
        assert {f"plain,{mine}", f"plain,{theirs.id}"} == set(offered)
    assert completed(memory, f"memsync show {mine[:8]}", "2") == [f"plain,{mine}"]
    assert completed(memory, "memsync show zzz", "2") == []
    for command in ("list", "remember", "pause"):
        key = completed(memory, f"memsync {command} --project ap", "3")
        assert key == [f"plain,{theirs.project_key}"]
    titled = completed(memory, "memsync show ", mine[:8], "fish")
    assert titled == [f"plain,{mine}\tPrefer tabs"]


def test_completion_without_a_memory_offers_nothing_and_says_nothing(machine: Memory) -> None:
    assert completed(machine, "memsync show m-", "2") == []
    assert completed(machine, "memsync list --project a", "3") == []
    assert not machine.home.exists()


# --- two names -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments", [("--version",), ("--help",), ("list", "--json"), ("show", "nothing"), ("lst",)]
)
def test_the_program_and_the_module_are_the_same(
    memory: Memory, arguments: tuple[str, ...]
) -> None:
    script = Path(sysconfig.get_path("scripts")) / "memsync"
    if not script.exists():
        pytest.skip("memsync is not installed here")
    memory.remember("Prefer tabs")
    module = memory.run(*arguments)
    program = subprocess.run(
        [script, *arguments], capture_output=True, env=memory.variables, cwd=memory.root
    )
    assert (program.returncode, program.stdout, program.stderr) == (
        module.returncode,
        module.stdout,
        module.stderr,
    )
