import os
import uuid
from collections.abc import AsyncIterator

import pytest
from mneme import AsyncMneme


@pytest.fixture
async def client() -> AsyncIterator[AsyncMneme]:
    async with AsyncMneme(os.environ["MNEME_URL"], os.environ["MNEME_INTEGRATION_KEY"]) as client:
        yield client


@pytest.fixture
def someone() -> str:
    return f"autogen-{uuid.uuid4().hex}"
