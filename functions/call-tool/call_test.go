package main

import (
	"context"
	"testing"

	"ringi/infra/local/ringitest"
	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
)

// stamped is how a call came to its turn, and what the settings list.
type stamped struct {
	by        conversation.ApprovedBy
	rule      string
	status    conversation.ActionStatus
	gate      aggregate.GateStatus
	hash      bool // the stamp is of this payload
	listed    bool
	askers    []string
	unstamped bool
	asks      bool // the gate asks people
}

// may says by the invariant's words alone whether such a call may be made: a read that an administrator listed for
// everybody who asks. A person's yes makes none.
func (s stamped) may(access aggregate.Access) bool {
	return s.status == conversation.ActionApproved && s.by == conversation.ApprovedByAuto && s.rule != "" &&
		access == aggregate.Read && s.listed && s.gate == aggregate.Approved && !s.asks &&
		len(s.askers) == 1 && s.askers[0] == "U1"
}

// every walks all ways in which a row may stand when call-tool meets it.
func every(yield func(stamped) bool) {
	for _, by := range []conversation.ApprovedBy{"", conversation.ApprovedByUser, conversation.ApprovedByAuto,
		"somebody"} {
		for _, rule := range []string{"", "listed"} {
			for _, status := range []conversation.ActionStatus{conversation.ActionPending, conversation.ActionApproved,
				conversation.ActionCancelled} {
				for _, gate := range []aggregate.GateStatus{aggregate.PendingApproval, aggregate.Approved, aggregate.Rejected} {
					for bits := range 16 {
						for _, askers := range [][]string{{"U1"}, {"U1", "U2"}, {"U2"}} {
							if !yield(stamped{by, rule, status, gate, bits&1 > 0, bits&2 > 0, askers, bits&4 > 0, bits&8 > 0}) {
								return
							}
						}
					}
				}
			}
		}
	}
}

// rows is a store with one conversation in memory.
type rows struct {
	Store
	a        *conversation.Aggregate
	settings tenancy.Settings
}

func (r *rows) Load(context.Context, aggregate.Ref) (*conversation.Aggregate, error) { return r.a, nil }

func (r *rows) Decide(_ context.Context, _ aggregate.Ref,
	decide conversation.Decision) (*conversation.Aggregate, error) {
	c, err := decide(r.a)
	if err != nil {
		return nil, err
	}
	r.a = r.a.After(c).(*conversation.Aggregate)
	return r.a, nil
}

func (r *rows) Settings(context.Context, string) (tenancy.Settings, error) { return r.settings, nil }

func (r *rows) ToolPermission(_ context.Context, tenant, name string) (tenancy.ToolPermission, bool, error) {
	return tenancy.Unsaved(tenant, name), false, nil
}

func TestNothingIsCalledWithoutAYes(t *testing.T) {
	server := storetest.Start(t)
	for name, c := range map[string]toolCall{"a read": read, "a write": write} {
		w := opened(t, server)
		w.proposed()
		loaded, in := w.Load(), w.In()
		s, _ := w.Catalog.Lookup(c.tool)
		ways, made := 0, 0
		for way := range every {
			x := *loaded.Current()
			x.Tool, x.Access = c.tool, s.Access
			x.Payload = ringitest.InRow(w.payload(c))
			x.ApprovedBy, x.Rule, x.Status, x.Askers = way.by, way.rule, way.status, way.askers
			at := w.now
			x.Gate.Status, x.Gate.ApprovedAt, x.Gate.ApprovedBy = way.gate, &at, "U1"
			stamp := x.Gate.Acting(circulation.Stamp, aggregate.Actor{ID: "U1"}, "")
			stamp.Form, stamp.At, stamp.Found.Allowed = circulation.Form, at, &circulation.Allowed{As: "list", Self: true}
			if !way.hash {
				stamp.Hash = "another"
			}
			x.Gate.Acts = []circulation.Act{stamp}
			route := circulation.BySettings(way.asks)
			if x.Gate.Route = &route; way.unstamped || !way.asks {
				x.Gate.Acts = nil
			}
			a := *loaded
			a.Actions, a.Inbox = []*conversation.Action{&x}, nil
			a.Head.Resting = false
			settings := tenancy.DefaultSettings()
			if way.listed {
				settings.ListedReads = []agent.ListedRead{{Agent: "codex", Tool: c.tool, Version: s.Version(),
					People: []string{"U1"}}}
			}
			w.vendor.calls, w.Store = nil, &rows{Store: w.Rows, a: &a, settings: settings}
			_, _ = w.Handle(t.Context(), in)
			expect.Is(t, len(w.vendor.calls) == 1, way.may(s.Access), name, way)
			ways, made = ways+1, made+len(w.vendor.calls)
		}
		expect.That(t, (made > 0) == (s.Access == aggregate.Read) && made < ways/20, "%s: %d of %d ways", name, made, ways)
	}
}
