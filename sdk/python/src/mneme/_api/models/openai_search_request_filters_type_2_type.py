from typing import Literal, cast

OpenaiSearchRequestFiltersType2Type = Literal["and", "or"]


def check_openai_search_request_filters_type_2_type(
    value: str,
) -> OpenaiSearchRequestFiltersType2Type:
    """A newer server may send values that this version does not know; they are kept."""
    return cast(OpenaiSearchRequestFiltersType2Type, value)
