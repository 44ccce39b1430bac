package aggregate_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/runtime/expect"
)

var opened = time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)

// routed returns a waiting gate under a rule, whose route asks A and then B.
func routed() aggregate.Gate {
	at := opened
	desk := func(user string) circulation.Stage {
		return circulation.Stage{Name: user, Mode: circulation.ModePeople, People: []circulation.Person{{User: user}},
			Need: 1}
	}
	return aggregate.Gate{Status: aggregate.PendingApproval, AskedAt: &at, AskedSum: "sum",
		Terms: aggregate.Terms{ApprovalHours: 72, Rule: &circulation.Rule{ID: "r1", Name: "10万円以上", Revision: 3}},
		Route: &circulation.Route{Form: circulation.Form, Stages: []circulation.Stage{desk("A"), desk("B")}}}
}

func act(kind circulation.Kind, user string, stage int) circulation.Act {
	who := circulation.Person{User: user}
	return circulation.Act{Form: circulation.Form, Kind: kind, Hand: who, Principal: who, Stage: stage, Hash: "sum",
		At: opened.Add(time.Duration(stage) * time.Hour), Surface: "console", Text: "理由"}
}

func acted(t testing.TB, g aggregate.Gate, acts ...circulation.Act) aggregate.Gate {
	t.Helper()
	for _, a := range acts {
		g = expect.Value(g.Acted(a))(t)
	}
	return g
}

// What readers of a gate look at follows from the acts.
func TestAnActLeavesTheVerdict(t *testing.T) {
	one := acted(t, routed(), act(circulation.Stamp, "A", 1))
	expect.That(t, one.ApprovedAt == nil && one.RejectedAt == nil, "after one of two: %+v", one.Verdict)
	_, err := one.Acted(act(circulation.Stamp, "Z", 2))
	refused, _ := errors.AsType[*circulation.Refusal](err)
	expect.That(t, refused != nil && refused.Why == circulation.WhyRoute, "%v", err)

	both := acted(t, one, act(circulation.Stamp, "B", 2))
	expect.That(t, both.ApprovedBy == "B" && both.ApprovedAt.Equal(opened.Add(2*time.Hour)) && len(one.Acts) == 1,
		"%+v", both.Verdict)
	expect.Same(t, both.Stampers(), []string{"A", "B"})
	expect.Is(t, both.LastSurface(), aggregate.SurfaceConsole)
	stand := act(circulation.Stamp, "Z", 1)
	stand.Principal.User, stand.Found.Delegation = "A", &circulation.Delegation{Key: "Z#A#2026-04-01", Rev: 1}
	g := acted(t, routed(), stand)
	expect.Same(t, g.Stampers(), []string{"Z"})

	denied := acted(t, one, act(circulation.Deny, "B", 2))
	expect.That(t, denied.RejectedBy == "B" && denied.RejectionReason == "理由" &&
		denied.RejectedAt.Equal(opened.Add(2*time.Hour)), "%+v", denied.Verdict)

}

// A gate under a rule has no status that its acts don't say.
func TestAGateUnderARuleIsDecidedAlongItsRoute(t *testing.T) {
	as := func(s aggregate.GateStatus, change func(g *aggregate.Gate), acts ...circulation.Act) aggregate.Gate {
		g := acted(t, routed(), acts...)
		g.Status = s
		if change != nil {
			change(&g)
		}
		return g
	}
	a, b, deny := act(circulation.Stamp, "A", 1), act(circulation.Stamp, "B", 2), act(circulation.Deny, "A", 1)
	for name, c := range map[string]struct {
		gate aggregate.Gate
		may  bool
	}{
		"waiting with its route":    {as(aggregate.PendingApproval, nil), true},
		"waiting without a route":   {as(aggregate.PendingApproval, func(g *aggregate.Gate) { g.Route = nil }), false},
		"waiting without a rule":    {as(aggregate.PendingApproval, func(g *aggregate.Gate) { g.Terms.Rule = nil }), false},
		"approved without a stamp":  {as(aggregate.Approved, nil), false},
		"approved by one of two":    {as(aggregate.Approved, nil, a), false},
		"approved by both":          {as(aggregate.Approved, nil, a, b), true},
		"approved, another content": {as(aggregate.Approved, func(g *aggregate.Gate) { g.AskedSum = "other" }, a, b), false},
		"rejected by nobody":        {as(aggregate.Rejected, nil, a), false},
		"rejected":                  {as(aggregate.Rejected, nil, deny), true},
		"approved when denied":      {as(aggregate.Approved, nil, deny), false},
		"cancelled":                 {as(aggregate.Cancelled, nil, a), true},
		"expired":                   {as(aggregate.Expired, nil, a), true},
	} {
		err := c.gate.Walked()
		expect.That(t, (err == nil) == c.may, "%s: %v", name, err)
	}
}

// Whoever claims looks again at the acts.
func TestAnApprovedGateStandsByItsActs(t *testing.T) {
	settled := acted(t, routed(), act(circulation.Stamp, "A", 1), act(circulation.Stamp, "B", 2))
	settled.Status = aggregate.Approved
	without := func(change func(g *aggregate.Gate)) aggregate.Gate {
		g := settled
		g.Acts = append([]circulation.Act{}, g.Acts...)
		change(&g)
		return g
	}
	for name, c := range map[string]struct {
		gate aggregate.Gate
		sum  string
		want bool
	}{
		"as it was settled": {settled, "sum", true},
		"another content":   {settled, "other", false},
		"content and hash":  {without(func(g *aggregate.Gate) { g.AskedSum = "other" }), "other", false},
		"it waits":          {without(func(g *aggregate.Gate) { g.Status = aggregate.PendingApproval }), "sum", false},
		"a stamp is gone":   {without(func(g *aggregate.Gate) { g.Acts = g.Acts[:1] }), "sum", false},
		"another's stamp": {without(func(g *aggregate.Gate) { g.Acts[1].Hand = circulation.Person{User: "Z"} }), "sum",
			false},
		"an asker's stamp": {without(func(g *aggregate.Gate) { g.Askers = []circulation.Person{{User: "A"}} }), "sum", false},
		"a later route":    {without(func(g *aggregate.Gate) { g.Route = &circulation.Route{Form: 2} }), "sum", false},
		"the rule is gone": {without(func(g *aggregate.Gate) { g.Terms.Rule = nil }), "sum", false},
		"all is gone":      {aggregate.Gate{Status: aggregate.Approved}, "", false},
	} {
		expect.Is(t, c.gate.Stands(c.sum), c.want, "%s", name)
	}
}

func TestAGateWithoutAskersOpensUnderNoRule(t *testing.T) {
	at := opened
	waits := aggregate.Gate{Status: aggregate.PendingApproval, AskedAt: &at, Terms: aggregate.Terms{ApprovalHours: 72}}
	o := aggregate.Opening{Rule: *routed().Terms.Rule, Route: *routed().Route}
	sum := func(*aggregate.Gate) string { return "sum" }
	expect.Fails(t, expect.Err(waits.Under(o, nil, sum)), aggregate.ErrOnRoute)
	o.Askers = []circulation.Person{{User: "Q"}}
	g, err := waits.Under(o, []string{"Q"}, sum)
	expect.That(t, err == nil && g.Ruled() && g.Terms.ApprovalRequired && g.Terms.DecideBy.Equal(opened.AddDate(0, 0,
		3)) && !waits.Ruled(), "%v, %+v", err, g)
}

// A stage waits for those of its people who have not stamped, a channel's for its full members who ask for nothing, and
// none for somebody whose stamp would leave too few different hands.
func TestAGateWaitsForWhoOwesItsPresentStage(t *testing.T) {
	channel, over, later, again := routed(), routed(), routed(), routed()
	channel.Route.Stages[1] = circulation.Stage{Name: "みんな", Mode: circulation.ModeChannel, Need: 1}
	channel.Askers = []circulation.Person{{User: "Q"}}
	over.Status, later.Route.Form = aggregate.Cancelled, circulation.Form+1
	again.Route.Stages[1].People = []circulation.Person{{User: "A"}, {User: "B"}}
	first := act(circulation.Stamp, "A", 1)
	for name, c := range map[string]struct {
		gate            aggregate.Gate
		stage           int
		owes, waits, to string
	}{
		"the first stage":   {routed(), 1, "A", "A", "A B Q G"},
		"the second":        {acted(t, routed(), first), 2, "B", "B", "A B Q G"},
		"another hand's":    {acted(t, again, first), 2, "B", "B", "A B Q G"},
		"a channel's":       {acted(t, channel, first), 0, "", "B", "A B Q G"},
		"of other members":  {acted(t, channel, first), 0, "", "", ""},
		"over":              {over, 0, "", "", "A B"},
		"of a later form":   {later, 0, "", "", "A B"},
		"without a rule":    {aggregate.Gate{Status: aggregate.PendingApproval}, 0, "", "", "A B"},
		"nobody in it owes": {routed(), 1, "A", "A", ""},
	} {
		var owes, waits []string
		for _, user := range []string{"A", "B", "Q", "G", ""} {
			if stage := c.gate.Owes(user); stage > 0 {
				expect.Is(t, stage, c.stage, "%s: stage", name)
				owes = append(owes, user)
			}
			by := aggregate.Actor{Type: aggregate.ActorUser, ID: user, Team: "T", Guest: user == "G",
				Member: slices.Contains(strings.Fields(c.to), user)}
			if c.gate.WaitsFor(by, aggregate.Policy{Team: "T"}) {
				waits = append(waits, user)
			}
		}
		expect.Is(t, strings.Join(owes, " "), c.owes, "%s: owes", name)
		expect.Is(t, strings.Join(waits, " "), c.waits, "%s: waits for", name)
	}
	g := acted(t, channel, first)
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: "B", Team: "T", Member: true}
	expect.That(t, g.WaitsFor(by, aggregate.Policy{Team: "T"}) && !g.WaitsFor(by,
		aggregate.Policy{Team: "T2"}) && !g.WaitsFor(by, aggregate.Policy{Team: ""}), "other workspaces")
}

// While a gate waits along a route, its people cancel in the place of every approver.
func TestWhoCancelsWhatGoesRound(t *testing.T) {
	p := aggregate.Policy{Team: "T1", Mode: aggregate.ApproversList, Approvers: []string{"LISTED", "A"}}
	user := func(id string, change ...func(by *aggregate.Actor)) aggregate.Actor {
		by := aggregate.Actor{Type: aggregate.ActorUser, ID: id, Team: "T1"}
		for _, c := range change {
			c(&by)
		}
		return by
	}
	waits := routed()
	settled := acted(t, waits, act(circulation.Stamp, "A", 1), act(circulation.Stamp, "B", 2))
	settled.Status = aggregate.Approved
	sent := acted(t, waits, act(circulation.SendBack, "A", 1))
	sent.Status = aggregate.Rejected
	later := waits
	later.Route = &circulation.Route{Form: circulation.Form + 1, Stages: waits.Route.Stages}
	bare := waits
	bare.Terms.Rule, bare.Route = nil, new(circulation.BySettings(true))
	admin := func(by *aggregate.Actor) { by.Admin = true }
	guest := func(by *aggregate.Actor) { by.Guest = true }
	foreign := func(by *aggregate.Actor) { by.Team = "T2" }
	for name, c := range map[string]struct {
		gate *aggregate.Gate
		by   aggregate.Actor
		want aggregate.Rule
	}{
		"the requester":                       {&waits, user("REQ"), ""},
		"the requester, a guest":              {&waits, user("REQ", guest), ""},
		"one who is asked":                    {&waits, user("A"), ""},
		"one who is asked later":              {&waits, user("B"), ""},
		"an approver who is not asked":        {&waits, user("LISTED"), aggregate.RuleOffRoute},
		"anybody":                             {&waits, user("X"), aggregate.RuleOffRoute},
		"an administrator":                    {&waits, user("X", admin), ""},
		"a guest who is asked":                {&waits, user("A", guest), aggregate.RuleNotParty},
		"who is asked, of another workspace":  {&waits, user("A", foreign), aggregate.RuleForeign},
		"the system":                          {&waits, aggregate.System(), ""},
		"who is asked by another form":        {&later, user("A"), aggregate.RuleOffRoute},
		"an approver, once it is settled":     {&settled, user("LISTED"), ""},
		"who was asked, once it is settled":   {&settled, user("B"), ""},
		"anybody, once it is settled":         {&settled, user("X", admin), aggregate.RuleNotParty},
		"who was asked, once it is sent back": {&sent, user("B"), aggregate.RuleNotParty},
		"an approver, without a rule":         {&bare, user("LISTED"), ""},
		"anybody, without a rule":             {&bare, user("X", admin), aggregate.RuleNotParty},
		"an approver, without a gate":         {nil, user("LISTED"), ""},
	} {
		err := p.WithdrawFrom(c.gate, c.by, "REQ")
		refused, _ := errors.AsType[aggregate.ErrNotAllowed](err)
		expect.That(t, refused.Rule == c.want && (c.want != "" || err == nil), "%s: %v, want the rule %q", name, err, c.want)
	}
}

const requester, suzuki, tanaka = "U_SATO", "U_SUZUKI", "U_TANAKA"

func person(id string, change ...func(by *aggregate.Actor)) aggregate.Actor {
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: id, Team: "T", Member: true}
	for _, c := range change {
		c(&by)
	}
	return by
}

func guest(by *aggregate.Actor)    { by.Guest = true }
func stranger(by *aggregate.Actor) { by.Team = "T_OTHER" }
func outside(by *aggregate.Actor)  { by.Member = false }
func agent(by *aggregate.Actor)    { by.Type = aggregate.ActorAgent }
func program(by *aggregate.Actor)  { by.Type, by.Admin = aggregate.ActorSystem, true }

func listed(users ...string) aggregate.Policy {
	return aggregate.Policy{Team: "T", Mode: aggregate.ApproversList, Approvers: users}
}

// refusedBy asserts by which rule something is refused; "": it isn't.
func refusedBy(t *testing.T, err error, want aggregate.Rule, name string) {
	t.Helper()
	refused, _ := errors.AsType[aggregate.ErrNotAllowed](err)
	expect.That(t, refused.Rule == want && (want != "" || err == nil), "%s: %v, want the rule %q", name, err, want)
}

func TestWhoMayDecide(t *testing.T) {
	list, nobody := listed(suzuki, requester), listed()
	strict := aggregate.Policy{Team: "T", Mode: aggregate.ApproversChannel}
	channel := strict
	channel.AllowSelf, list.AllowSelf, nobody.AllowSelf = true, true, true
	const foreign, notListed, notParty = aggregate.RuleForeign, aggregate.RuleNotListed, aggregate.RuleNotParty
	for name, c := range map[string]struct {
		policy                    aggregate.Policy
		by                        aggregate.Actor
		approve, reject, withdraw aggregate.Rule
	}{
		"an approver of the list":               {list, person(suzuki), "", "", ""},
		"an approver who is not in the channel": {list, person(suzuki, outside), "", "", ""},
		"one who is not in the list":            {list, person(tanaka), notListed, notListed, notParty},
		"a member, when the list is empty":      {nobody, person(suzuki), "no_approvers", "no_approvers", notParty},
		"the requester, when the list is empty": {nobody, person(requester), "no_approvers", "no_approvers", ""},
		"a member of the channel":               {channel, person(tanaka), "", "", ""},
		"one who is not in the channel": {channel, person(tanaka, outside), "not_a_member",
			"not_a_member", notParty},
		"the same id in another workspace":        {list, person(suzuki, stranger), foreign, foreign, foreign},
		"the requester's id in another workspace": {channel, person(requester, stranger), foreign, foreign, foreign},
		"a guest who is in the list":              {list, person(suzuki, guest), "guest", "guest", notParty},
		"a guest who is in the channel":           {channel, person(suzuki, guest), "guest", "guest", notParty},
		"a guest, of what they asked for":         {channel, person(requester, guest), "guest", "guest", ""},
		"the requester, where that is allowed":    {channel, person(requester), "", "", ""},
		"the requester, where it is not":          {strict, person(requester), aggregate.RuleSelf, "", ""},
		"another, where the requester may not":    {strict, person(tanaka), "", "", ""},
		"an agent": {channel, aggregate.Actor{Type: aggregate.ActorAgent, ID: "agent"},
			foreign, foreign, foreign},
		"the system": {nobody, aggregate.System(), "", "", ""},
	} {
		refusedBy(t, c.policy.Approve(c.by, requester), c.approve, name+" approves")
		refusedBy(t, c.policy.Reject(c.by), c.reject, name+" rejects")
		refusedBy(t, c.policy.Withdraw(c.by, requester), c.withdraw, name+" withdraws")
		again := c.withdraw // who may withdraw may retry, but for guests: that costs money and may write
		if c.by.Guest && again == "" {
			again = aggregate.RuleGuest
		}
		refusedBy(t, c.policy.Retry(c.by, requester), again, name+" retries")
	}
}

// What waits asks the settings anew at each click, and the act says how they allowed it. Under a rule they allow
// nothing, and only a full member of the workspace acts, by their own hand.
func TestWhoMayActOnAGate(t *testing.T) {
	rule, asks := routed(), routed()
	asks.Terms.Rule, asks.Askers = nil, aggregate.People(requester)
	by := func(mode aggregate.ApproverMode, self bool, users ...string) aggregate.Policy {
		return aggregate.Policy{Team: "T", Mode: mode, Approvers: users, AllowSelf: self, Rev: 3}
	}
	const channel, list = aggregate.ApproversChannel, aggregate.ApproversList
	for name, c := range map[string]struct {
		gate   aggregate.Gate
		policy aggregate.Policy
		by     aggregate.Actor
		want   aggregate.Rule
	}{
		"a list without them":  {asks, by(list, false, tanaka), person(suzuki), aggregate.RuleNotListed},
		"an empty list":        {asks, by(list, false), person(suzuki), aggregate.RuleNobody},
		"a list with them":     {asks, by(list, false, suzuki), person(suzuki), ""},
		"the channel":          {asks, by(channel, false), person(suzuki), ""},
		"not one's own":        {asks, by(channel, false), person(requester), aggregate.RuleSelf},
		"one's own":            {asks, by(channel, true), person(requester), ""},
		"an agent":             {asks, by(channel, true), person(suzuki, agent), aggregate.RuleNotListed},
		"under a rule":         {rule, by(list, false), person(suzuki), ""},
		"a guest":              {rule, by(list, false), person(suzuki, guest), aggregate.RuleGuest},
		"of another workspace": {rule, by(list, false), person(suzuki, stranger), aggregate.RuleForeign},
		"an agent, by a rule":  {rule, by(list, false), person(suzuki, agent), aggregate.RuleNotListed},
		"the system":           {rule, by(list, false), aggregate.System(), aggregate.RuleNotListed},
		"nobody":               {asks, by(channel, true), person(""), aggregate.RuleNotListed},
		"no person":            {rule, by(list, false), person(suzuki, program), aggregate.RuleNotListed},
	} {
		act, err := c.policy.Act(&c.gate, c.gate.Acting(circulation.Stamp, c.by, ""), c.by, opened)
		if refusedBy(t, err, c.want, name); err != nil || c.gate.Ruled() {
			continue
		}
		want := circulation.Allowed{Rev: 3, As: string(c.policy.Mode), Self: c.policy.AllowSelf}
		expect.Is(t, *act.Found.Allowed, want, name)
	}
	_, err := by(channel, true).Act(&rule, rule.Acting(circulation.Stamp, person(suzuki), ""), person(tanaka), opened)
	refusedBy(t, err, aggregate.RuleNotListed, "another hand")
}

// Under a rule the people of its route have a write made again or say that it arrived, and no other approver.
func TestWhoMayRetryWhatARouteSettled(t *testing.T) {
	rule, asks := routed(), routed()
	asks.Terms.Rule = nil
	anybody := aggregate.Policy{Team: "T", Mode: aggregate.ApproversChannel}
	for name, c := range map[string]struct {
		gate aggregate.Gate
		by   aggregate.Actor
		want aggregate.Rule
	}{
		"who is asked":         {rule, person("B", outside), ""},
		"the requester":        {rule, person(requester, outside), ""},
		"a member":             {rule, person("U_OTHER"), aggregate.RuleOffRoute},
		"a guest on the route": {rule, person("A", guest), aggregate.RuleGuest},
		"without a rule":       {asks, person("U_OTHER"), ""},
	} {
		refusedBy(t, anybody.RetryFrom(&c.gate, c.by, requester), c.want, name)
	}
}

// A reason has one to a thousand characters, whatever blanks stand around it. One in which nobody can see a character
// is empty, whatever invisible characters it has.
func TestAReasonHasOneToAThousandCharacters(t *testing.T) {
	asks := routed()
	asks.Terms.Rule, asks.Askers = nil, aggregate.People(requester)
	for reason, want := range map[string]string{
		"": "", " \n\t　": "", "\u200b\u200d\u2060": "", "\ufe0f\ufe0e": "", "\u3164\uffa0": "", "\u2800": "", "\u00ad": "",
		"\U000e0041\U000e007f": "", "\u0301\u20e3": "", "\u202e\u2066": "", "\ufeff": "", "\ue000": "",
		" 宛先が違う\n": "宛先が違う", "👍🏽": "👍🏽", "❤\ufe0f": "❤\ufe0f", "。": "。", "a\u200b": "a\u200b", "短": "短",
		"　" + strings.Repeat("理", 1000) + "\n": strings.Repeat("理", 1000), strings.Repeat("理", 1001): "",
		strings.Repeat("🚨", 1000): strings.Repeat("🚨", 1000),
	} {
		got, err := aggregate.CheckReason(reason)
		expect.That(t, got == want && (err != nil) == (want == ""), "%q is taken as %q, %v", reason, got, err)
		act, err := listed(suzuki).Act(&asks, asks.Acting(circulation.SendBack, person(suzuki), reason), person(suzuki),
			opened)
		var field aggregate.Problem
		expect.That(t, err == nil && act.Text == want || want == "" && errors.As(err, &field) &&
			field.Field == "rejection_reason" && strings.Contains(err.Error(), "1 to 1000 characters"), "%q: %v", reason, err)
	}
}
