package tasks_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

// An earlier release, to which a deployment was rolled back, makes a task and leaves the listing where it is.
func TestARequestThatAnEarlierReleaseWentOnWithIsListedOnce(t *testing.T) {
	server := storetest.Start(t)
	s, table := server.Store(t)
	ref := received(t, s, "T0TEAM", "U0ONE", "text", 1)
	now := at().Add(time.Minute)
	do := func(d task.Decision) { t.Helper(); expect.Value(s.Decide(t.Context(), ref, d))(t) }
	do(ways()[task.StatusNotDrafted][0])
	row := func(key string) map[string]types.AttributeValue {
		return map[string]types.AttributeValue{
			"PK": &types.AttributeValueMemberS{Value: "TASK#" + ref.Tenant + "#" + ref.ID},
			"SK": &types.AttributeValueMemberS{Value: key},
		}
	}
	listing := expect.Value(server.DB.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &table, Key: row("LISTING")}))(t)
	expect.Must(t, listing.Item != nil, "it has no listing")
	do(func(a *task.Aggregate) (aggregate.Change, error) {
		by := aggregate.Actor{Type: aggregate.ActorUser, ID: "U0ONE", Team: "T0TEAM", Member: true}
		policy := aggregate.Policy{Team: "T0TEAM", Mode: aggregate.ApproversChannel, AllowSelf: true}
		return a.RetryGeneration(by, policy, now)
	})
	for _, d := range ways()[task.StatusCancelled] {
		do(d)
	}
	expect.Value(server.DB.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: listing.Item}))(t)
	expect.Value(server.DB.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{TableName: &table, Key: row("HEAD"),
		UpdateExpression:         aws.String("REMOVE #s, noted, waits_for, listed"),
		ExpressionAttributeNames: map[string]string{"#s": "status"}}))(t)
	for status, want := range map[task.Status]int{"": 1, task.StatusCancelled: 1, task.StatusNotDrafted: 0} {
		f := task.Filter{Status: status}
		p := expect.Value(s.Search(t.Context(), ref.Tenant, f, "", store.MaxPage, 1000, nil))(t)
		expect.That(t, len(p.Items) == want, "%q: %d, want %d: %+v", status, len(p.Items), want, p.Items)
	}
}
