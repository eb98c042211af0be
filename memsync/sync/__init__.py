"""Bringing machines together: so far the part that git calls when it merges by itself."""
