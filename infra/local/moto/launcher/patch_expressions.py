"""Expressions of DynamoDB, read once each.

- An update of whole attributes ("SET #a = :a, #b = if_not_exists(#c, :c) REMOVE #d ADD #n
  :n") needs none of the ten walks through its tree by which moto finds paths, sums and
  functions. What it may be refused for is looked at here; if there is anything, moto walks and says it.
- Which names and values an update uses is found once.
- A condition is cut into words once, and of one call read once: moto reads it twice.
"""

import functools
import types
from collections import deque

import moto.dynamodb.models as models
import moto.dynamodb.responses as responses
from moto.dynamodb.comparisons import ConditionExpressionParser
from moto.dynamodb.models.dynamo_type import DynamoType
from moto.dynamodb.parsing import ast_nodes as nodes
from moto.dynamodb.parsing.validators import UpdateExpressionValidator


def apply():
    read_updates_once()
    check_plain_updates_at_once()
    read_conditions_once()


def read_updates_once():
    make = functools.lru_cache(maxsize=1024)(models.UpdateExpressionParser.make)
    models.UpdateExpressionParser.make = make

    @functools.lru_cache(maxsize=1024)
    def used(expression):
        tree = make(expression)
        found = {kind: tree.find_clauses([kind])
            for kind in (nodes.ExpressionAttributeName, nodes.ExpressionAttributeValue)}
        return types.SimpleNamespace(find_clauses=lambda kinds: found[kinds[0]])

    responses.UpdateExpressionParser = types.SimpleNamespace(make=used)


class Plain(nodes.Node):
    """An update that was looked at, ready to be executed."""

    def normalize(self):
        pass


def plain_actions(tree):
    """The actions of an update; nothing if one is of another form."""
    actions = []
    for child in tree.children:
        kind = type(child)
        if kind in (nodes.UpdateExpressionSetAction, nodes.UpdateExpressionRemoveAction,
            nodes.UpdateExpressionAddAction):
            inner = [plain_action(kind, *child.children)]
        elif isinstance(child, nodes.Expression):
            inner = plain_actions(child)
        else:
            inner = [None]
        if inner is None or None in inner:
            return None
        actions.extend(inner)
    return actions


def plain_action(kind, path, value=None):
    """Kind, name, the name whose value is taken if there is one, and value of an action, all as they are written."""
    other = None
    if type(value) is nodes.UpdateExpressionValue and len(value.children) == 1:
        value = value.children[0]
    if type(value) is nodes.UpdateExpressionFunction:
        if value.get_function_name() != "if_not_exists" or not one_name(value.children[1]):
            return None
        other, value = value.children[1].to_str(), value.children[2]
    if not one_name(path) or (value is not None and type(value) is not nodes.ExpressionAttributeValue):
        return None
    return kind, path.to_str(), other, value and value.get_value_name()


def one_name(path):
    return type(path) is nodes.UpdateExpressionPath and len(path.children) == 1 and type(
        path.children[0]) is nodes.ExpressionAttributeName


def checked(actions, names, values, item, keys):
    """What the actions come to; nothing if one of them may be refused."""
    made, seen = [], set(keys)
    for kind, placeholder, other, value in actions:
        name, source = names.get(placeholder), other and names.get(other)
        if name is None or name in seen or (other and source is None) or source in keys:
            return None
        seen.add(name)
        operands = [nodes.UpdateExpressionPath([nodes.ExpressionAttributeName(placeholder)])]
        if value is not None:
            if value not in values:
                return None
            operands.append(nodes.DDBTypedValue(item.attrs[source] if source in item.attrs
                else DynamoType(values[value])))
        made.append(kind(operands))
    return Plain(made)


def check_plain_updates_at_once():
    init, validate = UpdateExpressionValidator.__init__, UpdateExpressionValidator.validate
    actions_of = functools.lru_cache(maxsize=1024)(one_of_each_clause)

    def begin(self, expression, expression_attribute_names, expression_attribute_values, item, table):
        actions = actions_of(expression)
        self.checked = None
        if actions is not None:
            self.checked = checked(actions, expression_attribute_names or {}, expression_attribute_values or {}, item,
                table.table_key_attrs)
        if self.checked is None:
            init(self, expression, expression_attribute_names, expression_attribute_values, item, table)

    def say(self):
        return validate(self) if self.checked is None else self.checked

    UpdateExpressionValidator.__init__, UpdateExpressionValidator.validate = begin, say


def one_of_each_clause(tree):
    """The actions of a tree that has each kind of clause once at most."""
    for clause in (nodes.UpdateExpressionSetClause, nodes.UpdateExpressionRemoveClause,
        nodes.UpdateExpressionAddClause):
        if len(tree.find_clauses([clause])) > 1:
            return None
    return plain_actions(tree)


def read_conditions_once():
    parser = ConditionExpressionParser
    words, parse = parser._lex_condition_expression, parser.parse
    words_of = functools.lru_cache(maxsize=1024)(lambda expression: tuple(words(parser(expression, None, None))))
    parser._lex_condition_expression = lambda self: deque(words_of(self.condition_expression))
    last = [None]  # calls are serialised

    def read(self):
        if not self.condition_expression:
            return parse(self)
        asked = (self.condition_expression, self.expression_attribute_names, self.expression_attribute_values)
        known = last[0]
        if known is None or known[0][0] != asked[0] or known[0][1] is not asked[1] or known[0][2] is not asked[2]:
            read_now = parse(self)
            known = last[0] = (asked, read_now, self.expr_attr_names_found, self.expr_attr_values_found)
            return read_now
        self.expr_attr_names_found, self.expr_attr_values_found = known[2], known[3]
        return known[1]

    parser.parse = read
