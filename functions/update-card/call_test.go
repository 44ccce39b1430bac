package main

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/call"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi/slacktest"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

// callers is a world in which keys ask for calls.
type callers struct {
	*world
	all   *store.Store
	calls store.CallStore
}

func withCalls(w *world) *callers {
	k := &callers{world: w, all: store.New(w.Store.Table().DB, w.Store.Table().Name, store.Kinds()...)}
	k.calls = store.CallsOf(k.all)
	k.h.Store, k.h.Rows, k.h.Kinds = k.all, k.all, map[string]Kind{call.Kind.Name: callCards{""}}
	return k
}

func (k *callers) key() tenancy.Key {
	k.T.Helper()
	key, _, err := k.all.CreateKey(k.T.Context(), tenancy.Key{TenantID: k.Ref.Tenant, Team: slacktest.Team, Name: "締め",
		Answers: webapi.Sato, Tools: []string{"Bash"}, Channel: webapi.HR, QuotaDay: 99,
		ExpiresAt: k.Now().Add(time.Hour)}, k.By, k.Now())
	expect.NoError(k.T, err)
	return key
}

func (k *callers) asks(key tenancy.Key, command string) *call.Aggregate {
	k.T.Helper()
	x := call.Proposal{Key: key, Effect: command, Terms: tenancy.DefaultSettings().ActionTerms(k.Now()),
		Content: call.Content{Tool: "Bash", Arguments: `{"command":` + strconv.Quote(command) + `}`, Elsewhere: true}}
	k.Later(10 * time.Millisecond)
	a, err := k.calls.Ask(k.T.Context(), &x, expect.Value(x.Ask(k.Now()))(k.T))
	expect.NoError(k.T, err)
	return a
}

// drawn handles the message about a call's card, and reports whether it was handled.
func (k *callers) drawn(a *call.Aggregate) bool {
	k.T.Helper()
	return k.send(asking(a.Ref(), k.load(a).Head.Head))
}

func (k *callers) load(a *call.Aggregate) *call.Aggregate {
	k.T.Helper()
	return expect.Value(k.calls.Load(k.T.Context(), a.Ref()))(k.T)
}

// shown are the channel's messages of calls, as JSON.
func (k *callers) shown() (all []string) {
	k.T.Helper()
	for _, m := range expect.Value(k.slack.History(webapi.HR, webapi.Range{}))(k.T) {
		if text := string(expect.Value(json.Marshal(m.Attachments))(k.T)); strings.Contains(text, "締め") {
			all = append(all, text)
		}
	}
	return all
}

// Calls that a key asks for at once have a message each, with buttons of its own.
func TestEachCallHasItsMessage(t *testing.T) {
	k := withCalls(newWorld(t, storetest.Start(t)))
	key := k.key()
	for _, a := range []*call.Aggregate{k.asks(key, "rm one"), k.asks(key, "rm two")} {
		expect.Must(t, k.drawn(a), "given back")
		expect.That(t, !k.load(a).Effects(k.Now()).Cards, "something is left to draw")
	}
	all := k.shown()
	expect.Must(t, len(all) == 2, "%v", all)
	for _, m := range all {
		expect.Is(t, strings.Count(m, "approve_call"), 1)
	}
}
