package store_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"ringi/infra/local/process"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
)

// observed is a test whose errors are recorded.
type observed struct {
	testing.TB
	errors []string
	ends   []func()
}

func (o *observed) Errorf(format string, args ...any) {
	o.errors = append(o.errors, fmt.Sprintf(format, args...))
}
func (o *observed) Cleanup(end func()) { o.ends = append(o.ends, end) }

// TestWhatARoleRefusesFailsTheTest acts as a test of give-up, whose role may write tasks but no settings.
func TestWhatARoleRefusesFailsTheTest(t *testing.T) {
	t.Chdir(filepath.Join(expect.Value(process.ModuleRoot())(t), "functions", "give-up"))
	for name, tt := range map[string]struct {
		put    func(ctx context.Context, db *dynamodb.Client, table, key string) error
		key    string
		refuse string // part of the test's error; "" for no error
	}{
		"its code, what it may":     {putByItsCode, "TASK#t#1", ""},
		"its code, what it may not": {putByItsCode, "TENANT#t", "dynamodb:PutItem"},
		"the test":                  {putByItself, "TENANT#t", ""},
	} {
		t.Run(name, func(t *testing.T) {
			o := &observed{TB: t}
			server := storetest.Start(o)
			_, table := server.Store(t)
			err := tt.put(t.Context(), server.DB, table, tt.key)
			for _, end := range o.ends {
				end()
			}
			told := strings.Join(o.errors, "\n")
			var api smithy.APIError
			refused := errors.As(err, &api) && api.ErrorCode() == "AccessDeniedException"
			expect.That(t, refused == (tt.refuse != ""), "the call returned %v", err)
			expect.That(t, (told != "") == (tt.refuse != "") && strings.Contains(told, tt.refuse) &&
				(told == "" || strings.HasPrefix(told, "the role of GiveUpFunction doesn't allow")), "the test was told %q", told)
		})
	}
}

func putByItself(ctx context.Context, db *dynamodb.Client, table, key string) error {
	_, err := db.PutItem(ctx, anyRow(table, key))
	return err
}

func anyRow(table, key string) *dynamodb.PutItemInput {
	return &dynamodb.PutItemInput{TableName: &table, Item: map[string]types.AttributeValue{
		"PK": &types.AttributeValueMemberS{Value: key}, "SK": &types.AttributeValueMemberS{Value: "x"},
	}}
}

// The code below counts as code of a function because of the position that the directive sets.
//
//line /ringi/functions/give-up/handler.go:1
func putByItsCode(ctx context.Context, db *dynamodb.Client, table, key string) error {
	_, err := db.PutItem(ctx, anyRow(table, key))
	return err
}
