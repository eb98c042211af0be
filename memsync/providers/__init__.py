"""The implementations of the provider contract."""
