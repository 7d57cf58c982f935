from typing import Literal, cast

AdminJobStatus = Literal["cancelled", "failed", "queued", "running", "succeeded"]


def check_admin_job_status(value: str) -> AdminJobStatus:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(AdminJobStatus, value)
