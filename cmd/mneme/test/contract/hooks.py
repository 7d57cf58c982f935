"""What schemathesis does with each call before it is sent."""

import schemathesis

ENOUGH = 120_000  # milliseconds


@schemathesis.hook
def before_call(context, case, kwargs):
    """Lets no valid time limit end a call: a small one is kept, by 504. Waits for no event."""
    limit = (case.headers or {}).get("X-Timeout-Ms")
    if isinstance(limit, (str, int)) and str(limit).isascii() and str(limit).isdigit() and 0 < int(limit) < ENOUGH:
        case.headers["X-Timeout-Ms"] = str(ENOUGH)
    wait = (case.query or {}).get("wait")
    if isinstance(wait, (str, int)) and str(wait).isascii() and str(wait).isdigit() and int(wait) <= 30:
        case.query["wait"] = 0


@schemathesis.serializer("application/x-ndjson")
def lines(context, value):
    """Sends lines of JSON as they are; the tester knows no such body."""
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")


@schemathesis.hook
def before_load_schema(context, schema):
    """Has a filter hold plain conditions in its lists: to draw filters in filters takes longer than all the rest. How deep
    they may go is tried by the tests of core/filter."""
    schemas = schema["components"]["schemas"]
    nested = schemas["Filter"]
    plain = {key: value for key, value in nested.items() if key != "properties"}
    schemas["FlatFilter"] = {**plain, "propertyNames": {"pattern": "^[^$]"}}
    for conditions in nested["properties"].values():
        conditions["items"] = {"$ref": "#/components/schemas/FlatFilter"}
