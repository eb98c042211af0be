"""Front matter: files read strictly and written without loss. Pure: bytes in, bytes out.

Nothing here opens a file. PyYAML lives in this room alone, so import the room late.
"""

from memsync.frontmatter.codec import (
    changes_between,
    check_limits,
    dump_document,
    dump_yaml,
    encode,
    front_matter_of,
    record_from_json,
    record_to_json,
)
from memsync.frontmatter.document import canonical_body, parse, parse_yaml
from memsync.frontmatter.edits import edit, edit_yaml
from memsync.frontmatter.model import Decoded, Document, Place, Value, Writable
from memsync.frontmatter.revise import revise
from memsync.frontmatter.schema import decode

__all__ = [
    "Decoded",
    "Document",
    "Place",
    "Value",
    "Writable",
    "canonical_body",
    "changes_between",
    "check_limits",
    "decode",
    "dump_document",
    "dump_yaml",
    "edit",
    "edit_yaml",
    "encode",
    "front_matter_of",
    "parse",
    "parse_yaml",
    "record_from_json",
    "record_to_json",
    "revise",
]
