"""What moto computes again at each call, or takes long for, with the same outcome.

- Which folders moto has, which methods a service has and what a name is in small
  letters are looked up once.
- The id of an answer is one random number instead of 52.
- SQS asks for the time twice for each of a queue's messages when one is sent.
- An item's size is added up without making its values anew, and once when it is
  made; moto does that for each attribute, over all attributes before it.
- Values are copied and written out by their form, without asking each for it.
"""

import copy
import functools
import secrets
import time

import moto.backends as backends
import moto.core.responses as core_responses
import moto.dynamodb.responses as responses
import moto.sqs.models as sqs_models
from moto.dynamodb.exceptions import ItemSizeTooLarge
from moto.dynamodb.models.dynamo_type import DynamoType, Item, LimitedSizeDict
from moto.dynamodb.models.utilities import bytesize, dynamo_to_dict

LARGEST = 405000  # bytes of an item, as moto has it
SETS = ("SS", "NS", "BS")


def apply():
    modules = tuple(backends.list_of_moto_modules())
    backends.list_of_moto_modules = lambda: modules
    core_responses.method_names_from_class = functools.cache(core_responses.method_names_from_class)
    for module in (core_responses, sqs_models):
        module.camelcase_to_underscores = functools.lru_cache(maxsize=4096)(module.camelcase_to_underscores)
    of = sqs_models.unix_time_millis
    sqs_models.unix_time_millis = lambda at=None: time.time() * 1000 if at is None else of(at)
    core_responses.gen_amzn_requestid_long = request_id
    DynamoType.size = size
    DynamoType.__deepcopy__ = lambda self, memo: copied(self)
    Item.__init__, Item.__deepcopy__ = make_item, lambda self, memo: copied_item(self)
    responses.dynamo_to_dict = plain


def request_id(headers):
    headers["x-amzn-requestid"] = made = secrets.token_hex(26).upper()
    return made


def size(self):
    kind, value = self.type, self.value
    if kind == "L":
        return sum([v.size() for v in value])
    if kind == "M":
        return sum([bytesize(k) + (v if type(v) is DynamoType else DynamoType(v)).size() for k, v in value.items()])
    if kind == "N":
        return len(str(value))
    if kind in SETS:
        return sum([len(str(v)) if kind == "NS" else bytesize(v) for v in value])
    return 1 if isinstance(value, bool) else bytesize(value)


def copied(value):
    if type(value) is not DynamoType:
        return copy.deepcopy(value)
    fresh = DynamoType.__new__(DynamoType)
    kind = fresh.type = value.type
    if kind == "L":
        fresh.value = [copied(v) for v in value.value]
    elif kind == "M":
        fresh.value = {k: copied(v) for k, v in value.value.items()}
    elif kind in SETS:
        fresh.value = list(value.value)
    else:
        fresh.value = value.value
    return fresh


def copied_item(item):
    fresh = Item.__new__(Item)
    fresh.hash_key = copied(item.hash_key)
    fresh.range_key = copied(item.range_key)
    fresh.attrs = LimitedSizeDict()
    for key, value in item.attrs.items():
        dict.__setitem__(fresh.attrs, key, copied(value))
    return fresh


def make_item(self, hash_key, range_key, attrs):
    self.hash_key, self.range_key, self.attrs = hash_key, range_key, LimitedSizeDict()
    total = 0
    for key, value in attrs.items():
        value = DynamoType(value)
        total += bytesize(key) + value.size()
        if total > LARGEST:
            raise ItemSizeTooLarge
        dict.__setitem__(self.attrs, key, value)


def plain(value):
    """A value as dynamo_to_dict has it."""
    kind = type(value)
    if kind is DynamoType:
        if value.type == "M":
            return {"M": {k: plain(v) for k, v in value.value.items()}}
        if value.type == "L":
            return {"L": [plain(v) for v in value.value]}
        if value.type in ("S", "N", "BOOL", "NULL"):
            return {value.type: value.value}
        return dynamo_to_dict(value)
    if kind is dict or kind is LimitedSizeDict:
        return {k: plain(v) for k, v in value.items()}
    if kind is list:
        return [plain(v) for v in value]
    if kind is str or kind is int:
        return value
    return dynamo_to_dict(value)
