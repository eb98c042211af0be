"""Front matter: files read strictly and written without loss. Pure: bytes in, bytes out.

``document`` takes a file apart, ``schema`` reads it as a record, ``codec`` writes a new one,
``edits`` and ``revise`` change one without touching other lines. PyYAML lives in ``strict``
alone; who only needs the nouns of ``model`` does not pay for it.
"""
