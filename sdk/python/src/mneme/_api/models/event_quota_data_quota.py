from typing import Literal, cast

EventQuotaDataQuota = Literal["bytes", "documents", "end_users", "namespaces"]


def check_event_quota_data_quota(value: str) -> EventQuotaDataQuota:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(EventQuotaDataQuota, value)
