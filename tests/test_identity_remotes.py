"""Remotes in one form and keys made from them: the tables of docs/projects.md, and any text."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsync import identity
from memsync.identity import canonical_alias, derived_key, normalise_remote
from memsync.record import KEY_PATTERN

PAGE = (Path(__file__).parent.parent / "docs" / "projects.md").read_text(encoding="utf-8")
ACME = "github.com/acme/api"
ACME_KEY = derived_key("api", ACME)


def table(heading: str) -> list[tuple[str, str]]:
    part = PAGE.split(heading, 1)[1].split("\n#", 1)[0]
    rows = re.findall(r"^\| `(.+?)` \| (.+?) \|$", part, re.MULTILINE)
    return [(left, right.strip("`")) for left, right in rows]


@pytest.mark.parametrize(("form", "alias"), table("## Remotes in one form"))
def test_the_forms_of_the_page(form: str, alias: str) -> None:
    assert normalise_remote(form) == (None if alias == "none" else alias)


def test_the_page_has_the_table_and_all_steps() -> None:
    forms = table("## Remotes in one form")
    assert len(forms) >= 50
    assert {form for form, _ in table("## The steps of")} == identity.STEPS
    source = Path(identity.__file__).read_text(encoding="utf-8")
    for step in identity.STEPS:
        assert source.count(f'"{step}"') == 2, step
    assert not [alias for _, alias in forms if "hunter2" in alias]


def test_a_local_path_is_followed_and_made_absolute(tmp_path: Path) -> None:
    (tmp_path / "real.git").mkdir()
    (tmp_path / "link").symlink_to("real.git")
    alias = f"file:{tmp_path.resolve()}/real"
    assert normalise_remote(str(tmp_path / "link")) == alias
    assert normalise_remote("../link", base=str(tmp_path / "x")) == alias
    assert normalise_remote("./a:b", base=str(tmp_path)) == f"file:{tmp_path.resolve()}/a:b"
    assert normalise_remote("../link") is None


def test_the_longest_rewrite_wins_and_only_once() -> None:
    rewrites = [
        ("https://hunter2@github.com/", "gh:"),
        ("ssh://git@git.example.org/", "gh:acme/"),
        ("gh:", "twice:"),
    ]
    assert normalise_remote("gh:mona/x", rewrites) == "github.com/mona/x"
    assert normalise_remote("gh:acme/x", rewrites) == "git.example.org/x"
    assert normalise_remote("twice:mona/x", rewrites) == "gh/mona/x"


@pytest.mark.parametrize(
    ("typed", "alias"),
    [
        (ACME, ACME),
        ("GitHub.com/Acme/API", ACME),
        ("git@github.com:acme/api.git", ACME),
        ("github.com:acme/api", ACME),
        ("h:8443/x", "h:8443/x"),
        ("file:/srv/x", "file:/srv/x"),
        ("/srv/x.git", "file:/srv/x"),
        ("C:/x.git", "file:C:/x"),
        ("", None),
    ],
)
def test_an_alias_as_a_person_types_it(typed: str, alias: str | None) -> None:
    assert canonical_alias(typed) == alias


SECRET = st.text(alphabet="QXZ:@/?#%[]\\ &=+~!", min_size=1, max_size=12)
NAME = st.text(alphabet="abcdef0123", min_size=1, max_size=6)
SCHEMES = st.sampled_from(["https", "http", "ssh", "git", "git+ssh", "ftp", "HTTPS"])


def test_credentials_never_reach_an_alias() -> None:
    seen: Counter[str] = Counter()

    @settings(max_examples=400, deadline=None)
    @given(SCHEMES, SECRET, SECRET, NAME, NAME, NAME, st.booleans())
    def check(
        scheme: str, user: str, word: str, host: str, owner: str, name: str, query: bool
    ) -> None:
        tail = f"{owner}/{name}.git" + (f"?token={word}" if query and scheme != "ssh" else "")
        if scheme in ("ssh", "git", "git+ssh"):
            tail = f"{owner}/{name}.git"
        plain = f"{scheme}://{user}:{word}@{host}/{tail}"
        rewritten = ([(f"{scheme}://{user}:{word}@{host}/", "gh:")], f"gh:{tail}")
        bare = re.sub(r"[/\\]", "", user)
        scp = f"me{bare}:{word}@{host}:{owner}/{name}.git"
        for alias in (normalise_remote(plain), normalise_remote(rewritten[1], rewritten[0])):
            seen["url" if alias else "refused"] += 1
            assert alias is None or not set(unquote(alias)) & set("QXZ@?#[]\\&=+! "), alias
        alias = normalise_remote(scp)
        seen["scp" if alias else "scp refused"] += 1
        assert alias is None or not set(unquote(alias)) & set("QXZ@"), alias
        seen["slash in it"] += "/" in user + word

    check()
    assert min(seen[k] for k in ("url", "refused", "scp", "scp refused", "slash in it")) > 20, seen


PIECES = re.findall(
    "[^ ]+",
    "https:// ssh:// file:// git@ github.com Ex.org : / .. . ~ .git % %41 %2F %ff :: [::1] [ ] "
    "\\ C: @ ? # 22 8443 A é e\u0301 İ Σ 團 \n \x00 \u200b \udcff \ud800",
)
ANY = st.one_of(st.text(), st.lists(st.sampled_from([*PIECES, " "]), max_size=12).map("".join))


def test_any_text_is_taken_and_an_alias_stays_as_it_is() -> None:
    seen: Counter[str] = Counter()

    @settings(max_examples=1000, deadline=None)
    @given(ANY, st.sampled_from(["", "https://h.org/", "git@github.com:a/"]))
    def check(text: str, front: str) -> None:
        alias = normalise_remote(front + text, (), "/base")
        canonical_alias(text)
        if alias is None:
            seen["unusable"] += 1
            return
        assert alias.isprintable() or not alias.encode("utf-8").isascii()
        assert len(alias.splitlines()) == 1
        assert not re.search(r"\s|@|\?|#|\\", alias)
        if alias.startswith("file:"):
            seen["file"] += 1
        else:
            seen["network"] += 1
            assert normalise_remote("https://" + alias) == alias
            assert canonical_alias(alias) == alias
        key = derived_key(text, alias)
        assert re.fullmatch(KEY_PATTERN, key)

    check()
    assert min(seen[kind] for kind in ("unusable", "file", "network")) > 50, seen


def test_keys_are_readable_and_safe() -> None:
    assert ACME_KEY == "api-e1dcaa34"
    assert derived_key("Käse & Brot", ACME) == "kase-brot-e1dcaa34"
    assert derived_key("项目", ACME) == "project-e1dcaa34"
    assert derived_key("x" * 300, ACME) == "x" * 60 + "-e1dcaa34"
    one, other = (identity.random_key("api", bytes([n]) * 16) for n in (1, 2))
    assert one != other
    assert re.fullmatch(KEY_PATTERN, one)
