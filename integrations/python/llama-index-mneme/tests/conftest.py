import os
import uuid
from collections.abc import Iterator

import pytest
from mneme import Mneme


@pytest.fixture(scope="session")
def service() -> Iterator[Mneme]:
    with Mneme(os.environ["MNEME_URL"], os.environ["MNEME_SERVICE_KEY"]) as client:
        yield client


@pytest.fixture
def namespace() -> str:
    return f"test-{uuid.uuid4().hex}"
