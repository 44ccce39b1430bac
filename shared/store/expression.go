package store

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// expression collects the names and values of DynamoDB expressions. Every name
// is an alias: many of ours are reserved words.
type expression struct {
	names         map[string]string
	values        item
	sets, removes []string
	adds          []string
}

func newExpression() *expression { return &expression{} }

// name returns the alias of an attribute.
func (e *expression) name(attribute string) string {
	if e.names == nil {
		e.names = map[string]string{}
	}
	e.names["#"+attribute] = attribute
	return "#" + attribute
}

// value returns the placeholder of a value.
func (e *expression) value(v any) string {
	av, err := attributevalue.MarshalWithOptions(v, encoding)
	if err != nil { // no value of ours can fail; one that did must not be written
		panic(fmt.Sprintf("encode a %T: %v", v, err))
	}
	return e.placeholder(av)
}

func (e *expression) placeholder(v types.AttributeValue) string {
	if e.values == nil {
		e.values = item{}
	}
	name := ":v" + strconv.Itoa(len(e.values))
	e.values[name] = v
	return name
}

func (e *expression) set(attribute string, v any) {
	e.sets = append(e.sets, e.name(attribute)+" = "+e.value(v))
}

// setValue is set for a value as the table has it.
func (e *expression) setValue(attribute string, v types.AttributeValue) {
	e.sets = append(e.sets, e.name(attribute)+" = "+e.placeholder(v))
}

// add moves a number, from 0 where there is none.
func (e *expression) add(attribute string, n int) {
	e.adds = append(e.adds, e.name(attribute)+" "+e.value(n))
}

// addTo is add for an attribute whose name makes no alias.
func (e *expression) addTo(alias, attribute string, n int) {
	value := e.value(n)
	if e.names == nil {
		e.names = map[string]string{}
	}
	e.names[alias] = attribute
	e.adds = append(e.adds, alias+" "+value)
}

func (e *expression) remove(attributes ...string) {
	for _, a := range attributes {
		e.removes = append(e.removes, e.name(a))
	}
}

// row sets what a row says of itself that no value is packed for; a zero time keeps it for ever.
func (e *expression) row(typ string, until time.Time) {
	e.set("type", typ)
	e.set("schema_version", schemaVersion)
	if !until.IsZero() {
		e.set("delete_after", until.Unix())
	}
}

// is is a condition: the attribute, compared by op, with a value.
func (e *expression) is(attribute, op string, v any) string {
	return e.name(attribute) + " " + op + " " + e.value(v)
}

func (e *expression) exists() string { return "attribute_exists(" + e.name("PK") + ")" }
func (e *expression) absent() string { return "attribute_not_exists(" + e.name("PK") + ")" }

func (e *expression) has(attribute string) string {
	return "attribute_exists(" + e.name(attribute) + ")"
}

func (e *expression) lacks(attribute string) string {
	return "attribute_not_exists(" + e.name(attribute) + ")"
}

// revision is the condition that a row has rev, 0 meaning that there is none.
func (e *expression) revision(rev int) string {
	if rev == 0 {
		return e.absent()
	}
	return e.is("rev", "=", rev)
}

// fillable is what takes names and values beside its expressions.
type fillable interface {
	*dynamodb.QueryInput | *dynamodb.PutItemInput | *dynamodb.UpdateItemInput | *dynamodb.DeleteItemInput |
		*types.Put | *types.Update | *types.Delete | *types.ConditionCheck
}

// filled gives an input the names and values of its expressions, and returns it. It is the only way there: a literal
// that read them beside the call that adds to them would have what Go happened to evaluate first.
func filled[In fillable](e *expression, in In) In {
	switch in := any(in).(type) {
	case *dynamodb.QueryInput:
		in.ExpressionAttributeNames, in.ExpressionAttributeValues = e.names, e.values
	case *dynamodb.PutItemInput:
		in.ExpressionAttributeNames, in.ExpressionAttributeValues = e.names, e.values
	case *dynamodb.UpdateItemInput:
		in.ExpressionAttributeNames, in.ExpressionAttributeValues = e.names, e.values
	case *dynamodb.DeleteItemInput:
		in.ExpressionAttributeNames, in.ExpressionAttributeValues = e.names, e.values
	case *types.Put:
		in.ExpressionAttributeNames, in.ExpressionAttributeValues = e.names, e.values
	case *types.Update:
		in.ExpressionAttributeNames, in.ExpressionAttributeValues = e.names, e.values
	case *types.Delete:
		in.ExpressionAttributeNames, in.ExpressionAttributeValues = e.names, e.values
	case *types.ConditionCheck:
		in.ExpressionAttributeNames, in.ExpressionAttributeValues = e.names, e.values
	}
	return in
}

// update is the text of an UpdateItem.
func (e *expression) update() *string {
	var parts []string
	if e.sets != nil {
		parts = append(parts, "SET "+strings.Join(e.sets, ", "))
	}
	if e.removes != nil {
		parts = append(parts, "REMOVE "+strings.Join(e.removes, ", "))
	}
	if e.adds != nil {
		parts = append(parts, "ADD "+strings.Join(e.adds, ", "))
	}
	out := strings.Join(parts, " ")
	return &out
}

func all(conditions ...string) *string {
	out := strings.Join(conditions, " AND ")
	return &out
}

func anyOf(conditions ...string) string { return "(" + strings.Join(conditions, " OR ") + ")" }

func both(a, b string) string { return "(" + a + " AND " + b + ")" }
