"""The command line: parse, call, print. The only room of click, and one error boundary."""
