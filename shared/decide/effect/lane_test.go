package effect_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"ringi/shared/decide/effect"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

// groups counts the messages of each group.
type groups map[string]int

func (g groups) SendMessage(
	_ context.Context, in *sqs.SendMessageInput, _ ...func(*sqs.Options),
) (*sqs.SendMessageOutput, error) {
	g[*in.MessageGroupId]++
	return &sqs.SendMessageOutput{}, nil
}

// with returns the groups that contain some text.
func (g groups) with(text string) (names []string) {
	for name := range g {
		if strings.Contains(name, text) {
			names = append(names, name)
		}
	}
	return names
}

// SQS gives a group to one invocation at a time, so that the number of a tenant's groups bounds its share of them.
func TestATenantHasFewLanes(t *testing.T) {
	const tasks = 1000
	tenant, other := aggregate.TenantID("T1"), aggregate.TenantID("T2")
	sent := groups{}
	r := effect.Runner{Queue: sent, Now: time.Now}
	redraw := func(ref aggregate.Ref) {
		expect.NoError(t, r.Redraw(t.Context(), ref, aggregate.Head{Rev: 1}, aggregate.NewID()))
	}
	redraw(task.RefOf(other, aggregate.NewID()))
	for n := range tasks {
		ref := task.RefOf(tenant, aggregate.NewID())
		redraw(ref)
		before := len(sent)
		redraw(ref)
		expect.Must(t, len(sent) == before, "a task's second message is in another lane")
		expect.Value(r.RedrawLater(t.Context(), ref, aggregate.Head{Rev: 1}))(t)
		sent[*effect.Copies("q", ref, 1, 0, 0).MessageGroupId]++
		redraw(aggregate.Ref{Tenant: tenant, Kind: effect.Home, ID: fmt.Sprintf("U%d", n)})
	}
	cards := sent.with(tenant + "-cards")
	expect.That(t, len(cards) == 4 && len(sent.with(tenant)) == 7 && len(sent) == 8, "%v", sent)
	for _, name := range cards {
		expect.That(t, sent[name] > 2*tasks/8 && sent[name] < 2*tasks/3, "%s has %d messages", name, sent[name])
	}
}

func TestAMessageIsMovedAside(t *testing.T) {
	tenant, id := aggregate.TenantID("T1"), aggregate.NewID()
	after := time.Unix(1_800_000_000, 0)
	for _, tt := range []struct {
		name, group, body string // %s: the tenant
		wantGroup, want   string // empty: it stays
	}{
		{"a card", "%s-cards-0", `{"tenant":"%s","kind":"task","id":"X","rev":3,"redraws":1,"hops":1}`,
			"%s-waits-450000000", `{"tenant":"%s","kind":"task","id":"X","after":1800000000,"rev":3,"redraws":1,"hops":2}`},
		{"progress whose time has come", "%s-progress", `{"tenant":"%s","kind":"task","id":"X","after":1}`,
			"%s-waits-450000000", `{"tenant":"%s","kind":"task","id":"X","after":1800000000,"hops":1}`},
		{"copies", "%s-copies", `{"tenant":"%s","kind":"task","id":"X","copies":true}`,
			"%s-waits-450000000", `{"tenant":"%s","kind":"task","id":"X","after":1800000000,"copies":true,"hops":1}`},
		{"a tab", "%s-opened", `{"tenant":"%s","kind":"home","id":"U1"}`,
			"U1", `{"tenant":"%s","kind":"home","id":"U1","hops":1}`},
		{"one that is alone", "X", `{"tenant":"%s","kind":"task","id":"X"}`, "", ""},
		{"one without a group", "", `{"tenant":"%s","kind":"task","id":"X"}`, "", ""},
		{"no JSON", "%s-cards-0", "x", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fill := func(s string) string {
				return strings.ReplaceAll(strings.ReplaceAll(s, "%s", tenant), "X", id)
			}
			in, ok := saying(fill(tt.body)).Aside("q", fill(tt.group), "m", after.Add(-20*time.Second),
				effect.Moved{Wait: 20 * time.Second})
			expect.Must(t, ok == (tt.want != ""), "moved: %v", ok)
			if ok {
				expect.Same(t, fill(tt.want), *in.MessageBody)
				expect.Same(t, fill(tt.wantGroup), *in.MessageGroupId)
				expect.That(t, *in.MessageDeduplicationId == "m" && *in.QueueUrl == "q", "%+v", in)
			}
		})
	}
}

// A message returns to the lane that it left, unless it was moved for good.
func TestAMessageReturnsToItsLane(t *testing.T) {
	sent := &sqs.SendMessageInput{}
	r := effect.Runner{Queue: last{sent}, Now: time.Now}
	ref := task.RefOf(aggregate.TenantID("T1"), aggregate.NewID())
	expect.NoError(t, r.Redraw(t.Context(), ref, aggregate.Head{Rev: 3, Redraws: 1}, "event"))
	for _, was := range []*sqs.SendMessageInput{sent, effect.Copies("q", ref, 3, 1, 0)} {
		_, ok := saying(*was.MessageBody).Back("q", *was.MessageGroupId, "m")
		expect.That(t, !ok, "it is in its lane")
		aside, ok := saying(*was.MessageBody).Aside("q", *was.MessageGroupId, "m", time.Now(),
			effect.Moved{Wait: time.Minute, Doubted: true})
		expect.Must(t, ok, "not moved")
		back, ok := saying(*aside.MessageBody).Back("q", *aside.MessageGroupId, "n")
		expect.Must(t, ok && *back.MessageGroupId == *was.MessageGroupId && *back.MessageDeduplicationId == "n", "%+v", back)
		expect.That(t, saying(*back.MessageBody).After.IsZero() && saying(*back.MessageBody).Hops == 2 &&
			saying(*back.MessageBody).Doubted &&
			saying(*back.MessageBody).Head.Rev == 3 && saying(*back.MessageBody).Copies == saying(*was.MessageBody).Copies,
			"%s", *back.MessageBody)
		forGood, _ := saying(*was.MessageBody).Aside("q", *was.MessageGroupId, "m", time.Now(), effect.Moved{})
		_, ok = saying(*forGood.MessageBody).Back("q", *forGood.MessageGroupId, "n")
		expect.That(t, !ok, "one that was moved for good returns")
		_, ok = saying(*forGood.MessageBody).Aside("q", *forGood.MessageGroupId, "n", time.Now(),
			effect.Moved{Wait: time.Minute})
		expect.That(t, !ok, "one that was moved for good is moved again")
	}
}

// saying reads a message; one that is no JSON says nothing.
func saying(body string) effect.Message {
	m, _ := effect.ReadMessage(body)
	return m
}

// last keeps the last message that was sent.
type last struct{ *sqs.SendMessageInput }

func (l last) SendMessage(
	_ context.Context, in *sqs.SendMessageInput, _ ...func(*sqs.Options),
) (*sqs.SendMessageOutput, error) {
	l.MessageGroupId, l.MessageBody = in.MessageGroupId, in.MessageBody
	return &sqs.SendMessageOutput{}, nil
}
