package decide

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/slack/card"
)

// minuted stamps with the minutes of what a meeting carried, or denies by those of what it didn't. It refuses minutes
// that make no sense with the field that is wrong.
func minuted(x card.RouteAct) Act {
	return once(x.Text, func(a Subject, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (
		aggregate.Change, error) {
		if !a.GateWith(id).Ruled() {
			return aggregate.Change{}, aggregate.ErrNotFound
		}
		m, kind, text := *x.Meeting, circulation.Stamp, ""
		m.Minutes, m.Reference = aggregate.SeenReason(m.Minutes), aggregate.SeenReason(m.Reference)
		m.Present = slices.Compact(slices.Sorted(slices.Values(m.Present)))
		if !m.Carried {
			kind, text = circulation.Deny, x.Text
		}
		field := m.Fault(now)
		switch {
		case field == "" && (m.Held > dayOf(now) || m.Held < dayOf(a.Root().Common().CreatedAt)):
			field = "held"
		case field == "" && kind == circulation.Deny && aggregate.SeenReason(text) == "":
			field = "reason"
		}
		if field != "" {
			_, err := mayMinute(a, id, by, p, now)
			return aggregate.Change{}, cmp.Or(err, error(&circulation.Refusal{Why: circulation.Why("minutes_" + field)}))
		}
		change, err := along(a, id, kind, text, by, p, now, func(act *circulation.Act) { act.Meeting = &m })
		if err == nil && change.Empty() && kind == circulation.Stamp {
			return change, stampedBefore(a.GateWith(id), by, &m)
		}
		return read(a, id, change, err)
	})
}

// met reports whether everybody who was present is a full member of the workspace. Slack is asked about all at once.
func (m Maker) met(ctx context.Context, team string, present []string) (bool, error) {
	if len(present) > circulation.MaxPresent { // that is refused anyway
		return true, nil
	}
	all, within := errgroup.WithContext(ctx)
	full := make([]bool, len(present))
	for i, user := range present {
		all.Go(func() (err error) {
			full[i], err = m.full(within, team, user)
			return err
		})
	}
	err := all.Wait()
	return !slices.Contains(full, false), err
}

func dayOf(at time.Time) string { return at.In(tenancy.Zone()).Format(time.DateOnly) }

// stampedBefore refuses minutes by somebody who has stamped the stage, unless it was with these.
func stampedBefore(g *aggregate.Gate, by aggregate.Actor, m *circulation.Meeting) error {
	st := walked(g)
	if by.Stage < 1 || by.Stage > len(st.Stages) {
		return nil
	}
	no := &circulation.Refusal{Why: circulation.WhyStamped, Kind: circulation.Stamp, Stage: by.Stage}
	if act := st.Stages[by.Stage-1].Recorded(); act != nil {
		if act.Hand.User == by.ID && reflect.DeepEqual(act.Meeting, m) {
			return nil
		}
		no.Why = circulation.WhyRecorded
	}
	return no
}

// mayMinute checks whether minutes by somebody would be taken, before they write any.
func mayMinute(a Subject, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
	if !a.GateWith(id).Ruled() {
		return aggregate.Change{}, aggregate.ErrNotFound
	}
	change, err := along(a, id, circulation.Stamp, "", by, p, now, func(act *circulation.Act) {
		act.Meeting = &circulation.Meeting{Held: now.UTC().Format(time.DateOnly), Present: []string{by.ID}, Carried: true,
			Minutes: "?"}
	})
	if err == nil && change.Empty() {
		return change, stampedBefore(a.GateWith(id), by, nil)
	}
	return read(a, id, change, err)
}
