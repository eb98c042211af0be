"""What is indexed is found again: words of every script, identifiers, paths, whatever is asked."""

import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsync import tokens
from memsync.tokens import Term, index_text, match_expression, query_terms, words


def finds(question: str, *texts: str) -> list[int]:
    """The positions of the texts that FTS5 finds, the best first."""
    match = match_expression(query_terms(question))
    if not match:
        return []
    with closing(sqlite3.connect(":memory:")) as base:
        base.execute("CREATE VIRTUAL TABLE m USING fts5(body, tokenize='porter unicode61')")
        base.executemany("INSERT INTO m VALUES (?)", [(index_text(text),) for text in texts])
        rows = base.execute("SELECT rowid FROM m WHERE m MATCH ? ORDER BY rank", (match,))
        return [row - 1 for (row,) in rows]


def phrases(question: str) -> list[str]:
    return [term.phrase for term in query_terms(question)]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("锁", "两个任务以不同顺序拿锁造成等待"),
        ("缓存", "发布之前清理缓存。"),
        ("连接池", "数据库连接池最多十个"),
        ("怎么配置数据库的连接池？", "连接池上限写在这里"),
        ("猫", "仮の画像には猫の写真を置く"),
        ("接続", "データベース接続は十本まで"),
        ("使って", "ここでは鍵を使う"),
        ("りんご", "商品名にはりんごを使う"),
        ("マイグレーション", "公開済みのマイグレーションは書き換えない"),
        ("앱", "앱 이름은 소문자로"),
        ("금액", "금액은 정수로 저장"),
        ("데이터베이스를", "데이터베이스의 연결 풀"),
        ("存在", "文件存在就跳过"),
        ("重要", "日志很重要"),
        ("pnpm-lock.yaml", "冲突时删掉pnpm-lock.yaml重新生成"),
        ("pnpm-lock", "see pnpm-lock.yaml"),
        ("lock.yaml", "see pnpm-lock.yaml"),
        ("src/auth", "逻辑在 src/auth/login.ts 里"),
        ("src\\auth\\login.ts", "src/auth/login.ts"),
        ("login", "src/auth/login.ts"),
        ("getUserId", "calls getUserId() first"),
        ("get_user_id", "calls getUserId() first"),
        ("user", "calls getUserId() first"),
        ("getUserId", "calls get_user_id() first"),
        ("HTTPServer", "the http-server restarts"),
        ("server", "HTTPServer restarts"),
        ("C++", "build with C++20"),
        ("cpp", "build with C++"),
        ("C#", "C# fields"),
        ("csharp", "C# fields"),
        ("utf8", "UTF-8 with BOM"),
        ("utf-8", "in utf8"),
        ("oauth", "OAuth2 login"),
        ("3.11", "needs Python 3.11"),
        (".env.local", "never commit .env.local"),
        ("🚀", "🚀 release"),
        ("ＯＡｕｔｈ２", "OAuth2"),
        ("ﾃﾞｰﾀﾍﾞｰｽ", "データベースの上限"),
        ("データベース", "ﾃﾞｰﾀﾍﾞｰｽの上限"),
        ("cafe", "the café job"),
        ("naïve", "naive dates"),
        ("STRASSE", "in der Straße"),
        ("migrations", "a migration that shipped"),
        ("हिन्दी", "यह हिन्दी है"),
        ("настройки", "Настройки сервера"),
        ("pnpm", "pn\u200bpm"),
        ("数据库", "数据\u200b库"),
        ("𠮷野家", "昼は𠮷野家"),
    ],
)
def test_what_is_written_is_found(question: str, text: str) -> None:
    assert finds(question, "nothing of this kind, 別の話", text)[:1] == [1]


def test_c_plus_plus_is_not_c_sharp() -> None:
    assert finds("C++", "C code", "C# code") == []
    assert finds("C#", "C code", "C++ code") == []


def test_a_phrase_ends_where_its_run_ends() -> None:
    together, apart = "数据库", "数据，据库"
    assert finds("数据库", apart, together)[0] == 1
    with closing(sqlite3.connect(":memory:")) as base:
        base.execute("CREATE VIRTUAL TABLE m USING fts5(body, tokenize='porter unicode61')")
        base.execute("INSERT INTO m VALUES (?)", (index_text(apart),))
        whole = match_expression([Term("数据库", "数据 据库")])
        assert base.execute("SELECT * FROM m WHERE m MATCH ?", (whole,)).fetchall() == []


def test_words_keeps_identifiers_and_runs_whole() -> None:
    text = "用 Pnpm-Lock.yaml安装，见 src/auth/Login.ts；C++ 和 C# 都行。ﾃﾞｰﾀ Ｆｕｌｌ"
    assert words(text) == [
        *("用", "pnpm-lock.yaml", "安装", "见", "src/auth/login.ts", "c++", "和", "c#", "都行"),
        *("データ", "full"),
    ]
    assert words("") == words(" \n—。") == []


def test_stop_words_are_left_out_unless_they_are_all() -> None:
    assert phrases("Where is the token that we use?") == ["token"]
    assert phrases("the") == ["the"]
    assert phrases("的") == ["的"]
    assert phrases("do it with the") == []
    assert phrases("我们应该怎么做缓存呢") == ["做缓 缓存", "做缓", "缓存"]
    assert phrases("ログについて") == ["ログ"]
    assert phrases("로그를 어떻게 하나요") == ["로그"]


def test_a_character_is_asked_for_only_where_it_is_a_word() -> None:
    assert phrases("锁") == ["锁"]
    assert phrases("我的猫") == ["猫"]
    assert [p for p in phrases("数据库连接池上限") if len(p) == 1] == []
    assert "使" in phrases("鍵を使う")


def test_pairs_of_function_characters_are_not_asked_for() -> None:
    asked = phrases("如果文件存在就跳过")
    assert "文件" in asked
    assert "跳过" in asked
    assert "在就" not in asked


def test_the_most_telling_come_first_and_the_rest_is_cut() -> None:
    terms = query_terms(" ".join(f"word{n}" for n in range(200)) + " longestword")
    assert len(terms) == tokens.MAX_TERMS
    assert terms[0].text == "longestword"
    assert [t.weight for t in terms] == sorted((t.weight for t in terms), reverse=True)
    assert [t.text for t in query_terms("a longer word", limit=1)] == ["longer"]


def test_match_expression() -> None:
    terms = [Term("a b", "a b"), Term('"', 'say "no"')]
    assert match_expression(terms) == '"a b" OR "say ""no"""'
    assert match_expression(terms[:1], ["title", "body"]) == '{title body} : ("a b")'
    assert match_expression([]) == match_expression([], ["title"]) == ""


def test_columns_narrow_the_search() -> None:
    with closing(sqlite3.connect(":memory:")) as base:
        base.execute("CREATE VIRTUAL TABLE m USING fts5(title, body, tokenize='porter unicode61')")
        base.execute("INSERT INTO m VALUES (?, ?)", (index_text("缓存"), index_text("数据库")))
        for question, count in (("缓存", 1), ("数据库", 0)):
            match = match_expression(query_terms(question), ["title"])
            assert (
                len(base.execute("SELECT * FROM m WHERE m MATCH ?", (match,)).fetchall()) == count
            )


HOSTILE = [
    *('"', "foo AND", "AND OR NOT", "NEAR(a b)", "*", "foo*", "^foo", "body:foo", "{a}:b", "-foo"),
    *("C++", "'", "a''b", "(", ")", "", " ", "\0", "a\0b", "\ud800", "x\udcffy", "__", "_", "#"),
    *("数据 AND 库", "x" * 10_240, "数" * 10_240, "a-" * 5_000, "aB" * 5_000, "\u0301", "٣", "½"),
]


@pytest.mark.parametrize("question", HOSTILE, ids=range(len(HOSTILE)))
def test_no_question_is_a_syntax_error(question: str) -> None:
    finds(question, question, "foo")


def test_every_text_can_be_stored_and_asked() -> None:
    reached: Counter[str] = Counter()

    @settings(max_examples=300, deadline=None)
    @given(st.text(max_size=60))
    def check(text: str) -> None:
        terms = query_terms(text)
        reached["asked"] += bool(terms)
        reached["not ascii"] += not text.isascii()
        assert len(terms) <= tokens.MAX_TERMS
        assert len({t.phrase for t in terms}) == len(terms)
        assert all(t.phrase.strip() and 0 < t.weight <= 1 for t in terms)
        assert terms == query_terms(text)
        finds(text, text)

    check()
    assert min(reached["asked"], reached["not ascii"]) > 50, reached


CJK = "数据库连接池缓存的了是我锁时钟使用鍵書りんごはがをにデータベースー데이터베이스를은는에서하고"


def test_every_stretch_of_a_run_is_found() -> None:
    reached: Counter[str] = Counter()

    @settings(max_examples=400, deadline=None)
    @given(st.text(CJK, min_size=1, max_size=24), st.data())
    def check(run: str, data: st.DataObject) -> None:
        size = min(len(run), data.draw(st.sampled_from([1, 2, 3, 5, 9])))
        start = data.draw(st.integers(0, len(run) - size))
        question = run[start : start + size]
        reached[str(min(len(question), 3))] += 1
        assert finds(question, f"see {run}pnpm.") == [0], (question, run)

    check()
    assert min(reached[size] for size in "123") > 30, reached


PART = st.text("abdefgklmopqruvwz", min_size=3, max_size=7)


def test_an_identifier_is_found_in_every_spelling_and_by_its_parts() -> None:
    reached: Counter[str] = Counter()

    def spellings(parts: list[str]) -> dict[str, str]:
        camel = parts[0] + "".join(p.capitalize() for p in parts[1:])
        return {
            "camel": camel,
            "pascal": camel[0].upper() + camel[1:],
            "snake": "_".join(parts),
            "constant": "_".join(parts).upper(),
            "kebab": "-".join(parts),
        }

    @settings(max_examples=200, deadline=None)
    @given(st.lists(PART, min_size=2, max_size=4), st.data())
    def check(parts: list[str], data: st.DataObject) -> None:
        ways = spellings(parts)
        written = data.draw(st.sampled_from(sorted(ways)))
        for asked, question in ways.items():
            reached[f"{written} by {asked}"] += 1
            assert finds(question, f"用{ways[written]}做") == [0], (question, ways[written])
        for part in parts:
            assert finds(part, f"the {ways[written]}() call") == [0], (part, ways[written])

    check()
    assert len(reached) == 25, reached


def test_the_joined_form_alone_joins_the_spellings() -> None:
    joined = [Term("getuserid", "getuserid")]
    for spelling in ("getUserId", "get_user_id", "get-user-id", "GetUserID", "GETUSERID"):
        assert "getuserid" in index_text(spelling).split(), spelling
        assert joined[0].phrase in phrases(spelling), spelling


def test_the_room_is_pure_and_light() -> None:
    code = (
        "import sys, memsync.tokens as t\n"
        "print(*{'sqlite3', 'yaml', 'git'} & set(sys.modules), t._compiled.cache_info()[3])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "0"
