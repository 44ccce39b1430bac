package decide

import (
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// What a person stamped is found while they may take the stamp back, wherever it was asked for.
func TestWhatAPersonMayTakeBackIsFound(t *testing.T) {
	act := func(kind circulation.Kind, user string, stage int) circulation.Act {
		who := circulation.Person{User: user}
		return circulation.Act{Form: circulation.Form, Kind: kind, Hand: who, Principal: who, At: time.Now(), Stage: stage,
			Hash: "hash", Surface: "slack"}
	}
	first, second := act(circulation.Stamp, "U1", 1), act(circulation.Stamp, "U3", 2)
	for name, tt := range map[string]struct {
		row, loaded []circulation.Act
		found       bool
	}{
		"until the next stage stamps":   {[]circulation.Act{first}, []circulation.Act{first}, true},
		"not once it has":               {[]circulation.Act{first, second}, []circulation.Act{first, second}, false},
		"not once it has, as loaded":    {[]circulation.Act{first}, []circulation.Act{first, second}, false},
		"not what others stamped":       {[]circulation.Act{act(circulation.Stamp, "U2", 1)}, nil, false},
		"not what was taken back":       {[]circulation.Act{first, act(circulation.TakeBack, "U1", 1)}, nil, false},
		"not what nobody stamped":       {nil, nil, false},
		"nothing of a row that is late": {nil, []circulation.Act{first}, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := &routes{stage: func(int) circulation.Stage { return desk("U1", "U2") }, listed: func(int) bool { return false }}
			r.many = many{rows: 3, mine: func(int) bool { return false }, reads: make(chan struct{}, 9), page: func() {}}
			r.change = func(i int, g *aggregate.Gate, loaded bool) {
				next := desk("U3", "U4")
				next.Need = 2
				g.Route.Stages = append(g.Route.Stages, next)
				if g.Route.Hands = 3; i != 1 {
					return
				}
				if g.Acts = tt.row; loaded {
					g.Acts = tt.loaded
				}
			}
			l := InboxReader{Rows: r, Store: r, Slack: member{}, Now: time.Now}.look("01TENANT", "T1", "U1",
				tenancy.DefaultSettings())
			_, _, err := l.waiting(t.Context())
			expect.NoError(t, err)
			got := l.stamped(t.Context())
			expect.Must(t, (len(got) == 1) == tt.found && len(got) < 2, "found %d", len(got))
			if tt.found {
				expect.That(t, got[0].ID == "P1" && got[0].Stage == 1, "%+v", got[0].Question)
			}
		})
	}
}
