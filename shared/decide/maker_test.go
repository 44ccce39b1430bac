package decide

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/people"
	"ringi/shared/store"
)

// The time that a person takes to decide is measured from the question, not from the start of its generation.
func TestAGateIsAskedWhenItBeginsToWait(t *testing.T) {
	begun := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
	pending := begun.Add(3 * time.Minute)
	by := pending.Add(48 * time.Hour)
	terms := aggregate.Terms{DecideBy: &by, ApprovalHours: 48}
	a := &task.Aggregate{
		Prompts: []*task.Prompt{{ID: "prompt", CreatedAt: begun, Gate: aggregate.Gate{Terms: terms}},
			{ID: "generating", CreatedAt: begun}},
		Processes: []*task.Process{{ID: "process", CreatedAt: begun, Gate: aggregate.Gate{Terms: terms}}},
		Gates:     []*task.StepGate{{ID: "gate", CreatedAt: begun, Gate: aggregate.Gate{Terms: terms}}},
	}
	for id, want := range map[string]time.Time{
		"prompt": pending, "process": pending, "gate": pending, "generating": {}, "execution": {},
	} {
		got := a.AskedAt(id)
		expect.That(t, got.Equal(want), "%s was asked at %s, want %s", id, got, want)
	}
}

func TestNobodyDecidesBeforeTheyAreAsked(t *testing.T) {
	asked := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for wait, want := range map[time.Duration]time.Duration{90 * time.Second: 90 * time.Second, 0: 0, -time.Second: 0} {
		expect.Is(t, (Verdict{WaitsSince: asked}).waited(asked.Add(wait)), want, "%s after", wait)
	}
}

// Every kind that asks people must implement Subject: without it clicks and lists of waiting gates can't find it.
func TestAKindThatAsksPeopleSaysHow(t *testing.T) {
	for _, k := range store.Kinds() {
		_, asks := k.New().(Subject)
		says := [4]bool{k.ValidID != nil, k.RequestKey != "", len(k.Asks) > 0, card.DialogsOf(k.New()) != nil}
		expect.That(t, says == [4]bool{asks, asks, asks, asks},
			"kind %s, decided on: %v, says its ids' form, who asked for one, by which cards, in which dialogs: %v", k.Name,
			asks, says)
	}
}

// faster is a store in which somebody else's commit comes before each decision, while there is one.
type faster struct {
	Store
	rows []*task.Aggregate
}

func (f *faster) Settings(context.Context, string) (tenancy.Settings, error) {
	return tenancy.DefaultSettings(), nil
}

func (f *faster) StandIns(context.Context, string, string) ([]circulation.StandIn, error) {
	return nil, nil
}

func (f *faster) Load(context.Context, aggregate.Ref) (aggregate.Aggregate, error) {
	return f.rows[0], nil
}

func (f *faster) DecideFrom(_ context.Context, a aggregate.Aggregate,
	decide aggregate.Decision[aggregate.Aggregate]) (aggregate.Aggregate, error) {
	_, err := decide(a)
	if len(f.rows) > 1 {
		f.rows = f.rows[1:]
		_, err = decide(f.rows[0])
	}
	return f.rows[0], err
}

// A gate that asks elsewhere after a conflict asks Slack anew about the person; one that asks the same doesn't.
func TestAPersonIsLookedUpForTheQuestionThatTheyAnswer(t *testing.T) {
	ref, gate := task.RefOf("T", aggregate.NewID()), aggregate.NewID()
	type found struct {
		channel string
		member  bool
	}
	at := func(home string) *task.Aggregate {
		g := aggregate.Gate{Status: aggregate.PendingApproval, AskedAt: new(time.Now()), Home: home,
			Route: &circulation.Route{Hands: 1, Stages: []circulation.Stage{{Mode: circulation.ModeChannel, Need: 1}}}}
		return &task.Aggregate{
			Head:    task.Head{Head: aggregate.Head{TenantID: "T", Requester: "U0"}, TaskID: ref.ID},
			Request: &task.Request{TeamID: "T1", User: "U0", Channel: "CASKED", ChannelType: "channel"},
			Task:    &task.Task{ID: ref.ID}, Prompts: []*task.Prompt{{ID: gate, Version: 1, Gate: g}},
		}
	}
	for name, tt := range map[string]struct {
		rows []*task.Aggregate
		want []found
	}{
		"nobody was faster": {[]*task.Aggregate{at("CMINE")}, []found{{"CMINE", true}}},
		"it asks as before": {[]*task.Aggregate{at("CMINE"), at("CMINE")}, []found{{"CMINE", true}, {"CMINE", true}}},
		"it asks elsewhere now": {[]*task.Aggregate{at("CTHEIRS"), at("CMINE")},
			[]found{{"CTHEIRS", false}, {"CMINE", true}}},
	} {
		var got []found
		m := Maker{Store: &faster{rows: tt.rows}, People: &people.People{Slack: member{}, Now: time.Now}, Now: time.Now}
		v := m.Decide(t.Context(), Click{Want: people.Want{User: "U1", Team: "T1"}, Ref: ref, ID: gate},
			func(_ Subject, _ string, by aggregate.Actor, _ aggregate.Policy, _ time.Time) (aggregate.Change, error) {
				got = append(got, found{by.Channel, by.Member})
				return aggregate.Change{}, nil
			})
		expect.NoError(t, v.Err)
		expect.That(t, slices.Equal(got, tt.want), "%s: looked up %v, want %v", name, got, tt.want)
		expect.That(t, v.Subject == aggregate.Aggregate(tt.rows[len(tt.rows)-1]), "%s: the verdict is of other rows", name)
	}
}

func action(typ agent.ActionType, calls ...rules.Call) *Action {
	return &Action{
		Conversation: &conversation.Conversation{Channel: "C1", ChannelType: "channel",
			Locale: "en"}, Type: typ, Calls: calls,
		Askers: []string{"ITO", "SATO"}, Now: time.Date(2026, 11, 25, 3, 0, 0, 0, time.UTC),
	}
}

// An action that stays inside its conversation's files writes nothing outside and moves no money; what is no call and
// may reach anything does both.
func TestWhatRulesKnowOfAnAction(t *testing.T) {
	write := rules.Call{Tool: rules.Tool{Name: "post"}, Access: aggregate.Write,
		Amount: rules.Amount{Value: "500", Currency: "JPY"}}
	read := rules.Call{Tool: rules.Tool{Name: "list"}, Access: aggregate.Read, Amount: rules.Nothing()}
	for name, c := range map[string]struct {
		x      *Action
		writes bool
		amount rules.Amount
	}{
		"edits":                            {action(agent.CodeGenerate), false, rules.Nothing()},
		"a test":                           {action(agent.TestRun), false, rules.Nothing()},
		"commands":                         {action(agent.ShellCommand), false, rules.Nothing()},
		"a write":                          {action(agent.ToolCall, write), true, write.Amount},
		"a read":                           {action(agent.ToolCall, read), false, rules.Nothing()},
		"a call of which nothing is known": {action(agent.ToolCall), true, rules.Unknown(rules.WhyUnmarked)},
		"an unknown type":                  {action("move_money"), true, rules.Unknown(rules.WhyUnmarked)},
	} {
		f := c.x.facts(&rules.Rules{}, ids{})
		expect.Same(t, []any{name, f.Kind, f.Writes(), f.Amount(), f.Requester.User, len(f.Askers), f.Place.Channel},
			[]any{name, rules.KindAction, c.writes, c.amount, "ITO", 2, "C1"})
	}
}

// Rules for requests leave actions to the settings until one of them names actions.
func TestRulesDecideAboutActionsOnceOneNamesThem(t *testing.T) {
	ruled := func(kinds ...rules.Kind) *rules.Rules {
		r := in(rules.Outcome{Refuse: "no"})
		r.When.Kinds = kinds
		return &rules.Rules{Form: rules.Form, Rules: []rules.Rule{in(rules.Outcome{Refuse: "no"}), r}}
	}
	later := ruled(rules.KindSteps)
	later.Form++
	expect.Same(t, []bool{
		ruled().Actions(), ruled(rules.KindSteps).Actions(), ruled(rules.KindAction).Actions(),
		ruled(rules.KindSteps, rules.KindAction).Actions(), (&rules.Rules{Form: rules.Form}).Actions(), later.Actions(),
	}, []bool{false, false, true, true, false, true})
}

func TestByTheLastRuleAnActionIsUnruled(t *testing.T) {
	r := &rules.Rules{Form: rules.Form, Rules: []rules.Rule{writing(in(rules.Outcome{Refuse: "no"}, "C1"))}}
	typed := action(agent.ShellCommand)
	command := expect.Value(typed.ByIDs(r))(t)
	expect.That(t, command.Unruled && command.LookUp != nil, "who else is there only Slack knows: %+v", command)
	typed.Typed = true
	command = expect.Value(typed.ByIDs(r))(t)
	expect.That(t, command.Unruled && command.Opening != nil && command.Opening.Rule.ID == rules.LastID &&
		command.Refusal() == nil, "%+v", command)
	call := expect.Value(action(agent.ToolCall).ByIDs(r))(t)
	expect.That(t, !call.Unruled && call.Opening == nil, "%+v", call)
	no, is := call.Refusal().(conversation.ErrByRules)
	expect.That(t, is && no.Why == "rule_refuses" && no.Detail == "no", "%+v", no)
	r.Rules = nil
	call = expect.Value(action(agent.ToolCall).ByIDs(r))(t)
	expect.That(t, call.Unruled && call.Refused != nil && call.Refused.Rule.Name == "Everything else", "%+v", call)
}

// Where an organisation stands, whose department it is must be looked up, so no other rule decides before.
func TestWhereAnOrganisationStandsAnActionIsLookedUp(t *testing.T) {
	r := &rules.Rules{Form: rules.Form, Rules: []rules.Rule{by(in(rules.Outcome{Refuse: "no"}), []string{"SALES"})}}
	x := action(agent.ShellCommand)
	x.Organised = true
	found := expect.Value(x.ByIDs(r))(t)
	expect.That(t, found.LookUp != nil && !found.Unruled && found.Opening == nil, "%+v", found)
	d := office{departments: map[string][]string{"ITO": {"SALES", "HQ"}, "SATO": {"HQ"}}}
	found = expect.Value(x.By(r, d))(t)
	expect.That(t, found.Refused != nil && !found.Unruled, "the latest asker's department: %+v", found)
	x.Askers = []string{"SATO", "ITO"}
	found = expect.Value(x.By(r, d))(t)
	expect.That(t, found.Unruled && found.Opening != nil, "%+v", found)
}

// settledBy are steps that these people stamped at the last stage, by the rule that in makes.
func settledBy(stamps, hands int, people ...circulation.Person) *task.Settled {
	return &task.Settled{Rule: circulation.Rule{ID: in(rules.Outcome{}).ID, Name: "old", Revision: 1},
		Desk:   circulation.Stage{Name: "desk", Mode: circulation.ModePeople, Need: 1, People: people},
		Askers: []circulation.Person{{User: "SATO"}, {User: "BEFORE"}}, Stamps: stamps, Hands: hands}
}

func account(user string) circulation.Person {
	return circulation.Person{User: user, Via: task.ViaStamped}
}

// staff is an office in which only these people may stamp, as this.
type staff struct {
	office
	as map[string]rules.Employment
}

func (s staff) Employment(p circulation.Person, _ string) rules.Employment { return s.as[p.User] }

// The rule by which steps were settled asks once more about one of them, if it still takes the request.
func TestTheSameRuleAsksWhoStampedTheSteps(t *testing.T) {
	refuse := rules.EmptyRefuse
	head := of(in(asks(refuse, "HEAD")))
	tanaka, kato := account("TANAKA"), account("KATO")
	others := in(asks(refuse, "HEAD"))
	others.Outcome.Route.Stages[0].Others = true
	twice := of(in(asks(refuse, "HEAD", "CHIEF")))
	twice.Floor.Stamps = 2
	hands := of(in(asks(refuse, "HEAD")))
	hands.Floor.HandsFrom = &rules.Money{Value: "100", Currency: "JPY"}
	works := func(as rules.Employment) staff {
		return staff{as: map[string]rules.Employment{"TANAKA": as, "HEAD": rules.EmploymentEmployee}}
	}
	for name, c := range map[string]struct {
		settled *task.Settled
		rules   *rules.Rules
		d       Seats
		want    string
	}{
		"it asks who stamped":                {settledBy(1, 1, tanaka, kato), head, ids{}, "TANAKA KATO"},
		"steps are asked about anew":         {nil, head, ids{}, "HEAD"},
		"another rule takes it":              {settledBy(1, 1, tanaka), of(in(asks(refuse, "HEAD"), "C1")), ids{}, "HEAD"},
		"the rule refuses by now":            {settledBy(1, 1, tanaka), of(in(refuses("no"))), ids{}, "no"},
		"an asker is not asked":              {settledBy(1, 1, account("ITO"), kato), head, ids{}, "KATO"},
		"only askers stamped":                {settledBy(1, 1, account("ITO")), head, ids{}, "HEAD"},
		"the floor asks more stamps":         {settledBy(1, 1, tanaka), twice, ids{}, "below"},
		"the floor's stamps were given":      {settledBy(2, 1, tanaka), twice, ids{}, "TANAKA"},
		"the floor asks two hands":           {settledBy(2, 1, tanaka), hands, ids{}, "below"},
		"two hands stamped":                  {settledBy(2, 2, tanaka), hands, ids{}, "TANAKA"},
		"who stamped is an employee":         {settledBy(1, 1, tanaka), head, works("employee"), "TANAKA"},
		"who stamped is none any more":       {settledBy(1, 1, tanaka), head, works(""), "HEAD"},
		"who stamped works for another firm": {settledBy(1, 1, tanaka), head, works("other"), "HEAD"},
		"and the rule lets such people":      {settledBy(1, 1, tanaka), of(others), works("other"), "TANAKA"},
	} {
		x := askersOf()
		x.Calls, x.Settled = []rules.Call{{Access: aggregate.Write}}, c.settled
		found := expect.Value(x.By(c.rules, c.d))(t)
		var got []string
		if o := found.Opening; o != nil {
			for _, p := range o.Route.Stages[0].People {
				got = append(got, p.User)
			}
			expect.That(t, o.Rule.Revision == 3 && (c.d.Org() == "") == (o.Route.Org == ""), "%s: %+v", name, o)
		} else if got = []string{found.Refused.Detail}; found.Refused.Lacks == rules.LeftFloor {
			got = []string{"below"}
		}
		expect.Is(t, strings.Join(got, " "), c.want, name)
	}
}

// Those whose own request the steps were count as askers still.
func TestTheSameRuleKeepsTheAskersOfTheSteps(t *testing.T) {
	x := askersOf()
	x.Settled = settledBy(1, 1, account("TANAKA"))
	found := expect.Value(x.ByIDs(of(in(asks(rules.EmptyRefuse, "HEAD")))))(t)
	expect.Same(t, found.Opening.Askers, []circulation.Person{{User: "SATO"}, {User: "ITO"}, {User: "BEFORE"}})
}

// What a row can't have is left out, and may be anything then.
func TestARowHasOnlySoMuchOfCalls(t *testing.T) {
	long := []rules.Call{{Destinations: []string{strings.Repeat("x", mostKept)}, Amount: rules.Nothing()}}
	kept := Kept(long)
	expect.That(t, kept[0].Destinations == nil && kept[0].Amount.Known() && long[0].Destinations != nil, "%+v", kept)
	short := []rules.Call{{Destinations: []string{"x"}}}
	expect.Same(t, Kept(short), short)
}

// A button counts for the content whose hash it names alone, and no gate asks by a card without a type.
func TestAButtonCountsOnlyForWhatItsCardShows(t *testing.T) {
	reached := errors.New("the act was reached")
	act := func(Subject, string, aggregate.Actor, aggregate.Policy, time.Time) (aggregate.Change, error) {
		return aggregate.Change{}, reached
	}
	payload := aggregate.Blob{JSON: `{"script":"make"}`, Bytes: 17}
	talk := &conversation.Aggregate{Actions: []*conversation.Action{{Number: 1, ActionID: "action", Payload: payload}}}
	of := &task.Aggregate{Prompts: []*task.Prompt{{ID: "prompt", Version: 1, Content: "policy"}}}
	for name, c := range map[string]struct {
		on   Subject
		id   string
		kind aggregate.CardType
		hash string
		want error
	}{
		"an action as it is":              {talk, "action", conversation.CardAction, payload.Hash(), reached},
		"an action without a hash":        {talk, "action", conversation.CardAction, "", aggregate.ErrMoved},
		"an action with another hash":     {talk, "action", conversation.CardAction, "other", aggregate.ErrMoved},
		"an action by a policy's card":    {talk, "action", task.CardPrompt, payload.Hash(), aggregate.ErrNotFound},
		"a policy without a hash":         {of, "prompt", task.CardPrompt, "", aggregate.ErrMoved},
		"a policy as it is":               {of, "prompt", task.CardPrompt, aggregate.HashOf("policy"), reached},
		"a policy with another hash":      {of, "prompt", task.CardPrompt, "other", aggregate.ErrMoved},
		"a policy by a process's card":    {of, "prompt", task.CardProcess, "", aggregate.ErrNotFound},
		"no gate, by a card of no type":   {of, "other", "", "", aggregate.ErrNotFound},
		"no action, by a card of no type": {talk, "other", "", "", aggregate.ErrNotFound},
	} {
		_, err := Shown(c.kind, c.hash, act)(c.on, c.id, aggregate.Actor{}, aggregate.Policy{}, time.Time{})
		expect.Fails(t, err, c.want, "%s", name)
	}
}

func TestADraftThatNoCardCanShowIsNotPicked(t *testing.T) {
	of := &task.Aggregate{Prompts: []*task.Prompt{{ID: "prompt", Version: 1}},
		Processes: []*task.Process{{ID: "process", Version: 1}}}
	pick := func(id, content string, unread error) error {
		_, err := Pick("team", content, unread)(of, id, aggregate.Actor{}, aggregate.Policy{}, time.Time{})
		return err
	}
	lost := errors.New("lost")
	expect.Fails(t, pick("prompt", "", lost), lost, "a draft that can't be read")
	expect.Fails(t, pick("prompt", strings.Repeat("方針 ", 9000), nil), explain.ErrMalformedForm, "a draft that is too long")
	expect.Fails(t, pick("process", strings.Repeat("方針 ", 9000), nil), aggregate.ErrNotFound,
		"a draft in place of a process")
}
