"""Forgetting for good: the text is nowhere on this machine any more, and all else stays."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from memsync import errors
from memsync.contract.changes import CorrectInput, ForgetInput, RememberInput, RollbackInput
from memsync.contract.memories import HistoryQuery, ManageQuery, SearchQuery
from memsync.contract.tasks import ProfileQuery
from memsync.record import MemoryType, Scope
from tests.conftest import Memory, variables_for
from tests.disturbed import acts_of, copy_of, killed_at, quick_folder
from tests.operations import Steady, assert_whole, at, committed, later, real_git, wrapped_git

TITLE = "Quokka habits"
SECRET = "zanzibarpass"
WORDS = (TITLE, SECRET)


def traces(memory: Memory) -> list[str]:
    """Where the text still is: objects of any reach, every file of the folder and of .git."""
    objects = subprocess.run(
        ["git", "cat-file", "--batch-all-objects", "--batch"],
        cwd=memory.home,
        env=memory.variables,
        capture_output=True,
        check=True,
    ).stdout
    found = [f"an object: {word}" for word in WORDS if word.encode() in objects]
    for path in memory.home.rglob("*"):
        if path.is_file() and not path.is_symlink():
            raw = path.read_bytes()
            found += [f"{path.name}: {word}" for word in WORDS if word.encode() in raw]
            found += [f"{path.name}: its name" for word in ("quokka",) if word in path.name]
    return found


def keep(memory: Memory) -> str:
    """A record with the secret in several versions, paths and messages. Returns its id."""
    memory.remember("A first one\nfirst text")
    secret = f"{TITLE}\nthe word is {SECRET}"
    entry = memory.remember(secret, memory_type=MemoryType.CORE_PROFILE)
    wanted = entry.record.id
    memory.remember("A second one\nsecond text")
    memory.provider().apply(CorrectInput(wanted, f"more of {SECRET}", title=TITLE))
    (memory.home / entry.path).rename(memory.home / "global/moved-quokka.md")
    memory.store().ingest()
    memory.provider().apply(ForgetInput(wanted))
    memory.provider().apply(RollbackInput(wanted))
    path = memory.home / "global/moved-quokka.md"
    path.write_text(path.read_text() + f"by hand, {SECRET} again\n")
    memory.git("commit", "-q", "-a", "-m", f"I noted {SECRET} myself")
    memory.store().ingest()
    memory.write(".git/TAG_EDITMSG", f"begun and given up: {SECRET}\n")
    profile = memory.home / "profile.md"
    profile.write_text(profile.read_text() + "a note of mine\n")
    memory.remember("A third one\nthird text")
    assert [*memory.home.glob(".git/memsync/kept/profile-*")]
    assert SECRET in memory.provider().query(ProfileQuery()).text
    return wanted


def for_good(memory: Memory, wanted: str) -> list[str]:
    applied = memory.provider().apply(ForgetInput(wanted, permanent=True))
    return [why.code for why in applied.notices]


def others(memory: Memory) -> list[tuple[str, str, int]]:
    """Every other record: its title, its blob, the number of its versions."""
    provider = memory.provider()
    found = []
    for entry in provider.query(ManageQuery()).records:
        if entry.record.title != TITLE:
            history = provider.query(HistoryQuery(entry.record.id)).revisions
            found.append((entry.record.title, entry.revision, len(history)))
    return found


def generation(memory: Memory) -> int:
    line = next(x for x in memory.read("memsync.yaml").splitlines() if x.startswith("generation:"))
    return int(line.partition(": ")[2])


def test_the_text_is_gone_and_all_else_stays(memory: Memory) -> None:
    wanted = keep(memory)
    memory.provider().query(SearchQuery(SECRET))
    before = others(memory)
    assert traces(memory)
    subjects = memory.git("log", "--format=%s").splitlines()
    assert for_good(memory, wanted) == []
    assert traces(memory) == []
    assert others(memory) == before
    assert generation(memory) == 2
    assert memory.read("profile.md") == memory.read("profile.md").replace(SECRET, "")
    after = memory.git("log", "--format=%s").splitlines()
    assert after[-1] == "memsync: history without what was forgotten for good"
    assert after[:1] == [f"forget for good: {wanted}"]
    kept = [s for s in subjects if SECRET not in s and TITLE not in s]
    assert [s for s in after if s in kept] == kept
    with pytest.raises(errors.ForgottenForGood):
        memory.provider().apply(RollbackInput(wanted))
    assert_whole(memory)


def test_a_root_of_its_own_makes_old_clones_unrelated(memory: Memory) -> None:
    wanted = keep(memory)
    old = memory.git("rev-list", "--max-parents=0", "HEAD")
    for_good(memory, wanted)
    assert memory.git("rev-list", "--max-parents=0", "HEAD") != old
    assert len(memory.git("rev-list", "--max-parents=0", "--all").splitlines()) == 1


def test_one_that_was_forgotten_already_can_be_forgotten_for_good(memory: Memory) -> None:
    wanted = keep(memory)
    memory.provider().apply(ForgetInput(wanted))
    assert traces(memory)
    for_good(memory, wanted)
    assert traces(memory) == []
    mark = memory.provider().query(ManageQuery(forgotten=True)).forgotten[0]
    assert (mark.id, mark.permanent) == (wanted, True)
    assert_whole(memory)


def test_a_second_one_raises_the_generation_again(memory: Memory) -> None:
    wanted = keep(memory)
    for_good(memory, wanted)
    other = memory.remember("Another secret\nof no use")
    for_good(memory, other.record.id)
    assert generation(memory) == 3
    assert traces(memory) == []
    assert len(memory.provider().query(ManageQuery(forgotten=True)).forgotten) == 2
    with pytest.raises(errors.ForgottenForGood):
        for_good(memory, wanted)
    assert generation(memory) == 3
    assert_whole(memory)


def test_the_same_text_remembered_again_is_a_new_memory(memory: Memory) -> None:
    wanted = keep(memory)
    for_good(memory, wanted)
    entry = memory.remember(f"{TITLE}\nthe word is {SECRET}")
    assert (entry.record.id != wanted, entry.record.epoch) == (True, 0)


def test_a_hand_written_record_that_was_never_named_is_purged_too(memory: Memory) -> None:
    memory.write("global/quokka.md", f"# {TITLE}\n\n{SECRET}\n")
    memory.git("add", "global/quokka.md")
    memory.git("commit", "-q", "-m", "mine")
    memory.store().ingest()
    wanted = memory.provider().query(ManageQuery()).records[0].record.id
    for_good(memory, wanted)
    assert traces(memory) == []


def test_other_branches_and_tags_are_rewritten_too(memory: Memory) -> None:
    memory.git("branch", "old")
    wanted = keep(memory)
    memory.git("tag", "light")
    memory.git("tag", "-a", "-m", TITLE, "heavy")
    memory.git("branch", "side", "HEAD~1")
    memory.git("branch", "work/deep", "HEAD~2")
    for_good(memory, wanted)
    assert traces(memory) == []
    names = memory.git("for-each-ref", "--format=%(refname)").splitlines()
    assert {
        *("refs/heads/main", "refs/heads/old", "refs/heads/side", "refs/heads/work/deep"),
        *("refs/tags/heavy", "refs/tags/light"),
    } <= set(names)
    assert not [n for n in names if "rewrite" in n]
    assert memory.git("cat-file", "-t", "heavy") == "tag"
    assert "\ntag heavy\n" in memory.git("cat-file", "tag", "heavy")
    assert memory.git("merge-base", "old", "main") == memory.git("rev-parse", "old")
    assert_whole(memory)


def test_a_branch_that_was_begun_anew_is_purged_with_what_it_left(memory: Memory) -> None:
    wanted = keep(memory)
    memory.git("update-ref", "-d", "refs/heads/main")
    memory.git("add", "--all")
    memory.git("commit", "-q", "-m", "begun anew")
    memory.store().ingest()
    assert SECRET in memory.provider().query(ProfileQuery()).text
    for_good(memory, wanted)
    assert traces(memory) == []
    assert_whole(memory)


def test_an_unborn_branch_of_another_name_is_refused(memory: Memory) -> None:
    wanted = keep(memory)
    memory.git("symbolic-ref", "HEAD", "refs/heads/new")
    with pytest.raises(errors.OddState, match="new"):
        for_good(memory, wanted)


def test_stashes_are_in_the_way_and_said_so_before_anything_changes(memory: Memory) -> None:
    wanted = keep(memory)
    memory.write("README.md", "changed\n")
    memory.git("stash")
    before = memory.git("for-each-ref")
    with pytest.raises(errors.OddState, match="stash"):
        for_good(memory, wanted)
    assert memory.git("for-each-ref") == before
    assert SECRET in memory.provider().query(ProfileQuery()).text
    memory.git("stash", "drop")
    for_good(memory, wanted)
    assert traces(memory) == []


def test_a_remote_that_was_not_reached_is_named_and_needs_attention(memory: Memory) -> None:
    wanted = keep(memory)
    memory.git("init", "-q", "--bare", str(memory.root / "remote.git"))
    memory.git("remote", "add", "origin", str(memory.root / "remote.git"))
    memory.git("push", "-q", "origin", "main")
    done = memory.run("forget", wanted, "--permanent")
    assert done.returncode == 4, done.stderr
    assert "origin" in done.stderr.decode()
    assert traces(memory) == []
    assert memory.git("for-each-ref", "refs/remotes") == ""


def test_messages_of_the_person_lose_the_lines_and_what_stays_is_named(memory: Memory) -> None:
    line = f"the word is {SECRET}"
    entry = memory.remember(f"{TITLE}\n{line} x7-{SECRET}")
    tip = memory.git("rev-parse", "HEAD")
    memory.git("commit", "-q", "--allow-empty", "-m", f"as I noted:\n\n> {line} x7-{SECRET} <")
    memory.git("tag", "-a", "-m", f"when {line} x7-{SECRET}", "whole")
    memory.git("tag", "-a", "-m", f"about x7-{SECRET}", "a-word")
    memory.git("notes", "add", "-m", f"{line} x7-{SECRET}", tip)
    memory.git("commit", "-q", "--allow-empty", "-m", f"x7-{SECRET} again")
    memory.git("update-ref", "refs/original/refs/heads/main", tip)
    memory.write("notes.txt", f"Staged: {line} x7-{SECRET}\n")
    memory.git("add", "notes.txt")
    applied = memory.provider().apply(ForgetInput(entry.record.id, permanent=True))
    told = sorted(applied.notices)
    assert [w.code for w in told] == [
        *("file-not-reached", "message-not-reached", "note-not-reached", "tag-not-reached")
    ]
    assert told[2].facts == (tip[:12],)
    assert told[3].facts == ("a-word",)
    assert SECRET in memory.git("show", "-s", "--format=%B", told[1].facts[0])
    assert "refs/original" in memory.git("for-each-ref")
    assert entry.record.id in memory.git("for-each-ref", "--format=%(contents)", "refs/tags/whole")
    memory.git("notes", "remove", tip)
    memory.git("update-ref", "-d", "refs/notes/commits")
    memory.git("tag", "-d", "a-word")
    memory.git("rm", "-q", "--cached", "notes.txt")
    memory.git("prune", "--expire=now")
    (memory.home / "notes.txt").unlink()
    found = [trace for trace in traces(memory) if "an object" in trace]
    assert found == [f"an object: {SECRET}"]  # the one message that was named
    assert_whole(memory)


def test_a_line_that_another_memory_has_is_named(memory: Memory) -> None:
    entry = memory.remember(f"{TITLE}\nthe word is {SECRET}")
    other = memory.remember(f"Another one\nthe word is {SECRET}")
    done = memory.run("forget", entry.record.id, "--permanent")
    assert done.returncode == 4
    assert other.path in done.stderr.decode()


def test_a_tag_of_a_file_stays_where_it_is(memory: Memory) -> None:
    memory.git("tag", "a-file", "HEAD:memsync.yaml")
    blob = memory.git("rev-parse", "a-file")
    for_good(memory, keep(memory))
    assert memory.git("rev-parse", "a-file") == blob
    assert traces(memory) == []


def test_a_note_without_its_forget_touches_nothing(memory: Memory) -> None:
    wanted = keep(memory)
    memory.write(".git/memsync/purge.json", f'["{wanted}"]')
    assert "purge-unfinished" in [w.code for w in memory.provider().status().attention]
    memory.remember("Go on")
    assert SECRET in memory.provider().query(ProfileQuery()).text
    assert memory.provider().status().attention == ()


def test_what_prevents_the_rewrite_leaves_the_forget_and_blocks_no_other_write(
    memory: Memory,
) -> None:
    wanted = keep(memory)
    wrapped_git(memory, 'case " $* " in *" fast-import "*) exit 1 ;; esac')
    assert for_good(memory, wanted) == ["purge-unfinished"]
    with pytest.raises(errors.ForgottenForGood):
        memory.provider().apply(ForgetInput(wanted))
    applied = memory.provider().apply(RememberInput("Go on", scope=Scope.GLOBAL))
    assert [w.code for w in applied.notices] == ["purge-unfinished"]
    assert [w.code for w in memory.provider().status().attention] == ["purge-unfinished"]
    real_git(memory)
    memory.remember("And on")
    assert traces(memory) == []
    assert_whole(memory)


# --- killed on the way -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def quick() -> Iterator[Path]:
    with quick_folder() as folder:
        yield folder


def test_a_kill_at_any_act_leaves_it_done_or_not_begun(quick: Path) -> None:
    template, place = quick / "template", quick / "machine"
    template.mkdir()
    (template / ".gitconfig").write_text("[user]\n\tname = Mona\n\temail = m@example.invalid\n")
    first = Memory(template, variables_for(template)).begin()
    wanted = keep(first)
    first.git("repack", "-a", "-d", "-q")
    before = others(first)

    def begun() -> Steady:
        copy_of(template, place)
        return at(place)

    memory = begun()
    acts = acts_of(place, lambda: for_good(memory, wanted))
    assert "git fast-import" in acts
    later(memory)
    every = committed(memory, "memsync.yaml")
    memory = begun()
    later(memory)
    none = committed(memory, "memsync.yaml")
    reached = [0, 0]
    # Before it is decided, it is an ordinary forget.
    decided = next(n for n, act in enumerate(acts) if act.endswith("intent.new"))
    for number, act in [*enumerate(acts, 1)][max(decided - 6, 0) :]:
        memory = begun()
        assert killed_at(place, number, lambda: for_good(at(place), wanted)), act
        memory.provider().query(SearchQuery("first second"))
        later(memory)
        result = committed(memory, "memsync.yaml")
        if result == none:
            reached[0] += 1
            assert generation(memory) == 1, act
        else:
            reached[1] += 1
            assert result == every, act
            assert traces(memory) == [], (act, memory.provider().status().attention)
            assert generation(memory) >= 2, act
        assert {*before} <= {*others(memory)}, act
        assert_whole(memory)
    assert min(reached) > 2


def test_a_clone_has_a_name_for_the_head_of_its_remote(memory: Memory, tmp_path: Path) -> None:
    """``git clone`` makes ``refs/remotes/origin/HEAD``, which stands for another ref."""
    gone = memory.remember("The word is SECRETWORD")
    memory.remember("Prefer tabs")
    clone = tmp_path / "clone"
    memory.git("clone", "-q", ".", str(clone))
    memory.git("symbolic-ref", "refs/heads/alias", "refs/heads/main", folder=clone)
    there = {"MEMSYNC_HOME": str(clone)}
    memory.run("init", variables=there)
    done = memory.run("forget", gone.record.id, "--permanent", variables=there)
    assert done.returncode == 4, done.stderr  # the remote still has it, which is said
    assert b"Removed here" in done.stdout
    commits = memory.git("rev-list", "--all", folder=clone).split()
    found = subprocess.run(["git", "grep", "SECRETWORD", *commits], cwd=clone, capture_output=True)
    assert (found.returncode, found.stdout) == (1, b"")
    refs = memory.git("for-each-ref", "--format=%(refname)", folder=clone).split()
    assert refs == ["refs/heads/alias", "refs/heads/main", "refs/memsync/seen"]
