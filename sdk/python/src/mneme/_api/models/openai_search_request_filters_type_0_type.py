from typing import Literal, cast

OpenaiSearchRequestFiltersType0Type = Literal["eq"]


def check_openai_search_request_filters_type_0_type(
    value: str,
) -> OpenaiSearchRequestFiltersType0Type:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(OpenaiSearchRequestFiltersType0Type, value)
