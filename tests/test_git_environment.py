"""Whatever git's environment and configuration are: the memory is written, and nothing else is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from memsync import errors
from memsync.gitrepo.run import Git, without_credentials
from tests.asking import answer, call, standing
from tests.conftest import Memory, make_project

TOKEN = "s3cr3t-t0ken"


def configure(memory: Memory, text: str) -> None:
    """Add to the person's own configuration of git."""
    with open(memory.root / ".gitconfig", "a") as stream:
        stream.write(text)


def program(memory: Memory, name: str, text: str) -> Path:
    path = memory.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    return path


def code_with_worktree(memory: Memory) -> tuple[Path, Path]:
    """A code project with one commit, and a linked worktree of it."""
    code = make_project(memory, "api", "git@github.com:acme/api.git")
    (code / "main.py").write_text("print()\n")
    memory.git("add", "main.py", folder=code)
    memory.git("commit", "-qm", "first", folder=code)
    linked = memory.root / "linked"
    memory.git("worktree", "add", "-q", str(linked), folder=code)
    return code, linked


def everyday(memory: Memory, **options: object) -> None:
    """Remember, edit by hand, correct, forget, bring back, settings: all must work."""
    given = {"folder": memory.root, **options}
    first = answer(memory, "remember", "Prefer tabs", "--scope", "global", **given)
    memory.write("global/by-hand.md", "By hand\n")
    path = first["record"]["path"]
    memory.write(path, memory.read(path) + "Always.\n")
    number = first["record"]["id"]
    for arguments in (
        ("correct", number, "Prefer spaces"),
        ("config", "memory.learning", "false"),
        ("forget", "By hand"),
        ("rollback", number),
        ("doctor", "--fix"),
        ("status",),
    ):
        done = call(memory, *arguments, **given)  # type: ignore[arg-type]
        assert done.returncode == 0, (arguments, done.stderr.decode())
    assert len(answer(memory, "history", number, **given)["revisions"]) == 4


def sound(memory: Memory) -> None:
    """As the person's own git sees it: nothing left over, nothing damaged."""
    assert memory.git("status", "--porcelain") == ""
    memory.git("fsck", "--strict")


# --- the environment of a hook ---------------------------------------------------------------


def hook_variables(code: Path, linked: Path) -> dict[str, str]:
    """What git exports to a hook of a linked worktree, and what scripts add."""
    return {
        "GIT_DIR": str(code / ".git" / "worktrees" / "linked"),
        "GIT_COMMON_DIR": str(code / ".git"),
        "GIT_WORK_TREE": str(linked),
        "GIT_INDEX_FILE": str(code / ".git" / "worktrees" / "linked" / "index"),
        "GIT_OBJECT_DIRECTORY": str(code / ".git" / "objects"),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(code / ".git" / "objects"),
        "GIT_PREFIX": "",
        "GIT_AUTHOR_NAME": "Somebody Else",
        "GIT_AUTHOR_EMAIL": "else@example.invalid",
        "GIT_AUTHOR_DATE": "@978307200 +0000",
        "GIT_COMMITTER_DATE": "@978307200 +0000",
        "GIT_COMMITTER_NAME": "Somebody Else",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.bare",
        "GIT_CONFIG_VALUE_0": "true",
        "GIT_CONFIG_PARAMETERS": "'core.worktree=/nowhere'",
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_NAMESPACE": "elsewhere",
        "GIT_TRACE": "2",
        "GIT_EDITOR": "false",
    }


def test_the_variables_of_a_hook_reach_no_git_of_the_memory(machine: Memory) -> None:
    code, linked = code_with_worktree(machine)
    before = standing(machine, code), standing(machine, linked)
    variables = hook_variables(code, linked)
    assert call(machine, "init", folder=linked, variables=variables).returncode == 0
    everyday(machine, folder=linked, variables=variables)
    sound(machine)
    assert (standing(machine, code), standing(machine, linked)) == before
    assert machine.git("status", "--porcelain", folder=linked) == ""
    authors = set(machine.git("log", "--format=%an %cn").splitlines())
    assert authors == {"Mona Mona"}
    oldest = min(int(line) for line in machine.git("log", "--format=%at%n%ct").splitlines())
    assert oldest > time.time() - 3600


def test_a_memory_made_inside_a_real_hook_of_a_linked_worktree(memory: Memory) -> None:
    code, linked = code_with_worktree(memory)
    hook = program(
        memory,
        "api/.git/hooks/post-commit",
        f"exec {sys.executable} -m memsync remember 'Made in a hook' --json > {memory.root}/told\n",
    )
    assert os.access(hook, os.X_OK)
    (linked / "more.py").write_text("print()\n")
    memory.git("add", "more.py", folder=linked)
    dated = ("commit", "-qm", "second", "--date", "2001-01-01T00:00:00Z")
    memory.git(*dated, folder=linked)
    assert memory.git("rev-list", "--count", "HEAD", folder=linked) == "2"
    assert memory.git("rev-list", "--count", "HEAD", folder=code) == "1"
    assert memory.git("status", "--porcelain", folder=linked) == ""
    record = answer(memory, "show", "Made in a hook")["record"]
    assert record["projectKey"].startswith("api-")
    assert record["projectKey"] == answer(memory, "project", "show", folder=code)["projectKey"]
    assert "2001" not in memory.git("log", "-1", "--format=%ai %ci")


# --- the person's configuration --------------------------------------------------------------


@pytest.mark.parametrize("signer", ["/nowhere/gpg", "exit 2", "sleep 600"])
def test_commits_are_made_where_signing_is_on_and_cannot_work(machine: Memory, signer: str) -> None:
    chosen = signer if signer[0] == "/" else str(program(machine, "signer", signer + "\n"))
    configure(
        machine,
        f"[commit]\n\tgpgsign = true\n[tag]\n\tgpgsign = true\n[gpg]\n\tprogram = {chosen}\n",
    )
    begun = time.monotonic()
    assert call(machine, "init").returncode == 0
    everyday(machine)
    assert time.monotonic() - begun < 60
    sound(machine)
    assert set(machine.git("log", "--format=%G?").splitlines()) == {"N"}


HOOKS = (
    *("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "pre-rebase"),
    *("post-checkout", "post-merge", "reference-transaction", "post-index-change", "pre-push"),
    *("post-rewrite", "pre-auto-gc", "fsmonitor-watchman"),
)


def failing_hooks(memory: Memory, folder: str) -> Path:
    """A folder of hooks that all fail and say that they ran."""
    for name in HOOKS:
        program(memory, f"{folder}/{name}", f"echo {name} >> {memory.root}/ran\nexit 1\n")
    return memory.root / folder


def test_hooks_that_are_set_for_all_repositories_do_not_run(machine: Memory) -> None:
    configure(machine, f"[core]\n\thooksPath = {failing_hooks(machine, 'hooks')}\n")
    assert call(machine, "init").returncode == 0
    everyday(machine)
    number = answer(machine, "list")["records"][0]["id"]
    assert call(machine, "forget", number, "--permanent").returncode == 0
    assert not (machine.root / "ran").exists()


def test_a_template_with_hooks_and_excludes_does_not_matter(machine: Memory) -> None:
    template = failing_hooks(machine, "template/hooks").parent
    (template / "info").mkdir()
    (template / "info" / "exclude").write_text("*\n")
    (template / "info" / "attributes").write_text("*.md filter=broken text eol=crlf\n")
    configure(machine, f"[init]\n\ttemplateDir = {template}\n")
    assert call(machine, "init").returncode == 0
    everyday(machine)
    assert not (machine.root / "ran").exists()
    machine.git("config", "core.hooksPath", "/dev/null")
    sound(machine)


def test_a_fallback_identity_where_git_knows_none(machine: Memory) -> None:
    (machine.root / ".gitconfig").unlink()
    nameless = {"EMAIL": "", "GIT_AUTHOR_NAME": "Nobody", "USER": "nobody"}
    assert call(machine, "init", variables=nameless).returncode == 0
    everyday(machine, variables=nameless)
    told = set(machine.git("log", "--format=%an <%ae> %cn <%ce>").splitlines())
    assert told == {"memsync <memsync@localhost> memsync <memsync@localhost>"}


def test_the_persons_identity_is_used_where_git_knows_it(memory: Memory) -> None:
    memory.git("config", "user.name", "Only Here")
    memory.remember("Prefer tabs")
    assert memory.git("log", "-1", "--format=%an <%ae>") == "Only Here <mona@example.invalid>"


@pytest.mark.parametrize("line", ["autocrlf = true", "autocrlf = input", "eol = crlf"])
def test_line_ends_are_not_rewritten_and_nothing_churns(machine: Memory, line: str) -> None:
    configure(machine, f"[core]\n\t{line}\n\tsafecrlf = true\n")
    assert call(machine, "init").returncode == 0
    kept = b"---\r\ntitle: Windows\r\n---\r\nOne\r\nTwo\r\n"
    machine.write("global/windows.md", kept)
    machine.write("global/unix.md", "Unix\n\nOne\nTwo\n")
    machine.write("global/mixed.md", b"Mixed\r\n\nOne\nTwo\r\n")
    machine.write("global/bom.md", b"\xef\xbb\xbfWith a mark\r\n\r\ntext\r\n")
    everyday(machine)
    windows = (machine.home / "global" / "windows.md").read_bytes()
    sound(machine)
    assert windows.endswith(b"---\r\nOne\r\nTwo\r\n")
    assert windows.count(b"\n") == windows.count(b"\r\n")
    assert machine.git("status", "--porcelain") == ""
    blob = subprocess.run(
        ["git", "cat-file", "blob", "HEAD:global/windows.md"],
        cwd=machine.home,
        capture_output=True,
        env=machine.variables,
    )
    assert blob.stdout == windows
    before = machine.commits()
    for _ in range(3):
        machine.store().ingest()
    os.utime(machine.home / "global" / "windows.md")
    machine.store().ingest()
    assert machine.commits() == before
    # A clone that git itself converts: read as it is, and no commit of its own.
    clone = machine.root / "clone"
    machine.git("clone", "-q", str(machine.home), str(clone), folder=machine.root)
    there = Memory(machine.root, {**machine.variables, "MEMSYNC_HOME": str(clone)})
    assert (clone / "global" / "windows.md").read_bytes() == windows
    there.store().ingest()
    assert there.commits() == before


def test_what_the_person_ignores_everywhere_is_not_ignored_here(machine: Memory) -> None:
    (machine.root / "ignore").write_text("*.md\n*.yaml\nglobal/\nprojects/\ntombstones/\n")
    configure(machine, f"[core]\n\texcludesFile = {machine.root / 'ignore'}\n")
    assert call(machine, "init").returncode == 0
    everyday(machine)
    sound(machine)
    code = make_project(machine, "api", "git@github.com:acme/api.git")
    assert call(machine, "remember", "In a project", folder=code).returncode == 0
    tracked = set(machine.git("ls-files").splitlines())
    assert {"memsync.yaml", "README.md", "global/prefer-tabs.md"} <= tracked
    assert any(name.startswith("projects/api-") for name in tracked)
    assert any(name.startswith("tombstones/") for name in tracked)


ODD = """[i18n]
	commitEncoding = GBK
	logOutputEncoding = GBK
[color]
	ui = always
[diff]
	noprefix = true
	external = false
	renames = copies
	algorithm = histogram
	mnemonicPrefix = true
[log]
	date = relative
	follow = true
	showSignature = true
	showRoot = false
[format]
	pretty = oneline
[status]
	showUntrackedFiles = no
	relativePaths = false
	short = true
[commit]
	template = /nowhere/template
	verbose = true
	cleanup = scissors
	status = false
[core]
	pager = false
	editor = false
	quotePath = true
	fsmonitor = /nowhere/monitor
	untrackedCache = true
	ignoreCase = true
	precomposeUnicode = true
	abbrev = 4
	logAllRefUpdates = false
	splitIndex = true
[grep]
	patternType = perl
	lineNumber = true
[feature]
	manyFiles = true
[index]
	version = 4
[init]
	defaultBranch = trunk
	defaultObjectFormat = sha256
[advice]
	detachedHead = true
[transfer]
	fsckObjects = true
[alias]
	commit = !false
	status = !false
[submodule]
	recurse = true
"""


def test_an_odd_configuration_changes_nothing(machine: Memory) -> None:
    configure(machine, ODD)
    assert call(machine, "init").returncode == 0
    everyday(machine)
    assert call(machine, "remember", "只用制表符", "--scope", "global").returncode == 0
    record = answer(machine, "show", "只用制表符")["record"]
    call(machine, "correct", record["id"], "只用空格")
    revisions = answer(machine, "history", record["id"])["revisions"]
    assert [r["subject"] for r in revisions] == ["correct: 只用空格", "remember: 只用制表符"]
    diff = answer(machine, "diff", record["id"])["diff"]
    assert "+title: 只用空格" in diff
    assert "\x1b" not in diff
    assert machine.git("symbolic-ref", "HEAD") == "refs/heads/main"
    assert call(machine, "forget", record["id"], "--permanent").returncode == 0
    assert call(machine, "doctor").returncode == 0


# --- credentials -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"https://mona:{TOKEN}@host/x", "https://host/x"),
        (f"https://mona:p@{TOKEN}@host/x", "https://host/x"),
        (
            f"https://{TOKEN}@host/x failed, https://a:b@c/d too",
            "https://host/x failed, https://c/d too",
        ),
        ("ssh://git@host/x and mail a@b.c", "ssh://host/x and mail a@b.c"),
        ("https://host/@scope/x", "https://host/@scope/x"),
        ("nothing here", "nothing here"),
    ],
)
def test_credentials_are_taken_out_of_urls(text: str, shown: str) -> None:
    assert without_credentials(text) == shown


def test_no_command_prints_or_keeps_the_credentials_of_a_remote(memory: Memory) -> None:
    url = f"https://mona:{TOKEN}@127.0.0.1:9/acme/api.git"
    code = make_project(memory, "api", url)
    memory.git("remote", "add", "origin", url)
    memory.git("config", "remote.pushDefault", url)
    number = answer(memory, "remember", "In the project", folder=code)["record"]["id"]
    printed = b""
    for arguments in (
        ("project", "show"),
        ("project", "list"),
        ("project", "alias", f"https://mona:{TOKEN}@example.org/acme/api"),
        ("project", "alias", f"https://mona:{TOKEN}@/"),
        ("project", "alias", f"https://mona:pass@{TOKEN}@[bad/x"),
        ("status",),
        ("doctor",),
        ("retrieve", "--task", "x"),
        ("show", number),
        ("list",),
        ("correct", number, "Another"),
        ("forget", number, "--permanent"),
    ):
        for form in ((), ("--json",)):
            done = call(memory, *form, *arguments, folder=code)
            printed += done.stdout + done.stderr
    assert b"the remote origin still has" in printed
    assert TOKEN.encode() not in printed
    (code / ".git" / "config").write_text(f'[remote "origin"]\n\turl = {url}\n[broken\n')
    done = call(memory, "project", "show", folder=code)
    assert (done.returncode, TOKEN.encode() in done.stderr) == (1, False)
    for path in memory.home.rglob("*"):
        if path.is_file() and path.name != "config":
            assert TOKEN.encode() not in path.read_bytes(), path


# --- a git that hangs ------------------------------------------------------------------------


def alive(process: int) -> bool:
    try:
        with open(f"/proc/{process}/stat") as stream:
            return stream.read().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False


def fake_git(memory: Memory, text: str) -> dict[str, str]:
    program(memory, "fake/git", text)
    return {**memory.variables, "PATH": f"{memory.root / 'fake'}:{os.environ['PATH']}"}


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="asks /proc who lives")
def test_a_git_that_hangs_is_stopped_with_all_that_it_started(memory: Memory) -> None:
    noted = memory.root / "children"
    variables = fake_git(
        memory,
        f"sleep 600 & echo $! >> {noted}\n"
        f"sh -c 'sleep 600 & echo $! >> {noted}; wait' & echo $! >> {noted}\n"
        f"echo $$ >> {noted}\n"
        "wait\n",
    )
    begun = time.monotonic()
    with pytest.raises(errors.GitTimeout) as caught:
        Git(str(memory.home), variables, timeout=1.0).run("status")
    assert time.monotonic() - begun < 10
    assert (caught.value.code, caught.value.exit_status) == ("git-timeout", 5)
    assert caught.value.facts["command"] == "status"
    children = [int(line) for line in noted.read_text().split()]
    assert len(children) == 4
    deadline = time.monotonic() + 5
    while any(map(alive, children)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(alive, children))


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="asks /proc who lives")
def test_what_left_the_group_of_a_hanging_git_does_not_hold_memsync(memory: Memory) -> None:
    noted = memory.root / "escaped"
    variables = fake_git(memory, f"setsid sh -c 'echo $$ > {noted}; exec sleep 30' &\nsleep 600\n")
    begun = time.monotonic()
    try:
        with pytest.raises(errors.GitTimeout):
            Git(str(memory.home), variables, timeout=1.0).run("status")
        assert time.monotonic() - begun < 10
    finally:
        os.kill(int(noted.read_text()), signal.SIGKILL)
