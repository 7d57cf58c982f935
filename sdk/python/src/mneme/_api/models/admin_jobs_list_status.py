from typing import Literal, cast

AdminJobsListStatus = Literal["cancelled", "failed", "queued", "running", "succeeded"]


def check_admin_jobs_list_status(value: str) -> AdminJobsListStatus:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(AdminJobsListStatus, value)
