package stack

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

type RowView struct {
	Key     string `json:"key"` // SK
	Type    string `json:"type"`
	Rev     int64  `json:"rev"`
	At      string `json:"at,omitempty"` // its latest time in the past
	Summary string `json:"summary"`      // its attributes without keys and ids, truncated
}

// The lengths of a summary, in characters.
const (
	shortValue   = 40
	shortSummary = 160
)

// rows reads a partition in the order of writing, and sums up the usage of models.
func (s *Stack) rows(ctx context.Context, partition string) (rows []RowView, used UsageView, err error) {
	rows, now := []RowView{}, time.Now().UTC().Format("2006-01-02T15:04:05.999Z")
	pages := dynamodb.NewQueryPaginator(dynamodb.NewFromConfig(config(s.tables.URL)), &dynamodb.QueryInput{
		TableName: &s.TableName, ConsistentRead: aws.Bool(true), KeyConditionExpression: aws.String("PK = :p"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":p": &types.AttributeValueMemberS{Value: partition}},
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, used, err
		}
		for _, item := range page.Items {
			if plain(item["type"]) == "usage" {
				if err := used.add(item); err != nil {
					return nil, used, err
				}
			}
			rows = append(rows, viewRow(item, now))
		}
	}
	// Rows without a rev, such as a wait, change independently of the task. They come last.
	slices.SortStableFunc(rows, func(a, b RowView) int {
		return cmp.Or(cmp.Compare(uint64(a.Rev-1), uint64(b.Rev-1)), cmp.Compare(a.At, b.At))
	})
	return rows, used, nil
}

func viewRow(item map[string]types.AttributeValue, now string) RowView {
	row := RowView{Key: plain(item["SK"]), Type: plain(item["type"])}
	row.Rev, _ = strconv.ParseInt(plain(item["rev"]), 10, 64)
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(item)) {
		text := plain(item[name])
		if strings.HasSuffix(name, "_at") && text <= now && text > row.At {
			row.At = text
		}
		if !bookkeeping(name) && text != "" {
			parts = append(parts, name+" "+short(text, shortValue))
		}
	}
	// Decisions come first.
	slices.SortStableFunc(parts, func(a, b string) int { return weight(a) - weight(b) })
	row.Summary = short(strings.Join(parts, " · "), shortSummary)
	return row
}

// bookkeeping reports whether an attribute is left out of a row's summary.
func bookkeeping(name string) bool {
	switch name {
	case "PK", "SK", "type", "rev", "schema_version", "id", "hash", "last_change", "token", "task_token":
		return true
	}
	return strings.HasPrefix(name, "GSI") || strings.HasSuffix(name, "_id") || strings.HasSuffix(name, "_at")
}

func weight(part string) int {
	for i, name := range []string{"status ", "state ", "ended ", "parked ", "run ", "version ", "title ", "tool ", "user ", "text ", "made ", "input_tokens ", "output_tokens ", "cost_micro_usd ", "unpriced_calls ", "lease_until "} {
		if strings.HasPrefix(part, name) {
			return i
		}
	}
	return 100
}

// plain formats a value for people.
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

// short puts a text on one line and truncates it.
func short(text string, limit int) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) <= limit {
		return string(runes)
	}
	return string(runes[:limit-1]) + "…"
}
