from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.event_kind_info_keys import EventKindInfoKeys, check_event_kind_info_keys

if TYPE_CHECKING:
    from ..models.documents_event import DocumentsEvent
    from ..models.event_kind_info_schema import EventKindInfoSchema
    from ..models.key_event import KeyEvent
    from ..models.memory_event import MemoryEvent
    from ..models.model_event import ModelEvent
    from ..models.namespace_event import NamespaceEvent
    from ..models.quota_event import QuotaEvent
    from ..models.run_event import RunEvent
    from ..models.source_event import SourceEvent
    from ..models.user_event import UserEvent
    from ..models.webhook_event import WebhookEvent


T = TypeVar("T", bound="EventKindInfo")


@_attrs_define
class EventKindInfo:
    """
    Attributes:
        name (str): the type of its events
        summary (str):
        keys (EventKindInfoKeys): the keys that see its events: service, which includes admin keys, or admin alone
        schema (EventKindInfoSchema): JSON Schema of an event's data
        example (DocumentsEvent | KeyEvent | MemoryEvent | ModelEvent | NamespaceEvent | QuotaEvent | RunEvent |
            SourceEvent | UserEvent | WebhookEvent): an event
    """

    name: str
    summary: str
    keys: EventKindInfoKeys
    schema: EventKindInfoSchema
    example: (
        DocumentsEvent
        | KeyEvent
        | MemoryEvent
        | ModelEvent
        | NamespaceEvent
        | QuotaEvent
        | RunEvent
        | SourceEvent
        | UserEvent
        | WebhookEvent
    )
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.documents_event import DocumentsEvent
        from ..models.key_event import KeyEvent
        from ..models.memory_event import MemoryEvent
        from ..models.model_event import ModelEvent
        from ..models.namespace_event import NamespaceEvent
        from ..models.quota_event import QuotaEvent
        from ..models.run_event import RunEvent
        from ..models.source_event import SourceEvent
        from ..models.user_event import UserEvent

        name = self.name

        summary = self.summary

        keys: str = self.keys

        schema = self.schema.to_dict()

        example: dict[str, Any]
        if (
            isinstance(self.example, NamespaceEvent)
            or isinstance(self.example, DocumentsEvent)
            or isinstance(self.example, RunEvent)
            or isinstance(self.example, SourceEvent)
            or isinstance(self.example, MemoryEvent)
            or isinstance(self.example, UserEvent)
            or isinstance(self.example, QuotaEvent)
            or isinstance(self.example, KeyEvent)
            or isinstance(self.example, ModelEvent)
        ):
            example = self.example.to_dict()
        else:
            example = self.example.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
                "summary": summary,
                "keys": keys,
                "schema": schema,
                "example": example,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.documents_event import DocumentsEvent
        from ..models.event_kind_info_schema import EventKindInfoSchema
        from ..models.key_event import KeyEvent
        from ..models.memory_event import MemoryEvent
        from ..models.model_event import ModelEvent
        from ..models.namespace_event import NamespaceEvent
        from ..models.quota_event import QuotaEvent
        from ..models.run_event import RunEvent
        from ..models.source_event import SourceEvent
        from ..models.user_event import UserEvent
        from ..models.webhook_event import WebhookEvent

        d = dict(src_dict)
        name = d.pop("name")

        summary = d.pop("summary")

        keys = check_event_kind_info_keys(d.pop("keys"))

        schema = EventKindInfoSchema.from_dict(d.pop("schema"))

        def _parse_example(
            data: object,
        ) -> (
            DocumentsEvent
            | KeyEvent
            | MemoryEvent
            | ModelEvent
            | NamespaceEvent
            | QuotaEvent
            | RunEvent
            | SourceEvent
            | UserEvent
            | WebhookEvent
        ):
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                example_type_0 = NamespaceEvent.from_dict(data)

                return example_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                example_type_1 = DocumentsEvent.from_dict(data)

                return example_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                example_type_2 = RunEvent.from_dict(data)

                return example_type_2
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                example_type_3 = SourceEvent.from_dict(data)

                return example_type_3
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                example_type_4 = MemoryEvent.from_dict(data)

                return example_type_4
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                example_type_5 = UserEvent.from_dict(data)

                return example_type_5
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                example_type_6 = QuotaEvent.from_dict(data)

                return example_type_6
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                example_type_7 = KeyEvent.from_dict(data)

                return example_type_7
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                example_type_8 = ModelEvent.from_dict(data)

                return example_type_8
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            if not isinstance(data, dict):
                raise TypeError()
            example_type_9 = WebhookEvent.from_dict(data)

            return example_type_9

        example = _parse_example(d.pop("example"))

        event_kind_info = cls(
            name=name,
            summary=summary,
            keys=keys,
            schema=schema,
            example=example,
        )

        event_kind_info.additional_properties = d
        return event_kind_info

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
