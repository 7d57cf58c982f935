from typing import Literal, cast

OpenaiSearchRequestFiltersType1Type = Literal["in"]


def check_openai_search_request_filters_type_1_type(
    value: str,
) -> OpenaiSearchRequestFiltersType1Type:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(OpenaiSearchRequestFiltersType1Type, value)
