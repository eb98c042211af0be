"""What ships with memsync: data that is found, a sample that is right, told dependencies."""

from __future__ import annotations

import ast
import shutil
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from memsync import __version__, record, resources
from memsync.frontmatter.document import parse, parse_yaml
from memsync.frontmatter.schema import decode
from memsync.record import Authority, Lifecycle, MemoryClass, MemoryType, Record, Scope
from memsync.store import layout
from memsync.tombstone import decode as decode_tombstone
from tests.asking import answer, call
from tests.conftest import Memory

ROOT = Path(__file__).resolve().parent.parent
SAMPLE = resources.folder("sample-repo")
FILES = sorted(str(path.relative_to(SAMPLE)) for path in SAMPLE.rglob("*.md"))
RECORDS = [path for path in FILES if layout.is_record(path)]


def read(path: str) -> Record:
    raw = (SAMPLE / path).read_bytes()
    decoded = decode(raw, path, layout.place_of(path), record.provisional_id(path, ""))
    assert decoded.record is not None, decoded.problems
    return decoded.record


ALL = {path: read(path) for path in RECORDS}


# --- data files ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["templates", "hooks", "sample-repo"])
def test_the_shipped_folders_are_found(name: str) -> None:
    assert any(resources.folder(name).iterdir())


def test_a_shipped_text_is_read_and_a_missing_folder_is_named() -> None:
    assert "profile.md" in resources.text("templates/repository/gitignore")
    with pytest.raises(FileNotFoundError, match="nothing"):
        resources.folder("nothing")


def test_the_catalogues_are_found() -> None:
    assert resources.locales().is_dir()


def test_the_wheel_is_told_to_hold_all_that_is_looked_up() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    shipped = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    for name in ("templates", "hooks", "sample-repo"):
        assert shipped[name] == f"memsync/_data/{name}"
    assert __version__


def imported(folder: Path) -> Iterator[str]:
    """The top-level names that the package imports from outside."""
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                yield from (alias.name.partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                yield node.module.partition(".")[0]


def test_every_package_that_is_imported_is_a_dependency_and_the_other_way() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    stated = {
        "".join(c for c in line if c.isalnum() or c in "-_ <>=!~;[").split(">")[0].strip().lower()
        for line in project["project"]["dependencies"]
    }
    known = {"pyyaml": "yaml"}
    named = {known.get(name, name.replace("-", "_")) for name in stated}
    used = set(imported(ROOT / "memsync")) - set(sys.stdlib_module_names) - {"memsync"}
    assert used == named


# --- the sample ------------------------------------------------------------------------------


def test_the_sample_has_what_a_believable_memory_has() -> None:
    records = [*ALL.values()]
    assert len(records) >= 30
    projects = {item.project_key for item in records if item.scope is Scope.PROJECT}
    assert len(projects) == 2
    for kind, attribute in (
        (MemoryType, "memory_type"),
        (MemoryClass, "memory_class"),
        (Authority, "authority"),
        (Lifecycle, "lifecycle"),
        (Scope, "scope"),
    ):
        counted = Counter(getattr(item, attribute) for item in records)
        assert set(counted) == set(kind), attribute
    for level in ("paths", "tasks", "operations", "phases"):
        assert any(getattr(item.selectors, level) for item in records), level
    for attribute in ("episode", "application", "valid_until", "paused", "source", "reason"):
        assert any(getattr(item, attribute) for item in records), attribute
    kinds = {evidence.kind for item in records for evidence in item.evidence}
    assert len(kinds) >= 3
    for scope in Scope:
        assert len({item.category for item in records if item.scope is scope}) >= 3


def test_the_sample_speaks_two_languages() -> None:
    chinese = [item for item in ALL.values() if any(c > "\u4e00" for c in item.title)]
    assert len(chinese) >= 10
    assert len(ALL) - len(chinese) >= 10


def test_the_sample_has_one_conflict_a_chain_and_two_tombstones() -> None:
    assert [len(item.conflict) for item in ALL.values() if item.conflict] == [1]
    by_id = {item.id: item for item in ALL.values()}
    assert len(by_id) == len(ALL)
    heads = [item for item in ALL.values() if item.supersedes and not item.superseded_by]
    chains = []
    for head in heads:
        chain = [head]
        while chain[-1].supersedes:
            older = by_id[chain[-1].supersedes[0]]
            assert older.superseded_by == chain[-1].id
            assert older.lifecycle is Lifecycle.SUPERSEDED
            chain.append(older)
        chains.append(len(chain))
    assert max(chains) >= 3
    marks = [path for path in FILES if layout.kind_of(path) == "tombstone"]
    assert len(marks) == 2
    for path in marks:
        found = decode_tombstone((SAMPLE / path).read_bytes(), path)
        assert found.tombstone is not None
        assert not found.problems
        assert path == layout.tombstone_file(found.tombstone.id)
        assert found.tombstone.id not in by_id


def test_ids_of_the_sample_are_those_that_the_rules_give() -> None:
    for item in ALL.values():
        assert record.is_id(item.id)
        if item.authority is Authority.INFERRED:
            key, category = item.candidate_key, item.category or ""
            body = f"{item.title}\n{item.body}"
            made = {
                record.inferred_id(item.scope, item.project_key, key, category, text)
                for text in (body, item.title, item.body)
            }
            assert item.id in made, item.title


def test_times_of_the_sample_are_in_order() -> None:
    for path, item in ALL.items():
        created, updated = record.instant(item.created), record.instant(item.updated)
        if created and updated:
            assert created <= updated, path
        for evidence in item.evidence:
            assert evidence.observed_at is None or record.instant(evidence.observed_at), path


@pytest.mark.parametrize("path", FILES)
def test_an_independent_reader_reads_every_file_the_same(path: str) -> None:
    import frontmatter

    raw = (SAMPLE / path).read_bytes()
    ours = parse(raw, path)
    theirs = frontmatter.loads(raw.decode())
    assert set(theirs.metadata) == set(ours.data)
    assert theirs.content.strip() == ours.body.strip()
    for key, value in theirs.metadata.items():
        told = ours.data[key]
        if isinstance(value, str):
            assert told == value
        elif isinstance(value, list):
            assert isinstance(told, list)
            assert len(told) == len(value)
        elif isinstance(value, dict):
            assert isinstance(told, dict)
            assert set(told) == set(value)


def test_the_settings_and_projects_of_the_sample_can_be_read() -> None:
    settings = parse_yaml((SAMPLE / "memsync.yaml").read_bytes(), "memsync.yaml")
    assert not settings.problems
    assert settings.data["format"] == "1"
    for path in SAMPLE.glob("projects/*/project.yaml"):
        found = parse_yaml(path.read_bytes(), str(path))
        assert not found.problems
        assert found.data["name"]
        assert found.data["aliases"]


def test_the_sample_lints_clean(machine: Memory) -> None:
    done = call(machine, "lint", str(SAMPLE))
    assert (done.returncode, done.stdout) == (0, b""), done.stdout.decode()
    told = answer(machine, "lint", str(SAMPLE))
    assert (told["problems"], told["records"]) == ([], len(RECORDS))
    assert not machine.home.exists()
    assert not (SAMPLE / ".git").exists()


def test_the_sample_lives_as_a_memory(machine: Memory) -> None:
    shutil.copytree(SAMPLE, machine.home)
    assert call(machine, "init").returncode == 0
    machine.store().ingest()
    assert machine.git("status", "--porcelain") == ""
    status = answer(machine, "status")
    assert status["problems"] == []
    assert [why["code"] for why in status["attention"]] == ["open-conflict"]
    assert {state for state, count in status["counts"].items() if count} >= {
        *("active", "candidate", "superseded", "conflict", "paused", "forgotten"),
    }
    machine.git("fsck", "--strict")
