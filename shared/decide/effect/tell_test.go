package effect_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"ringi/shared/decide/effect"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
)

// table stores aggregates in memory.
type table map[aggregate.Ref]aggregate.Aggregate

func (t table) Create(_ context.Context, ref aggregate.Ref, c aggregate.Change) error {
	if t[ref] != nil {
		return aggregate.ErrExists
	}
	t[ref] = (&contest.Aggregate{}).After(c)
	return nil
}

func (t table) DropWait(context.Context, aggregate.Ref, aggregate.Wait) error { return nil }

func (t table) Decide(_ context.Context, ref aggregate.Ref, decide aggregate.Decision[aggregate.Aggregate]) (aggregate.Aggregate, error) {
	_, err := decide(t[ref])
	return t[ref], err
}

// asks is an aggregate that tells another one something and then records that it did.
type asks struct {
	aggregate.Aggregate
	effects aggregate.Effects
}

func (a asks) Ref() aggregate.Ref                  { return aggregate.Ref{Tenant: "T", Kind: "asks", ID: "1"} }
func (a asks) Effects(time.Time) aggregate.Effects { return a.effects }

func TestWhatIsToldIsNotedOnceItStands(t *testing.T) {
	down := errors.New("down")
	for name, tt := range map[string]struct {
		answer  error
		absent  bool
		noted   bool
		repairs int
		err     error
	}{
		"it is decided":              {nil, false, true, 1, nil},
		"it was decided before":      {aggregate.ErrNotDue, false, true, 0, nil},
		"the other is not there":     {aggregate.ErrNotFound, false, false, 0, aggregate.ErrNotFound},
		"it need not be there":       {aggregate.ErrNotFound, true, true, 0, nil},
		"the other can't be reached": {down, true, false, 0, down},
	} {
		t.Run(name, func(t *testing.T) {
			noted := false
			other := aggregate.Ref{Tenant: "T", Kind: "other", ID: "2"}
			a := asks{effects: aggregate.Effects{Tell: []aggregate.Telling{{
				Ref: other, Absent: tt.absent,
				Decide: func(aggregate.Aggregate) (aggregate.Change, error) { return aggregate.Change{}, tt.answer },
				Told:   func(aggregate.Aggregate) (aggregate.Change, error) { noted = true; return aggregate.Change{}, nil },
			}}}}
			n, err := effect.Runner{Store: table{}, Now: time.Now}.Run(t.Context(), a, a.Effects(time.Now()), false)
			if noted != tt.noted || n != tt.repairs || !errors.Is(err, tt.err) {
				t.Errorf("noted %v, %d repairs, %v", noted, n, err)
			}
		})
	}
}

func TestWhatIsOrderedOfAnUnknownKindIsNotNotedAsMade(t *testing.T) {
	a := asks{effects: aggregate.Effects{Make: []aggregate.Making{{
		Ref: aggregate.Ref{Tenant: "T", Kind: "other", ID: "2"}, Order: "{}",
		Made: func(aggregate.Aggregate) (aggregate.Change, error) {
			t.Error("it is noted as made")
			return aggregate.Change{}, nil
		},
	}}}}
	if _, err := (effect.Runner{Store: table{}, Kinds: aggregate.Kinds{contest.Kind}, Now: time.Now}).Run(t.Context(), a, a.Effects(time.Now()), false); err == nil {
		t.Error("no error")
	}
}
