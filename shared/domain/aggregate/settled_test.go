package aggregate_test

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

// drawnRoute draws a route with desks of every kind, including invalid ones.
func drawnRoute(t *rapid.T) []aggregate.Stage {
	person := rapid.SampledFrom([]string{"A", "B", "C", ""})
	desk := rapid.Custom(func(t *rapid.T) aggregate.Desk {
		return aggregate.Desk{
			People: rapid.SliceOfN(person, 0, 3).Draw(t, "people"), Need: rapid.IntRange(-1, 4).Draw(t, "need"),
			Mode: rapid.SampledFrom([]aggregate.DeskMode{aggregate.DeskStamp, aggregate.DeskStamp, aggregate.DeskStamp, aggregate.DeskRead, "", "other"}).Draw(t, "mode"),
		}
	})
	stage := rapid.Custom(func(t *rapid.T) aggregate.Stage {
		return aggregate.Stage{Desks: rapid.SliceOfN(desk, 0, 2).Draw(t, "desks")}
	})
	return rapid.SliceOfN(stage, 0, 2).Draw(t, "route")
}

func drawnStamps(t *rapid.T) []aggregate.Stamp {
	person, gone := rapid.SampledFrom([]string{"A", "B", "C", "outside", ""}), time.Unix(1, 0)
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) aggregate.Stamp {
		s := aggregate.Stamp{By: person.Draw(t, "by"), Stage: rapid.IntRange(-1, 2).Draw(t, "stage"), Desk: rapid.IntRange(-1, 2).Draw(t, "desk")}
		if rapid.IntRange(0, 3).Draw(t, "hand") == 0 {
			s.OnBehalfOf = person.Draw(t, "on behalf of")
		}
		if rapid.IntRange(0, 5).Draw(t, "withdrawn") == 0 {
			s.Withdrawn = &gone
		}
		return s
	}), 0, 12).Draw(t, "stamps")
}

// everybody returns stamps of all people at all desks.
func everybody(route []aggregate.Stage) []aggregate.Stamp {
	var all []aggregate.Stamp
	for i, stage := range route {
		for j, desk := range stage.Desks {
			for _, who := range desk.People {
				all = append(all, aggregate.Stamp{By: who, Stage: i, Desk: j})
			}
		}
	}
	return all
}

// The test draws routes and stamps at random, valid or not.
func TestNothingIsSettledUnlessItsStampsSaySo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		route := drawnRoute(t)
		stamps := drawnStamps(t)
		if rapid.Bool().Draw(t, "everybody") { // otherwise hardly any route would be settled
			stamps = append(stamps, everybody(route)...)
		}
		settled := aggregate.Settled(route, stamps)
		if settled {
			proven(t, route, stamps)
		}
		for i := range stamps {
			without := slices.Delete(slices.Clone(stamps), i, i+1)
			expect.Must(t, settled || !aggregate.Settled(route, without), "settled by taking stamp %d away", i)
		}
		own := slices.DeleteFunc(slices.Clone(stamps), func(s aggregate.Stamp) bool {
			return len(route) > 0 && (s.Stage < 0 || s.Stage >= len(route) || s.Desk < 0 || s.Desk >= len(route[s.Stage].Desks) ||
				!slices.Contains(route[s.Stage].Desks[s.Desk].People, cmp.Or(s.OnBehalfOf, s.By)))
		})
		expect.Must(t, aggregate.Settled(route, own) == settled, "people outside of the desks make it %v", settled)
	})
}

// proven checks a settled route with an independent count of its stamps.
func proven(t *rapid.T, route []aggregate.Stage, stamps []aggregate.Stamp) {
	if len(route) == 0 {
		if !slices.ContainsFunc(stamps, func(s aggregate.Stamp) bool { return s.Withdrawn == nil && s.By+s.OnBehalfOf != "" }) {
			t.Fatal("settled by nobody")
		}
		return
	}
	for i, stage := range route {
		if !slices.ContainsFunc(stage.Desks, func(d aggregate.Desk) bool { return d.Mode == aggregate.DeskStamp }) {
			t.Fatalf("stage %d waits for nobody", i)
		}
		for j, desk := range stage.Desks {
			var people, missing []string
			for _, who := range desk.People {
				stands := func(s aggregate.Stamp) bool {
					return s.Withdrawn == nil && s.Stage == i && s.Desk == j && cmp.Or(s.OnBehalfOf, s.By) == who && who != ""
				}
				switch {
				case slices.Contains(people, who) || slices.Contains(missing, who):
				case slices.ContainsFunc(stamps, stands):
					people = append(people, who)
				default:
					missing = append(missing, who)
				}
			}
			switch desk.Mode {
			case aggregate.DeskRead:
			case aggregate.DeskStamp:
				if len(people) == 0 || len(people) < desk.Need || desk.Need == 0 && len(missing) > 0 {
					t.Fatalf("desk %d of stage %d has %v of %v", j, i, people, desk.People)
				}
			default:
				t.Fatalf("desk %d of stage %d has the mode %q", j, i, desk.Mode)
			}
		}
	}
}

// Settled must not refuse every route: with all stamps, a route whose desks can be settled is settled.
func TestARouteWhoseDesksCanBeSettledIsSettledByAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		desk := rapid.Custom(func(t *rapid.T) aggregate.Desk {
			people := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"A", "B", "C"}), 1, 3, rapid.ID).Draw(t, "people")
			return aggregate.Desk{People: people, Need: rapid.IntRange(0, len(people)).Draw(t, "need"), Mode: aggregate.DeskStamp}
		})
		stage := rapid.Custom(func(t *rapid.T) aggregate.Stage {
			desks := rapid.SliceOfN(desk, 1, 2).Draw(t, "desks")
			return aggregate.Stage{Desks: append(desks, aggregate.Desk{Mode: aggregate.DeskRead})}
		})
		route := rapid.SliceOfN(stage, 1, 3).Draw(t, "route")
		expect.Must(t, aggregate.Settled(route, everybody(route)), "everybody stamped, and it is not settled")
		expect.Must(t, !aggregate.Settled(route, nil), "nobody stamped, and it is settled")
	})
}
