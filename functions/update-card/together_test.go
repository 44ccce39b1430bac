package main

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi/slacktest"
	"ringi/shared/store"
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
	k.h.Store, k.h.Rows, k.h.Kinds = k.all, k.all, map[string]Kind{call.Kind.Name: callCards{"", k.calls}}
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
	x := call.Proposal{Key: key, Effect: command, Terms: tenancy.DefaultSettings().ActionTerms(webapi.HR, k.Now()),
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

func (k *callers) stamps(a *call.Aggregate) {
	k.T.Helper()
	by := pipelinetest.Member(webapi.Suzuki)
	by.Team = slacktest.Team
	_, err := k.calls.Decide(k.T.Context(), a.Ref(), func(a *call.Aggregate) (aggregate.Change, error) {
		return a.Act(a.Head.CallID, a.Call.Gate.Acting(circulation.Stamp, by, ""), by,
			aggregate.Policy{Team: slacktest.Team, Mode: aggregate.ApproversChannel}, k.Now())
	})
	expect.NoError(k.T, err)
}

func TestCallsOfOneKeyShareAMessage(t *testing.T) {
	inWorlds(t, map[string]func(*testing.T, *world){
		"within ten seconds, each with its own buttons, and it stays true": testTogether,
		"later, or of another key, each has its own":                       testApart,
		"a full one takes no more":                                         testFull,
		"a crash while it joins loses no card":                             testJoinCrashes,
	})
}

func testTogether(t *testing.T, w *world) {
	k := withCalls(w)
	key := k.key()
	first := k.asks(key, "rm one")
	k.Later(9 * time.Second)
	second := k.asks(key, "rm two")
	expect.That(t, !k.drawn(second), "posted before the one that it may join")
	expect.Must(t, k.drawn(first) && k.drawn(second), "given back")
	expect.That(t, k.load(second).Effects(k.Now()).Cards == false, "it is drawn for ever")
	expect.Must(t, k.load(first).Effects(k.Now()).Cards && k.drawn(first), "the first isn't drawn again")
	all := k.shown()
	expect.Must(t, len(all) == 1 && strings.Count(all[0], "approve_call") == 2 && strings.Contains(all[0], "rm one") &&
		strings.Contains(all[0], "rm two"), "%v", all)
	expect.Is(t, k.load(second).Cards[0].MessageTS, k.load(first).Cards[0].MessageTS)

	k.stamps(second)
	expect.Must(t, k.drawn(second) && k.drawn(first), "given back")
	all = k.shown()
	expect.Must(t, len(all) == 1 && strings.Count(all[0], "approve_call") == 1 && strings.Contains(all[0], "承認済み"), "%v", all)
	k.stamps(first)
	expect.Must(t, k.drawn(first), "given back")
	all = k.shown()
	expect.Must(t, len(all) == 1 && !strings.Contains(all[0], "approve_call"), "%v", all)
	for _, a := range []*call.Aggregate{first, second} {
		expect.That(t, !k.load(a).Effects(k.Now()).Cards, "something is left to draw")
	}
}

func testApart(t *testing.T, w *world) {
	k := withCalls(w)
	key := k.key()
	all := []*call.Aggregate{k.asks(key, "rm one")}
	k.Later(11 * time.Second)
	all = append(all, k.asks(key, "rm two"), k.asks(k.key(), "rm three"))
	for _, a := range all {
		expect.Must(t, k.drawn(a), "given back")
	}
	expect.Is(t, len(k.shown()), 3)
	k.Later(time.Second)
	k.stamps(all[1]) // what isn't over takes others, also once it is stamped
	expect.Must(t, k.drawn(all[1]), "given back")
	late := k.asks(key, "rm four")
	expect.Must(t, k.drawn(late) && k.drawn(all[1]), "given back")
	expect.Is(t, len(k.shown()), 3)
}

func testFull(t *testing.T, w *world) {
	k := withCalls(w)
	key := k.key()
	var asked []*call.Aggregate
	for n := range 9 {
		asked = append(asked, k.asks(key, "rm "+strconv.Itoa(n)))
		for _, a := range asked {
			expect.Must(t, k.drawn(a), "given back")
		}
	}
	for _, a := range asked { // what the last has joined
		expect.Must(t, k.drawn(a), "given back")
	}
	all, buttons := k.shown(), 0
	for _, m := range all {
		expect.That(t, strings.Count(m, `"block_id"`) <= mostTogether, "too many blocks: %s", m)
		buttons += strings.Count(m, "approve_call")
	}
	expect.That(t, len(all) > 1 && len(all) < 9 && buttons == 9, "%d messages, %d buttons", len(all), buttons)
}

// crashing fails the nth write of a note.
type crashing struct {
	Rows
	left int
}

func (c *crashing) AddCopies(ctx context.Context, ref aggregate.Ref, copies []*aggregate.Card) error {
	if c.left--; c.left < 0 {
		return errors.New("it died")
	}
	return c.Rows.AddCopies(ctx, ref, copies)
}

func testJoinCrashes(t *testing.T, w *world) {
	k := withCalls(w)
	key := k.key()
	for n := range 2 {
		first := k.asks(key, "rm one "+strconv.Itoa(n))
		expect.Must(t, k.drawn(first), "given back")
		a := k.asks(key, "rm two "+strconv.Itoa(n))
		k.h.Rows = &crashing{k.all, n}
		expect.That(t, !k.drawn(a), "it went well")
		k.h.Rows = k.all
		k.Later(stale + time.Second)
		expect.Must(t, k.drawn(a) && k.drawn(first), "given back")
	}
	all, buttons := k.shown(), 0 // before anything was noted it gets a message of its own
	for _, m := range all {
		buttons += strings.Count(m, "approve_call")
	}
	expect.That(t, len(all) == 3 && buttons == 4, "%d messages, %d buttons", len(all), buttons)
}
