package table

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/aggregate"
)

// Expression collects the names and values of DynamoDB expressions. Every name
// is an alias, because many attributes are reserved words of DynamoDB.
type Expression struct {
	names               map[string]string
	values              Item
	sets, removes, adds []string
}

func NewExpression() *Expression { return &Expression{} }

// Name returns the alias of an attribute.
func (e *Expression) Name(attribute string) string {
	if e.names == nil {
		e.names = map[string]string{}
	}
	e.names["#"+attribute] = attribute
	return "#" + attribute
}

// Value returns the placeholder of a value.
func (e *Expression) Value(v any) string {
	av, err := attributevalue.MarshalWithOptions(v, encoding)
	if err != nil { // never happens with our types
		panic(fmt.Sprintf("encode a %T: %v", v, err))
	}
	return e.Placeholder(av)
}

func (e *Expression) Placeholder(v types.AttributeValue) string {
	if e.values == nil {
		e.values = Item{}
	}
	name := ":v" + strconv.Itoa(len(e.values))
	e.values[name] = v
	return name
}

func (e *Expression) Set(attribute string, v any) {
	e.sets = append(e.sets, e.Name(attribute)+" = "+e.Value(v))
}

// SetValue is Set for a value that is already in DynamoDB's form.
func (e *Expression) SetValue(attribute string, v types.AttributeValue) {
	e.sets = append(e.sets, e.Name(attribute)+" = "+e.Placeholder(v))
}

// Add adds to a number; a missing attribute counts as 0.
func (e *Expression) Add(attribute string, n int) {
	e.adds = append(e.adds, e.Name(attribute)+" "+e.Value(n))
}

func (e *Expression) Remove(attributes ...string) {
	for _, a := range attributes {
		e.removes = append(e.removes, e.Name(a))
	}
}

// Row sets a row's type and expiry, for rows that are not packed from a value. A zero time means that the row never
// expires.
func (e *Expression) Row(typ string, until time.Time) {
	e.Set("type", typ)
	e.Set("schema_version", schemaVersion)
	if !until.IsZero() {
		e.Set("delete_after", until.Unix())
	}
}

// Is returns the condition that compares an attribute with a value by op.
func (e *Expression) Is(attribute, op string, v any) string {
	return e.Name(attribute) + " " + op + " " + e.Value(v)
}

// Between returns the condition that an attribute is between two texts, both included.
func (e *Expression) Between(attribute, from, until string) string {
	return e.Name(attribute) + " BETWEEN " + e.Value(from) + " AND " + e.Value(until)
}

// Begins returns the condition that an attribute begins with prefix.
func (e *Expression) Begins(attribute, prefix string) string {
	return "begins_with(" + e.Name(attribute) + ", " + e.Value(prefix) + ")"
}

func (e *Expression) Exists() string { return "attribute_exists(" + e.Name("PK") + ")" }
func (e *Expression) Absent() string { return "attribute_not_exists(" + e.Name("PK") + ")" }

func (e *Expression) Lacks(attribute string) string {
	return "attribute_not_exists(" + e.Name(attribute) + ")"
}

// revision returns the condition that a row has revision rev; 0 means that there is no row.
func (e *Expression) revision(rev int) string {
	if rev == 0 {
		return e.Absent()
	}
	return e.Is("rev", "=", rev)
}

// fillable are the inputs that have names and values for their expressions.
type fillable interface {
	*dynamodb.QueryInput | *dynamodb.PutItemInput | *dynamodb.UpdateItemInput | *dynamodb.DeleteItemInput |
		*types.Put | *types.Update | *types.Delete | *types.ConditionCheck
}

// Filled sets the expression's names and values on an input and returns it. Callers must use it instead of a struct
// literal: in a literal Go may read the names before the expressions that add to them are evaluated.
func Filled[In fillable](e *Expression, in In) In {
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

// Update returns the text of an update expression.
func (e *Expression) Update() *string {
	var parts []string
	for _, clause := range []struct {
		verb string
		of   []string
	}{{"SET ", e.sets}, {"REMOVE ", e.removes}, {"ADD ", e.adds}} {
		if clause.of != nil {
			parts = append(parts, clause.verb+strings.Join(clause.of, ", "))
		}
	}
	out := strings.Join(parts, " ")
	return &out
}

func All(conditions ...string) *string {
	out := strings.Join(conditions, " AND ")
	return &out
}

func AnyOf(conditions ...string) string { return "(" + strings.Join(conditions, " OR ") + ")" }

func Both(a, b string) string { return "(" + a + " AND " + b + ")" }

// ErrCondition means that the condition of a single write failed on an existing item.
var ErrCondition = errors.New("the condition failed")

// Wrapped prefixes an error with what was being done; nil stays nil.
func Wrapped(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf(format+": %w", append(args, err)...)
}

// Unless returns err, or nil if it is the harmless error.
func Unless(err, harmless error) error {
	if errors.Is(err, harmless) {
		return nil
	}
	return err
}

// Update updates one item outside of commits and returns the new item. When the condition fails it returns ErrCondition
// and the current item, or aggregate.ErrNotFound when there is none.
func (t *Table) Update(ctx context.Context, k Item, e *Expression, condition *string) (Item, error) {
	out, err := Unhindered(ctx, t.DB.UpdateItem, Filled(e, &dynamodb.UpdateItemInput{
		TableName: &t.Name, Key: k, UpdateExpression: e.Update(), ConditionExpression: condition,
		ReturnValues:                        types.ReturnValueAllNew,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}))
	var failed *types.ConditionalCheckFailedException
	switch {
	case err == nil:
		return out.Attributes, nil
	case errors.As(err, &failed) && failed.Item == nil:
		return nil, aggregate.ErrNotFound
	case errors.As(err, &failed):
		return failed.Item, ErrCondition
	}
	return nil, err
}

// DeleteIf deletes an item on a condition, outside of commits.
func (t *Table) DeleteIf(ctx context.Context, k Item, e *Expression, condition string) error {
	_, err := Unhindered(ctx, t.DB.DeleteItem, Filled(e, &dynamodb.DeleteItemInput{
		TableName: &t.Name, Key: k, ConditionExpression: &condition,
	}))
	return err
}

// Unhindered makes a single write and repeats it for up to two seconds while a transaction holds the item, which the
// SDK does not retry. The caller makes the input once.
func Unhindered[In, Out any](
	ctx context.Context, write func(context.Context, In, ...func(*dynamodb.Options)) (Out, error), in In,
) (out Out, err error) {
	err = Repeat(ctx, func() (err error) {
		out, err = write(ctx, in)
		return err
	}, func(err error) bool { return errors.As(err, new(*types.TransactionConflictException)) })
	return out, err
}

func ConditionFailed(err error) bool {
	return errors.As(err, new(*types.ConditionalCheckFailedException))
}
