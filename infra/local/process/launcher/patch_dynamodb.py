"""What moto's DynamoDB lacks for tests that race, and for tables of thousands of rows.

- Calls are serialised; moto has no locks, and lost writes under load.
- A failed transaction undoes the items that it touched; moto restores a deep
  copy of the whole table, taken once per item.
- ClientRequestToken makes a repeated transaction succeed without effect.
- A query looks at the rows of its own key, of an index, too, instead of sorting the whole table, and copies none. To
  find those of an index among all rows took half of the server's time once infra/stories had played a hundred times.
- The names and values beside expressions are held to DynamoDB's rules, in its words: moto passes a value that no
  expression uses, answers 500 for one that is missing, and hardly looks at transactions.
- The values of items are written directly, and of an answer only the members that it has; an item is measured once a
  write, and an expression read once. moto walks the service's model for each value and member, measures an item again
  for each of its members and answers, and reads an expression up to four times a call: of the server's time for
  infra/stories that was a third.
"""

import collections
import copy
import functools
import inspect
import json
import pickle
import re
import time
import types

import client
import moto.core.responses as core_responses
import moto.dynamodb.models as models
import moto.dynamodb.models.table as tables
import moto.dynamodb.parsing.validators as validators
import moto.dynamodb.responses as responses
import moto.dynamodbstreams.responses as stream_responses
from moto.core.exceptions import JsonRESTError
from moto.core.serialize import BaseJSONSerializer
from moto.dynamodb.comparisons import ConditionExpressionParser
from moto.dynamodb.exceptions import ItemSizeTooLarge, MockValidationException
from moto.dynamodb.models.dynamo_type import DynamoType, Item, LimitedSizeDict
from moto.dynamodb.models.table import Table
from moto.dynamodb.models.utilities import dynamo_to_dict
from moto.dynamodb.parsing.ast_nodes import DepthFirstTraverser, Node
from moto.dynamodb.parsing.expressions import UpdateExpressionParser

TOKEN_SECONDS = 600  # as DynamoDB keeps them
LARGEST = 405000  # bytes of an item, as moto has it
MISSING = object()

lock = client.Turn()


def apply():
    serialise(responses.DynamoHandler)
    serialise(stream_responses.DynamoDBStreamsHandler)
    undo_touched_items_only()
    keep_request_tokens()
    query_own_rows()
    refuse_placeholders()
    write_values()
    measure_once()
    read_once()


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
                place(table, hash_key, range_key)
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

    for name in ("put_item", "update_item", "delete_item"):
        setattr(models.DynamoDBBackend, name, placing(getattr(models.DynamoDBBackend, name)))

    def rows_of(self, call):
        if call.get("index_name") is None:
            rows = self.items.get(call["hash_key"])
            return [] if rows is None else list(rows.values()) if self.range_key_attr else [rows]
        (name, wanted), *others = call["hash_key_conditions"]
        rows, _ = places(self)
        if name not in rows:
            rows[name] = {}
            for row in every(self):
                place(self, row.hash_key, row.range_key)
        found = [row for row in rows[name].get(wanted.value, {}).values()
            if all(row.attrs.get(other) == value for other, value in others)]
        return sorted(found, key=lambda row: (row.hash_key, row.range_key) if row.range_key else row.hash_key)

    def narrowed_query(self, *args, **kwargs):
        self.narrowed = rows_of(self, signature.bind(self, *args, **kwargs).arguments)
        try:
            return query(self, *args, **kwargs)
        finally:
            self.narrowed = None

    def all_items(self):
        rows = getattr(self, "narrowed", None)
        return every(self) if rows is None else rows

    def deepcopy(value, memo=None):  # what a query found is read at once
        return value if isinstance(value, list) else copy.deepcopy(value, memo)

    Table.query, Table.all_items = narrowed_query, all_items
    tables.copy = types.SimpleNamespace(deepcopy=deepcopy, copy=copy.copy)


def placing(write):
    @functools.wraps(write)
    def placed(self, table_name, *args, **kwargs):
        item = write(self, table_name, *args, **kwargs)
        if item is not None:
            place(self.get_table(table_name), item.hash_key, item.range_key)
        return item

    return placed


def places(table):
    """A table's rows by attribute, value and key, of attributes that queries ask for, and where a key's row stands."""
    return table.__dict__.setdefault("places", ({}, {}))


def place(table, hash_key, range_key):
    """Notes with which values the row of a key stands now, if there is one."""
    rows, where = places(table)
    key = hash_key, range_key
    for name, value in where.pop(key, ()):
        del rows[name][value][key]
    row = table.items.get(hash_key)
    if row is not None and table.range_key_attr:
        row = row.get(range_key)
    if row is not None:
        row.measured = None  # an update changes the row in place
        where[key] = [(name, row.attrs[name].value) for name in rows if name in row.attrs]
        for name, value in where[key]:
            rows[name].setdefault(value, {})[key] = row


EXPRESSIONS = ("UpdateExpression", "ConditionExpression", "KeyConditionExpression", "FilterExpression",
    "ProjectionExpression")
GIVEN = {"#": "ExpressionAttributeNames", ":": "ExpressionAttributeValues"}
UNDEFINED = {
    "#": "An expression attribute name used in the document path is not defined; attribute name: ",
    ":": "An expression attribute value used in expression is not defined; attribute value: ",
}


def refuse_placeholders():
    for method in ("get_item", "batch_get_item", "transact_get_items", "put_item", "delete_item", "update_item",
        "transact_write_items", "query", "scan"):
        setattr(responses.DynamoHandler, method, checked(getattr(responses.DynamoHandler, method)))


def checked(call):
    @functools.wraps(call)
    def held(self):
        parts = [part for entry in self.body.get("TransactItems") or () for part in entry.values()]
        for part in parts or self.body.get("RequestItems", {"": self.body}).values():
            check(part)
        return call(self)

    return held


def check(request):
    for kind in GIVEN.values():
        if request.get(kind) == {}:
            raise MockValidationException(f"{kind} must not be empty")
    used = set()
    for name in EXPRESSIONS:
        for placeholder in re.findall(r"[#:][A-Za-z0-9_]+", request.get(name) or ""):
            if placeholder not in (request.get(GIVEN[placeholder[0]]) or {}):
                raise MockValidationException(f"Invalid {name}: {UNDEFINED[placeholder[0]]}{placeholder}")
            used.add(placeholder)
    for kind in GIVEN.values():
        unused = sorted(set(request.get(kind) or ()) - used)
        if unused:
            raise MockValidationException(
                f"Value provided in {kind} unused in expressions: keys: {{{', '.join(unused)}}}")


def write_values():
    walk, whole = BaseJSONSerializer._serialize_type_map, BaseJSONSerializer._serialize_type_structure
    copied = DynamoType.to_regular_json

    def serialize(self, serialized, value, shape, key):
        if shape.value.name == "AttributeValue":
            try:
                self._default_serialize(serialized, {name: written(of) for name, of in value.items()}, shape, key)
                return
            except OtherForm:
                value = dynamo_to_dict(value)
        walk(self, serialized, value, shape, key)

    def as_it_stands(self, result):
        responses.ActionResult.__init__(self,
            {name: of if name in ("Item", "Items") else dynamo_to_dict(of) for name, of in result.items()})

    def members(self, serialized, value, shape, key):
        known = shape.members
        if not key or type(value) is not dict or shape.is_document_type or not value.keys() <= known.keys():
            whole(self, serialized, value, shape, key)
            return
        structure = {}
        for name, of in value.items():
            if of is not None:
                self._serialize(structure, of, known[name], name)
        self._default_serialize(serialized, structure, shape, key)

    def regular(self):
        try:
            return written(self)
        except OtherForm:
            return copied(self)

    BaseJSONSerializer._serialize_type_map, BaseJSONSerializer._serialize_type_structure = serialize, members
    DynamoType.to_regular_json = regular
    responses.DynamoResult.__init__ = as_it_stands


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


def measure_once():
    whole, items = DynamoType.size, Item.size

    def measured(self):
        if self.measured is None:
            self.measured = items(self)
        return self.measured

    def size(self):
        kind, content = self.type, self.value
        if kind == "S" and type(content) is str:
            return len(content) if content.isascii() else len(content.encode())
        if kind == "M":
            return sum([len(name.encode()) + size(of) for name, of in content.items()])
        return sum([size(of) for of in content]) if kind == "L" else whole(self)

    def make(self, hash_key, range_key, attrs):
        self.hash_key, self.range_key, self.attrs = hash_key, range_key, LimitedSizeDict()
        for name, of in attrs.items():
            dict.__setitem__(self.attrs, name, DynamoType(of))
        if self.size() > LARGEST:
            raise ItemSizeTooLarge

    DynamoType.size, Item.__init__, Item.size, Item.measured = size, make, measured, None


def read_once():
    lexed = ConditionExpressionParser._lex_condition_expression
    lex = functools.lru_cache(1024)(lambda expression: tuple(lexed(ConditionExpressionParser(expression, None, None))))
    ConditionExpressionParser._lex_condition_expression = lambda self: collections.deque(lex(self.condition_expression))
    UpdateExpressionParser.make = functools.lru_cache(1024)(UpdateExpressionParser.make)
    validators.deepcopy = lambda expression: pickle.loads(pickle.dumps(expression, -1))  # a quarter of deepcopy's time
    core_responses.method_names_from_class = functools.cache(core_responses.method_names_from_class)

    is_node = functools.cache(lambda kind: issubclass(kind, Node))
    first = functools.cache(lambda kind, kinds: next((x for x in kinds if issubclass(kind, x)), None))

    def traverse(self, node, child_id=-1):
        if not is_node(type(node)):
            return node
        parent = node.parent
        for i, child in enumerate(node.children or ()):
            self.pre_processing_of_child(node, i)
            traverse(self, child, i)
        if "kinds" not in self.__dict__:
            self.processes = self._processing_map()
            self.kinds = tuple(self.processes)
        kind = first(type(node), self.kinds)
        if kind:
            node = self.processes[kind](node)
            node.parent = parent
            if parent:
                parent.children[child_id] = node
        return node

    DepthFirstTraverser.traverse_node_recursively = traverse
