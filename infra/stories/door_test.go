package stories

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/infra/local/driver"
	"ringi/infra/local/lambda"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
)

// quicker is how many times as fast as in life the limits pass after which an agent's client ends a request.
const quicker = 50

// clientLimits are those of OpenAI Agents, Claude Code and Codex, in life.
var clientLimits = []time.Duration{5 * time.Second, 60 * time.Second, 300 * time.Second}

// door is an outside agent with one call, which Ringi makes or, elsewhere, the agent itself.
type door struct {
	elsewhere bool
	limit     time.Duration // after which its client ends a request
	secret    string
	ran       int // how often the agent made the call itself
}

const messageTool, shellTool = "send_slack_dm", "deploy"

// atTheDoor has an outside agent ask for a call, whose client ends requests early, and people stamp it three days
// later.
func atTheDoor(elsewhere bool) func(*play) {
	return func(p *play) {
		p.door = &door{elsewhere: elsewhere, limit: clientLimits[2] / quicker}
		if of := len(p.kills); of > 0 {
			p.door.limit = clientLimits[(uint64(p.kills[0].ordinal)+seed)%3] / quicker
		}
		p.comes()
		p.Eventually("the call is asked for", func() bool { return p.repeats(p.door.limit).ID != "" || p.called() != nil })
		p.uses(p.door.limit, "ringi_wait", fmt.Sprintf(`{"id":%q,"seconds":1}`, p.Ref.ID))
		p.untilAtRest()
		p.stampsLate()
		again := time.Now()
		p.Eventually("the call is over", func() bool {
			if time.Now().After(again) {
				p.repeats(p.door.limit)
				again = time.Now().Add(500 * time.Millisecond)
			}
			return p.called().Call.Over() && p.rests()
		})
		var is heard
		p.Eventually("a repeat is told the end", func() bool { is = p.repeats(time.Minute); return is.ID != "" })
		p.isTold(is)
	}
}

// isTold checks what became of the call, and that a repeat is told that: it is made once at most, as it was stamped.
func (p *play) isTold(is heard) {
	x, sent := p.called().Call, 0
	for _, m := range p.Sandbox.Messages(webapi.DirectMessage(webapi.Tanaka), "") {
		if strings.Contains(m.Text+driver.Face(m), p.mark) {
			sent++
		}
	}
	unknown, same := x.Outcome == conversation.OutcomeUnknown, is.Status == string(x.Status)
	switch {
	case unknown && is.Status == "unknown" && sent <= 1:
	case !unknown && same && x.Status == conversation.ActionSucceeded && sent == 1:
	case !unknown && same && x.Status == conversation.ActionFailed && sent == 0:
	case same && x.Status == call.Granted && p.door.ran <= 1 && sent == 0:
	default:
		failf("it is %s (%s %s %q) and told as %s, after %d messages and %d runs", x.Status, x.Error, x.ErrorDetail,
			x.Outcome, is.Status, sent, p.door.ran)
	}
	if content, err := x.Content(); err != nil || content.Arguments != p.canonical() {
		failf("it is about %+v: %v", content, err)
	}
}

// toldOfTheCall reports whether a call that did not end as undisturbed says that it failed, that nobody knows, or that
// its answer came late.
func toldOfTheCall(p *play, want, got end) bool {
	x := p.called().Call
	for kind, n := range got.Sent {
		if n > want.Sent[kind] {
			return false
		}
	}
	late := x.Status == conversation.ActionSucceeded && slices.Contains(got.Audit, "action.late by system ")
	return len(got.Cards) == 1 && (x.Status == conversation.ActionFailed || x.Outcome == conversation.OutcomeUnknown ||
		x.Status == call.Granted || late)
}

// comes makes a key of the agent's own.
func (p *play) comes() {
	d, all, team := p.door, p.rows(), p.Sandbox.TeamID()
	key, secret, err := all.CreateKey(context.Background(), tenancy.Key{TenantID: p.tenant(), Team: team, Name: "batch",
		Answers: webapi.Sato, Tools: []string{messageTool, shellTool}, Channel: webapi.HR, QuotaDay: 100,
		ExpiresAt: time.Now().AddDate(0, 1, 0)}, aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Suzuki}, time.Now())
	expect.NoError(p.t, err)
	d.secret = secret
	tool := messageTool
	if d.elsewhere {
		tool = shellTool
	}
	members := expect.Value(call.Members([]byte(p.arguments())))(p.t)
	of := call.Proposal{Key: key, Content: call.Content{Tool: tool, Elsewhere: d.elsewhere}}
	_, of.Effect, err = call.Digest(members, nil)
	expect.NoError(p.t, err)
	p.follows(of.Ref(), webapi.HR, "")
	if p.machine { // all that runs dies, and holds nothing longer
		p.dying = func(lambda.Call) {
			for _, f := range p.Template.Functions {
				p.Lambda.Kill(f.ID)
			}
			p.expire(true)
			p.expire(false)
		}
	}
}

func (p *play) arguments() string {
	if p.door.elsewhere {
		return fmt.Sprintf(`{"command":"%s is done"}`, p.mark)
	}
	return fmt.Sprintf(`{"recipient":%q,"text":"%s is done","details":[]}`, webapi.Tanaka, p.mark)
}

func (p *play) canonical() string {
	text, _, err := call.Digest(expect.Value(call.Members([]byte(p.arguments())))(p.t), nil)
	expect.NoError(p.t, err)
	return text
}

// called returns the call's rows, nil before there are any.
func (p *play) called() *call.Aggregate {
	a, err := store.CallsOf(p.rows()).Load(context.Background(), p.Ref)
	if err != nil {
		return nil
	}
	return a
}

// heard is what an agent is told of its call.
type heard struct{ ID, Status string }

// post sends a request once, which the client ends after limit. It returns false without an answer.
func (p *play) post(limit time.Duration, path, body string, out any) bool {
	r := expect.Value(http.NewRequest(http.MethodPost, p.URL+path, strings.NewReader(body)))(p.t)
	r.Header.Set("Authorization", "Bearer "+p.door.secret)
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
func (p *play) uses(limit time.Duration, tool, arguments string) (is heard) {
	var out struct {
		Result struct{ Content []struct{ Text string } }
	}
	asks := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool,
		arguments)
	if p.post(limit, "/mcp", asks, &out) && len(out.Result.Content) == 1 {
		_ = json.Unmarshal([]byte(out.Result.Content[0].Text), &is)
	}
	return is
}

// repeats asks for the call, as before. An agent that makes it itself then tries, whatever it is told, to take the
// grant for one more attempt.
func (p *play) repeats(limit time.Duration) (is heard) {
	if !p.door.elsewhere {
		is = p.uses(limit, messageTool, p.arguments())
	} else if p.post(limit, "/calls", fmt.Sprintf(`{"tool":%q,"arguments":%s}`, shellTool, p.arguments()), &is) {
		take := fmt.Sprintf(`{"tool_use_id":%q,"tool":%q,"arguments":%s}`, aggregate.NewID(), shellTool, p.arguments())
		for range 2 { // as ask.py does
			if p.post(limit, "/calls/"+is.ID+"/take", take, &is) && is.Status == string(call.Granted) {
				p.door.ran++
				break
			}
		}
	}
	if is.ID != "" && is.ID != p.Ref.ID {
		failf("the same call is %s and %s", is.ID, p.Ref.ID)
	}
	return is
}

var moments = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`)

// stampsLate stamps the call three days later, before a sweep of another play sees that its time is over.
func (p *play) stampsLate() {
	p.sweeping.Lock()
	defer p.sweeping.Unlock()
	p.threeDaysPass()
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Suzuki, Team: p.Sandbox.TeamID(), Member: true}
	approve := func(a *call.Aggregate) (aggregate.Change, error) {
		return decide.Approve(a, p.Ref.ID, by, p.policy(), time.Now())
	}
	_, err := store.CallsOf(p.rows()).Decide(context.Background(), p.Ref, approve)
	expect.NoError(p.t, err)
}

// threeDaysPass moves all times in the call's rows back.
func (p *play) threeDaysPass() {
	for _, row := range expect.Value(p.partition(p.Ref))(p.t) {
		text := moments.ReplaceAllStringFunc(string(expect.Value(json.Marshal(row))(p.t)), func(s string) string {
			return driver.Moment(expect.Value(time.Parse(time.RFC3339, s))(p.t).Add(-72 * time.Hour))
		})
		var earlier map[string]any
		expect.NoError(p.t, json.Unmarshal([]byte(text), &earlier))
		rev := map[string]types.AttributeValue{":rev": expect.Value(attributevalue.Marshal(row["rev"]))(p.t)}
		_, err := p.db.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: &p.TableName,
			Item: expect.Value(attributevalue.MarshalMap(earlier))(p.t), ConditionExpression: aws.String("rev = :rev"),
			ExpressionAttributeValues: rev})
		expect.NoError(p.t, err)
	}
	expect.That(p.t, time.Since(p.called().Call.CreatedAt) > 71*time.Hour, "no time has passed")
}
