"""Reading changes nothing: no file of the memory, no commit, not even Git's own index."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.asking import call
from tests.conftest import Memory, make_project
from tests.disturbed import copy_of, quick_folder
from tests.operations import IDS, at, make_template

READS = (
    ("list",),
    ("list", "--json"),
    ("show", IDS["tabs"]),
    ("search", "tabs habit"),
    ("history", IDS["tabs"]),
    ("history", IDS["gone"]),
    ("diff", IDS["tabs"]),
    ("conflicts",),
    ("tombstones",),
    ("inbox",),
    ("retrieve", "--task", "write tabs"),
    ("retrieve", "code", "--task", "write tabs"),
    ("expand", IDS["tabs"]),
    ("explain", IDS["tabs"], "--task", "write tabs"),
    ("status",),
    ("status", "code"),
    ("lint",),
    ("doctor",),
    ("config",),
    ("config", "language"),
    ("project", "show", "code"),
    ("project", "list"),
    ("export",),
    ("list", "no-such-folder"),
    ("show", "no-such-memory"),
    ("project", "show"),
)
REFUSED = READS[-3:]


@pytest.fixture(scope="module")
def quick() -> Iterator[Path]:
    with quick_folder() as folder:
        yield folder


@pytest.fixture(scope="module")
def machines(quick: Path) -> dict[str, Memory]:
    """A memory where all is committed, and one with every kind of hand work pending."""
    template = make_template(quick / "template")
    copy_of(template, quick / "settled")
    copy_of(template, quick / "pending")
    found: dict[str, Memory] = {name: at(quick / name) for name in ("settled", "pending")}
    for memory in found.values():
        make_project(memory, "code", "git@github.com:acme/code.git")
        memory.run("list")
    memory = found["pending"]
    memory.write("global/new.md", "A new one\n")
    memory.write("global/tabs.md", memory.read("global/tabs.md") + "an edit\n")
    memory.write("projects/by-hand/moved.md", memory.read("projects/other/trial.md"))
    (memory.home / "projects/other/trial.md").unlink()
    (memory.home / "global/open.md").unlink()
    memory.write("global/broken.md", "---\ntitle: [\n---\n")
    memory.write("profile.md", "by hand\n")
    memory.write("global/staged.md", "staged\n")
    memory.git("add", "global/staged.md")
    memory.write("global/link.md", "")
    (memory.home / "global/link.md").unlink()
    (memory.home / "global/link.md").symlink_to(memory.root / ".gitconfig")
    return found


def everything(memory: Memory) -> dict[str, object]:
    """All that a read must leave: files with their times, refs, reflogs, Git's index, settings."""
    found: dict[str, object] = {}
    for top in (memory.home, memory.root / "code"):
        for path in sorted(top.rglob("*")):
            name = str(path.relative_to(memory.root))
            # What is derived may be refreshed: the search index, the graph of the commits.
            derived = ".git/memsync/" in name or ".git/objects/info" in name
            if derived or not path.is_file() or path.is_symlink():
                continue
            found[name] = (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_ino)
    return found


@pytest.mark.parametrize("name", ["settled", "pending"])
def test_no_reading_command_changes_anything(machines: dict[str, Memory], name: str) -> None:
    memory = machines[name]
    before = everything(memory)
    assert "memory/.git/index" in before
    assert "memory/.git/refs/heads/main" in before
    for arguments in READS:
        done = call(memory, *arguments)
        assert b"Traceback" not in done.stderr, arguments
        answered = done.returncode in (0, 4)
        assert answered or arguments in REFUSED, (arguments, done.stderr)
        after = everything(memory)
        differs = {k for k in {*before, *after} if before.get(k) != after.get(k)}
        assert not differs, arguments


def test_resolving_a_project_writes_nothing_into_it(machines: dict[str, Memory]) -> None:
    memory = machines["settled"]
    assert memory.git("config", "--get-regexp", "memsync.*", folder=memory.home)
    with pytest.raises(Exception, match="returned non-zero"):
        memory.git("config", "--get-regexp", "memsync.*", folder=memory.root / "code")
