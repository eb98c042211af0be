"""``python -m memsync`` and the ``memsync`` program."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and end the process with its status."""
    import gc

    # A command lives for moments: looking for garbage costs it more than keeping it.
    gc.disable()
    from memsync.cli.app import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
