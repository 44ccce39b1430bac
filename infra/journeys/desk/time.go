package desk

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"ringi/shared/aggregate"
	"ringi/shared/task"
)

// SetRow changes a row behind the system's back, as time or a crash would.
func (d *Desk) SetRow(sk, update string, v time.Time) {
	d.T.Helper()
	_, err := dynamodb.NewFromConfig(d.S.AWS).UpdateItem(context.Background(), &dynamodb.UpdateItemInput{
		TableName: &d.S.TableName, UpdateExpression: &update, ConditionExpression: aws.String("attribute_exists(PK)"),
		Key: map[string]types.AttributeValue{
			"PK": &types.AttributeValueMemberS{Value: "TASK#" + d.Ref.Tenant + "#" + d.Ref.Task}, "SK": &types.AttributeValueMemberS{Value: sk},
		},
		ExpressionAttributeValues: map[string]types.AttributeValue{":v": &types.AttributeValueMemberS{Value: v.UTC().Format("2006-01-02T15:04:05.000Z")}},
	})
	if err != nil {
		d.T.Fatal(err)
	}
}

// Sweep makes the task due and lets the sweeper's minute pass.
func (d *Desk) Sweep() {
	d.T.Helper()
	past := time.Now().Add(-time.Minute)
	d.SetRow(aggregate.HeadKey, "SET due_at = :v, GSI1SK = :v", past)
	if a := d.Load(); a.Head.DueAt == nil {
		d.T.Fatal("the head is not due")
	}
	if _, err := d.S.Fire(context.Background(), "SweepTasksFunction"); err != nil {
		d.T.Fatal(err)
	}
}

// ExpireLease lets the lease of a killed call run out now, instead of in a minute.
func (d *Desk) ExpireLease(step string) {
	d.T.Helper()
	a := d.Load()
	for _, x := range a.Steps {
		if x.Key() == step && x.Status != task.StepRunning {
			b, _ := json.Marshal(x)
			d.T.Fatalf("the step is not running: %s", b)
		}
	}
	d.SetRow(step, "SET claim.lease_until = :v", time.Now().Add(-time.Second))
}

// RunsEnd waits until no run of the task is open.
func (d *Desk) RunsEnd() {
	d.T.Helper()
	runs := sfn.NewFromConfig(d.S.AWS)
	Eventually(d.T, "every run has ended", func() bool {
		out, err := runs.ListExecutions(context.Background(), &sfn.ListExecutionsInput{StateMachineArn: &d.S.StateMachineARN, StatusFilter: "RUNNING"})
		if err != nil {
			d.T.Fatal(err)
		}
		for _, x := range out.Executions {
			if strings.HasPrefix(*x.Name, d.Ref.Task) {
				return false
			}
		}
		return true
	})
}

// RanOnce reads the execution history as the AWS console would.
func (d *Desk) RanOnce() {
	d.T.Helper()
	out, err := sfn.NewFromConfig(d.S.AWS).ListExecutions(context.Background(), &sfn.ListExecutionsInput{StateMachineArn: &d.S.StateMachineARN})
	if err != nil {
		d.T.Fatal(err)
	}
	var runs []string
	for _, x := range out.Executions {
		if strings.HasPrefix(*x.Name, d.Ref.Task) {
			runs = append(runs, *x.Name)
		}
	}
	if want := []string{d.Ref.Task + "-1"}; !slices.Equal(runs, want) {
		d.T.Errorf("runs %v, not %v", runs, want)
	}
}
