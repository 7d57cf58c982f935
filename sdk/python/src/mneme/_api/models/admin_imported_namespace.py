from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="AdminImportedNamespace")


@_attrs_define
class AdminImportedNamespace:
    """
    Attributes:
        namespace (str): 1-64 characters of a-z 0-9 _ -, starting with a letter or digit
        sparse (bool): whether the namespace has a learned-sparse index
        data_set (str): id of the data set
        hash_ (str): of the namespace as the data set has it; another export of a namespace that holds the same, and
            nothing else, has the same hash in its end line
        documents (int): in the data set: the sum of created, replaced, unchanged and skipped
        created (int): that were not there
        replaced (int): that were there with other contents
        unchanged (int): that were there with the same text and metadata
        skipped (int): that were there with other contents, and stayed as they are
        chunks (int): chunks of the documents created and replaced
        embedded (int): how many of those created and replaced had their vectors computed; the others brought them in
            the data set
    """

    namespace: str
    sparse: bool
    data_set: str
    hash_: str
    documents: int
    created: int
    replaced: int
    unchanged: int
    skipped: int
    chunks: int
    embedded: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        namespace = self.namespace

        sparse = self.sparse

        data_set = self.data_set

        hash_ = self.hash_

        documents = self.documents

        created = self.created

        replaced = self.replaced

        unchanged = self.unchanged

        skipped = self.skipped

        chunks = self.chunks

        embedded = self.embedded

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "namespace": namespace,
                "sparse": sparse,
                "data_set": data_set,
                "hash": hash_,
                "documents": documents,
                "created": created,
                "replaced": replaced,
                "unchanged": unchanged,
                "skipped": skipped,
                "chunks": chunks,
                "embedded": embedded,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        namespace = d.pop("namespace")

        sparse = d.pop("sparse")

        data_set = d.pop("data_set")

        hash_ = d.pop("hash")

        documents = d.pop("documents")

        created = d.pop("created")

        replaced = d.pop("replaced")

        unchanged = d.pop("unchanged")

        skipped = d.pop("skipped")

        chunks = d.pop("chunks")

        embedded = d.pop("embedded")

        admin_imported_namespace = cls(
            namespace=namespace,
            sparse=sparse,
            data_set=data_set,
            hash_=hash_,
            documents=documents,
            created=created,
            replaced=replaced,
            unchanged=unchanged,
            skipped=skipped,
            chunks=chunks,
            embedded=embedded,
        )

        admin_imported_namespace.additional_properties = d
        return admin_imported_namespace

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
