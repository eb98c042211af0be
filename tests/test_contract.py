"""The provider's contract: its messages to JSON and back, and what every provider must do."""

from __future__ import annotations

import json
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Union, get_args, get_origin

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memsync import errors
from memsync.contract import SCHEMA, Provider
from memsync.contract.changes import (
    INPUTS,
    Applied,
    CorrectInput,
    ForgetInput,
    PauseInput,
    RememberInput,
    ResolveInput,
    RollbackInput,
    SettingsInput,
)
from memsync.contract.codec import camel, fields_of, from_json, to_json
from memsync.contract.memories import (
    ConflictsQuery,
    ExpandQuery,
    History,
    HistoryQuery,
    Listing,
    ManageQuery,
    SearchQuery,
    Status,
)
from memsync.contract.messages import (
    QUERIES,
    input_from_json,
    input_to_json,
    query_from_json,
    query_to_json,
    result_from_json,
    result_to_json,
)
from memsync.contract.shared import Entry, ProjectRef
from memsync.contract.tasks import (
    Explained,
    Manifest,
    ManifestQuery,
    Profile,
    ProfileQuery,
    TaskQuery,
)
from memsync.record import Authority, Lifecycle, Record, Scope
from tests.asking import standing
from tests.conftest import Memory, make_project

RESULTS: tuple[type[Any], ...] = (
    *(Manifest, Explained, Profile, Listing, Entry, History, Applied, Status),
)

# --- every type to JSON and back -------------------------------------------------------------

TEXT = st.text(max_size=12)
PLAIN = st.none() | st.booleans() | st.integers(-9, 9) | TEXT
ANY = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2)
)
SCALARS: dict[Any, st.SearchStrategy[Any]] = {
    str: TEXT,
    int: st.integers(-(2**40), 2**40),
    bool: st.booleans(),
    float: st.floats(allow_nan=False, allow_infinity=False),
    object: ANY,
}


def values(hint: Any) -> st.SearchStrategy[Any]:
    """Values of a type of the contract."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint in SCALARS:
        return SCALARS[hint]
    if origin in (Union, types.UnionType):
        return st.one_of(*(st.none() if a is type(None) else values(a) for a in inner))
    if origin is tuple and inner[-1] is Ellipsis:
        return st.lists(values(inner[0]), max_size=2).map(tuple)
    if origin is tuple:
        return st.tuples(*map(values, inner))
    if origin in (dict, Mapping):
        return st.dictionaries(TEXT, values(inner[1]), max_size=2)
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return st.sampled_from([*hint])
    assert fields_of(hint) is not None, hint
    return st.deferred(lambda: objects(hint))


def objects(kind: Any) -> st.SearchStrategy[Any]:
    """Objects of a class of the contract; unknown keys may be spelled like known ones."""
    hints = typing.get_type_hints(kind)
    names = [*(fields_of(kind) or ())]
    chosen = {name: values(hints[name]) for name in names}
    if "extra" in names:
        known = st.sampled_from([camel(name) for name in names] + ["/", "/id", "//", "extra"])
        chosen["extra"] = st.dictionaries(known | TEXT, ANY, max_size=2)
    return st.builds(kind, **chosen)


@pytest.mark.parametrize("kind", [*QUERIES, *INPUTS, *RESULTS], ids=lambda kind: kind.__name__)
def test_every_message_comes_back_as_it_was_sent(kind: type[Any]) -> None:
    sizes = set()

    @settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(objects(kind))
    def holds(value: Any) -> None:
        message: Any
        if kind in QUERIES:
            message = json.loads(json.dumps(query_to_json(value)))
            assert query_from_json(message) == value
        elif kind in INPUTS:
            message = json.loads(json.dumps(input_to_json(value)))
            assert input_from_json(message) == value
        else:
            message = json.loads(json.dumps(result_to_json(value)))
            assert result_from_json(message, kind) == value
        assert message["schema"] == SCHEMA
        sizes.add(len(json.dumps(message)))

    holds()
    assert len(sizes) > 8 or not fields_of(kind), "the values hardly differed"


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(objects(Record))
def test_a_record_with_unknown_keys_of_any_name_comes_back(item: Record) -> None:
    assert from_json(Record, json.loads(json.dumps(to_json(item)))) == item


def test_keys_are_spelled_as_in_the_files() -> None:
    sent = to_json(RememberInput("x", memory_type=None, valid_until="2026-01-01", tags=("a",)))
    assert sent == {
        "text": "x",
        "project": {},
        "validUntil": "2026-01-01",
        "tags": ["a"],
    }


# --- what is refused -------------------------------------------------------------------------


@pytest.mark.parametrize("schema", ["memsync.provider.v2", "memsync.cli.v1", "", None, 1])
def test_a_message_of_another_major_version_is_refused(schema: object) -> None:
    for read, body in (
        (query_from_json, query_to_json(ConflictsQuery())),
        (input_from_json, input_to_json(PauseInput())),
        (lambda message: result_from_json(message, Listing), result_to_json(Listing())),
    ):
        with pytest.raises(errors.SchemaUnknown) as caught:
            read({**body, "schema": schema})
        assert caught.value.facts["known"] == SCHEMA
        del body["schema"]
        with pytest.raises(errors.SchemaUnknown):
            read(body)


@pytest.mark.parametrize(
    ("query", "where"),
    [
        ({"words": "x", "colour": "red"}, "$.query"),
        ({"words": 5}, "$.query.words"),
        ({"words": None}, "$.query.words"),
        ({}, "$.query"),
        ([], "$.query"),
        ("x", "$.query"),
        (None, "$.query"),
        ({"words": "x", "limit": "5"}, "$.query.limit"),
        ({"words": "x", "limit": True}, "$.query.limit"),
        ({"words": "x", "limit": 1.5}, "$.query.limit"),
        ({"words": "x", "project": {"path": 1}}, "$.query.project.path"),
        ({"words": "x", "project": {"aliases": "a"}}, "$.query.project.aliases"),
        ({"words": "x", "project": {"aliases": ["a", 2]}}, "$.query.project.aliases[1]"),
        ({"words": "x", "project": {"root": "/"}}, "$.query.project"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(query: object, where: str) -> None:
    with pytest.raises(errors.RequestInvalid) as caught:
        query_from_json({"schema": SCHEMA, "view": "search", "query": query})
    assert caught.value.facts["where"] == where


def test_an_unknown_field_is_named() -> None:
    with pytest.raises(errors.RequestInvalid, match="colour"):
        input_from_json(
            {"schema": SCHEMA, "operation": "remember", "input": {"text": "", "colour": 1}}
        )


@pytest.mark.parametrize("message", [None, [], "x", 5, {"schema": SCHEMA}])
def test_what_is_no_message_is_refused(message: object) -> None:
    for read in (query_from_json, input_from_json, lambda m: result_from_json(m, Listing)):
        with pytest.raises(errors.RequestInvalid):
            read(message)


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (
            Explained,
            {
                "saved": {"code": "a"},
                "matched": [],
                "delivered": {"code": "a"},
                "levels": [["path"]],
            },
        ),
        (Listing, {"records": [{"record": {"id": "m-1", "title": "x", "scope": "moon"}}]}),
        (Status, {"home": "/", "counts": {"active": "many"}}),
        (Entry, {"record": {"title": "x"}, "path": "", "revision": "", "state": ""}),
    ],
    ids=["short-pair", "enum", "counts", "no-id"],
)
def test_a_result_that_does_not_fit_is_refused(kind: type[Any], body: dict[str, Any]) -> None:
    with pytest.raises(errors.RequestInvalid):
        result_from_json({"schema": SCHEMA, "kind": kind.__name__, "result": body}, kind)


def test_another_kind_of_result_is_refused() -> None:
    with pytest.raises(errors.RequestInvalid):
        result_from_json(result_to_json(Listing()), Manifest)


# --- the suite that every provider passes ----------------------------------------------------


class AsMessages:
    """A provider behind its own messages: what any transport of the contract must come to."""

    def __init__(self, inner: Provider) -> None:
        self._inner = inner

    def status(self, project: ProjectRef | None = None) -> Status:
        sent = json.loads(json.dumps(to_json(project) if project else None))
        got = self._inner.status(from_json(ProjectRef, sent) if sent is not None else None)
        found: Status = result_from_json(json.loads(json.dumps(result_to_json(got))), Status)
        return found

    def query(self, query: Any) -> Any:
        sent: Any = query_from_json(json.loads(json.dumps(query_to_json(query))))
        got: Any = self._inner.query(sent)
        return result_from_json(json.loads(json.dumps(result_to_json(got))), type(got))

    def apply(self, operation: Any) -> Applied:
        sent = input_from_json(json.loads(json.dumps(input_to_json(operation))))
        got = self._inner.apply(sent)
        found: Applied = result_from_json(json.loads(json.dumps(result_to_json(got))), Applied)
        return found


def _local(memory: Memory) -> Provider:
    return memory.provider()


def _by_messages(memory: Memory) -> Provider:
    return AsMessages(memory.provider())


#: How each provider over a machine's memory is made. A new provider joins here.
PROVIDERS: dict[str, Callable[[Memory], Provider]] = {
    "local": _local,
    "messages": _by_messages,
}


@pytest.fixture(params=[*PROVIDERS])
def provider_factory(request: pytest.FixtureRequest) -> Callable[[Memory], Provider]:
    return PROVIDERS[request.param]


@pytest.fixture
def provider(provider_factory: Callable[[Memory], Provider], memory: Memory) -> Provider:
    return provider_factory(memory)


def kept(provider: Provider, text: str, **options: Any) -> Entry:
    entry = provider.apply(RememberInput(text, scope=Scope.GLOBAL, **options)).entry
    assert entry is not None
    return entry


def test_what_is_remembered_is_there(provider: Provider) -> None:
    applied = provider.apply(
        RememberInput(
            "Use pnpm\nThe lockfile is pnpm's.", scope=Scope.GLOBAL, tags=("a",), paths=("web/**",)
        )
    )
    entry = applied.entry
    assert entry is not None
    assert (applied.operation, applied.ids) == ("remember", (entry.record.id,))
    assert applied.commit
    assert entry.path in applied.changed
    assert (entry.record.title, entry.record.body) == ("Use pnpm", "The lockfile is pnpm's.")
    assert (entry.record.authority, entry.record.lifecycle) == (
        Authority.EXPLICIT,
        Lifecycle.PROVEN,
    )
    assert entry.record.selectors.paths == ("web/**",)
    for found in (
        provider.query(ExpandQuery(entry.record.id)),
        provider.query(ExpandQuery("Use pnpm")),
        provider.query(ManageQuery(tag="a")).records[0],
        provider.query(SearchQuery("lockfile")).records[0],
    ):
        assert found == entry


def test_a_correction_keeps_the_identity_and_the_old_text_in_history(provider: Provider) -> None:
    entry = kept(provider, "Prefer tabs")
    applied = provider.apply(CorrectInput(entry.record.id, "Prefer spaces"))
    assert applied.entry is not None
    assert applied.entry.record.id == entry.record.id
    assert applied.entry.record.title == "Prefer spaces"
    history = provider.query(HistoryQuery(entry.record.id, diff_to="current"))
    assert [r.subject for r in history.revisions] == [
        "correct: Prefer spaces",
        "remember: Prefer tabs",
    ]
    assert history.diff is not None
    assert "-title: Prefer tabs" in history.diff


def test_a_superseding_correction_leaves_the_old_one_named(provider: Provider) -> None:
    entry = kept(provider, "Prefer tabs")
    applied = provider.apply(CorrectInput(entry.record.id, "Prefer spaces", supersede=True))
    assert applied.entry is not None
    assert applied.entry.record.supersedes == (entry.record.id,)
    old = provider.query(ExpandQuery(entry.record.id))
    assert (old.state, old.record.superseded_by) == ("superseded", applied.entry.record.id)


def test_a_forgotten_memory_is_gone_and_comes_back(provider: Provider) -> None:
    entry = kept(provider, "Prefer tabs")
    provider.apply(ForgetInput(entry.record.id))
    for query in (ExpandQuery(entry.record.id), ExpandQuery("Prefer tabs")):
        with pytest.raises((errors.RecordForgotten, errors.RecordNotFound)):
            provider.query(query)
    assert provider.query(SearchQuery("tabs")).records == ()
    assert provider.query(TaskQuery(task="tabs")).text == ""
    marks = provider.query(ManageQuery(forgotten=True)).forgotten
    assert [mark.id for mark in marks] == [entry.record.id]
    back = provider.apply(RollbackInput(entry.record.id)).entry
    assert back is not None
    assert (back.record.title, back.record.epoch) == ("Prefer tabs", 1)


def test_what_is_forgotten_for_good_stays_forgotten(provider: Provider) -> None:
    entry = kept(provider, "Prefer tabs")
    provider.apply(ForgetInput(entry.record.id, permanent=True))
    with pytest.raises(errors.ForgottenForGood):
        provider.apply(RollbackInput(entry.record.id))
    again = kept(provider, "Prefer tabs")
    assert again.record.id != entry.record.id


def test_a_rollback_brings_an_earlier_text(provider: Provider) -> None:
    entry = kept(provider, "Prefer tabs")
    provider.apply(CorrectInput(entry.record.id, "Prefer spaces"))
    back = provider.apply(RollbackInput(entry.record.id)).entry
    assert back is not None
    assert back.record.title == "Prefer tabs"


def test_an_expected_revision_guards_every_change(provider: Provider) -> None:
    entry = kept(provider, "Prefer tabs")
    number = entry.record.id
    moved: list[Any] = [
        CorrectInput(number, "x", expected_revision="zzzz"),
        CorrectInput(number, "x", supersede=True, expected_revision="zzzz"),
        ForgetInput(number, expected_revision="zzzz"),
        ForgetInput(number, permanent=True, expected_revision="zzzz"),
        RollbackInput(number, expected_revision="zzzz"),
        ResolveInput(number, 0, expected_revision="zzzz"),
    ]
    for operation in moved:
        with pytest.raises(errors.RevisionMoved) as caught:
            provider.apply(operation)
        assert caught.value.facts["actual"] == entry.revision
    assert provider.query(ExpandQuery(number)) == entry
    applied = provider.apply(CorrectInput(number, "Two", expected_revision=entry.revision))
    assert applied.entry is not None
    assert applied.entry.revision != entry.revision


def test_a_conflict_is_listed_kept_out_and_settled(provider: Provider, memory: Memory) -> None:
    memory.write(
        "global/sides.md",
        "---\nid: m-c0nf000000000000\ntitle: Sides\nconflict:\n  - field: body\n    text: other\n"
        "---\none side\n",
    )
    assert [e.state for e in provider.query(ConflictsQuery()).records] == ["conflict"]
    assert "one side" not in provider.query(TaskQuery(task="sides")).text
    with pytest.raises(errors.NoConflict):
        provider.apply(ResolveInput("m-c0nf000000000000", 2))
    settled = provider.apply(ResolveInput("m-c0nf000000000000", 1)).entry
    assert settled is not None
    assert (settled.record.body, settled.record.conflict) == ("other", ())
    assert provider.query(ConflictsQuery()).records == ()


def test_pauses_and_settings(provider: Provider) -> None:
    entry = kept(provider, "Prefer tabs")
    provider.apply(PauseInput(id=entry.record.id))
    assert provider.query(ExpandQuery(entry.record.id)).state == "paused"
    assert provider.query(TaskQuery(task="tabs")).text == ""
    provider.apply(PauseInput(paused=False, id=entry.record.id))
    assert "Prefer tabs" in provider.query(TaskQuery(task="tabs")).text
    provider.apply(PauseInput(retrieval=True))
    assert provider.query(TaskQuery(task="tabs")).excluded[0].why.code == "retrieval-off"
    assert (provider.status().learning, provider.status().retrieval) == (True, False)
    provider.apply(PauseInput(paused=False))
    provider.apply(SettingsInput("language", "zh-CN"))
    assert provider.status().language == "zh-CN"
    provider.apply(SettingsInput("language"))
    for wrong in (SettingsInput("colour", "red"), SettingsInput("memory.learning", "maybe")):
        with pytest.raises((errors.SettingUnknown, errors.InvalidValue)):
            provider.apply(wrong)


def test_a_project_is_named_by_folder_key_or_alias(provider: Provider, memory: Memory) -> None:
    code = make_project(memory, "api", "git@github.com:acme/api.git")
    applied = provider.apply(RememberInput("In the project", ProjectRef(path=str(code))))
    assert applied.entry is not None
    key = applied.entry.record.project_key
    assert key is not None
    for ref in (
        ProjectRef(path=str(code)),
        ProjectRef(key=key),
        ProjectRef(aliases=("github.com/acme/api",)),
    ):
        assert [e.record.project_key for e in provider.query(ManageQuery(ref)).records] == [key]
        manifest = provider.query(TaskQuery(ref, task="anything"))
        assert [item.why_applied[0].code for item in manifest.manifest] == ["project-match"]
        assert provider.query(ExpandQuery("In the project", ref)) == applied.entry
    with pytest.raises(errors.ProjectNotFound):
        provider.query(ManageQuery(ProjectRef(key="nowhere")))
    assert provider.query(TaskQuery(task="anything")).text == ""


def test_explain_profile_and_status_answer(provider: Provider) -> None:
    entry = kept(provider, "Prefer tabs")
    found = provider.query(ManifestQuery(entry.record.id, TaskQuery(task="tabs")))
    assert (found.saved.code, found.delivered.code) == ("saved", "delivered-in-full")
    assert found.entry == entry
    from memsync.record import MemoryType

    core = kept(provider, "I work from Lisbon", memory_type=MemoryType.CORE_PROFILE)
    profile = provider.query(ProfileQuery())
    assert "I work from Lisbon" in profile.text
    assert profile.entries == (core,)
    status = provider.status()
    assert (status.counts["active"], status.pending, status.problems) == (2, 0, ())


def test_a_refused_operation_changes_nothing(provider: Provider, memory: Memory) -> None:
    entry = kept(provider, "Prefer tabs")
    number = entry.record.id
    before = standing(memory)
    wrong: list[tuple[Any, type[errors.MemsyncError]]] = [
        (RememberInput(""), errors.TextEmpty),
        (RememberInput("x\0y"), errors.TextNotReadable),
        (RememberInput("x", title="\0"), errors.MemsyncError),
        (RememberInput("x", title="t" * 121), errors.InvalidRecord),
        (RememberInput("x\n" + "y" * 8193), errors.InvalidRecord),
        (RememberInput("x", scope=Scope.PROJECT), errors.NotAProject),
        (RememberInput("x", ProjectRef(key="nowhere")), errors.ProjectNotFound),
        (RememberInput("x", valid_from="soon"), errors.InvalidValue),
        (
            RememberInput("x", paths=tuple("abcdefghijklmnopqrstuvwxyzabcdefg")),
            errors.InvalidRecord,
        ),
        (CorrectInput("m-zzzzzzzzzzzzzzzz", "x"), errors.RecordNotFound),
        (CorrectInput(number, " "), errors.TextEmpty),
        (ForgetInput(), errors.InvalidValue),
        (ForgetInput("Prefer tab"), errors.RecordNotFound),
        (RollbackInput(number), errors.NothingToRollBack),
        (RollbackInput(number, "feedbeef"), errors.RevisionNotFound),
        (ResolveInput(number, 0), errors.NoConflict),
        (PauseInput(project=ProjectRef(key="nowhere")), errors.ProjectNotFound),
        (SettingsInput("language", " "), errors.InvalidValue),
    ]
    for operation, error in wrong:
        with pytest.raises(error):
            provider.apply(operation)
        assert standing(memory) == before, operation
    assert provider.query(ExpandQuery(number)) == entry


def test_reads_answer_from_the_files_of_this_moment(provider: Provider, memory: Memory) -> None:
    entry = kept(provider, "Prefer tabs")
    path = memory.home / entry.path
    path.write_text(path.read_text() + "By hand.\n")
    found = provider.query(ExpandQuery(entry.record.id))
    assert found.record == replace(entry.record, body="By hand.")
    assert provider.query(HistoryQuery(entry.record.id)).uncommitted
    assert provider.status().pending == 1
    path.unlink()
    with pytest.raises(errors.RecordNotFound):
        provider.query(ExpandQuery(entry.record.id))


def test_a_second_provider_sees_what_the_first_one_did(
    provider_factory: Callable[[Memory], Provider], memory: Memory, tmp_path: Path
) -> None:
    one, two = provider_factory(memory), provider_factory(memory)
    assert two.query(ManageQuery()).records == ()
    entry = kept(one, "Prefer tabs")
    assert two.query(ManageQuery()).records == (entry,)
    two.apply(ForgetInput(entry.record.id))
    assert one.query(ManageQuery()).records == ()
