from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.source_listed import SourceListed
    from ..models.source_problem import SourceProblem
    from ..models.source_reason import SourceReason


T = TypeVar("T", bound="SourceChecked")


@_attrs_define
class SourceChecked:
    """
    Attributes:
        ok (bool): whether a run could begin
        problems (list[SourceProblem]): what of the settings can't work
        error (None | SourceReason): why the source could not be listed; else null
        items (list[SourceListed]): the first items, at most 20
        complete (bool): whether these are all
    """

    ok: bool
    problems: list[SourceProblem]
    error: None | SourceReason
    items: list[SourceListed]
    complete: bool
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.source_reason import SourceReason

        ok = self.ok

        problems = []
        for problems_item_data in self.problems:
            problems_item = problems_item_data.to_dict()
            problems.append(problems_item)

        error: dict[str, Any] | None
        if isinstance(self.error, SourceReason):
            error = self.error.to_dict()
        else:
            error = self.error

        items = []
        for items_item_data in self.items:
            items_item = items_item_data.to_dict()
            items.append(items_item)

        complete = self.complete

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "ok": ok,
                "problems": problems,
                "error": error,
                "items": items,
                "complete": complete,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.source_listed import SourceListed
        from ..models.source_problem import SourceProblem
        from ..models.source_reason import SourceReason

        d = dict(src_dict)
        ok = d.pop("ok")

        problems = []
        _problems = d.pop("problems")
        for problems_item_data in _problems:
            problems_item = SourceProblem.from_dict(problems_item_data)

            problems.append(problems_item)

        def _parse_error(data: object) -> None | SourceReason:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                error_type_0 = SourceReason.from_dict(data)

                return error_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | SourceReason, data)

        error = _parse_error(d.pop("error"))

        items = []
        _items = d.pop("items")
        for items_item_data in _items:
            items_item = SourceListed.from_dict(items_item_data)

            items.append(items_item)

        complete = d.pop("complete")

        source_checked = cls(
            ok=ok,
            problems=problems,
            error=error,
            items=items,
            complete=complete,
        )

        source_checked.additional_properties = d
        return source_checked

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
