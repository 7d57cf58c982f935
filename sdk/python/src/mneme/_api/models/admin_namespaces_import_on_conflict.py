from typing import Literal, cast

AdminNamespacesImportOnConflict = Literal["fail", "replace", "skip"]


def check_admin_namespaces_import_on_conflict(
    value: str,
) -> AdminNamespacesImportOnConflict:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(AdminNamespacesImportOnConflict, value)
