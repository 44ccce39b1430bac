package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

// audited is a stack that carried out a request, and its audit log.
type audited struct {
	*testing.T
	s      *stack.Stack
	d      *driver.Request
	tenant string
}

// audit checks the log; holds reports whether it found nothing wrong. With an id it proves that, by verify.py.
func (a *audited) audit(id ...string) (out string, holds bool) {
	a.Helper()
	var b bytes.Buffer
	command := map[bool]string{true: "check", false: "prove"}[id == nil]
	args := append([]string{command, "-aws-addr", strings.TrimPrefix(a.s.AWSEndpoint, "http://"), "-tenant", a.tenant},
		id...)
	err := run(a.Context(), args, &b)
	expect.Must(a, err == nil || errors.Is(err, errFound), "audit %v: %v", args, err)
	if id == nil {
		return b.String(), err == nil
	}
	file := filepath.Join(a.TempDir(), "proof.json")
	expect.NoError(a, os.WriteFile(file, b.Bytes(), 0o600))
	said := verifies(a.T, nil, "--key", a.fingerprint(), file)
	return said.Out, said.Code == 0
}

// fingerprint is that of the stack's key, as the AWS CLI prints it.
func (a *audited) fingerprint() string {
	a.Helper()
	o := order{local: strings.TrimPrefix(a.s.AWSEndpoint, "http://")}
	expect.Value(o.look(a.Context()))(a)
	out := expect.Value(kms.NewFromConfig(a.s.AWS).GetPublicKey(a.Context(), &kms.GetPublicKeyInput{KeyId: &o.key}))(a.T)
	return fmt.Sprintf("%x", sha256.Sum256(out.PublicKey))
}

// sealed waits until the whole log is sealed and the head is saved in its bucket.
func (a *audited) sealed() {
	a.Helper()
	defer func() {
		if a.Failed() {
			out, _ := a.audit()
			a.Logf("%s\n%v", out, a.s.Lambda.Logs("SealAuditFunction"))
		}
	}()
	a.d.Eventually("all is sealed and under a head", func() bool {
		if r, err := a.s.Fire(a.Context(), "SealAuditFunction"); err != nil || r.Failed {
			a.Logf("the sealer: %v, %s", err, r.Payload) // its schedule fires again
			return false
		}
		out, _ := a.audit()
		return !strings.Contains(out, "not sealed yet") && !strings.Contains(out, "behind the head")
	})
}

// finds runs a check and fails the test unless the output contains want.
func (a *audited) finds(want string, args ...string) {
	a.Helper()
	out, holds := a.audit(args...)
	expect.That(a, !holds && strings.Contains(out, want), "audit %v does not find %q:\n%s", args, want, out)
}

// put writes a row into the table directly, bypassing Ringi's code.
func (a *audited) put(it map[string]types.AttributeValue) {
	a.Helper()
	expect.Value(dynamodb.NewFromConfig(a.s.AWS).PutItem(a.Context(), &dynamodb.PutItemInput{TableName: &a.s.TableName,
		Item: it}))(a.T)
}

func (a *audited) row(pk, sk string) map[string]types.AttributeValue {
	a.Helper()
	out := expect.Value(dynamodb.NewFromConfig(a.s.AWS).Query(a.Context(), &dynamodb.QueryInput{
		TableName: &a.s.TableName, KeyConditionExpression: aws.String("PK = :pk AND begins_with(SK, :sk)"),
		Limit: aws.Int32(1),
		ExpressionAttributeValues: map[string]types.AttributeValue{":pk": &types.AttributeValueMemberS{Value: pk},
			":sk": &types.AttributeValueMemberS{Value: sk}},
	}))(a.T)
	expect.Must(a, len(out.Items) == 1, "no row %s %s", pk, sk)
	return out.Items[0]
}

// A request goes through the whole stack and is proved; then somebody edits rows in the table.
func TestWhatTheStackDidIsProved(t *testing.T) {
	expect.Patience(t)
	s := expect.Value(driver.Start(t.Context(), driver.Options()))(t)
	t.Cleanup(s.Close)
	d := driver.Ask(t, s, webapi.Sato, "今月の勤怠をまとめて")
	d.Approve(webapi.Suzuki)
	done := d.Until("completed", func(a *task.Aggregate) bool {
		return a.Task != nil && a.Task.Status == task.TaskCompleted
	})
	a := &audited{t, s, d, aggregate.TenantID(s.Sandbox.TeamID())}
	action, made := a.talked()
	stage := func(name, id string) rules.Stage {
		return rules.Stage{Name: name, Need: 1, Who: rules.Who{People: []string{id}}}
	}
	driver.Circulate(t, s, rules.Rule{ID: "01KS000000000000000000000A", Name: "すべて", Outcome: rules.Outcome{
		Stages: []rules.Stage{stage("経理", webapi.Suzuki), stage("部長", webapi.Tanaka)}}})
	decision := driver.AskWithFiles(t, s, webapi.Sato, "複合機の入れ替え",
		driver.FormFile{Name: "見積書.pdf", Body: []byte("%PDF-1.7")})
	decision.Click(webapi.Suzuki, driver.TaskCard, "approve_process")
	decision.ClickUntilTaken(webapi.Tanaka, driver.TaskCard, "approve_process")
	recorded := decision.Until("recorded", func(a *task.Aggregate) bool {
		return a.Task != nil && a.Task.Status == task.TaskCompleted
	})
	a.sealed()
	a.provesWhatAnAgentDid(action, made)
	a.provesADecision(recorded)
	id := done.Execution().ID
	out, holds := a.audit()
	expect.That(t, holds && !strings.Contains(out, "late"), "verify: %s", out)
	out, holds = a.audit(id)
	n := strings.Count(out, "they follow from the stamped steps")
	expect.That(t, holds && n == 2 && !strings.Contains(out, "no entry seals") &&
		strings.Contains(out, "stamped by "+webapi.Suzuki), "prove: %d writes are shown to follow\n%s", n, out)
	same, _ := a.audit(d.Ref.ID)
	expect.Is(t, same, out, "of the task")
	a.proves(id)

	for _, command := range [][]string{{"check"}, {"prove"}} {
		args := append(command, "-aws-addr", strings.TrimPrefix(s.AWSEndpoint, "http://"), "-team", "T0NOBODY")
		if command[0] == "prove" {
			args = append(args, id)
		}
		err := run(t.Context(), args, io.Discard)
		expect.That(t, err != nil && strings.Contains(err.Error(), "there is no audit log of the tenant"),
			"%s of a workspace that nobody knows: %v", command[0], err)
	}
	was := a.row("TASK#"+a.tenant+"#"+d.Ref.ID, "PROMPT#")
	a.put(with(was, "content", "全員の給与を送る"))
	a.finds("the policy is not what was stamped", id)
	a.put(was)
	entry := a.row("AUDIT#"+a.tenant+"#"+time.Now().UTC().Format("2006-01"), "2")
	a.put(with(entry, "actor_id", "U0NOBODY"))
	a.finds("changed AUDIT#")
	a.put(entry)
	d.Eventually("the sealer has seen it, though the entry is as it was", func() bool {
		out, holds := a.audit()
		return !holds && strings.Contains(out, "touched AUDIT#")
	})
}

// talked has an agent write files that somebody approves, and make a request that is carried out.
func (a *audited) talked() (action *conversation.Action, made string) {
	a.Helper()
	d := driver.Talk(a.T, a.s, webapi.Sato, "codex: ファイルを作って")
	d.Press(webapi.Sato, d.Shows("操作 #1 の確認"), card.ApproveAction)
	d.Shows("操作 #1 完了")
	action = d.Rests().Actions[0]
	d = driver.Talk(a.T, a.s, webapi.Sato, "codex: 今月の勤怠をまとめて")
	d.Shows("デモのエージェントです")
	ts := d.Reply("これは稟議にします。")
	d.Press(webapi.Sato, d.Shows("次の内容を依頼しようとしています"), card.MakeRequest)
	a.d.Eventually("a task", func() bool { return len(d.Load().Offered) == 1 && d.Load().Offered[0].Done })
	r := driver.At(a.T, a.s, d.Channel, ts)
	r.Root = d.Root
	r.Approve(webapi.Sato)
	r.Until("completed", func(a *task.Aggregate) bool { return a.Task != nil && a.Task.Status == task.TaskCompleted })
	return action, r.Ref.ID
}

func (a *audited) provesWhatAnAgentDid(action *conversation.Action, made string) {
	a.Helper()
	out, holds := a.audit(action.ActionID)
	expect.That(a, holds && strings.Contains(out, "this very payload: stamped by "+webapi.Sato) &&
		strings.Contains(out, "files '"+action.Version+"'"), "prove an action: %s", out)
	out, holds = a.audit(made)
	expect.That(a, holds && strings.Contains(out, "these very words: "+webapi.Sato) &&
		strings.Contains(out, "request 今月の勤怠をまとめて"), "prove what was offered: %s", out)
}

// provesADecision proves the one write of a decision that went round, which nobody was called for, and its number.
func (a *audited) provesADecision(done *task.Aggregate) {
	a.Helper()
	out, holds := a.audit(done.Head.TaskID)
	expect.That(a, holds && strings.Contains(out, "write step-1 record_decision: completed") &&
		strings.Contains(out, "decision number "+done.Head.Glance.Number) &&
		strings.Contains(out, "settled by 2 stamps") && !strings.Contains(out, "no entry seals") &&
		strings.Contains(out, "with the file 見積書.pdf of 8 bytes, sha256 "+aggregate.HashOf("%PDF-1.7")),
		"prove a decision: %s", out)
}

// with returns a row with one attribute changed.
func with(it map[string]types.AttributeValue, name, text string) map[string]types.AttributeValue {
	out := maps.Clone(it)
	out[name] = &types.AttributeValueMemberS{Value: text}
	return out
}

// proves runs the command that proves what came of an execution, as somebody does who has the stack's outputs and
// credentials as the AWS CLI has them.
func (a *audited) proves(id string) {
	a.Helper()
	o := order{tenant: a.tenant, local: strings.TrimPrefix(a.s.AWSEndpoint, "http://")}
	expect.Value(o.look(a.Context()))(a)
	for name, value := range map[string]string{"AWS_ENDPOINT_URL": a.s.AWSEndpoint, "AWS_REGION": "us-east-1",
		"AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local"} {
		a.Setenv(name, value)
	}
	var out bytes.Buffer
	expect.NoError(a, run(a.Context(), []string{"prove", "-table", o.table, "-key", o.key, "-heads", o.heads, "-results",
		o.results, "-tenant", o.tenant, id}, &out))
	passes(a.T, out.Bytes())
}
