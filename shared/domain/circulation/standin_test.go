package circulation

import (
	"errors"
	"slices"
	"testing"
	"time"

	"ringi/shared/runtime/expect"
)

var (
	june = time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	july = june.AddDate(0, 1, 0)
	noon = june.Add(12 * time.Hour)
)

// standing returns a delegation that counts in June. The principal set it.
func standing(hand, principal string, change ...func(*StandIn)) StandIn {
	s := StandIn{Delegation: Delegation{Key: hand + "#" + principal + "#2026-06-01", Rev: 1}, Hand: Person{User: hand},
		Principal: Person{User: principal}, SetBy: Person{User: principal}, Begins: june, Ends: july}
	for _, c := range change {
		c(&s)
	}
	return s
}

// stoodGate asks two of A and B, then C. Q asks for it.
func stoodGate(acts ...Act) Gate {
	desk := func(name string, need int, users ...string) Stage {
		s := Stage{Name: name, Mode: ModePeople, Need: need}
		for _, user := range users {
			s.People = append(s.People, Person{User: user, Via: "named"})
		}
		return s
	}
	return Gate{Rule: &Rule{ID: "r"}, AskedAt: june, Hours: 1000, AskedSum: "h", Askers: []Person{{User: "Q"}}, Acts: acts,
		Route: &Route{Form: Form, Hands: 2, Stages: []Stage{desk("first", 2, "A", "B"), desk("last", 1, "C")}}}
}

func stampOf(hand, principal string, stage int) Act {
	act := Act{Form: Form, Kind: Stamp, Hand: Person{User: hand}, Principal: Person{User: principal}, At: noon,
		Stage: stage, Hash: "h", Surface: "slack"}
	if hand != principal {
		act.Found.Delegation = &Delegation{Key: hand + "#" + principal + "#2026-06-01", Rev: 1}
	}
	return act
}

func TestForWhomAHandActs(t *testing.T) {
	setBy := func(user string) func(*StandIn) { return func(s *StandIn) { s.SetBy.User = user } }
	begins := func(at time.Time) func(*StandIn) { return func(s *StandIn) { s.Begins = at } }
	rules := func(ids ...string) func(*StandIn) { return func(s *StandIn) { s.Rules = ids } }
	unfit := func(lacks Lack) func(*StandIn) { return func(s *StandIn) { s.Unfit = lacks } }
	stands := func(all ...StandIn) []StandIn { return all }
	for name, tt := range map[string]struct {
		acts []Act
		hand string
		as   string
		all  []StandIn
		at   time.Time
		want string // principal
		lack Lack
		why  Why // of the stamp by it; empty: it is admitted
	}{
		"whom they stand in for": {hand: "X", all: stands(standing("X", "A")), want: "A"},
		"at the first moment":    {hand: "X", all: stands(standing("X", "A")), at: june, want: "A"},
		"at the last moment":     {hand: "X", all: stands(standing("X", "A")), at: july.Add(-1), want: "A"},
		"a moment after": {hand: "X", all: stands(standing("X", "A")), at: july, want: "A",
			lack: LackDelegation},
		"a moment before": {hand: "X", all: stands(standing("X", "A")), at: june.Add(-1), want: "A",
			lack: LackDelegation},
		"nobody, without a delegation":    {hand: "X", why: WhyRoute},
		"nobody, by another's delegation": {hand: "X", all: stands(standing("Y", "A")), why: WhyRoute},
		"nobody at the end of a chain":    {hand: "X", all: stands(standing("X", "Y"), standing("Y", "A")), why: WhyRoute},
		"whose delegation began first": {hand: "X", all: stands(standing("X", "A", begins(noon)), standing("X", "B")),
			want: "B"},
		"who owes before who stamped": {acts: []Act{stampOf("A", "A", 1)}, hand: "X",
			all: stands(standing("X", "A"), standing("X", "B", begins(noon))), want: "B"},
		"who stamped, and is told so": {acts: []Act{stampOf("A", "A", 1)}, hand: "X", all: stands(standing("X", "A")),
			want: "A", why: WhyTwice},
		"whose turn comes, and is told so": {hand: "X", all: stands(standing("X", "C")), want: "C", why: WhyTurn},
		"an asker, and is told so":         {hand: "X", all: stands(standing("X", "Q")), want: "Q", why: WhySelf},
		"not as an asker":                  {hand: "Q", all: stands(standing("Q", "A")), want: "A", why: WhySelf},
		"not whom an asker set them for": {hand: "X", all: stands(standing("X", "A", setBy("Q"))), want: "A",
			lack: LackOthers},
		"whom another administrator set": {hand: "X", all: stands(standing("X", "A", setBy("Z"))), want: "A"},
		"whom they say of several": {hand: "X", as: "B", all: stands(standing("X", "A"), standing("X", "B")),
			want: "B"},
		"nobody, if they say somebody else": {hand: "X", as: "Z", all: stands(standing("X", "A")), why: WhyRoute},
		"not above whom an asker stands": {hand: "X", all: stands(standing("X", "A", unfit(LackBelow))), want: "A",
			lack: LackBelow},
		"for what the rule asks": {hand: "X", all: stands(standing("X", "A", rules("s", "r"))), want: "A"},
		"not for what another rule asks": {hand: "X", all: stands(standing("X", "A", rules("s"))), want: "A",
			lack: LackRule, why: WhyFound},
		"whose delegation is for this rule": {hand: "X", all: stands(standing("X", "A", rules("s")), standing("X", "B")),
			want: "B"},
		"nobody later, by another rule's":   {hand: "X", all: stands(standing("X", "C", rules("s"))), why: WhyRoute},
		"nobody, by another rule's in July": {hand: "X", all: stands(standing("X", "A", rules("s"))), at: july, why: WhyRoute},
		"who is fit before who isn't": {hand: "X", all: stands(standing("X", "A", unfit(LackBelow)),
			standing("X", "B", begins(noon))), want: "B"},
		"themselves, if they owe": {hand: "B", all: stands(standing("B", "A")), why: ""},
		"themselves, if they have stamped": {acts: []Act{stampOf("B", "B", 1)}, hand: "B", all: stands(standing("B", "A")),
			why: WhyAgain},
		"a later stage, for those who stood": {acts: []Act{stampOf("A", "A", 1), stampOf("X", "B", 1)}, hand: "X",
			all: stands(standing("X", "C")), want: "C"},
		"too few hands for it": {acts: []Act{stampOf("X", "A", 1)}, hand: "X", all: stands(standing("X", "B")),
			why: WhyRoute},
	} {
		t.Run(name, func(t *testing.T) {
			g := stoodGate(tt.acts...)
			st := Walk(g)
			expect.That(t, st.Refused == nil, "%v", st.Refused)
			at := tt.at
			if at.IsZero() {
				at = noon
			}
			hand := Person{User: tt.hand}
			by := st.StandsIn(&g, hand, tt.as, tt.all, at)
			act := stampOf(tt.hand, tt.hand, st.Present)
			if by != nil {
				expect.That(t, by.Principal == (Person{User: tt.want}) && by.Lacks == tt.lack, "%+v", by)
				act.Principal, act.Found.Delegation = by.Principal, &by.Delegation
			} else if tt.want != "" {
				t.Fatalf("stands in for nobody")
			}
			err := Admit(g, st, act)
			var refused *Refusal
			expect.That(t, (tt.lack != "" || (err == nil) == (tt.why == "")) &&
				(!errors.As(err, &refused) || refused.Why == tt.why), "%v, want %q", err, tt.why)
		})
	}
}

func TestADelegationForRulesCountsForNothingElse(t *testing.T) {
	rule, all, one := &Rule{ID: "r"}, Delegation{}, Delegation{Rules: []string{"r"}}
	expect.That(t, all.Covers(rule) && all.Covers(nil) && one.Covers(rule), "too little")
	expect.That(t, !one.Covers(&Rule{ID: "s"}) && !one.Covers(&Rule{}) && !one.Covers(nil), "too much")
	g := stoodGate()
	st := Walk(g)
	for _, rules := range [][]string{nil, {"r"}, {"s"}} {
		by := st.StoodFor(&g, []StandIn{standing("X", "A", func(s *StandIn) { s.Rules = rules })})
		expect.Is(t, len(by) == 1, !slices.Contains(rules, "s"), "the card says who stands in by %v", rules)
	}
}

// Who has stamped, where others still have to, is not said to stand in; their click says what is missing.
func TestWhoHasStampedStandsInForNobodyElsesHand(t *testing.T) {
	g := stoodGate(stampOf("A", "A", 1), stampOf("X", "B", 1))
	g.Route.Hands = 3
	st := Walk(g)
	by := st.StoodFor(&g, []StandIn{standing("X", "C"), standing("Y", "C")})
	expect.That(t, len(by) == 1 && by[0].Hand.User == "Y", "%+v", by)
	f := st.StandsIn(&g, Person{User: "X"}, "", []StandIn{standing("X", "C")}, noon)
	expect.That(t, f != nil && f.Principal.User == "C" && !f.Owes(), "%+v", f)
	var refused *Refusal
	expect.That(t, errors.As(Admit(g, st, stampOf("X", "C", 2)), &refused) && refused.Why == WhyHands, "%+v", refused)
}

// Who stands in for several who owe the stage is asked for whom they act; of others nothing is asked.
func TestAHandIsAskedForWhomOnlyOfSeveralWhoOwe(t *testing.T) {
	whose := func(acts []Act, as string, all ...StandIn) (users []string) {
		g := stoodGate(acts...)
		st := Walk(g)
		for _, p := range st.StandsIn(&g, Person{User: "X"}, as, all, noon).Among {
			users = append(users, p.User)
		}
		return users
	}
	a, b, c := standing("X", "A"), standing("X", "B"), standing("X", "C")
	late := standing("X", "B", func(s *StandIn) { s.Begins = july })
	expect.Same(t, whose(nil, "", b, a, c), []string{"A", "B"})
	expect.That(t, whose(nil, "A", a, b) == nil, "who says for whom is asked again")
	expect.That(t, whose(nil, "", a, c) == nil && whose(nil, "", a, late) == nil && whose(nil, "", a, a) == nil &&
		whose([]Act{stampOf("A", "A", 1)}, "", a, b) == nil, "one who owes is asked for")
}

// What somebody does once more is for whom they did it, so that it is no other act.
func TestTheSameAgainIsForTheSamePrincipal(t *testing.T) {
	g := stoodGate(stampOf("X", "A", 1))
	st := Walk(g)
	for kind, want := range map[Kind]string{Stamp: "A", Deny: ""} {
		act := stampOf("X", "X", 1)
		act.Kind = kind
		got := ""
		if done := st.Again(&act); done != nil {
			got = done.Principal.User
		}
		expect.Is(t, got, want, "%s", kind)
	}
}

// A key names hand and principal, so another's is none.
func TestAKeyOfAnotherIsNoDelegation(t *testing.T) {
	g := stoodGate()
	for _, key := range []string{"", "X#B#2026-06-01", "Y#A#2026-06-01", "X#", "X#AA#2026-06-01", "A#X#2026-06-01"} {
		act := stampOf("X", "A", 1)
		act.Found.Delegation.Key = key
		var refused *Refusal
		expect.That(t, errors.As(Admit(g, Walk(g), act), &refused) && refused.Lacks == LackDelegation, "%q", key)
	}
}

// Of a gate with a home only the home's members stamp for the channel, and the hash of how it opened covers the home.
func TestAGateWithAHomeAsksItsMembers(t *testing.T) {
	at := time.Date(2026, 11, 25, 3, 0, 0, 0, time.UTC)
	g := Gate{Rule: &Rule{ID: "r"}, AskedAt: at, Hours: 24, AskedSum: "hash", Askers: []Person{{User: "SATO"}},
		Home: "CHOME", Route: &Route{Form: Form, Hands: 1, Stages: []Stage{{Name: "みんな", Mode: ModeChannel, Need: 1}}}}
	for name, c := range map[string]struct {
		home, found string
		lacks       Lack
	}{
		"a member of the home":                  {"CHOME", "CHOME", ""},
		"a member of another channel":           {"CHOME", "C1", LackChannel},
		"of no channel":                         {"CHOME", "", LackChannel},
		"a member of the channel, without home": {"", "C1", ""},
	} {
		x, tanaka := g, Person{User: "TANAKA"}
		x.Home = c.home
		err := Admit(x, Walk(x), Act{Form: Form, Kind: Stamp, Hand: tanaka, Principal: tanaka, At: at, Stage: 1, Hash: "hash",
			Surface: "slack", Found: Found{Channel: c.found}})
		refused, is := errors.AsType[*Refusal](err)
		expect.That(t, is == (c.lacks != "") && (!is || refused.Lacks == c.lacks && refused.Home == c.home), "%s: %+v", name,
			err)
	}
	without := g
	without.Home = ""
	expect.That(t, RouteHash(g) != RouteHash(without), "the home is no part of the hash")
}
