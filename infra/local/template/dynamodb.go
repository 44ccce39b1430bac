package template

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// rowCall has the fields of all calls that concern rows.
type rowCall struct {
	TableName, IndexName                                          string
	KeyConditionExpression, UpdateExpression, ConditionExpression string
	ProjectionExpression, FilterExpression                        string
	ExpressionAttributeNames                                      map[string]string
	Key, Item, ExpressionAttributeValues                          map[string]json.RawMessage
}

// inTransactions maps each part of a transaction to the action that it needs.
var inTransactions = map[string]string{"Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem",
	"ConditionCheck": "ConditionCheckItem"}

// readDynamoDB reads calls on rows. AWS does not document whether dynamodb:LeadingKeys of a transaction has the key of
// one item, or those of all items with the same action. Here it has all: that refuses more.
func (b *Bench) readDynamoDB(c call) ([]Request, error) {
	operation := c.operation()
	switch operation {
	case "GetItem", "PutItem", "UpdateItem", "DeleteItem", "Query":
		var in rowCall
		if err := c.fill(&in); err != nil {
			return nil, err
		}
		q, err := b.row(operation, in)
		return []Request{q}, err
	case "TransactWriteItems":
		return b.transaction(c, operation)
	case "BatchGetItem", "BatchWriteItem":
		return b.batch(c, operation)
	default:
		return nil, unknown("dynamodb:" + operation)
	}
}

func (b *Bench) transaction(c call, operation string) (all []Request, err error) {
	var in struct{ TransactItems []map[string]rowCall }
	if err := c.fill(&in); err != nil {
		return nil, err
	}
	for _, item := range in.TransactItems {
		for part, r := range item {
			action, known := inTransactions[part]
			if !known {
				return nil, unknown("dynamodb:" + operation + " of " + part)
			}
			q, err := b.row(action, r)
			if err != nil {
				return nil, err
			}
			q.Context[enclosingOperation] = []string{operation}
			i := slices.IndexFunc(all, func(x Request) bool { return x.Action == q.Action && x.Resource == q.Resource })
			if i < 0 {
				all = append(all, q)
				continue
			}
			for _, key := range []string{leadingKeys, attributes} {
				all[i].Context[key] = append(all[i].Context[key], q.Context[key]...)
			}
		}
	}
	return all, nil
}

// batch returns one request for each table, with the keys of all its rows.
func (b *Bench) batch(c call, operation string) (all []Request, err error) {
	var in struct{ RequestItems map[string]json.RawMessage }
	if err := c.fill(&in); err != nil {
		return nil, err
	}
	for _, table := range slices.Sorted(maps.Keys(in.RequestItems)) {
		rows, err := batchRows(operation, in.RequestItems[table])
		if err != nil {
			return nil, fmt.Errorf("read the body of %s: %w", operation, err)
		}
		q := Request{Action: "dynamodb:" + operation, Resource: tableARN(table, ""), Context: map[string][]string{}}
		for _, r := range rows {
			r.TableName = table
			one, err := b.row(operation, r)
			if err != nil {
				return nil, err
			}
			for _, key := range []string{leadingKeys, attributes} {
				q.Context[key] = append(q.Context[key], one.Context[key]...)
			}
		}
		all = append(all, q)
	}
	return all, nil
}

func batchRows(operation string, body json.RawMessage) (rows []rowCall, err error) {
	if operation == "BatchGetItem" {
		var in struct{ Keys []map[string]json.RawMessage }
		err = json.Unmarshal(body, &in)
		for _, key := range in.Keys {
			rows = append(rows, rowCall{Key: key})
		}
		return rows, err
	}
	var in []map[string]rowCall // keyed by PutRequest or DeleteRequest
	err = json.Unmarshal(body, &in)
	for _, request := range in {
		rows = slices.AppendSeq(rows, maps.Values(request))
	}
	return rows, err
}

func tableARN(name, index string) string {
	arn := name
	if !strings.HasPrefix(name, "arn:") {
		arn = ARN("dynamodb", "table/"+name)
	}
	if index != "" {
		arn += "/index/" + index
	}
	return arn
}

// row returns the request for one row, or for the rows of one partition.
func (b *Bench) row(operation string, in rowCall) (Request, error) {
	q := Request{Action: "dynamodb:" + operation, Resource: tableARN(in.TableName, in.IndexName),
		Context: map[string][]string{}}
	_, place, _ := strings.Cut(q.Resource, ":table/")
	partition, known := b.PartitionKeys[place]
	if !known {
		return q, fmt.Errorf("%s: the local stack knows no table or index %s", operation, place)
	}
	key := in.Key[partition]
	if in.Item != nil {
		key = in.Item[partition]
	}
	if operation == "Query" {
		key = in.ExpressionAttributeValues[in.equals(partition)]
	}
	text, err := scalar(key)
	if err != nil {
		return q, fmt.Errorf("%s: %s: %w", operation, partition, err)
	}
	q.Context[leadingKeys] = []string{text}
	q.Context[attributes] = in.attributes()
	return q, nil
}

// scalar returns the value of a key such as {"S": "x"}.
func scalar(key json.RawMessage) (string, error) {
	var value map[string]string
	if err := json.Unmarshal(key, &value); err != nil || len(value) != 1 {
		return "", fmt.Errorf("the call has no such key")
	}
	return slices.Collect(maps.Values(value))[0], nil
}

// equals returns the placeholder that an attribute is compared to with = in the key condition, or "" if there is none.
func (in rowCall) equals(attribute string) string {
	words := token.FindAllString(in.KeyConditionExpression, -1)
	for i := 0; i+2 < len(words); i++ {
		if in.name(words[i]) == attribute && words[i+1] == "=" {
			return words[i+2]
		}
	}
	return ""
}

// name resolves an attribute's placeholder.
func (in rowCall) name(word string) string {
	return cmp.Or(in.ExpressionAttributeNames[word], word)
}

// attributes returns the sorted names of all attributes that a call mentions.
func (in rowCall) attributes() []string {
	found := map[string]bool{}
	for _, row := range []map[string]json.RawMessage{in.Key, in.Item} {
		for name := range row {
			found[name] = true
		}
	}
	for _, e := range []string{in.KeyConditionExpression, in.UpdateExpression, in.ConditionExpression,
		in.ProjectionExpression, in.FilterExpression} {
		words := token.FindAllString(e, -1)
		for i, w := range words {
			inside := i > 0 && words[i-1] == "."              // a member of an attribute
			function := i+1 < len(words) && words[i+1] == "(" // or the IN of a list
			if attribute.MatchString(w) && !inside && !function && !keywords[strings.ToUpper(w)] {
				found[in.name(w)] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// keywords are the words of expressions that are no attributes. A word before a bracket is a function.
var keywords = map[string]bool{"SET": true, "REMOVE": true, "ADD": true, "DELETE": true, "AND": true, "OR": true,
	"NOT": true, "IN": true, "BETWEEN": true}

// token is a word of an expression, or a sign. attribute begins a word that may be an attribute.
var token, attribute = regexp.MustCompile(`[#:]?\w+|\S`), regexp.MustCompile(`^[#A-Za-z_]`)
