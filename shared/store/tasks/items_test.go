package tasks_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

func (b before) rows(t *testing.T, ref aggregate.Ref) map[string]map[string]any {
	t.Helper()
	out, err := b.db.Query(t.Context(), &dynamodb.QueryInput{
		TableName: &b.table, ConsistentRead: aws.Bool(true), KeyConditionExpression: aws.String("PK = :pk"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":pk": &types.AttributeValueMemberS{Value: "TASK#" + ref.Tenant + "#" + ref.ID}},
	})
	expect.NoError(t, err)
	rows := map[string]map[string]any{}
	for _, it := range out.Items {
		row := map[string]any{}
		for name, v := range it {
			row[name] = plain(t, v)
		}
		rows[it["SK"].(*types.AttributeValueMemberS).Value] = row
	}
	return rows
}

// value converts DynamoDB's JSON.
func value(v map[string]any) types.AttributeValue {
	for kind, x := range v {
		switch kind {
		case "S":
			return &types.AttributeValueMemberS{Value: x.(string)}
		case "N":
			return &types.AttributeValueMemberN{Value: x.(string)}
		case "BOOL":
			return &types.AttributeValueMemberBOOL{Value: x.(bool)}
		case "L":
			list := &types.AttributeValueMemberL{}
			for _, e := range x.([]any) {
				list.Value = append(list.Value, value(e.(map[string]any)))
			}
			return list
		case "M":
			m := &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{}}
			for name, e := range x.(map[string]any) {
				m.Value[name] = value(e.(map[string]any))
			}
			return m
		}
	}
	return &types.AttributeValueMemberNULL{Value: true}
}

func item(it map[string]map[string]any) map[string]types.AttributeValue {
	out := map[string]types.AttributeValue{}
	for name, v := range it {
		out[name] = value(v)
	}
	return out
}

// plain converts a value to decoded JSON.
func plain(t *testing.T, v any) (out any) {
	t.Helper()
	text, err := json.Marshal(v)
	expect.NoError(t, err)
	decode(t, text, &out)
	return out
}

func decode(t *testing.T, text []byte, into any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber() // sums have more digits than a float
	expect.NoError(t, d.Decode(into))
}

func unzipped(t *testing.T, name string) []byte {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "before", name))
	expect.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	expect.NoError(t, err)
	text, err := io.ReadAll(z)
	expect.NoError(t, err)
	return text
}

func lines(t *testing.T, name string) func(func([]byte) bool) {
	t.Helper()
	scan := bufio.NewScanner(bytes.NewReader(unzipped(t, name)))
	scan.Buffer(nil, 1<<20)
	return func(yield func([]byte) bool) {
		for scan.Scan() && yield(scan.Bytes()) {
		}
		expect.NoError(t, scan.Err())
	}
}
