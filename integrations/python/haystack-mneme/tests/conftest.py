import os
import uuid
from collections.abc import Iterator

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"  # read as haystack is imported

import pytest
from haystack.utils import Secret
from mneme import Mneme

from haystack_mneme import MnemeDocumentStore


@pytest.fixture(scope="session")
def service() -> Iterator[Mneme]:
    with Mneme(os.environ["MNEME_URL"], os.environ["MNEME_SERVICE_KEY"]) as client:
        yield client


@pytest.fixture
def namespace() -> str:
    return f"test-{uuid.uuid4().hex}"


@pytest.fixture
def store(namespace: str) -> Iterator[MnemeDocumentStore]:
    made = MnemeDocumentStore(namespace, api_key=Secret.from_env_var("MNEME_SERVICE_KEY"))
    yield made
    made.close()
