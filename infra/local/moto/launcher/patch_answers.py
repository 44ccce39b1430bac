"""Writes DynamoDB's items to answers directly.

moto walks the service's model for every value, which takes most of the time of
a query: 46 ms for 25 rows, 3 ms with this. An answer all of whose members have the
model's names is written without asking for each by which other names it may go.
"""

from datetime import datetime

import moto.core.responses as core_responses
from moto.core.serialize import BaseJSONSerializer, JSONSerializer, TimestampSerializer
from moto.dynamodb.models.dynamo_type import DynamoType


def apply():
    write_items_directly()
    write_answers_of_items_directly()
    look_for_ids_in_xml_only()


class OtherForm(Exception):
    """The value is of a form that is left to moto."""


class Written(dict):
    """Attributes by name, each as DynamoDB's JSON has it. Nobody changes it."""


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


def answer(value, shape):
    """A value as its shape's JSON has it."""
    kind = shape.type_name
    if kind == "structure":
        if shape.name == "AttributeValue":
            return written(value)
        if type(value) is not dict:
            raise OtherForm()
        members, made = shape.members, {}
        for name, content in value.items():
            member = members.get(name)
            if member is None or "name" in member.serialization:
                raise OtherForm()
            if content is not None:
                made[name] = answer(content, member)
        return made
    if type(value) is Written:
        return value
    if kind == "map" and isinstance(value, dict):
        of = shape.value
        if of.name == "AttributeValue":
            return {k: written(v) for k, v in value.items()}
        return {k: answer(v, of) for k, v in value.items()}
    if kind == "list" and isinstance(value, list):
        of = shape.member
        return [answer(v, of) for v in value]
    if (kind == "string" and type(value) is str) or (kind in ("integer", "long") and type(value) is int):
        return value
    if kind == "timestamp" and isinstance(value, datetime):
        return TimestampSerializer._timestamp_unixtimestamp(value)
    raise OtherForm()


def write_answers_of_items_directly():
    walk = JSONSerializer._serialize_result

    def serialize(self, resp, result):
        shape = self.operation_model.output_shape
        if shape is not None and self.service_model.service_name in ("dynamodb", "dynamodbstreams"):
            try:
                return self._serialized_result_to_response(resp, result, shape, answer(result, shape))
            except OtherForm:
                pass
        return walk(self, resp, result)

    JSONSerializer._serialize_result = serialize


def look_for_ids_in_xml_only():
    """moto puts an answer's id where XML has it, and searches every byte of JSON for the place."""
    enrich = core_responses.BaseResponse._enrich_response

    def enriched(headers, body):
        if isinstance(body, str) and body.startswith("{"):
            enrich(headers, "")
            return headers, body
        return enrich(headers, body)

    core_responses.BaseResponse._enrich_response = staticmethod(enriched)
