from typing import Literal, cast

SourcesDeleteDocuments = Literal["delete", "keep"]


def check_sources_delete_documents(value: str) -> SourcesDeleteDocuments:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(SourcesDeleteDocuments, value)
