"""What helps after an error, by its code. Never a destructive command ready to paste."""

from __future__ import annotations

from memsync.language import Translate


def advice(code: str, translate: Translate) -> str:
    """One sentence that helps, or an empty text."""
    _ = translate
    return {
        "record-not-found": _("`memsync search` finds by words, `memsync list` shows all."),
        "record-ambiguous": _("Give more characters of the id."),
        "record-elsewhere": _("Give its whole id, or -C and a folder of that project."),
        "record-forgotten": _("`memsync rollback` with its id brings it back."),
        "no-memory-repository": _("`memsync init` begins one."),
        "not-a-memory-repository": _("Set MEMSYNC_HOME to an empty or new folder."),
        "inside-other-work-tree": _("Set MEMSYNC_HOME to a folder outside of it."),
        "newer-format": _("Update memsync on this machine; nothing was touched."),
        "owned-by-other": _("Run memsync as that user, or set MEMSYNC_HOME to your own folder."),
        "repository-damaged": _("`memsync doctor` tells what is damaged, and what helps."),
        "current-folder-gone": _("Go to a folder that exists, or name one with -C."),
        "answer-lost": _("Do not repeat it; `memsync status` and `memsync list` show what is."),
        "repository-state": _("Finish or leave that with git first; your files are untouched."),
        "home-unknown": _("Set MEMSYNC_HOME to the folder of your memory."),
        "broken-file": _(
            "Mend the file in your editor (`memsync lint` names every line), or go back to its "
            "last good version: `memsync rollback` with its id or title."
        ),
        "edit-would-damage": _("Change the file in your editor."),
        "locked": _("Try again in a moment."),
        "index-busy": _("Try again in a moment."),
        "git-locked": _("Try again when the other git command is done."),
        "git-missing": _("Install git, version 2.34 or newer."),
        "git-too-old": _("Install a newer git."),
        "disk-full": _("Make room and try again; nothing was changed."),
        "not-a-project": _("Go to a Git repository, or use --scope global."),
        "project-not-found": _("`memsync project list` shows the known ones."),
        "editor-unknown": _("Set VISUAL or EDITOR to your editor's command."),
        "text-empty": _("Give the text as an argument, with --text, or on standard input."),
        "setting-unknown": _("`memsync config` shows all settings."),
        "revision-moved": _("Look at the memory again; somebody changed it."),
        "demo-failed": _("`memsync demo --keep` leaves the folder to look at."),
        "revision-not-found": _("`memsync history` with its id shows the revisions."),
    }.get(code, "")
