from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="UsageRow")


@_attrs_define
class UsageRow:
    """
    Attributes:
        from_ (datetime.datetime | None): beginning of the hour or day; null: the row sums up all
        organization_id (str):
        namespace (None | str): null: in none
        integration_id (None | str): null: for none
        key_id (None | str): null: the server did it by itself
        requests (int): calls that did what they were asked
        documents (int): documents and memories written
        chunks (int): chunks of what was written, where its text changed
        tokens_embedded (int): tokens that an embedding model has read
        tokens_sparse (int): tokens that a sparse model has read
        pairs_reranked (int): texts scored against a query
        recalls (int):
    """

    from_: datetime.datetime | None
    organization_id: str
    namespace: None | str
    integration_id: None | str
    key_id: None | str
    requests: int
    documents: int
    chunks: int
    tokens_embedded: int
    tokens_sparse: int
    pairs_reranked: int
    recalls: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from_: None | str
        if isinstance(self.from_, datetime.datetime):
            from_ = self.from_.isoformat()
        else:
            from_ = self.from_

        organization_id = self.organization_id

        namespace: None | str
        namespace = self.namespace

        integration_id: None | str
        integration_id = self.integration_id

        key_id: None | str
        key_id = self.key_id

        requests = self.requests

        documents = self.documents

        chunks = self.chunks

        tokens_embedded = self.tokens_embedded

        tokens_sparse = self.tokens_sparse

        pairs_reranked = self.pairs_reranked

        recalls = self.recalls

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "from": from_,
                "organization_id": organization_id,
                "namespace": namespace,
                "integration_id": integration_id,
                "key_id": key_id,
                "requests": requests,
                "documents": documents,
                "chunks": chunks,
                "tokens_embedded": tokens_embedded,
                "tokens_sparse": tokens_sparse,
                "pairs_reranked": pairs_reranked,
                "recalls": recalls,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)

        def _parse_from_(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                from_type_0 = datetime.datetime.fromisoformat(data)

                return from_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        from_ = _parse_from_(d.pop("from"))

        organization_id = d.pop("organization_id")

        def _parse_namespace(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        namespace = _parse_namespace(d.pop("namespace"))

        def _parse_integration_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        integration_id = _parse_integration_id(d.pop("integration_id"))

        def _parse_key_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        key_id = _parse_key_id(d.pop("key_id"))

        requests = d.pop("requests")

        documents = d.pop("documents")

        chunks = d.pop("chunks")

        tokens_embedded = d.pop("tokens_embedded")

        tokens_sparse = d.pop("tokens_sparse")

        pairs_reranked = d.pop("pairs_reranked")

        recalls = d.pop("recalls")

        usage_row = cls(
            from_=from_,
            organization_id=organization_id,
            namespace=namespace,
            integration_id=integration_id,
            key_id=key_id,
            requests=requests,
            documents=documents,
            chunks=chunks,
            tokens_embedded=tokens_embedded,
            tokens_sparse=tokens_sparse,
            pairs_reranked=pairs_reranked,
            recalls=recalls,
        )

        usage_row.additional_properties = d
        return usage_row

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
