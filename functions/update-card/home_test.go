package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"ringi/infra/local/ringitest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/decide/effect"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

// opens has a person open the tab.
func (w *world) opens(user string) string {
	w.T.Helper()
	return w.publish(*effect.OpenedHome("queue", ringitest.Team, user, "event").MessageBody, user)
}

func (w *world) publish(body, user string) string {
	w.T.Helper()
	out := expect.Value(w.h.Handle(w.T.Context(),
		events.SQSEvent{Records: []events.SQSMessage{{MessageId: "1", Body: body}}}))(w.T)
	if len(out.BatchItemFailures) != 0 {
		return "given back"
	}
	return w.tab(user)
}

// tab returns a person's Home tab, as JSON.
func (w *world) tab(user string) string {
	w.T.Helper()
	v, ok := w.slack.Home(user)
	if !ok {
		return "none"
	}
	return string(expect.Value(json.Marshal(v.Blocks))(w.T))
}

func TestHomeTabs(t *testing.T) {
	inWorlds(t, map[string]func(*testing.T, *world){
		"show what waits for a person, and what they asked for": testHomeShows,
		"show nothing of what a person may not decide":          testHomeHides,
		"show calls of outside agents to who decides":           testHomeCalls,
		"have a line for twenty of thirty waiting things":       testHomeThirty,
		"miss nobody who is asked beside another drawing":       testOwedBeside,
	})
}

func testHomeShows(t *testing.T, w *world) {
	w.Prompted(tenancy.DefaultSettings())
	w.done()
	shown := w.opens(webapi.Suzuki)
	for _, want := range []string{"/archives/" + webapi.HR, "あなたの番 (1 件)"} {
		expect.That(t, strings.Contains(shown, want), "%s is missing in %s", want, shown)
	}
	mine := w.opens(webapi.Sato)
	expect.That(t, strings.Contains(mine, "承認待ち") && strings.Contains(mine, "あなたの依頼"), "%v", mine)
	expect.Has(t, w.opens(webapi.Alex), "Your turn", "not in English")
}

func testHomeCalls(t *testing.T, w *world) {
	all := store.New(w.Store.Table().DB, w.Store.Table().Name, store.Kinds()...)
	w.h.Inbox.Rows, w.h.Inbox.Store = all, store.TasksOf(all)
	k, _, err := all.CreateKey(t.Context(), tenancy.Key{TenantID: w.Ref.Tenant, Team: ringitest.Team, Name: "締め",
		Answers: webapi.Sato, Tools: []string{"Bash"}, Channel: webapi.HR, QuotaDay: 99,
		ExpiresAt: w.Now().Add(time.Hour)}, w.By, w.Now())
	expect.NoError(t, err)
	for n := range 12 {
		x := call.Proposal{Key: k, Effect: strconv.Itoa(n), Terms: tenancy.DefaultSettings().ActionTerms(w.Now()),
			Content: call.Content{Tool: "Bash", Arguments: `{"command":"rm old"}`, Elsewhere: true}}
		_, err = store.CallsOf(all).Ask(t.Context(), &x, expect.Value(x.Ask(w.Now()))(t))
		expect.NoError(t, err)
	}
	suzuki := w.opens(webapi.Suzuki)
	expect.That(t, strings.Contains(suzuki, "あなたの番 (12 件)") && strings.Count(suzuki, "外部エージェントの呼び出し 締め") == 12,
		"%s", suzuki)
}

func testHomeHides(t *testing.T, w *world) {
	w.Prompted(tenancy.DefaultSettings())
	for _, user := range []string{webapi.Guest, webapi.Stranger} {
		shown := w.opens(user)
		expect.That(t, !strings.Contains(shown, "• ") && !strings.Contains(shown, w.Ref.ID), "%s sees %s", user, shown)
	}
}

func testHomeThirty(t *testing.T, w *world) {
	for i := range 30 {
		ts := fmt.Sprintf("1776675700.%06d", i+1)
		w.Receive(task.Request{User: webapi.Sato, Channel: webapi.HR, ChannelType: "channel", MessageTS: ts, ThreadTS: ts})
		w.Prompted(tenancy.DefaultSettings())
	}
	w.slack.Calls()
	shown := w.opens(webapi.Suzuki)
	expect.That(t, strings.Contains(shown, "あなたの番 (30 件)") && strings.Count(shown, "• ") == 20 &&
		strings.Contains(shown, "ほか 10 件"), "%s", shown)
	calls := w.slack.Calls("users.info", "users.conversations")
	expect.That(t, len(calls) <= 4, "Slack was asked about people %d times: %v", len(calls), calls)
}

// unreadable is a store whose settings can't be read.
type unreadable struct{ Store }

func (unreadable) Settings(context.Context, string) (tenancy.Settings, error) {
	return tenancy.Settings{}, errors.New("AccessDeniedException")
}

func TestATabThatIsRefusedForGoodLeavesTheQueue(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	w.h.Store = unreadable{w.h.Store}
	body := *effect.OpenedHome("queue", ringitest.Team, "U1", "event").MessageBody
	for receives := 1; ; receives++ {
		expect.Must(t, receives <= homeTries, "it is given back for ever")
		r := events.SQSMessage{MessageId: "1", Body: body,
			Attributes: map[string]string{"ApproximateReceiveCount": fmt.Sprint(receives)}}
		out := expect.Value(w.h.Handle(t.Context(), events.SQSEvent{Records: []events.SQSMessage{r}}))(t)
		if len(out.BatchItemFailures) == 0 {
			expect.Is(t, receives, homeTries, "receives")
			return
		}
	}
}

func testOwedBeside(t *testing.T, w *world) {
	w.onRoute(ringitest.Desk("経理", 1, webapi.Tanaka, webapi.Alex))
	p := w.Load().Process()
	other := &aggregate.Card{CardType: task.CardProcess, Subject: p.Key(), User: webapi.Tanaka, Stage: 1,
		State: aggregate.CardNone}
	w.h.Store = beside{Store: w.h.Store, loaded: func(a aggregate.Aggregate) aggregate.Aggregate {
		expect.NoError(t, w.Store.AddCopies(t.Context(), w.Ref, []*aggregate.Card{other}))
		return a
	}}
	expect.That(t, !w.deliver(), "nobody finds out who else is asked")
	w.h = w.handler()
	w.done()
	expect.That(t, len(w.direct(webapi.Alex)) == 1 && len(w.direct(webapi.Tanaka)) == 1, "messages")
}
