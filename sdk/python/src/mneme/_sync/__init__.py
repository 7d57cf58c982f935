"""The client without await, made of _async by scripts/unasync.py."""
