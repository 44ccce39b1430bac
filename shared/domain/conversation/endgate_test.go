package conversation

import (
	"encoding/json"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/runtime/expect"
)

// Where no act on its gate ended an action, the entry of that says how the gate opened and what was done until then.
func TestTheEndOfAnActionNamesItsRoute(t *testing.T) {
	stamped := func(o *aggregate.Opening) *table {
		tb := circulating(t, o)
		if o != nil {
			tb.makes(tb.acting(circulation.Stamp, suzuki), "action.stamped")
		}
		return tb
	}
	for name, end := range map[string]func(tb *table) func(a *Aggregate) (aggregate.Change, error){
		"withdrawn": func(tb *table) func(a *Aggregate) (aggregate.Change, error) {
			return func(a *Aggregate) (aggregate.Change, error) {
				return a.Cancel(a.Current().ActionID, person(sato), policy, tb.now)
			}
		},
		"closed": func(tb *table) func(a *Aggregate) (aggregate.Change, error) {
			return func(a *Aggregate) (aggregate.Change, error) { return a.End(person(sato), policy, tb.now) }
		},
		"expired": func(tb *table) func(a *Aggregate) (aggregate.Change, error) {
			return func(a *Aggregate) (aggregate.Change, error) { return a.Expire(tb.now.AddDate(1, 0, 0)) }
		},
	} {
		for _, o := range []*aggregate.Opening{nil, along(desk(suzuki), desk(tanaka))} {
			tb := stamped(o)
			g := tb.load().Current().Gate
			c, err := end(tb)(tb.load())
			expect.NoError(t, err)
			var d struct{ Gate map[string]string }
			expect.NoError(t, json.Unmarshal([]byte(c.Audit[0].Details), &d))
			if o == nil {
				expect.That(t, d.Gate != nil && len(d.Gate) == 0, "%s without a rule: %s", name, c.Audit[0].Details)
				continue
			}
			expect.That(t, len(g.Acts) == 1 && d.Gate["acts_hash"] == circulation.Hash(g.Acts) &&
				d.Gate["route_hash"] == circulation.RouteHash(g.Circulating()), "%s: %s", name, c.Audit[0].Details)
		}
	}
}
