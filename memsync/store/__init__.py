"""The write path and the reading of the memory repository: files, index and Git as one."""
