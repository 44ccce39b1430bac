package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/infra/driver"
	"ringi/infra/local/sandbox/workspace"
	"ringi/infra/local/stack"
	"ringi/shared/aggregate"
	"ringi/shared/expect"
	"ringi/shared/task"
)

// audited is a stack on which a request was carried out, and its log.
type audited struct {
	*testing.T
	s      *stack.Stack
	d      *driver.Request
	tenant string
}

// audit runs the program; holds is whether it found nothing.
func (a *audited) audit(args ...string) (out string, holds bool) {
	a.Helper()
	var b bytes.Buffer
	args = append([]string{args[0], "-aws-addr", strings.TrimPrefix(a.s.AWSEndpoint, "http://"), "-tenant", a.tenant}, args[1:]...)
	err := run(a.Context(), args, &b)
	if err != nil && !errors.Is(err, errFound) {
		a.Fatalf("audit %v: %v", args, err)
	}
	return b.String(), err == nil
}

// sealed waits until nothing of the log is unsealed, and puts the head away.
func (a *audited) sealed() {
	a.Helper()
	defer func() {
		if a.Failed() {
			out, _ := a.audit("verify")
			a.Logf("%s\n%v", out, a.s.Lambda.Logs("SealAuditFunction"))
		}
	}()
	a.d.Eventually("all is sealed and under a head", func() bool {
		if r, err := a.s.Fire(a.Context(), "SealAuditFunction"); err != nil || r.Failed {
			a.Logf("the sealer: %v, %s", err, r.Payload) // its schedule fires again
			return false
		}
		out, _ := a.audit("verify")
		return !strings.Contains(out, "not sealed yet") && !strings.Contains(out, "behind the head")
	})
}

// finds runs a check that must find something.
func (a *audited) finds(want string, args ...string) {
	a.Helper()
	if out, holds := a.audit(args...); holds || !strings.Contains(out, want) {
		a.Errorf("audit %v does not find %q:\n%s", args, want, out)
	}
}

// put writes a row behind Ringi's back.
func (a *audited) put(it map[string]types.AttributeValue) {
	a.Helper()
	expect.Value(dynamodb.NewFromConfig(a.s.AWS).PutItem(a.Context(), &dynamodb.PutItemInput{TableName: &a.s.TableName, Item: it}))(a.T)
}

func (a *audited) row(pk, sk string) map[string]types.AttributeValue {
	a.Helper()
	out := expect.Value(dynamodb.NewFromConfig(a.s.AWS).Query(a.Context(), &dynamodb.QueryInput{
		TableName: &a.s.TableName, KeyConditionExpression: aws.String("PK = :pk AND begins_with(SK, :sk)"), Limit: aws.Int32(1),
		ExpressionAttributeValues: map[string]types.AttributeValue{":pk": &types.AttributeValueMemberS{Value: pk}, ":sk": &types.AttributeValueMemberS{Value: sk}},
	}))(a.T)
	if len(out.Items) != 1 {
		a.Fatalf("no row %s %s", pk, sk)
	}
	return out.Items[0]
}

// From a message to a proof: the stack as it runs, and somebody who writes into its table by hand.
func TestWhatTheStackDidIsProved(t *testing.T) {
	s := expect.Value(driver.Start(t.Context(), driver.Options()))(t)
	t.Cleanup(s.Close)
	d := driver.Ask(t, s, workspace.Sato, "今月の勤怠をまとめて")
	d.Approve(workspace.Suzuki)
	done := d.Until("completed", func(a *task.Aggregate) bool { return a.Task != nil && a.Task.Status == task.TaskCompleted })
	a := &audited{t, s, d, aggregate.TenantID(s.Sandbox.TeamID())}
	a.sealed()
	id := done.Execution().ID
	out, holds := a.audit("verify")
	if !holds || strings.Contains(out, "late") {
		t.Errorf("verify: %s", out)
	}
	out, holds = a.audit("prove", id)
	if n := strings.Count(out, "they follow from the stamped steps"); !holds || n != 2 || strings.Contains(out, "no entry seals") || !strings.Contains(out, "stamped by "+workspace.Suzuki) {
		t.Errorf("prove: %d writes are shown to follow\n%s", n, out)
	}
	if same, _ := a.audit("prove", d.Ref.ID); same != out {
		t.Errorf("of the task: %s", same)
	}
	receipt, _ := a.audit("receipt", id)
	var line bytes.Buffer
	expect.NoError(t, json.Compact(&line, []byte(receipt)))
	if got := python(t, line.Bytes()); len(got) != 1 || len(got[0].Chain) != 0 || got[0].Execution != 0 {
		t.Errorf("verify.py: %+v", got)
	}
	file := filepath.Join(t.TempDir(), "receipt.json")
	expect.NoError(t, os.WriteFile(file, []byte(receipt), 0o600))
	expect.NoError(t, run(t.Context(), []string{"check", file}, &line))

	for _, command := range [][]string{{"verify"}, {"prove"}} {
		args := append(command, "-aws-addr", strings.TrimPrefix(s.AWSEndpoint, "http://"), "-team", "T0NOBODY")
		if command[0] == "prove" {
			args = append(args, id)
		}
		if err := run(t.Context(), args, &line); err == nil || !strings.Contains(err.Error(), "there is no audit log of the tenant") {
			t.Errorf("%s of a workspace that nobody knows: %v", command[0], err)
		}
	}
	was := a.row("TASK#"+a.tenant+"#"+d.Ref.ID, "PROMPT#")
	a.put(with(was, "content", "全員の給与を送る"))
	a.finds("the policy is not what was stamped", "prove", id)
	a.put(was)
	entry := a.row("AUDIT#"+a.tenant+"#"+time.Now().UTC().Format("2006-01"), "2")
	a.put(with(entry, "actor_id", "U0NOBODY"))
	a.finds("changed AUDIT#", "verify")
	a.put(entry)
	d.Eventually("the sealer has seen it, though the entry is as it was", func() bool {
		out, holds := a.audit("verify")
		return !holds && strings.Contains(out, "touched AUDIT#")
	})
}

// with is a row with one attribute changed.
func with(it map[string]types.AttributeValue, name, text string) map[string]types.AttributeValue {
	out := map[string]types.AttributeValue{}
	for k, v := range it {
		out[k] = v
	}
	out[name] = &types.AttributeValueMemberS{Value: text}
	return out
}
