"""memsync keeps one person's memory for coding agents as Markdown files in Git."""

__version__ = "0.1.0"
