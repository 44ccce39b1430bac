package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/infra/local/driver"
	"ringi/infra/local/lambda"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
)

// quicker is how many times as fast as in life the limits pass after which an agent's client ends a request.
const quicker = 50

// clientLimits are those of OpenAI Agents, Claude Code and Codex, in life.
var clientLimits = []time.Duration{5 * time.Second, 60 * time.Second, 300 * time.Second}

// outside is an agent with one call, which Ringi makes or, elsewhere, the agent itself.
type outside struct {
	*harness
	*trace
	asking
	row    *driver.Request // names the call's rows
	rows   store.CallStore
	key    tenancy.Key
	secret string
	said   string // what the call is about
	ran    int    // how often the agent made the call itself
}

// asking is how an agent asks.
type asking struct {
	elsewhere bool
	limit     time.Duration // after which its client ends a request
	machine   bool          // what is killed is all that runs
}

// TestACrashWhileAnOutsideAgentAsksMakesNoCallTwice kills processes anywhere between an agent's request and the end of
// its call, while its client ends requests early and people decide three days later: the call is made once at most, as
// it was stamped, and a repeat is told how it ended.
func TestACrashWhileAnOutsideAgentAsksMakesNoCallTwice(t *testing.T) {
	t.Parallel()
	for _, elsewhere := range []bool{false, true} {
		t.Run(fmt.Sprint("elsewhere ", elsewhere), func(t *testing.T) {
			t.Parallel()
			all := running.outsidePoints(t, elsewhere)
			if !expect.Long() {
				running.outsideSurvives(t, elsewhere, sample(all, 1), 0)
				return
			}
			for i := range clientLimits {
				running.outsideSurvives(t, elsewhere, all, i) // each point under each limit
			}
		})
	}
}

// outsideSurvives tries kills, under one limit after the other from the i-th on.
func (b *harness) outsideSurvives(t *testing.T, elsewhere bool, trials []trial, i int) {
	t.Helper()
	ends := map[call.Status]int{}
	var never unmet
	sideBySide(t, trials, func(try driver.T, n int, kills []point) {
		k := b.outside(try, asking{elsewhere, limitOf(n + i), false}, kills...)
		status := k.ends(try)
		never.count(t, k.trace, kills)
		never.mu.Lock()
		defer never.mu.Unlock()
		ends[status]++
	})
	never.few(t, len(trials))
	t.Logf("%d points: %v; seed %d", len(trials), ends, seed)
}

// TestTheMachineDiesWhileAnOutsideAgentAsks kills all processes of all functions at once.
func TestTheMachineDiesWhileAnOutsideAgentAsks(t *testing.T) {
	expect.AtNight(t) // TestACrashWhileAnOutsideAgentAsksMakesNoCallTwice is a sample
	for _, elsewhere := range []bool{false, true} {
		all := running.outsidePoints(t, elsewhere)
		for i := range clientLimits {
			for _, x := range sampleOf(all, 8, seed+uint64(i)) {
				err := driver.Try(t.Context(), func(try driver.T) {
					running.outside(try, asking{elsewhere, limitOf(i), true}, x.kills...).ends(try)
				})
				expect.That(t, err == nil, "the machine dies %v: %v", x.kills, err)
			}
		}
	}
}

func limitOf(n int) time.Duration {
	return clientLimits[(uint64(n)+seed)%uint64(len(clientLimits))] / quicker
}

// outsidePoints returns the moments of an undisturbed call.
func (b *harness) outsidePoints(t *testing.T, elsewhere bool) []trial {
	t.Helper()
	k := b.outside(t, asking{elsewhere: elsewhere, limit: clientLimits[2]})
	want := conversation.ActionSucceeded
	if elsewhere {
		want = call.Granted
	}
	expect.Is(t, k.ends(t), want, "undisturbed")
	expect.That(t, !elsewhere || k.ran == 1, "it ran %d times", k.ran)
	return trialsOf(slices.DeleteFunc(k.points(), func(p point) bool {
		return p.function == "UpdateCardFunction" // others' tests have it, and how often it draws is chance
	}))
}

// outside is an agent that is about to ask.
func (b *harness) outside(t driver.T, how asking, kills ...point) *outside {
	t.Helper()
	mark := fmt.Sprintf("C0FAULT%05d", b.marks.Add(1))
	all := store.OpenAll(b.AWS, boot.Table{TableName: b.TableName})
	k := &outside{harness: b, trace: newTrace(kills...), asking: how, rows: store.CallsOf(all), said: mark + " is done"}
	k.recorded = len(kills) == 0
	var err error
	team := b.Sandbox.TeamID()
	k.key, k.secret, err = all.CreateKey(context.Background(), tenancy.Key{TenantID: aggregate.TenantID(team), Team: team,
		Name: "batch", Answers: webapi.Sato, Tools: []string{messageTool, shellTool},
		Channel: webapi.HR, QuotaDay: 20, ExpiresAt: time.Now().AddDate(0, 1, 0)}, k.person(), time.Now())
	expect.NoError(t, err)
	members := expect.Value(call.Members([]byte(k.arguments())))(t)
	of := call.Proposal{Key: k.key, Content: call.Content{Tool: k.tool(), Elsewhere: how.elsewhere}}
	_, of.Effect, err = call.Digest(members, nil)
	expect.NoError(t, err)
	k.row = &driver.Request{T: t, S: b.Stack, Ref: of.Ref()}
	k.dying = func(lambda.Call) {
		k.passed(call.Key, "claim.lease_until")
		k.passed("CARD#call", "claimed_at")
		for _, f := range b.Template.Functions {
			if k.machine {
				b.Lambda.Kill(f.ID)
			}
		}
	}
	b.injector.expect(mark, k.trace)
	b.injector.belongs(k.row.Ref.ID, mark)
	return k
}

const messageTool, shellTool = "send_slack_dm", "deploy"

func (k *outside) tool() string {
	if k.elsewhere {
		return shellTool
	}
	return messageTool
}

func (k *outside) arguments() string {
	if k.elsewhere {
		return fmt.Sprintf(`{"command":%q}`, k.said)
	}
	return fmt.Sprintf(`{"recipient":%q,"text":%q,"details":[]}`, webapi.Tanaka, k.said)
}

func (k *outside) person() aggregate.Actor {
	return aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Suzuki, Team: k.Sandbox.TeamID(), Member: true}
}

// passed makes a time of a row pass, if it has it.
func (k *outside) passed(sk, name string) {
	k.row.ChangeRow(sk, "SET "+name+" = :past", "attribute_exists("+name+")",
		map[string]string{":past": driver.Moment(time.Now().Add(-2 * time.Minute))})
}

// heard is what an agent is told of its call.
type heard struct{ ID, Status string }

// post sends a request once, which the client ends after limit. It returns false without an answer.
func (k *outside) post(limit time.Duration, path, body string, out any) bool {
	r, err := http.NewRequest(http.MethodPost, k.URL+path, strings.NewReader(body))
	if err != nil {
		k.row.T.Fatalf("%w", err)
	}
	r.Header.Set("Authorization", "Bearer "+k.secret)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	answer, err := (&http.Client{Timeout: limit}).Do(r)
	if err != nil {
		return false
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return err == nil && answer.StatusCode == http.StatusOK && json.Unmarshal(text, out) == nil
}

// uses calls a tool of the door by MCP.
func (k *outside) uses(limit time.Duration, tool, arguments string) (is heard) {
	var out struct {
		Result struct{ Content []struct{ Text string } }
	}
	call := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool,
		arguments)
	if k.post(limit, "/mcp", call, &out) && len(out.Result.Content) == 1 {
		_ = json.Unmarshal([]byte(out.Result.Content[0].Text), &is)
	}
	return is
}

// repeats asks for the call, as it did before. An agent that makes it itself then tries, whatever it is told, to take
// the grant for one more attempt.
func (k *outside) repeats(limit time.Duration) (is heard) {
	if !k.elsewhere {
		is = k.uses(limit, messageTool, k.arguments())
	} else if k.post(limit, "/calls", fmt.Sprintf(`{"tool":%q,"arguments":%s}`, shellTool, k.arguments()), &is) {
		take := fmt.Sprintf(`{"tool_use_id":%q,"tool":%q,"arguments":%s}`, aggregate.NewID(), shellTool, k.arguments())
		for range 2 { // as ask.py does
			if k.post(limit, "/calls/"+is.ID+"/take", take, &is) && is.Status == string(call.Granted) {
				k.ran++
				break
			}
		}
	}
	if is.ID != "" && is.ID != k.row.Ref.ID {
		k.row.T.Fatalf("the same call is %s and %s", is.ID, k.row.Ref.ID)
	}
	return is
}

// ends has the agent ask and people stamp, checks how it ended, and returns what a repeat is told.
func (k *outside) ends(t driver.T) call.Status {
	t.Helper()
	k.until(t, "the call asked for", func() bool { return k.repeats(k.limit).ID != "" || k.load() != nil })
	k.uses(k.limit, "ringi_wait", fmt.Sprintf(`{"id":%q,"seconds":1}`, k.row.Ref.ID))
	k.until(t, "people asked", k.rests)
	k.threeDaysPass(t)
	policy := aggregate.Policy{Team: k.person().Team, AllowSelf: true}
	expect.Value(k.rows.Decide(context.Background(), k.row.Ref, func(a *call.Aggregate) (aggregate.Change, error) {
		return decide.Approve(a, k.row.Ref.ID, k.person(), policy, time.Now())
	}))(t)
	again := time.Now()
	k.until(t, "the call over", func() bool {
		if time.Now().After(again) {
			k.repeats(k.limit)
			again = time.Now().Add(500 * time.Millisecond)
		}
		return k.load().Call.Over() && k.rests()
	})
	var is heard
	k.until(t, "a repeat told the end", func() bool { is = k.repeats(time.Minute); return is.ID != "" })
	x, sent := k.load().Call, 0
	for _, m := range k.Sandbox.Messages(webapi.DirectMessage(webapi.Tanaka), "") {
		if strings.Contains(m.Text+driver.Face(m), k.said) {
			sent++
		}
	}
	unknown := x.Outcome == conversation.OutcomeUnknown
	switch {
	case unknown && is.Status == "unknown" && sent <= 1,
		!unknown && is.Status == string(x.Status) && x.Status == conversation.ActionSucceeded && sent == 1,
		!unknown && is.Status == string(x.Status) && x.Status == conversation.ActionFailed && sent == 0,
		is.Status == string(call.Granted) && x.Status == call.Granted && k.ran <= 1 && sent == 0:
	default:
		k.row.T.Fatalf("%s is %s (%s %s %q) and told as %s, after %d messages and %d runs", x.CallID, x.Status, x.Error,
			x.ErrorDetail, x.Outcome, is.Status, sent, k.ran)
	}
	if content, err := x.Content(); err != nil || content.Arguments != k.canonical(t) || len(k.load().Cards) != 1 {
		k.row.T.Fatalf("%s is about %+v: %v", x.CallID, content, err)
	}
	return call.Status(is.Status)
}

func (k *outside) canonical(t driver.T) string {
	text, _, err := call.Digest(expect.Value(call.Members([]byte(k.arguments())))(t), nil)
	expect.NoError(t, err)
	return text
}

// load returns the call's rows, nil before there are any.
func (k *outside) load() *call.Aggregate {
	a, err := k.rows.Load(context.Background(), k.row.Ref)
	if err != nil {
		return nil
	}
	return a
}

// rests reports whether all is done and shown until people act.
func (k *outside) rests() bool {
	a := k.load()
	view, err := k.Task(context.Background(), k.row.Ref.ID)
	return a != nil && a.Head.ShownRev >= a.Head.Rev && err == nil &&
		!slices.ContainsFunc(view.Runs, func(r stack.RunView) bool { return r.Status == "RUNNING" })
}

// until waits, and sweeps if that takes long.
func (k *outside) until(t driver.T, what string, holds func() bool) {
	t.Helper()
	nudge := time.Now().Add(4 * time.Second)
	expect.Must(t, expect.Holds(context.Background(), stepTimeout, 50*time.Millisecond, func() bool {
		if holds() {
			return true
		}
		if time.Now().After(nudge) {
			k.row.ChangeRow(aggregate.HeadKey, "SET due_at = :past, GSI1SK = :past", "attribute_exists(GSI1PK)",
				map[string]string{":past": driver.Moment(time.Now().Add(-2 * time.Minute))})
			k.clock.mu.Lock()
			_, err := k.Fire(context.Background(), sweeper)
			k.clock.mu.Unlock()
			expect.NoError(t, err)
			nudge = time.Now().Add(4 * time.Second)
		}
		return false
	}), "%s: never is %s: %+v", k.row.Ref.ID, what, k.load())
}

var moments = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`)

// threeDaysPass moves all times in the call's rows back.
func (k *outside) threeDaysPass(t driver.T) {
	t.Helper()
	pk := map[string]types.AttributeValue{":pk": text("CALL#" + k.row.Ref.Tenant + "#" + k.row.Ref.ID)}
	rows := expect.Value(k.db.Query(context.Background(), &dynamodb.QueryInput{TableName: &k.TableName,
		KeyConditionExpression: aws.String("PK = :pk"), ExpressionAttributeValues: pk}))(t)
	for _, row := range rows.Items {
		for name, v := range row {
			row[name] = earlier(v)
		}
		rev := map[string]types.AttributeValue{":rev": row["rev"]}
		_, err := k.db.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: &k.TableName, Item: row,
			ConditionExpression: aws.String("rev = :rev"), ExpressionAttributeValues: rev})
		expect.NoError(t, err)
	}
	expect.That(t, time.Since(k.load().Call.CreatedAt) > 71*time.Hour, "no time has passed")
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func earlier(v types.AttributeValue) types.AttributeValue {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return text(moments.ReplaceAllStringFunc(v.Value, func(s string) string {
			at, err := time.Parse(time.RFC3339, s)
			if err != nil {
				return s
			}
			return driver.Moment(at.Add(-72 * time.Hour))
		}))
	case *types.AttributeValueMemberM:
		for name, x := range v.Value {
			v.Value[name] = earlier(x)
		}
	case *types.AttributeValueMemberL:
		for i, x := range v.Value {
			v.Value[i] = earlier(x)
		}
	}
	return v
}
