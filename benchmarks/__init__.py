"""Benchmarks of memsync: a corpus, the straight-line limits, and the table of both."""
