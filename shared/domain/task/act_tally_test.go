package task

import (
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
)

// tally is what stands of a gate, counted in another way than Walk does.
type tally struct {
	owed, present int
	settled       bool
}

// take counts one act at a stage: asked are its people, stamps the hands by principal, and a stamp counts only from the
// gate's own words.
func take(act circulation.Act, asked map[string]bool, stamps map[string]string, sum string) {
	given := false
	for _, by := range stamps {
		given = given || by == act.Hand.User
	}
	switch {
	case act.Kind == circulation.Stamp && asked[act.Principal.User] && act.Hand.User != requester && act.Hash == sum &&
		stamps[act.Principal.User] == "" && !given:
		stamps[act.Principal.User] = act.Hand.User
	}
}

// counted counts what stands, without what doesn't count: of an asker, of somebody whom the stage doesn't ask, or a
// second time.
func counted(g *aggregate.Gate) (n tally) {
	hands := map[string]bool{}
	for i, s := range g.Route.Stages {
		asked, stamps := map[string]bool{}, map[string]string{}
		for _, p := range s.People {
			asked[p.User] = p.User != requester
		}
		for _, act := range g.Acts {
			if act.Stage == i+1 {
				take(act, asked, stamps, g.AskedSum)
			}
		}
		for _, hand := range stamps {
			hands[hand] = true
		}
		if missing := max(0, s.Need-len(stamps)); missing > 0 {
			n.owed += missing
			if n.present == 0 {
				n.present = i + 1
			}
		}
	}
	n.settled = n.owed == 0
	return n
}
