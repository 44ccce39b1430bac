"""Refuses what DynamoDB refuses of the names and values beside expressions.

moto passes a value that no expression uses, answers 500 for one that is missing, and has words of its own for others;
transactions it hardly looks at. Here each call is held to DynamoDB's rules before moto sees it, in DynamoDB's words.
"""

import functools
import re

import moto.dynamodb.responses as responses
from moto.dynamodb.exceptions import MockValidationException

# The expressions of each request, in the order in which DynamoDB reads them, and those that may use values.
GET = (("ProjectionExpression",), ())
PUT = (("ConditionExpression",), ("ConditionExpression",))
UPDATE = (("UpdateExpression", "ConditionExpression"),) * 2
REQUESTS = {
    "get_item": GET,
    "batch_get_item": GET,
    "transact_get_items": {"Get": GET},
    "put_item": PUT,
    "delete_item": PUT,
    "update_item": UPDATE,
    "transact_write_items": {"Put": PUT, "Delete": PUT, "ConditionCheck": PUT, "Update": UPDATE},
    "query": (("KeyConditionExpression", "FilterExpression", "ProjectionExpression"),
        ("FilterExpression", "KeyConditionExpression")),
    "scan": (("FilterExpression", "ProjectionExpression"), ("FilterExpression",)),
}
NAMES, VALUES = "ExpressionAttributeNames", "ExpressionAttributeValues"
MISSING = {
    "#": "An expression attribute name used in the document path is not defined; attribute name: ",
    ":": "An expression attribute value used in expression is not defined; attribute value: ",
}


def apply():
    for method, forms in REQUESTS.items():
        setattr(responses.DynamoHandler, method, checked(getattr(responses.DynamoHandler, method), method, forms))


def checked(call, method, forms):
    @functools.wraps(call)
    def held(self):
        for request, form in requests(self.body, method, forms):
            check(request, *form)
        return call(self)

    return held


def requests(body, method, forms):
    """The parts of a call that have expressions, each with its form."""
    if method == "batch_get_item":
        return [(request, forms) for request in body["RequestItems"].values()]
    if isinstance(forms, dict):
        return [(request, forms[kind]) for entry in body["TransactItems"] for kind,
            request in entry.items() if kind in forms]
    return [(body, forms)]


def check(request, expressions, with_values):
    names, values = request.get(NAMES), request.get(VALUES) if with_values else None
    for kind, given in ((NAMES, names), (VALUES, values)):
        if given == {}:
            raise MockValidationException(f"{kind} must not be empty")
    texts = [(name, request[name]) for name in expressions if request.get(name)]
    if names is not None and not texts:
        raise MockValidationException(f"{NAMES} can only be specified when using expressions")
    if values is not None and not any(name in with_values for name, _ in texts):
        null = " and ".join(with_values) + (" are null" if len(with_values) > 1 else " is null")
        raise MockValidationException(f"{VALUES} can only be specified when using expressions: {null}")
    used = set()
    for name, text in texts:
        for placeholder in placeholders(text):
            if placeholder not in ((names if placeholder[0] == "#" else values) or {}):
                raise MockValidationException(f"Invalid {name}: {MISSING[placeholder[0]]}{placeholder}")
            used.add(placeholder)
    for kind, given in ((NAMES, names), (VALUES, values)):
        unused = sorted(set(given or ()) - used)
        if unused:
            raise MockValidationException(
                f"Value provided in {kind} unused in expressions: keys: {{{', '.join(unused)}}}")


@functools.lru_cache(maxsize=4096)
def placeholders(text):
    """The names and values that an expression uses, in its order."""
    return tuple(re.findall(r"[#:][A-Za-z0-9_]+", text))
