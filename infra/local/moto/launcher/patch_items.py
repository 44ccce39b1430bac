"""An item as DynamoDB's JSON has it is made once, and kept until the item is updated.

moto makes it anew for each answer, and before that a copy of each row that a query finds. Calls are serialised, and an
answer is written before the next call begins. Only an update's execution changes an item.
"""

import copy
import types

import moto.dynamodb.models.table as tables
import moto.dynamodb.responses as responses
import patch_speed
from moto.core.utils import utcnow
from moto.dynamodb.models.dynamo_type import Item, LimitedSizeDict
from moto.dynamodb.models.table import StreamRecord
from moto.dynamodb.parsing.executors import UpdateExpressionExecutor
from moto.moto_api._internal import mock_random
from patch_answers import OtherForm, Written, written


def apply():
    keep_until_updates()
    read_items_themselves()
    record_kept_items()


def shown(attrs):
    """The JSON of an item's attributes; nothing if a value is of a form that is left to moto."""
    kept = attrs.__dict__
    if "shown" not in kept:
        try:
            kept["shown"] = Written((name, written(value)) for name, value in attrs.items())
        except OtherForm:
            kept["shown"] = None
    return kept["shown"]


def size(item):
    kept = item.attrs.__dict__
    if "size" not in kept:
        kept["size"] = sum([patch_speed.bytesize(name) + value.size() for name, value in item.attrs.items()])
    return kept["size"]


def keep_until_updates():
    execute, update = UpdateExpressionExecutor.execute, Item.update_with_attribute_updates
    copied = Item.__deepcopy__

    def forget_and_execute(self, node=None):
        self.item.attrs.__dict__.clear()
        return execute(self, node)

    def forget_and_update(self, attribute_updates):
        self.attrs.__dict__.clear()
        return update(self, attribute_updates)

    def copied_with_kept(self, memo):
        fresh = copied(self, memo)
        fresh.attrs.__dict__.update(self.attrs.__dict__)
        return fresh

    UpdateExpressionExecutor.execute, Item.update_with_attribute_updates = forget_and_execute, forget_and_update
    Item.__deepcopy__, Item.size = copied_with_kept, size
    plain = responses.dynamo_to_dict

    def plain_or_shown(value):
        return type(value) is LimitedSizeDict and shown(value) or plain(value)

    responses.dynamo_to_dict = patch_speed.plain = plain_or_shown


def read_items_themselves():
    def deepcopy(value, memo=None):
        if type(value) is Item:
            return value
        if type(value) is list and value and type(value[0]) is Item:
            return list(value)
        return copy.deepcopy(value, memo)

    tables.copy = types.SimpleNamespace(deepcopy=deepcopy, copy=copy.copy)


def record_kept_items():
    make = StreamRecord.__init__

    def make_of_kept(self, table, stream_type, event_name, old, new, seq):
        images = {"NewImage": new, "OldImage": old}
        if any(item is not None and not shown(item.attrs) for item in images.values()):
            make(self, table, stream_type, event_name, old, new, seq)
            return
        item = new if old is None else old
        names = (table.hash_key_attr,) if table.range_key_attr is None else (table.hash_key_attr, table.range_key_attr)
        change = {
            "StreamViewType": stream_type,
            "ApproximateCreationDateTime": utcnow(),
            "SequenceNumber": str(seq),
            "SizeBytes": sum([i.size() for i in images.values() if i is not None]),
            "Keys": Written((name, shown(item.attrs)[name]) for name in names),
        }
        for name, has in images.items():
            if has is not None and stream_type in (name.replace("Image", "_IMAGE").upper(), "NEW_AND_OLD_IMAGES"):
                change[name] = shown(has.attrs)
        self.record = {
            "eventID": mock_random.uuid4().hex,
            "eventName": event_name,
            "eventSource": "aws:dynamodb",
            "eventVersion": "1.0",
            "awsRegion": "us-east-1",
            "dynamodb": change,
        }

    StreamRecord.__init__ = make_of_kept
