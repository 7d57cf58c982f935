"""The client for asyncio and trio. scripts/unasync.py makes its twin without await of it."""
