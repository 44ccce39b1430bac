package consoletest

import (
	"time"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
)

// Outside is a key of an outside agent, and how it asks.
type Outside struct {
	*World
	tenancy.Key
	Calls store.CallStore
}

// KeyOf makes a key for which somebody answers, with cards in #人事.
func (w *World) KeyOf(user string, tools ...string) *Outside {
	w.T.Helper()
	k, _, err := w.Store.CreateKey(w.T.Context(), tenancy.Key{TenantID: w.Tenant.ID, Team: w.Tenant.TeamID,
		Name: "経理エージェント", Answers: user, Tools: tools, Channel: webapi.HR, QuotaDay: 100,
		ExpiresAt: w.Now().Add(24 * time.Hour)}, w.By, w.Now())
	expect.NoError(w.T, err)
	return &Outside{World: w, Key: k, Calls: store.CallsOf(w.Store.KindStore.Store)}
}

// Asks asks for a call with these arguments; change may change what is asked for.
func (o *Outside) Asks(tool, arguments, reason string, change func(*call.Proposal)) *call.Aggregate {
	o.T.Helper()
	members := expect.Value(call.Members([]byte(arguments)))(o.T)
	x := call.Proposal{Key: o.Key, Reason: reason, Content: call.Content{Key: o.Key.ID, Answers: o.Answers, Tool: tool}}
	x.Content.Access = aggregate.Write
	x.Content.Arguments, x.Effect, _ = call.Digest(members, nil)
	x.Terms = o.SettingsNow().ActionTerms(o.Now())
	if change != nil {
		change(&x)
	}
	c := expect.Value(x.Ask(o.Now()))(o.T)
	a, err := o.Calls.Ask(o.T.Context(), &x, c)
	expect.NoError(o.T, err)
	return a
}

// AsksAlong asks for a call along a route.
func (o *Outside) AsksAlong(by aggregate.Opening, tool, arguments, reason string,
	change func(*call.Proposal)) *call.Aggregate {
	o.T.Helper()
	a := o.Asks(tool, arguments, reason, func(x *call.Proposal) {
		if x.LooksUp = true; change != nil {
			change(x)
		}
	})
	terms := o.SettingsNow().ActionTerms(o.Now())
	return o.Decide(a, func(a *call.Aggregate) (aggregate.Change, error) {
		return a.Route(a.Head.Run, call.Routed{Opening: &by, Terms: terms}, o.Now())
	})
}

// Decide commits a decision about a call.
func (o *Outside) Decide(a *call.Aggregate, f func(*call.Aggregate) (aggregate.Change, error)) *call.Aggregate {
	o.T.Helper()
	return expect.Value(o.Calls.Decide(o.T.Context(), a.Ref(), f))(o.T)
}
