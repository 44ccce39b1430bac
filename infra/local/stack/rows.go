package stack

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// RowView is one item of a task's partition.
type RowView struct {
	SK         string          `json:"sk"`
	Type       string          `json:"type"`
	Rev        int64           `json:"rev"`
	Attributes []AttributeView `json:"attributes"` // by name, without keys and bookkeeping
}

// AttributeView is an attribute in short.
type AttributeView struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// shortValue is how many characters of a value are shown.
const shortValue = 80

// rows reads a partition as it is now.
func (s *Stack) rows(ctx context.Context, partition string) ([]RowView, error) {
	rows := []RowView{}
	pages := dynamodb.NewQueryPaginator(dynamodb.NewFromConfig(config(s.moto.URL)), &dynamodb.QueryInput{
		TableName: &s.TableName, ConsistentRead: aws.Bool(true), KeyConditionExpression: aws.String("PK = :p"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":p": &types.AttributeValueMemberS{Value: partition}},
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, item := range page.Items {
			rows = append(rows, viewRow(item))
		}
	}
	return rows, nil
}

func viewRow(item map[string]types.AttributeValue) RowView {
	row := RowView{Attributes: []AttributeView{}}
	for name, v := range item {
		text := plain(v)
		switch {
		case name == "SK":
			row.SK = text
		case name == "type":
			row.Type = text
		case name == "rev":
			row.Rev, _ = strconv.ParseInt(text, 10, 64)
		case name == "PK", name == "schema_version", strings.HasPrefix(name, "GSI"):
		default:
			row.Attributes = append(row.Attributes, AttributeView{Name: name, Value: short(text)})
		}
	}
	slices.SortFunc(row.Attributes, func(a, b AttributeView) int { return strings.Compare(a.Name, b.Name) })
	return row
}

// plain is a value as a person would write it down.
func plain(v types.AttributeValue) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return v.Value
	case *types.AttributeValueMemberN:
		return v.Value
	case *types.AttributeValueMemberBOOL:
		return strconv.FormatBool(v.Value)
	case *types.AttributeValueMemberB:
		return base64.StdEncoding.EncodeToString(v.Value)
	case *types.AttributeValueMemberSS:
		return strings.Join(v.Value, ", ")
	case *types.AttributeValueMemberNS:
		return strings.Join(v.Value, ", ")
	case *types.AttributeValueMemberL:
		var parts []string
		for _, e := range v.Value {
			parts = append(parts, plain(e))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case *types.AttributeValueMemberM:
		var parts []string
		for name, e := range v.Value {
			parts = append(parts, fmt.Sprintf("%s: %s", name, plain(e)))
		}
		slices.Sort(parts)
		return "{" + strings.Join(parts, ", ") + "}"
	case *types.AttributeValueMemberNULL:
		return "null"
	default:
		return ""
	}
}

// short cuts by characters.
func short(text string) string {
	runes := []rune(text)
	if len(runes) <= shortValue {
		return text
	}
	return string(runes[:shortValue-1]) + "…"
}
