from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

T = TypeVar("T", bound="MemoryDelete")


@_attrs_define
class MemoryDelete:
    """
    Attributes:
        end_user_id (str): 1-128 characters of A-Z a-z 0-9 @ . _ -, and neither . nor ..
        ids (list[str]): memories to delete; those that do not exist are skipped
    """

    end_user_id: str
    ids: list[str]

    def to_dict(self) -> dict[str, Any]:
        end_user_id = self.end_user_id

        ids = self.ids

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "endUserId": end_user_id,
                "ids": ids,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        end_user_id = d.pop("endUserId")

        ids = cast(list[str], d.pop("ids"))

        memory_delete = cls(
            end_user_id=end_user_id,
            ids=ids,
        )

        return memory_delete
