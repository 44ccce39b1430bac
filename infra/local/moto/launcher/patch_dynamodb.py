"""What moto's DynamoDB lacks for tests that race, and for tables of thousands of rows.

- Calls are serialised; moto has no locks, and lost writes under load.
- A failed transaction undoes the items that it touched; moto restores a deep
  copy of the whole table, taken once per item.
- ClientRequestToken makes a repeated transaction succeed without effect.
- A query looks at the rows of its own key instead of sorting the whole table: in the tests of
  shared/store the server takes 5 s of processor time for it instead of 8.
"""

import copy
import inspect
import json
import time
import types

import client
import moto.dynamodb.models as models
import moto.dynamodb.responses as responses
import moto.dynamodbstreams.responses as stream_responses
from moto.core.exceptions import JsonRESTError
from moto.dynamodb.models.dynamo_type import DynamoType
from moto.dynamodb.models.table import Table

TOKEN_SECONDS = 600  # as DynamoDB keeps them
MISSING = object()

lock = client.Turn()


def apply():
    serialise(responses.DynamoHandler)
    serialise(stream_responses.DynamoDBStreamsHandler)
    undo_touched_items_only()
    keep_request_tokens()
    query_own_rows()


def serialise(handler):
    call = handler.call_action

    def call_action(self):
        with lock:
            return call(self)

    handler.call_action = call_action


def undo_touched_items_only():
    def deepcopy(value, memo=None):
        return value if isinstance(value, Table) else copy.deepcopy(value, memo)

    models.copy = types.SimpleNamespace(deepcopy=deepcopy, copy=copy.copy)
    write = models.DynamoDBBackend.transact_write_items

    def transact_write_items(self, transact_items):
        before, records = [], {}
        for entry in transact_items:
            op = next(iter(entry.values()))
            table = self.tables.get((op.get("TableName") or "").split("/")[-1])
            if table is None:
                continue
            if table.stream_shard is not None:
                records[id(table)] = (table.stream_shard, len(table.stream_shard.items))
            key = op.get("Key") or op.get("Item") or {}
            try:
                hash_key = DynamoType(key[table.hash_key_attr])
                range_key = DynamoType(key[table.range_key_attr]) if table.has_range_key else None
            except KeyError:
                continue
            item = table.items.get(hash_key, MISSING)
            if range_key is not None and item is not MISSING:
                item = item.get(range_key, MISSING)
            before.append((table, hash_key, range_key, item if item is MISSING else copy.deepcopy(item)))
        try:
            return write(self, transact_items)
        except BaseException:
            for table, hash_key, range_key, item in before:
                rows = table.items if range_key is None else table.items[hash_key]
                key = hash_key if range_key is None else range_key
                if item is MISSING:
                    rows.pop(key, None)
                else:
                    rows[key] = item
            for shard, count in records.values():
                del shard.items[count:]
            raise

    models.DynamoDBBackend.transact_write_items = transact_write_items


class IdempotentParameterMismatch(JsonRESTError):
    def __init__(self):
        super().__init__(
            "com.amazonaws.dynamodb.v20120810#IdempotentParameterMismatchException",
            "The request parameters do not match those of the earlier request with this client request token",
        )


def keep_request_tokens():
    seen = {}
    write = responses.DynamoHandler.transact_write_items

    def transact_write_items(self):
        token = self.body.get("ClientRequestToken")
        if not token:
            return write(self)
        now = time.monotonic()
        while seen and now - next(iter(seen.values()))[0] > TOKEN_SECONDS:
            del seen[next(iter(seen))]  # the oldest
        key = (self.current_account, self.region, token)
        if key in seen:
            if items(seen[key][1]) != items(self.raw_body):
                raise IdempotentParameterMismatch()
            return responses.ActionResult({"ConsumedCapacity": [], "ItemCollectionMetrics": {}})
        answer = write(self)
        seen[key] = (now, self.raw_body)
        return answer

    def items(body):
        return json.loads(body)["TransactItems"]

    responses.DynamoHandler.transact_write_items = transact_write_items


def query_own_rows():
    query, every = Table.query, Table.all_items
    signature = inspect.signature(query)

    def own_rows(table, hash_key, index_name, conditions):
        if index_name is None:
            if not table.range_key_attr:
                return [table.items[hash_key]] if hash_key in table.items else []
            return list(table.items[hash_key].values()) if hash_key in table.items else []
        wanted = [(name, value.type, value.value) for name, value in conditions]
        first = wanted[0][0]  # most rows are in no index
        if table.range_key_attr:
            indexed = [item for group in table.items.values() for item in group.values() if first in item.attrs]
        else:
            indexed = [item for item in table.items.values() if first in item.attrs]
        rows = []
        for item in indexed:
            for name, kind, value in wanted:
                has = item.attrs.get(name)
                if has is None or has.value != value or has.type != kind:
                    break
            else:
                rows.append(item)
        return rows

    def narrowed_query(self, *args, **kwargs):
        call = signature.bind(self, *args, **kwargs).arguments
        index_name, conditions = call.get("index_name"), call.get("hash_key_conditions") or []
        # Equal numbers may be written differently; those are left to moto.
        plain = all(value.type != "N" for _, value in conditions)
        if index_name is None or (conditions and plain):
            self.narrowed = own_rows(self, call["hash_key"], index_name, conditions)
        try:
            return query(self, *args, **kwargs)
        finally:
            self.narrowed = None

    def all_items(self):
        rows = getattr(self, "narrowed", None)
        return every(self) if rows is None else rows

    Table.query, Table.all_items = narrowed_query, all_items
