from typing import Literal, cast

AdminUsageExportCsvBy = Literal["day", "hour", "total"]


def check_admin_usage_export_csv_by(value: str) -> AdminUsageExportCsvBy:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(AdminUsageExportCsvBy, value)
