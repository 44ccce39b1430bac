package circulation_test

import (
	"slices"
	"strings"

	"ringi/shared/domain/circulation"
)

// counted says what a gate's acts mean by counting them, whatever the fold does on its way.
type counted struct {
	circulation.Gate
	acts []circulation.Act
}

func (c counted) asks(user string) bool { return slices.Contains(c.Askers, person(user)) }

// may returns who may stamp a stage, by name.
func (c counted) may(s circulation.Stage) (users []string) {
	for _, p := range s.People {
		if !c.asks(p.User) && !slices.Contains(users, p.User) {
			users = append(users, p.User)
		}
	}
	return users
}

// stamps returns how many of the first acts are stamps of a stage.
func (c counted) stamps(stage, first int) (n int) {
	for _, act := range c.acts[:first] {
		if act.Kind == stamp && act.Stage == stage {
			n++
		}
	}
	return n
}

// present returns the number of the first stage that lacks stamps after the first acts, 0 if none does.
func (c counted) present(first int) int {
	for i, s := range c.Route.Stages {
		if c.stamps(i+1, first) < s.Need {
			return i + 1
		}
	}
	return 0
}

// in returns in how many stamps somebody stands.
func (c counted) in(user string) (n int) {
	for _, act := range c.acts {
		if act.Kind == stamp && (act.Hand.User == user || act.Principal.User == user) {
			n++
		}
	}
	return n
}

// short returns how many stamps nobody is left for: of all sets of stages, the one whose stamps outnumber its people
// most (Hall).
func (c counted) short() (most int) {
	for set := range 1 << len(c.Route.Stages) {
		owed, left := 0, map[string]bool{}
		for i, s := range c.Route.Stages {
			if set>>i&1 == 1 && s.Mode == circulation.ModePeople && c.stamps(i+1, len(c.acts)) < s.Need {
				owed += s.Need - c.stamps(i+1, len(c.acts))
				for _, user := range c.may(s) {
					if c.in(user) == 0 {
						left[user] = true
					}
				}
			}
		}
		most = max(most, owed-len(left))
	}
	return most
}

// legal says whether each act could be made, the first when the gate opened and each other one after those before it.
func (c counted) legal() bool {
	for i, act := range c.acts {
		hand, principal, end := act.Hand.User, act.Principal.User, act.Kind != stamp
		if act.Stage < 1 || act.Stage != c.present(i) || act.Hash != c.AskedSum || act.Form != circulation.Form ||
			hand == "" || principal == "" ||
			!slices.Contains([]circulation.Kind{stamp, sendBack, deny}, act.Kind) || end && i < len(c.acts)-1 ||
			end && act.Text == "" || len([]rune(act.Text)) > 1000 {
			return false
		}
		once, f := 1, act.Found
		if end {
			once = 0
		}
		if c.in(hand) != once || c.in(principal) != once {
			return false
		}
		switch s := c.Route.Stages[act.Stage-1]; s.Mode {
		case circulation.ModeSettings:
			if hand != principal || f.Allowed == nil || f.Allowed.As == "" || act.Kind == deny ||
				act.Kind == stamp && c.asks(hand) && !f.Allowed.Self {
				return false
			}
		case circulation.ModeChannel:
			if hand != principal || f.Channel == "" || c.asks(hand) {
				return false
			}
		case circulation.ModePeople:
			by := hand == principal || f.Delegation != nil && f.Delegation.Rev > 0 &&
				strings.HasPrefix(f.Delegation.Key, hand+"#"+principal+"#")
			if !slices.Contains(c.may(s), principal) || c.asks(hand) || !by {
				return false
			}
		}
	}
	return c.short() == 0
}

func (c counted) ended() bool { return len(c.acts) > 0 && c.acts[len(c.acts)-1].Kind != stamp }

func (c counted) settled() bool { return c.legal() && !c.ended() && c.present(len(c.acts)) == 0 }

// owes returns who may stamp now in their own name, of those whom the present stage names.
func (c counted) owes() (users []string) {
	if n := c.present(len(c.acts)); n > 0 && !c.ended() {
		for _, user := range c.may(c.Route.Stages[n-1]) {
			if (counted{c.Gate, append(slices.Clip(c.acts), of(stamp, user, n))}).legal() {
				users = append(users, user)
			}
		}
	}
	return users
}
