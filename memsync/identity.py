"""Which project a folder belongs to. It reads and decides; nothing is written here.

The order (docs/projects.md tells it to people): the key bound in the common configuration, the
project of the memory repository that has this remote as an alias, a key derived from the remote.
"""

from __future__ import annotations

import os
import posixpath
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from memsync.gitrepo import code

#: Ports that say nothing: those of ssh, https, http and git.
DEFAULT_PORTS = frozenset({22, 443, 80, 9418})
#: Hosts that take two spellings of a path for one.
CASELESS_HOSTS = frozenset({"github.com", "gitlab.com", "bitbucket.org", "codeberg.org"})
#: The same hosts, by the names under which they speak ssh on the https port.
_SAME_HOST = {
    "ssh.github.com": "github.com",
    "altssh.gitlab.com": "gitlab.com",
    "altssh.bitbucket.org": "bitbucket.org",
}
#: Schemes whose paths are taken as they are; the others may carry a query, which may hold a token.
_NO_QUERY = frozenset({"ssh", "git", "git+ssh", "ssh+git"})
_SLUG_CHARACTERS = 60
_KEY_CHARACTERS = 100

_SCHEME = r"(?s)([A-Za-z][A-Za-z0-9+.-]*)://(.*)"
_TRANSPORT = r"(?s)([A-Za-z0-9][A-Za-z0-9+.-]*)::(.*)"
_WINDOWS = r"(?s)/?([A-Za-z]):[/\\](.*)"
_BRACKETS = r"(?s)(?:[^/\[\]]*@)?\[([^/\[\]]*)\]:(.*)"
_AUTHORITY = r"(\[[^\[\]]*\]|[^\[\]:]+)(?::([0-9]{0,5}))?"
_HOST = r"\[[0-9a-f:.]+\]|[^\s/\\?#%@:\[\]<>\"`|^{}\x00-\x1f\x7f]+"
_UNSAFE = frozenset("%?#@\\")

#: The codes of ``Project.steps``; the edge words them.
STEPS = frozenset(
    {
        "common-folder",
        "remote",
        "remote-unusable",
        "remote-not-asked",
        "no-remote",
        "bound-key",
        "bound-key-unusable",
        "no-bound-key",
        "alias-of",
        "alias-of-several",
        "alias-of-other",
        "derived-from",
        "merged-into",
        "merge-ring",
        "merge-target-missing",
        "key-known",
        "key-new",
    }
)


class Known(NamedTuple):
    """A project of the memory repository, as its ``project.yaml`` has it."""

    key: str
    name: str
    aliases: tuple[str, ...] = ()
    merged_into: str | None = None
    paused: bool = False


class Project(NamedTuple):
    """The project that a folder belongs to.

    ``key`` is None where there is no usable remote and no bound key: one is made at the first
    write. ``how`` is ``bound``, ``alias``, ``derived`` or ``unbound``. ``aliases`` are those
    normalised remotes of this clone that speak for the project and that no other known project
    has: what the first write may record. ``root`` is the work tree's top (None in a bare
    repository), ``within`` the path below it ("" at the top). ``common`` is the real path of the
    common Git folder. ``known`` says whether the memory repository has the key. ``steps`` tell
    how the key was found, as (code, fact); docs/projects.md lists the codes. Neither aliases
    nor steps ever hold credentials.
    """

    key: str | None
    name: str
    how: str
    aliases: tuple[str, ...]
    root: str | None
    within: str
    common: str
    known: bool
    steps: tuple[tuple[str, str], ...]


# --- remotes -------------------------------------------------------------------------------


def normalise_remote(
    url: str, rewrites: Sequence[tuple[str, str]] = (), base: str | None = None
) -> str | None:
    """The alias of a remote: ``host[:port]/path``, or ``file:`` and a path of this machine.

    ``rewrites`` are (base, prefix) of git's ``insteadOf``. ``base`` is the folder from which a
    relative path starts; without it such a path is unusable. The result is one line and holds no
    credentials and no query. Returns None for what names no repository, and for what might
    hide a part of a password in its path.
    """
    url = _rewritten(url, rewrites).strip()
    try:
        url.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return None
    transport = re.fullmatch(_TRANSPORT, url)
    if transport:
        name, address = transport.groups()
        # ``ext::`` and ``fd::`` name a program or a pipe; the others wrap a URL.
        wraps = name.lower() not in ("ext", "fd") and re.fullmatch(_SCHEME, address)
        return normalise_remote(address, (), base) if wraps else None
    if re.fullmatch(_WINDOWS, url) or url.startswith("\\\\"):
        return _windows_alias(url)
    with_scheme = re.fullmatch(_SCHEME, url)
    if with_scheme:
        return _url_alias(with_scheme[1].lower(), with_scheme[2])
    brackets = re.fullmatch(_BRACKETS, url)
    if brackets:
        inside = brackets[1].rpartition("@")[2]
        authority = f"[{inside}]" if inside.count(":") > 1 else inside
        return _network_alias(authority, brackets[2], is_ssh=True)
    if ":" in url.partition("/")[0]:
        return _scp_alias(url)
    return _file_alias(url, base)


def canonical_alias(text: str) -> str | None:
    """The alias that a person typed, as a URL or as an alias in any spelling; None if unusable."""
    text = text.strip()
    if text.startswith("file:") and not text.startswith("file://"):
        return text
    if "://" in text or "@" in text or re.fullmatch(_WINDOWS, text):
        return normalise_remote(text)
    return normalise_remote("https://" + text) or normalise_remote(text)


def _rewritten(url: str, rewrites: Sequence[tuple[str, str]]) -> str:
    fitting = [pair for pair in rewrites if url.startswith(pair[1])]
    if not fitting:
        return url
    base, prefix = max(fitting, key=lambda pair: len(pair[1]))
    return base + url[len(prefix) :]


def _url_alias(scheme: str, rest: str) -> str | None:
    if scheme == "file":
        path = _decoded(rest)
        if re.fullmatch(_WINDOWS, path):
            return _windows_alias(path)
        path = path.removeprefix("localhost") if path.startswith("localhost/") else path
        return _file_alias("/" + path, None)
    authority, _, path = rest.partition("/")
    if "@" in path:
        return None
    if scheme not in _NO_QUERY:
        path = re.split(r"[?#]", path, maxsplit=1)[0]
    return _network_alias(authority.rpartition("@")[2], _decoded(path), "ssh" in scheme)


def _scp_alias(url: str) -> str | None:
    """``[user@]host:path``. The user ends at the last ``@`` before the first slash."""
    head, slash, tail = url.partition("/")
    authority, colon, path = head.rpartition("@")[2].partition(":")
    if not colon or "@" in tail:
        return None
    return _network_alias(authority, path + slash + tail, is_ssh=True)


def _network_alias(authority: str, path: str, is_ssh: bool) -> str | None:
    found = re.fullmatch(_AUTHORITY, authority)
    if not found:
        return None
    host = unicodedata.normalize("NFC", found[1].lower()).rstrip(".")
    host = _SAME_HOST.get(host, host)
    if not re.fullmatch(_HOST, host) or any(unicodedata.category(c)[0] == "C" for c in host):
        return None
    if host in CASELESS_HOSTS:
        path = path.lower()
    parts = _components(unicodedata.normalize("NFC", path))
    if not parts:
        return None
    # The port of ssh says how to reach a server; one that serves https too has its path once.
    port = int(found[2] or 22)
    where = host if is_ssh or port in DEFAULT_PORTS else f"{host}:{port}"
    return "/".join((where, *map(_encoded, parts)))


def _file_alias(path: str, base: str | None) -> str | None:
    if not path or not (path.startswith("/") or base):
        return None
    try:
        real = os.path.realpath(os.path.join(base or "/", path))
    except ValueError:
        return None
    parts = _components(real)
    return "file:/" + "/".join(map(_encoded, parts)) if parts else None


def _windows_alias(path: str) -> str | None:
    drive = re.fullmatch(_WINDOWS, path)
    start, rest = (f"{drive[1].upper()}:", drive[2]) if drive else ("/", path)
    parts = _components(rest.replace("\\", "/"))
    return f"file:{start}/" + "/".join(map(_encoded, parts)) if parts else None


def _components(path: str) -> list[str]:
    """The parts of a path that tell repositories apart: no ``.``, no ``..``, no ``.git``, no
    ``~`` alone, which is where a path without it starts too."""
    while True:
        parts = [part for part in posixpath.normpath("/" + path).split("/") if part]
        if parts and parts[0] == "~":
            parts.pop(0)
        if parts and parts[-1].endswith(".git"):
            parts[-1] = parts[-1].removesuffix(".git")
        cleaned = "/".join(parts)
        if cleaned == path:
            return parts
        path = cleaned


def _decoded(text: str) -> str:
    if "%" not in text:
        return text
    from urllib.parse import unquote_to_bytes

    raw = unquote_to_bytes(text.encode("utf-8", "surrogateescape"))
    return raw.decode("utf-8", "surrogateescape")


def _encoded(text: str) -> str:
    """Percent-encode what would break a line, hide, or be read as another part of a URL."""
    return "".join(
        "".join(f"%{byte:02X}" for byte in letter.encode("utf-8", "surrogateescape"))
        if letter in _UNSAFE or unicodedata.category(letter)[0] in "CZ"
        else letter
        for letter in text
    )


# --- keys ----------------------------------------------------------------------------------


def derived_key(name: str, alias: str) -> str:
    """The key that every clone of a remote comes to by itself: ``<name>-<8 hex>``."""
    return f"{_slug(name)}-{_sum(alias.encode())}"


def _sum(data: bytes) -> str:
    import hashlib

    return hashlib.sha256(data).hexdigest()[:8]


def random_key(name: str, entropy: bytes) -> str:
    """The key of a project without remotes, from at least 8 random bytes."""
    return f"{_slug(name)}-{_sum(entropy)}"


def _slug(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return "-".join(re.findall(r"[a-z0-9]+", plain))[:_SLUG_CHARACTERS].strip("-") or "project"


def _usable_key(key: str) -> bool:
    """Whether a bound key can be a folder's name: a configuration may come from anywhere."""
    return (
        0 < len(key) <= _KEY_CHARACTERS
        and key.isprintable()
        and key == key.strip()
        and not key.startswith(".")
        and not set(key) & set("/\\:")
    )


# --- resolving -----------------------------------------------------------------------------


def resolve(
    path: str, known: Sequence[Known], environment: Mapping[str, str], home: str = ""
) -> Project | None:
    """The project that ``path``, a folder or file, belongs to; None outside of a repository.

    ``known`` are the projects of the memory repository, and ``home`` is the real path of its
    Git folder: it is no project itself. Reads only; starts one git process.

    Raises PathNotFound, CannotRead, GitFailed (a broken configuration), GitMissing, GitTimeout.
    """
    repo = code.find(path, environment)
    if repo is None or repo.common == home:
        return None
    steps = [("common-folder", repo.common)]
    memory = _Memory(known)
    remotes = _deciding_remotes(repo, steps)
    key, how, alias = _decide(repo.bound_key, remotes, memory, steps)
    entry = memory.projects.get(key) if key else None
    aliases = (alias,) if alias else ()
    if alias and memory.owner(alias, []) not in (None, key):
        steps.append(("alias-of-other", f"{alias} {memory.owner(alias, [])}"))
        aliases = ()
    if key:
        steps.append(("key-known" if entry else "key-new", key))
    return Project(
        key=key,
        name=entry.name if entry else _name(alias, repo.folder),
        how=how,
        aliases=aliases,
        root=repo.top,
        within=repo.within,
        common=repo.common,
        known=entry is not None,
        steps=tuple(steps),
    )


def resolve_bound(path: str, known: Sequence[Known]) -> Project | None:
    """The project of ``path`` where its key is plainly bound; None where more must be asked.

    Starts no process. Says nothing of remotes: ``aliases`` is empty, ``steps`` is short.
    """
    repo = code.find_bound(path)
    if repo is None or repo.bound_key is None:
        return None
    memory = _Memory(known)
    steps: list[tuple[str, str]] = []
    key = memory.follow(repo.bound_key, steps)
    entry = memory.projects.get(key)
    name = entry.name if entry else os.path.basename(repo.folder)
    return Project(
        key,
        name,
        "bound",
        (),
        repo.top,
        repo.within,
        repo.common,
        entry is not None,
        tuple(steps),
    )


def _deciding_remotes(repo: code.CodeRepo, steps: list[tuple[str, str]]) -> list[str]:
    """The aliases that may speak for the project, the weightiest first.

    ``origin`` speaks alone: beside it ``upstream`` is what this clone is a fork of, and forks
    are different projects.
    """
    urls = dict(repo.remotes)
    names = ["origin"] if "origin" in urls else sorted(urls)
    aliases = []
    for name in names:
        alias = normalise_remote(urls[name], repo.rewrites, repo.folder)
        steps.append(("remote", f"{name} {alias}") if alias else ("remote-unusable", name))
        if alias:
            aliases.append(alias)
    steps.extend(("remote-not-asked", name) for name in sorted(urls) if name not in names)
    if not urls:
        steps.append(("no-remote", ""))
    return aliases


def _decide(
    bound: str | None, remotes: list[str], memory: _Memory, steps: list[tuple[str, str]]
) -> tuple[str | None, str, str | None]:
    """(key, how, the alias that speaks for it)."""
    first = remotes[0] if remotes else None
    if bound and (bound in memory.projects or _usable_key(bound)):
        steps.append(("bound-key", bound))
        return memory.follow(bound, steps), "bound", first
    steps.append(("bound-key-unusable", "") if bound else ("no-bound-key", ""))
    for alias in remotes:
        owner = memory.owner(alias, steps)
        if owner:
            return owner, "alias", alias
    if first:
        key = derived_key(_name(first, ""), first)
        steps.append(("derived-from", first))
        return memory.follow(key, steps), "derived", first
    return None, "unbound", None


def _name(alias: str | None, folder: str) -> str:
    """A readable name: the last part of the remote, else the folder's."""
    text = _decoded(alias.rpartition("/")[2]) if alias else os.path.basename(folder)
    text = text.removesuffix(".git").encode("utf-8", "replace").decode()
    return "".join(c if c.isprintable() else " " for c in text).strip() or "project"


class _Memory:
    """The known projects, asked by key and by alias."""

    def __init__(self, known: Sequence[Known]) -> None:
        self.projects = {project.key: project for project in known}

    def follow(self, key: str, steps: list[tuple[str, str]]) -> str:
        """The project into which ``key`` was merged, however many times.

        A ring (two machines merged in opposite ways) ends at its smallest key, the same from
        everywhere; a target that is not there is not followed.
        """
        seen = [key]
        while True:
            entry = self.projects.get(seen[-1])
            target = entry.merged_into if entry else None
            if not target:
                return seen[-1]
            if target not in self.projects:
                steps.append(("merge-target-missing", target))
                return seen[-1]
            if target in seen:
                last = min(seen[seen.index(target) :])
                steps.append(("merge-ring", last))
                return last
            steps.append(("merged-into", target))
            seen.append(target)

    def owner(self, alias: str, steps: list[tuple[str, str]]) -> str | None:
        """The key of the project with this alias, after merges.

        Where several claim it: the one whose key derives from it, else the smallest key.
        """
        having = [p.key for p in self.projects.values() if alias in p.aliases]
        if not having:
            # A person may have written a URL, or another spelling, into the file.
            having = [
                project.key
                for project in self.projects.values()
                if any(canonical_alias(text) == alias for text in project.aliases)
            ]
        ends = sorted({self.follow(key, []) for key in having})
        if not ends:
            return None
        natural = derived_key(_name(alias, ""), alias)
        chosen = natural if natural in ends else ends[0]
        if len(ends) > 1:
            steps.append(("alias-of-several", " ".join(ends)))
        start = min(key for key in having if self.follow(key, []) == chosen)
        steps.append(("alias-of", f"{alias} {start}"))
        return self.follow(start, steps)
