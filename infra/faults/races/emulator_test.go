package races

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
)

// TestTheEmulatorKeepsItsWord checks what the other tests rely on. The unpatched emulator fails it: two of 32 clients
// win, or one wins and leaves two entries.
func TestTheEmulatorKeepsItsWord(t *testing.T) {
	expect.Patience(t)
	server := storetest.Start(t)
	_, table := server.Store(t)
	rounds := 20
	if expect.Long() {
		rounds = 100
	}
	for i := range rounds {
		pk := fmt.Sprint("CONTROL#", i)
		expect.Value(server.DB.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: row(pk, "COUNTER", map[string]string{"v": "0"})}))(t)
		swapped := atOnce(t, func(who int) error {
			_, err := server.DB.TransactWriteItems(context.Background(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
				{Update: &types.Update{
					TableName: &table, Key: row(pk, "COUNTER", nil), UpdateExpression: aws.String("SET v = v + :one"), ConditionExpression: aws.String("v = :old"),
					ExpressionAttributeValues: map[string]types.AttributeValue{":old": number("0"), ":one": number("1")},
				}},
				{Put: &types.Put{TableName: &table, Item: row(pk, fmt.Sprintf("ENTRY#%02d", who), nil), ConditionExpression: aws.String("attribute_not_exists(PK)")}},
			}})
			return err
		})
		put := atOnce(t, func(who int) error {
			_, err := server.DB.PutItem(context.Background(), &dynamodb.PutItemInput{
				TableName: &table, Item: row(pk, "ONCE", nil), ConditionExpression: aws.String("attribute_not_exists(PK)"),
			})
			return err
		})
		atOnce(t, func(int) error {
			_, err := server.DB.UpdateItem(context.Background(), &dynamodb.UpdateItemInput{
				TableName: &table, Key: row(pk, "SUM", nil), UpdateExpression: aws.String("ADD v :one"),
				ExpressionAttributeValues: map[string]types.AttributeValue{":one": number("1")},
			})
			return err
		})
		out := expect.Value(server.DB.Query(t.Context(), &dynamodb.QueryInput{
			TableName: &table, ConsistentRead: aws.Bool(true), KeyConditionExpression: aws.String("PK = :pk"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":pk": &types.AttributeValueMemberS{Value: pk}},
		}))(t)
		values := map[string]string{}
		for _, it := range out.Items {
			if v, ok := it["v"].(*types.AttributeValueMemberN); ok {
				values[it["SK"].(*types.AttributeValueMemberS).Value] = v.Value
			}
		}
		if swapped != 1 || put != 1 || len(out.Items) != 4 || values["COUNTER"] != "1" || values["SUM"] != fmt.Sprint(clients) {
			t.Errorf("round %d: %d swapped, %d put, %d items, counter %s, sum %s; want 1, 1, 4, 1, %d", i, swapped, put, len(out.Items), values["COUNTER"], values["SUM"], clients)
		}
	}
}

// atOnce runs do for all clients at once and counts those whose condition held.
func atOnce(t *testing.T, do func(who int) error) (won int) {
	t.Helper()
	var mu sync.Mutex
	var all sync.WaitGroup
	for who := range clients {
		all.Go(func() {
			err := do(who)
			var cancelled *types.TransactionCanceledException
			var failed *types.ConditionalCheckFailedException
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				won++
			case !errors.As(err, &cancelled) && !errors.As(err, &failed):
				t.Error(err)
			}
		})
	}
	all.Wait()
	return won
}

func row(pk, sk string, numbers map[string]string) map[string]types.AttributeValue {
	out := map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: pk}, "SK": &types.AttributeValueMemberS{Value: sk}}
	for name, n := range numbers {
		out[name] = number(n)
	}
	return out
}

func number(n string) types.AttributeValue { return &types.AttributeValueMemberN{Value: n} }
