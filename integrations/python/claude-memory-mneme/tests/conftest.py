import os
import uuid
from collections.abc import AsyncIterator, Iterator

import pytest
from mneme import AsyncMneme, Mneme


@pytest.fixture(scope="session")
def integration() -> Iterator[Mneme]:
    with Mneme(os.environ["MNEME_URL"], os.environ["MNEME_INTEGRATION_KEY"]) as client:
        yield client


@pytest.fixture
async def async_integration() -> AsyncIterator[AsyncMneme]:
    async with AsyncMneme(os.environ["MNEME_URL"], os.environ["MNEME_INTEGRATION_KEY"]) as client:
        yield client


@pytest.fixture
def user() -> str:
    return f"user-{uuid.uuid4().hex}"
