"""Writes the values of DynamoDB's items directly.

moto walks the service's model for every value, and has no way to leave that out: with its own walk the tests of
shared/store take three times as long of the server (14 s of processor time instead of 5).
"""

from moto.core.serialize import BaseJSONSerializer
from moto.dynamodb.models.dynamo_type import DynamoType


def apply():
    walk = BaseJSONSerializer._serialize_type_structure

    def serialize(self, serialized, value, shape, key):
        if shape.name == "AttributeValue" and key:
            try:
                self._default_serialize(serialized, written(value), shape, key)
                return
            except OtherForm:
                pass
        walk(self, serialized, value, shape, key)

    BaseJSONSerializer._serialize_type_structure = serialize


class OtherForm(Exception):
    """The value is of a form that is left to moto."""


def written(value):
    """A value as DynamoDB's JSON has it."""
    if type(value) is dict and len(value) == 1:
        ((kind, content),) = value.items()
        if type(content) is str and (kind == "S" or kind == "N"):
            return value
    elif isinstance(value, DynamoType):
        kind, content = value.type, value.value
    else:
        raise OtherForm()
    if kind in ("S", "N") and isinstance(content, str):
        return {kind: content}
    if kind in ("BOOL", "NULL") and isinstance(content, bool):
        return {kind: content}
    if kind in ("SS", "NS") and all(isinstance(v, str) for v in content):
        return {kind: list(content)}
    if kind == "L" and isinstance(content, list):
        return {kind: [written(v) for v in content]}
    if kind == "M" and isinstance(content, dict):
        return {kind: {k: written(v) for k, v in content.items()}}
    raise OtherForm()
