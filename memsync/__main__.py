"""``python -m memsync`` and the ``memsync`` program."""

from __future__ import annotations

import contextlib
import os
import sys


def main() -> None:
    """Run the command line and end the process with its status."""
    import gc

    # A command lives for moments: looking for garbage costs it more than keeping it.
    gc.disable()
    if sys.argv[1:2] == ["merge-driver"]:  # git starts it for every file: without the command line
        from memsync.sync.driver import run as merge

        os._exit(merge(sys.argv[2:]))
    from memsync.cli.app import run

    status = run(sys.argv[1:])
    with contextlib.suppress(OSError):  # a reader that has gone; ``run`` told what was to be told
        sys.stdout.flush()
        sys.stderr.flush()
    # Without taking ten thousand objects apart one by one, which nothing is waiting for.
    os._exit(status)


if __name__ == "__main__":
    main()
