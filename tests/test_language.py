"""The words that people see: every one is translated, in whichever way the language is chosen."""

from __future__ import annotations

import gettext
import io
import re
from pathlib import Path
from string import Formatter

import pytest
from babel.messages.pofile import read_po
from hypothesis import given
from hypothesis import strategies as st

from memsync import config, errors
from memsync.cli import labels, phrases
from memsync.cli.app import COMMANDS
from memsync.language import Translate, choose, translator
from tests import catalogues
from tests.asking import call, widths
from tests.conftest import Memory, make_project

CHINESE = {"LANG": "zh_CN.UTF-8"}
_ = translator("zh-CN")


def form(text: catalogues.Text) -> str:
    return text if isinstance(text, str) else text[1]


# --- the catalogue -------------------------------------------------------------------------


def test_the_template_has_the_texts_of_the_code_and_no_others() -> None:
    with catalogues.TEMPLATE.open("rb") as stream:
        kept = {catalogues.key(m) for m in read_po(stream) if m.id}
    assert kept == set(catalogues.texts()), "run `make catalogues`"


@pytest.mark.parametrize("language", catalogues.LANGUAGES)
def test_every_text_has_a_translation_that_nobody_doubts(language: str) -> None:
    found = catalogues.read(language)
    assert found is not None
    assert {catalogues.key(m) for m in found if m.id} == set(catalogues.texts())
    assert [m.id for m in catalogues.untranslated(found)] == []


@pytest.mark.parametrize("language", catalogues.LANGUAGES)
def test_what_gettext_reads_is_what_translators_wrote(language: str) -> None:
    found = catalogues.read(language)
    assert found is not None
    with catalogues.catalogue(language).with_suffix(".mo").open("rb") as stream:
        compiled = gettext.GNUTranslations(stream)
    for message in found:
        if not message.id:
            continue
        key = catalogues.key(message)
        if isinstance(key, tuple):
            assert (compiled.ngettext(key[0], key[1], 2),) == message.string
        else:
            assert compiled.gettext(key) == message.string
    assert len([m for m in found if m.id]) > 300


def places(text: str) -> list[str]:
    return sorted(re.findall(r"\{\w*(?:![rs])?\}", text))


@pytest.mark.parametrize("language", catalogues.LANGUAGES)
def test_a_translation_has_the_places_and_the_commands_of_the_original(language: str) -> None:
    found = catalogues.read(language)
    assert found is not None
    for message in found:
        if message.id:
            original = form(catalogues.key(message))
            told = "".join(message.string or ())
            assert places(told) == places(original), original
            # Where places have no number the order counts, and translations keep it.
            assert re.findall(r"`[^`]*`", told) == re.findall(r"`[^`]*`", original)
            assert told.count("--") == original.count("--"), original
            assert told == told.rstrip()


def test_updating_a_catalogue_keeps_every_translation() -> None:
    for language in catalogues.LANGUAGES:
        kept, updated = catalogues.read(language), catalogues.merged(language)
        assert kept is not None
        again = read_po(io.BytesIO(catalogues.as_po(updated)), locale=language)
        told = [{catalogues.key(m): m.string for m in c if m.id} for c in (kept, updated, again)]
        assert told[0] == told[1] == told[2], "run `make catalogues`"


def test_a_phrase_that_is_made_with_facts_is_known_by_its_form() -> None:
    made = [pattern for _file, pattern in catalogues.made_phrases()]
    assert len(made) > 15
    assert [pattern for pattern in made if pattern not in phrases.PATTERNS] == []


# --- facts that are phrases ----------------------------------------------------------------


def english_in(text: str, *facts: str) -> list[str]:
    """The English words of a text, without the facts and what is spelt alike everywhere."""
    for fact in sorted(facts, key=len, reverse=True):
        text = text.replace(fact, " ")
    text = re.sub(r"`[^`]*`|--[a-z-]+|\bprojects/<key>/", " ", text)
    words = re.findall(r"[A-Za-z][A-Za-z-]*[A-Za-z]", text)
    return [word for word in words if word not in SPELT_ALIKE]


SPELT_ALIKE = {
    *("memsync", "git", "Git", "Markdown", "YAML", "JSON", "Lines", "UTF-8", "UTF", "NUL", "LFS"),
    *("Unicode", "URL", "HEAD", "PATH", "HOME", "MEMSYNC", "VISUAL", "EDITOR", "front", "matter"),
    *("schema", "stash", "ID", "id", "host", "path", "key", "value", "true", "false", "take"),
    *("text", "edit", "missing", "projectKey", "scope", "project", "profile", "md", "validFrom"),
    *("doctor", "lint", "fix", "expand", "zh-CN", "zh", "CN", "MEMSYNC_HOME", "commit", "YYYY"),
    *("iso", "ISO", "list", "show", "x"),
}


@pytest.mark.parametrize("kind", catalogues.error_classes(), ids=lambda k: k.__name__)
def test_every_error_speaks_chinese(kind: type[errors.MemsyncError]) -> None:
    names = {name for _t, name, _s, _h in Formatter().parse(kind.template) if name}
    facts = {name: f"Q{number}Q" for number, name in enumerate(sorted(names))}
    told = phrases.error(kind(**facts), _)
    for fact in facts.values():
        assert fact in told
    assert english_in(told, *facts.values()) == []


@pytest.mark.parametrize("code", sorted(errors.PROBLEMS))
def test_every_problem_of_a_file_speaks_chinese(code: str) -> None:
    templates = " ".join(errors.PROBLEMS[code])
    names = {name for _t, name, _s, _h in Formatter().parse(templates) if name}
    facts = {name: f"Q{number}Q" for number, name in enumerate(sorted(names))}
    found = errors.problem(code, "global/a.md", 3, **facts)
    where, told = labels.problem(found, _)
    assert where == "global/a.md:3"
    for fact in facts.values():
        assert fact in told
    assert told.endswith(f" [{code}]")
    assert english_in(told.removesuffix(f" [{code}]"), *facts.values()) == []
    assert labels.problem(found, Translate())[1] == f"{found.message}; {found.remedy} [{code}]"


def test_the_facts_of_a_problem_are_translated_with_it() -> None:
    found = errors.problem("wrong-type", "a.md", 2, key="tags", expected="a list of texts")
    assert labels.problem(found, _)[1] == "tags 不是文本列表; 请写成文本列表 [wrong-type]"
    found = errors.problem(
        "invalid-value", "a.md", 2, key="scope", value="x", allowed="one of a, b"
    )
    assert labels.problem(found, _)[1] == "scope：不能是 x; 应为以下之一：a, b [invalid-value]"


def test_an_error_with_many_problems_tells_all_of_them_in_chinese() -> None:
    found = (
        errors.problem("yaml-tab", "a.md", 2),
        errors.problem("text-missing", "a.md", 0),
    )
    told = errors.BrokenFile(
        path="a.md", summary=errors.summarise(found), problems=errors.problem_facts(found)
    )
    expected = (
        "a.md 无法读取：第 2 行：用了制表符缩进 (yaml-tab) · 既没有标题也没有正文 (text-missing)"
    )
    assert phrases.error(told, _) == expected
    assert "line 2: a tab is used" in phrases.error(told, Translate()) == str(told)


@given(st.sampled_from(phrases.PATTERNS), st.text(min_size=1), st.text(min_size=1))
def test_a_phrase_keeps_its_facts_whatever_they_hold(pattern: str, one: str, two: str) -> None:
    text = pattern.format(one, two)
    assert phrases.said(text, Translate()) == text
    told = phrases.said(text, _)
    if "{0}" in pattern and pattern.count("{") == 1 and phrases.said(one, _) == one:
        assert one in told or told == _(text)


def test_a_text_that_is_no_phrase_stays_as_it_is() -> None:
    for text in ("Permission denied", "src/{0}.py", "", "m-0123456789abcdef", "{", "%s"):
        assert phrases.said(text, _) == text


# --- which language ------------------------------------------------------------------------


def test_the_first_wish_counts_and_chinese_has_many_names() -> None:
    assert choose(None, "", "  ", "zh_CN", "en") == "zh-CN"
    assert choose() == choose(None) == choose("en_GB") == choose("EN") == "en"
    assert {choose(w) for w in ("zh", "zh-hans", "zh_SG", "ZH-cn")} == {"zh-CN"}
    assert {choose(w) for w in ("zh_TW", "zh-Hant", "zh-HK")} == {"zh-TW"}
    assert choose("de_AT") == "de-AT"


def test_a_language_without_a_catalogue_is_labelled_in_english() -> None:
    for language in ("de", "zh-TW", "ja-JP", "../x"):
        assert translator(language)("Nothing found.") == "Nothing found."
        assert translator(language).counted("{} memory", "{} memories", 2) == "2 memories"


def test_a_number_gets_the_form_that_fits() -> None:
    counted = translator("en").counted
    told = [counted("{} memory", "{} memories", n) for n in (0, 1, 2, 11)]
    assert told == ["0 memories", "1 memory", "2 memories", "11 memories"]
    assert [_.counted("{} memory", "{} memories", n) for n in (1, 2)] == ["1 条记忆", "2 条记忆"]


def test_both_the_setting_and_the_locale_switch_and_the_setting_wins(memory: Memory) -> None:
    assert "language" not in memory.read("memsync.yaml")
    assert memory.run("list").stdout.decode() == "No memories here yet.\n"
    assert memory.run("list", variables=CHINESE).stdout.decode() == "这里还没有记忆。\n"
    # LC_ALL outranks LANG, as everywhere.
    both = {"LC_ALL": "C.UTF-8", **CHINESE}
    assert memory.run("list", variables=both).stdout.decode() == "No memories here yet.\n"
    assert memory.run("config", "language", "zh-CN").returncode == 0
    assert memory.run("list").stdout.decode() == "这里还没有记忆。\n"
    wrong = memory.run("show", "nothing").stderr.decode()
    assert wrong.startswith("error[record-not-found] 没有编号或标题为 'nothing' 的记忆\n")
    assert "记住一段文字。" in memory.run("--help").stdout.decode()
    assert memory.run("config", "language", "en").returncode == 0
    assert memory.run("list", variables=CHINESE).stdout.decode() == "No memories here yet.\n"
    assert memory.run("config", "--unset", "language").returncode == 0
    assert memory.run("list", variables=CHINESE).stdout.decode() == "这里还没有记忆。\n"


@pytest.mark.parametrize(
    ("line", "language"),
    [
        ("language: zh-CN", "zh-CN"),
        ('language: "zh_CN"   # mine', "zh-CN"),
        ("language:", "en"),
        ("  language: zh-CN", "en"),
        ("# language: zh-CN", "en"),
        ("language: de", "de"),
        ("\tbroken: [", "en"),
    ],
)
def test_the_language_is_known_before_any_memory_is_opened(
    tmp_path: Path, line: str, language: str
) -> None:
    variables = {"HOME": str(tmp_path)}
    assert config.early_language(variables) == "en"
    (tmp_path / ".memsync").mkdir()
    (tmp_path / ".memsync" / "memsync.yaml").write_text(f"format: 1\n{line}\n", encoding="utf-8")
    assert config.early_language(variables) == language
    assert config.early_language({}) == "en"


# --- what the program prints ---------------------------------------------------------------


def prepared(memory: Memory) -> tuple[Path, str, str]:
    """A memory with one of everything, all of it in Chinese; two ids to ask about."""
    project = make_project(memory, "api", "git@github.com:acme/api.git")
    first = memory.remember("数据库测试连真库", category="测试", tags=("测试",))
    second = memory.remember("只用 `pnpm`", project, paths=("web/**",), tasks=("依赖",))
    memory.provider()
    memory.write("global/坏.md", "---\ntitle: [\nscope: nowhere\n---\n正文\n")
    memory.write("global/怪.md", "---\nscope: nowhere\ntags: {a: b}\nlifecycle: 7\n---\n正文\n")
    memory.write(
        "global/冲突.md", "---\nconflict:\n  - field: body\n    text: 别的\n---\n标题\n\n正文\n"
    )
    memory.write("global/过期.md", "---\nvalidUntil: 2026-01-01\n---\n旧事\n")
    memory.write("global/经历.md", "---\nmemoryType: personal-episode\n---\n有一次\n")
    return project, first.record.id, second.record.id


#: What a memory's files and ids look like, and what is said alike in every language.
DATA = re.compile(
    r"m-[0-9a-z]{16}|\[[a-z-]+\]|(?:global|projects|tombstones|candidates)/\S*|/\S+|api-[0-9a-f]{8}"
    r"|\b[0-9a-f]{12}\b|pnpm|github\.com\S*|`[^`]*`|--[a-z-]+|api|web/\*\*|memsync\.yaml|profile\.md"
)
#: Names of checks, settings and keys: spelt as in files and commands.
NAMES = {
    *(
        "git",
        "branch",
        "main",
        "origin",
        *("git-index", "git-objects", "fsck", "git-locks", "sparse-checkout", "merge-driver"),
        "index",
        "files",
        "crash",
        "commit-graph",
    ),
    *("gitattributes", "gitignore", "language", "learning", "retrieval", "zh-CN", "true"),
    *("scope", "title", "tags", "lifecycle", "global", "nowhere", "project", "YAML", "trial"),
    *("proven", "superseded", "Git", "memory", "memsync", "expand", "lint", "front", "matter"),
}


def labels_in_english(text: str) -> list[str]:
    words = re.findall(r"[A-Za-z][A-Za-z-]+", DATA.sub(" ", text))
    return [word for word in words if word not in NAMES]


def test_the_help_speaks_chinese_and_fits(machine: Memory) -> None:
    calls: list[tuple[str, ...]] = [(), *((name,) for group in COMMANDS.values() for name in group)]
    calls += [("inbox", name) for name in ("list", "accept", "reject")]
    calls += [("project", name) for name in ("show", "list", "alias")]
    for called in calls:
        english = call(machine, *called, "--help").stdout.decode()
        told = call(machine, *called, "--help", variables=CHINESE).stdout.decode()
        assert max(widths(told)) <= 100
        assert re.findall(r"--?[a-z-]+", english)[:3] == re.findall(r"--?[a-z-]+", told)[:3]
        for line in told.splitlines():
            words = re.findall(r"(?<![-\w$.|`])[A-Za-z][a-z]+(?= [a-z])", line)
            assert not words or re.search("[\u4e00-\u9fff]", line), (called, line)


def test_no_command_shows_an_english_label_to_who_speaks_chinese(memory: Memory) -> None:
    project, first, second = prepared(memory)
    assert memory.run("config", "language", "zh-CN").returncode == 0
    task = ("--task", "给项目加依赖", "--path", "web/a.ts")
    asked: dict[tuple[str, ...], str] = {
        ("status",): "需要你处理：",
        ("list",): "项目 api-",
        ("list", "--all"): "全局",
        ("show", first): "确立程度",
        ("show", second): "仅限路径",
        ("search", "数据库"): "偏好",
        ("retrieve", *task): "与本任务有关的用户记忆",
        ("retrieve", *task, "--why-not"): "未提供的",
        ("explain", first, *task): "提供了吗？",
        ("explain", second): "任务没有说明",
        ("expand", second): "约定",
        ("conflicts",): "冲突未解决",
        ("tombstones",): "没有忘掉过什么。",
        ("lint",): "个错误",
        ("doctor",): "正常",
        ("config",): "界面文字",
        ("project", "show"): "项目键",
        ("project", "list"): "1 条记忆",
        ("pause", second): "已暂停",
        ("resume", second): "已恢复",
        ("correct", second, "只用 pnpm 装包"): "已更正",
        ("forget", second): "已忘掉",
        ("explain", second, *task): "已于",
        ("rollback", second): "已找回",
        ("forget", second, "--permanent"): "已永久忘掉",
    }
    for arguments, wanted in asked.items():
        done = memory.run(*arguments, folder=project, variables={"LANG": "C.UTF-8"})
        told = done.stdout.decode() + done.stderr.decode()
        assert done.returncode in (0, 4), told
        assert wanted in told, (arguments, told)
        assert labels_in_english(told) == [], (arguments, told)


def test_no_error_is_half_in_english(memory: Memory) -> None:
    project, first, _second = prepared(memory)
    cases: dict[tuple[str, ...], str] = {
        ("show",): "缺少参数 'ID'。",
        ("lst",): "没有命令 'lst'。你是不是想用 'list'？",
        ("list", "--limit", "0"): "'--limit' 的值无效：0 不在范围",
        ("list", "--limit"): "需要一个值",
        ("show", "a", "b"): "多出的参数",
        ("forget",): "请给出一个 ID，或用 --missing",
        ("show", "m-zzzz"): "没有编号或标题为",
        ("rollback", first): "没有更早的版本",
        ("rollback", first, "--to", "123"): "没有版本 '123'",
        ("resolve", first, "--take", "3"): "没有第 3 个冲突",
        ("config", "language", "a/b"): "应为语言标记",
        ("config", "nix"): "没有名为 'nix' 的设置",
        ("list", "-C", "/nix"): "/nix 不存在",
        ("remember", "新", "--valid-until", "morgen"): "应为日期",
        ("remember", "新", "--scope", "project", "-C", "/"): "不属于任何代码项目",
        ("correct", first, ""): "没有要记住的文字",
    }
    for arguments, wanted in cases.items():
        done = memory.run(*arguments, folder=project, variables=CHINESE)
        told = done.stderr.decode()
        assert done.returncode in (1, 2, 3), (arguments, told)
        assert wanted in told, (arguments, told)
        sentence = told.partition("\n")[0].partition("] ")[2]
        quoted = re.sub(r"'[^']*'", " ", sentence)
        assert labels_in_english(quoted) in ([], ["ID"], ["validUntil"]), (arguments, told)


def test_one_of_a_thing_is_not_called_many(memory: Memory) -> None:
    project = make_project(memory, "api", "git@github.com:acme/api.git")
    memory.remember("Only this one", project)
    assert " 1 memory " in memory.run("project", "list").stdout.decode()
    assert memory.run("lint").stderr.decode() == "1 memory, 0 errors, 0 notices\n"
    exported = memory.run("export").stdout
    stream = memory.root / "all.jsonl"
    stream.write_bytes(exported)
    told = memory.run("export", "-o", str(memory.root / "b.jsonl")).stderr.decode()
    assert told == f"Wrote {len(exported.splitlines())} lines\n"
    told = memory.run("import", str(stream)).stdout.decode()
    assert told.startswith("Imported 0 files; ")
    shown = memory.run("show", "Only this one", folder=project).stdout.decode()
    assert "1 piece of evidence" in shown
