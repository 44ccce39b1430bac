// Package circulation says where a gate stands: Walk folds what people did along the gate's route, and Admit says
// whether somebody may do more. Cards, lists, claims and proofs use nothing else. It knows no task, reads no clock and
// imports only the standard library; infra/audit/verify.py has the same fold in Python, and a test holds both together
// and against an oracle that counts.
//
// The row of a gate has a route that never changes and acts that are only added: stamps, and one that sends it back or
// denies it, which ends it. A stage asks named people, members of a channel, or whom the settings allow when they act,
// for a number of stamps. A gate without a rule has one stage of the last kind, with one stamp, or none if it asks
// nobody; only under a rule are there more.
//
// What is only known outside (a delegation, Slack's word on a channel, what the settings say) the decision looks up and
// writes into the act as Found. Walk asks that it is there and fits, never whether it still holds. So a gate can be
// folded again at any time, by anybody. These hold of every walk:
//
//   - Nothing lowers what is owed but a stamp on the hash that is asked, at the present stage, by one whom that stage
//     asks or who stands in for them. Stages are asked in their order; one that is done stays so.
//
//   - Nobody stands in two stamps of a gate, be it as hand or as principal. A person is a Slack account.
//
//   - No asker stamps, nor does anybody for them, unless there is no rule and the settings let them (Allowed.Self).
//
//   - No walk gets stuck: an act is refused if afterwards too few people were left for the stamps that are owed, each
//     of whom gives one; a matching of people and stamps says so (missing). A gate that could be settled when it opened
//     can be until it ends. A channel's stage is taken to have somebody. Whose own stamp would be refused for that
//     isn't asked for it.
//
//   - Time never approves. Each stage has the hours of its gate from when it opened; under a rule all have 300 days
//     together at most.
//
//   - A gate ends once, settled or by the act that ended it, and nothing follows.
//
//   - Who stands in a stamp does nothing more.
//
//   - A gate fits within one row: all stages need 50 stamps together at most, texts have 1,000 characters.
//
//   - What Walk doesn't know settles nothing: a route or an act of another form, or one that could not be made, leaves
//     nothing standing.
//
// Admit gives a Refusal, of which people are told the stage, the names and the number of stamps missing.
package circulation

import (
	"slices"
	"unicode/utf8"
)

// Walk folds a gate's acts from the beginning, each admitted by the state that those before it left. If one of them
// isn't, or the route is one that this release can't walk, Refused says so and nothing stands.
func Walk(g Gate) State {
	st, ok := open(&g)
	if !ok {
		return State{Refused: &Refusal{Why: WhyUnknown}}
	}
	for i := range g.Acts {
		if refused := st.take(&g, &g.Acts[i]); refused != nil {
			refused.Act = i + 1
			return State{Refused: refused}
		}
	}
	return st
}

// Admit returns nil if the act may follow those that left this state of the gate, else a *Refusal.
func Admit(g Gate, st State, act Act) error {
	then := st.clone()
	refused := then.take(&g, &act)
	switch {
	case refused == nil:
		return nil
	case refused.People == nil:
		refused.People = st.Owes()
	}
	return refused
}

// take changes the state to the one that an act leaves. If it returns why the act isn't admitted, the state is none.
func (st *State) take(g *Gate, act *Act) *Refusal {
	refused := &Refusal{Why: st.why(g, act)}
	if s := st.CurrentStage(); s != nil {
		refused.Name = s.Name
	}
	switch refused.Why {
	case "":
	case WhyTurn:
		refused.Yours = st.later(act.Principal)
		return refused
	case WhySelf:
		if refused.Asker = act.Principal; g.asks(act.Hand) {
			refused.Asker = act.Hand
		}
		refused.For, refused.People = act.standsFor(), st.Owes()
		return refused
	case WhyFound:
		refused.Lacks, refused.For = lacks(act, st.CurrentStage()), act.standsFor()
		return refused
	case WhyTwice:
		for _, given := range st.Stamps() {
			if given.By(act.Hand) || given.By(act.Principal) {
				refused.People = append(refused.People, given.Hand)
			}
		}
		return refused
	default:
		return refused
	}
	if act.Ends() {
		st.Present, st.Last = 0, act
		return nil
	}
	s := st.CurrentStage()
	s.Stamps, s.Owed = append(s.Stamps, act), s.Owed-1
	if refused.Missing = st.missing(); refused.Missing > 0 {
		refused.Why = WhyHands
		return refused
	}
	if s.Owed == 0 {
		st.enter(g, act)
	}
	return nil
}

// why says why an act may not be made, whatever would be left after it.
func (st *State) why(g *Gate, act *Act) Why {
	s := st.CurrentStage()
	switch known := st.Refused == nil && act.Form == Form && act.Kind.Does().Kind != "" && act.Hand.User != "" &&
		act.Principal.User != ""; {
	case st.Settled && len(st.Stages) == 0: // it asks nobody
		return WhySettled
	case !known || act.Stage < 1 || act.Stage > len(st.Stages):
		return WhyUnknown
	case act.Hash != g.AskedSum:
		return WhyHash
	case slices.ContainsFunc(st.Stages[act.Stage-1].Stamps, act.same), st.Ended() != "" && act.same(st.Last):
		return WhyAgain
	case st.Settled:
		return WhySettled
	case st.Last != nil:
		return WhyEnded
	case utf8.RuneCountInString(act.Text) > MaxText || act.Ends() && act.Text == "":
		return WhyText
	case (g.asks(act.Hand) || g.asks(act.Principal)) && !letsAskers(s, act):
		return WhySelf
	case s.Mode == ModeSettings && act.Kind.Does().Final:
		return WhyUnknown
	case act.Stage != st.Present:
		return WhyStage
	case s.Mode == ModePeople && !s.names(act.Principal) && st.names(act.Principal):
		return WhyTurn
	case s.Mode == ModePeople && !s.names(act.Principal):
		return WhyRoute
	case lacks(act, s) != "":
		return WhyFound
	case st.stamped(act.Hand) || st.stamped(act.Principal):
		return WhyTwice
	}
	return ""
}

// letsAskers reports whether a stage lets one of the askers act: only by the settings, which always let them send back,
// and stamp if they say so.
func letsAskers(s *StageState, act *Act) bool {
	self := act.Found.Allowed != nil && act.Found.Allowed.Self
	return s.Mode == ModeSettings && (act.Kind == SendBack || self)
}

// lacks returns what the decision did not find of what lets a hand act at a stage, or "".
func lacks(act *Act, s *StageState) Lack {
	switch f := &act.Found; {
	case s.Mode == ModeSettings && (!act.own() || f.Allowed == nil || f.Allowed.As == ""):
		return LackSettings
	case s.Mode == ModeChannel && (!act.own() || f.Channel == ""):
		return LackChannel
	case s.Mode == ModePeople && !act.own() && !f.Delegation.names(act):
		return LackDelegation
	}
	return ""
}
