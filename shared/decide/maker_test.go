package decide

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store"
)

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

// A gate that asks others after a conflict asks Slack anew about the person; one that asks the same doesn't.
func TestAPersonIsLookedUpForTheQuestionThatTheyAnswer(t *testing.T) {
	ref, gate, there := task.RefOf("T", aggregate.NewID()), aggregate.NewID(), circulation.ModeChannel
	at := func(mode circulation.Mode) *task.Aggregate {
		g := aggregate.Gate{Status: aggregate.PendingApproval, AskedAt: new(time.Now()), AskedSum: "sum",
			Terms: aggregate.Terms{ApprovalHours: 1, Rule: &circulation.Rule{ID: "rule"}}}
		asks := circulation.Stage{Mode: mode, Need: 1}
		if mode == circulation.ModePeople {
			asks.People = []circulation.Person{{User: "U2"}}
		}
		g.Route = &circulation.Route{Form: circulation.Form, Stages: []circulation.Stage{asks}}
		return &task.Aggregate{Head: task.Head{Head: aggregate.Head{TenantID: "T", Requester: "U0"}, TaskID: ref.ID},
			Request: &task.Request{TeamID: "T1", User: "U0", Channel: "CMINE", ChannelType: "channel"},
			Task:    &task.Task{ID: ref.ID}, Prompts: []*task.Prompt{{ID: gate, Version: 1, Gate: g}}}
	}
	for name, tt := range map[string]struct {
		rows []*task.Aggregate
		want []bool
	}{
		"nobody was faster":  {[]*task.Aggregate{at(there)}, []bool{true}},
		"it asks as before":  {[]*task.Aggregate{at(there), at(there)}, []bool{true, true}},
		"it asks others now": {[]*task.Aggregate{at(circulation.ModePeople), at(there)}, []bool{false, true}},
	} {
		var got []bool
		m := Maker{Store: &faster{rows: tt.rows}, People: &people.People{Slack: member{}, Now: time.Now}, Now: time.Now}
		v := m.Decide(t.Context(), Click{Want: people.Want{User: "U1"}, Ref: ref, ID: gate},
			func(_ Subject, _ string, by aggregate.Actor, _ aggregate.Policy, _ time.Time) (aggregate.Change, error) {
				got = append(got, by.Member && by.Channel == "CMINE")
				return aggregate.Change{}, nil
			})
		expect.NoError(t, v.Err)
		expect.That(t, slices.Equal(got, tt.want), "%s: looked up %v, want %v", name, got, tt.want)
		expect.That(t, v.Subject == aggregate.Aggregate(tt.rows[len(tt.rows)-1]), "%s: the verdict is of other rows", name)
	}
}

// answersOnce counts how often Slack is asked who somebody is. It answers once.
type answersOnce struct {
	member
	times int
}

func (a *answersOnce) User(ctx context.Context, id string) (slackapi.User, error) {
	if a.times++; a.times > 1 {
		return slackapi.User{}, errors.New("Slack is down")
	}
	return a.member.User(ctx, id)
}

// Whoever comes second at a gate of the settings learns who decided, and Slack is asked once who they are.
func TestWhoeverComesSecondIsLookedUpOnce(t *testing.T) {
	ref, gate, now := task.RefOf("T", aggregate.NewID()), aggregate.NewID(), time.Now().UTC().Truncate(time.Millisecond)
	terms := aggregate.Terms{ApprovalRequired: true, ApprovalHours: 48, DecideBy: new(now.Add(48 * time.Hour))}
	g := aggregate.Gate{Status: aggregate.PendingApproval, AskedAt: &now, Terms: terms}
	g = expect.Value(g.Under(aggregate.BySettings(true, "U0"), []string{"U0"},
		func(*aggregate.Gate) string { return aggregate.HashOf("policy") }))(t)
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: "U2", Team: "T1", Member: true}
	act := expect.Value(aggregate.Policy{Team: "T1", Rev: 1}.Act(&g, g.Acting(circulation.Stamp, by, ""), by, now))(t)
	done := expect.Value(g.Acted(act))(t)
	done.Status = aggregate.Approved
	of := func(g aggregate.Gate) *task.Aggregate {
		return &task.Aggregate{Head: task.Head{Head: aggregate.Head{TenantID: "T", Requester: "U0"}, TaskID: ref.ID},
			Request: &task.Request{TeamID: "T1", User: "U0", Channel: "CMINE", ChannelType: "channel"},
			Task:    &task.Task{ID: ref.ID}, Prompts: []*task.Prompt{{ID: gate, Version: 1, Content: "policy", Gate: g}}}
	}
	slack := &answersOnce{}
	m := Maker{Store: &faster{rows: []*task.Aggregate{of(g), of(done)}}, Now: time.Now,
		People: &people.People{Slack: slack, Now: time.Now}}
	v := m.Decide(t.Context(), Click{Want: people.Want{User: "U1"}, Ref: ref, ID: gate}, Approve)
	expect.That(t, slack.times == 1, "Slack was asked %d times", slack.times)
	decided, is := errors.AsType[aggregate.ErrDecided](v.Err)
	expect.That(t, is && decided.By == "U2", "told %v", v.Err)
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

// A dialog counts for the content that it showed alone and, under a rule, for what the stamps are on.
func TestADialogCountsOnlyForWhatItShowed(t *testing.T) {
	of := &task.Aggregate{Processes: []*task.Process{{ID: "steps", Version: 1, Gate: aggregate.Gate{AskedSum: "sum"}}}}
	hash := of.Asked("steps").Hash
	rejects := func(hash, asked string) Act {
		return Rejects(card.Rejected{Rejection: card.Rejection{Type: task.CardProcess, Hash: hash, Stage: 1, Asked: asked,
			Then: circulation.SendBack}, Reason: "no"})
	}
	for name, tt := range map[string]struct {
		act   Act
		moved bool
	}{
		"no to what it is":           {rejects(hash, "sum"), false},
		"no to other content":        {rejects("other", "sum"), true},
		"no under another rule":      {rejects(hash, "other"), true},
		"a form of what it is":       {Refilled{hash}.Save(task.Refill{}), false},
		"a form of what it isn't":    {Refilled{"other"}.Save(task.Refill{}), true},
		"a form of its card to open": {MayRefill(hash), false},
		"a form of another to open":  {MayRefill("other"), true},
	} {
		_, err := tt.act(of, "steps", aggregate.Actor{}, aggregate.Policy{}, time.Time{})
		expect.That(t, err != nil && errors.Is(err, aggregate.ErrMoved) == tt.moved, "%s: %v", name, err)
	}
}

func TestADraftThatNoCardCanShowIsNotPicked(t *testing.T) {
	of := &task.Aggregate{Prompts: []*task.Prompt{{ID: "prompt", Version: 1}},
		Processes: []*task.Process{{ID: "process", Version: 1}}}
	pick := func(id, content string) error {
		_, err := Pick("team", content)(of, id, aggregate.Actor{}, aggregate.Policy{}, time.Time{})
		return err
	}
	expect.Fails(t, pick("prompt", strings.Repeat("方針 ", 9000)), explain.ErrMalformedForm, "a draft that is too long")
	expect.Fails(t, pick("process", strings.Repeat("方針 ", 9000)), aggregate.ErrNotFound,
		"a draft in place of a process")
}

func TestWhatNobodyCouldApproveIsntProposed(t *testing.T) {
	in := conversation.Inbound{Team: "T1", Channel: "D1", ChannelType: "im", Thread: "1775034000.000100",
		TS: "1775034000.000100", User: "U1", Text: "hi"}
	begun := expect.Value(conversation.Begin(in, conversation.Opening{AgentID: "codex"}, noon()))(t)
	of := (&conversation.Aggregate{}).After(begun).(*conversation.Aggregate)
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: "U1", Team: "T1", Member: true}
	for name, tt := range map[string]struct {
		listed []string // nil: members of the place
		self   bool
		want   aggregate.Rule
	}{
		"one's own, in direct messages":       {nil, false, aggregate.RuleSelf},
		"one's own, where one may approve it": {nil, true, ""},
		"nobody else is listed":               {[]string{"U1"}, false, aggregate.RuleNobody},
		"somebody else is listed, too":        {[]string{"U1", "U2"}, false, ""},
	} {
		s := tenancy.DefaultSettings()
		if s.AllowSelfApproval = tt.self; tt.listed != nil {
			s.Approvers = tenancy.Approvers{Mode: aggregate.ApproversList, Users: tt.listed}
		}
		c, err := proposing("make", s)(of, "", by, s.Policy("T1"), noon())
		refused, _ := errors.AsType[aggregate.ErrNotAllowed](err)
		expect.That(t, refused.Rule == tt.want && (err == nil) == (tt.want == "") && c.Empty() == (err != nil), "%s: %v",
			name, err)
	}
}

type keyed struct {
	delegating
	a *call.Aggregate
}

func (s *keyed) Load(context.Context, aggregate.Ref) (aggregate.Aggregate, error) { return s.a, nil }
func (s *keyed) DecideFrom(_ context.Context, a aggregate.Aggregate,
	decide aggregate.Decision[aggregate.Aggregate]) (aggregate.Aggregate, error) {
	c, err := decide(a)
	if err == nil && !c.Empty() {
		s.a = s.a.After(c).(*call.Aggregate)
	}
	return s.a, err
}

// keyedCall is a call that asker's key asked for, which one person is asked to stamp.
func keyedCall(t *testing.T, asker, asks string) (s *keyed, maker Maker, who func(string) circulation.Person) {
	t.Helper()
	d := &drawn{now: noon()}
	who = func(user string) circulation.Person { return circulation.Person{User: user} }
	k := tenancy.Key{ID: "k1", TenantID: "T", Team: "T1", Name: "agent", Answers: asker, Channel: "CMINE",
		Tools: []string{"Bash"}, QuotaDay: 9, ExpiresAt: noon().AddDate(0, 1, 0)}
	x := call.Proposal{Key: k, Content: call.Content{Key: "k1", Answers: asker, Tool: "Bash", Elsewhere: true,
		Called: conversation.Called{ToolVersion: strings.Repeat("a", 64), Access: aggregate.Write}},
		Terms: aggregate.Terms{ApprovalRequired: true, DecideBy: new(noon().Add(time.Hour)), ApprovalHours: 24}}
	members := expect.Value(call.Members([]byte(`{"command":"rm x"}`)))(t)
	var err error
	x.Content.Arguments, x.Effect, err = call.Digest(members, nil)
	expect.NoError(t, err)
	o := aggregate.Opening{Rule: circulation.Rule{ID: "r", Name: "rule", Revision: 1},
		Askers: []circulation.Person{who(asker)},
		Route: circulation.Route{Form: circulation.Form, Stages: []circulation.Stage{{Name: "one",
			Mode: circulation.ModePeople, Need: 1, People: []circulation.Person{who(asks)}}}}}
	x.LooksUp = true
	c := expect.Value(x.Ask(noon()))(t)
	s = &keyed{a: (&call.Aggregate{}).After(c).(*call.Aggregate)}
	c = expect.Value(s.a.Route(s.a.Head.Run, call.Routed{Opening: &o, Terms: x.Terms}, noon()))(t)
	s.a = s.a.After(c).(*call.Aggregate)
	return s, Maker{Store: s, People: &people.People{Slack: member{}, Now: d.clock}, Now: d.clock},
		who
}

// stoodIn returns what became of a stamp that hand gave for principal by a delegation that setBy set, on such a call.
func stoodIn(t *testing.T, asker, principal, hand, setBy string) error {
	t.Helper()
	s, maker, who := keyedCall(t, asker, principal)
	in := circulation.StandIn{Hand: who(hand), Principal: who(principal), SetBy: circulation.Person{User: setBy},
		Begins: noon().Add(-time.Hour), Ends: noon().Add(time.Hour)}
	in.Key, in.Rev = in.Hand.User+"#"+in.Principal.User+"#2026-11-25", 1
	s.all = []circulation.StandIn{in}
	click := Click{Want: people.Want{User: hand}, Ref: s.a.Ref(), ID: s.a.Head.CallID, Stage: 1}
	return maker.Decide(t.Context(), click, Approve).Err
}

// Who answers for a key chooses nobody who stamps its calls for somebody else.
func TestWhoAnswersForAKeyChoosesNoStandIn(t *testing.T) {
	for setBy, may := range map[string]bool{"U1": false, "U2": true} {
		err := stoodIn(t, "U1", "U2", "U3", setBy)
		expect.That(t, (err == nil) == may, "set by %s: %v", setBy, err)
	}
}

// delegating is a store with one gate and some delegations.
type delegating struct {
	faster
	all []circulation.StandIn
}

func (d *delegating) StandIns(_ context.Context, _, hand string) (out []circulation.StandIn, _ error) {
	for _, s := range d.all {
		if s.Hand.User == hand {
			out = append(out, s)
		}
	}
	return out, nil
}

// drawn is a gate at random with delegations at random.
type drawn struct {
	*rand.Rand
	now time.Time
}

func (d *drawn) chance(percent int) bool { return d.IntN(100) < percent }

// person draws one of eight people.
func (d *drawn) person() circulation.Person {
	return circulation.Person{User: fmt.Sprint("U", 1+d.IntN(8))}
}

func (d *drawn) gate() (aggregate.Gate, error) {
	o := aggregate.Opening{Rule: circulation.Rule{ID: "r", Name: "rule", Revision: 1},
		Route: circulation.Route{Form: circulation.Form}, Askers: []circulation.Person{d.person()}}
	for range 1 + d.IntN(2) {
		s := circulation.Stage{Name: "stage", Mode: circulation.ModePeople, Need: 1 + d.IntN(2)}
		for range 1 + d.IntN(3) {
			if p := d.person(); !slices.ContainsFunc(s.People, p.Is) {
				s.People = append(s.People, p)
			}
		}
		o.Route.Stages = append(o.Route.Stages, s)
	}
	last := circulation.Stage{Name: "last", Mode: circulation.ModePeople, Need: 1,
		People: []circulation.Person{{User: "U9"}}} // no stamp that is tried settles it
	o.Route.Stages = append(o.Route.Stages, last)
	g := aggregate.Gate{Status: aggregate.PendingApproval, AskedAt: &d.now,
		Terms: aggregate.Terms{ApprovalRequired: true, ApprovalHours: 48}}
	return g.Under(o, []string{o.Askers[0].User}, func(*aggregate.Gate) string { return aggregate.HashOf("policy") })
}

func (d *drawn) delegations() (all []circulation.StandIn) {
	for range 1 + d.IntN(4) {
		s := circulation.StandIn{Hand: d.person(), Principal: d.person(), Begins: d.now.Add(-time.Hour),
			Ends: d.now.Add(time.Hour)}
		if s.Hand.Is(s.Principal) {
			continue
		}
		if s.SetBy = s.Principal; d.chance(20) {
			s.SetBy = d.person()
		}
		if d.chance(10) {
			s.Begins = d.now.Add(time.Minute)
		}
		s.Key, s.Rev = s.Hand.User+"#"+s.Principal.User+"#2026-11-25", 1
		all = append(all, s)
	}
	return all
}

func (d *drawn) clock() time.Time { return d.now }

// Whoever is listed to stand in for somebody is admitted when they stamp, and nobody else is: by the list of one
// person, which the inbox, the Home tab and the console have, and by that of a gate's stage, which cards and reminders
// have.
func TestWhoeverIsListedToStandInIsAdmitted(t *testing.T) {
	listed, refused := 0, 0
	for n := range uint64(3000) {
		d := &drawn{Rand: rand.New(rand.NewPCG(expect.Seed(), n)), now: noon()}
		g, err := d.gate()
		if err != nil {
			continue
		}
		ref, gate := task.RefOf("T", aggregate.NewID()), aggregate.NewID()
		a := &task.Aggregate{
			Head:    task.Head{Head: aggregate.Head{TenantID: "T", Requester: g.Askers[0].User}, TaskID: ref.ID},
			Request: &task.Request{TeamID: "T1", User: g.Askers[0].User, Channel: "CMINE", ChannelType: "channel"},
			Task:    &task.Task{ID: ref.ID}, Prompts: []*task.Prompt{{ID: "P", Version: 1, Content: "policy"}},
			Processes: []*task.Process{{ID: gate, Version: 1, Gate: g}},
		}
		a.Processes[0].AskedSum = aggregate.HashOf(a.AskedText(a.Processes[0]))
		g = a.Processes[0].Gate
		rows := &delegating{faster{rows: []*task.Aggregate{a}}, d.delegations()}
		maker := Maker{Store: rows, People: &people.People{Slack: member{}, Now: d.clock}, Now: d.clock}
		c := g.Circulating()
		st := circulation.Walk(c)
		for user := range hands(rows.all) {
			own := expect.Value(StandInsOf(t.Context(), rows, "T", user, d.now))(t)
			principal, stage := own.Owes(&g, a.Askers()...)
			v := maker.Check(t.Context(), Click{Want: people.Want{User: user}, Ref: ref, ID: gate,
				Stage: st.Present}, instead)
			admitted := v.Err == nil && !v.Empty
			shown := slices.ContainsFunc(st.StoodFor(&c, circulation.Beside(own.all, a.Askers()...)),
				func(f circulation.StandIn) bool { return f.Hand.User == user })
			expect.Must(t, shown == admitted && admitted == (stage > 0) && admitted == (principal != ""),
				"seed %d, %d: %s is shown %v, listed for %q, admitted %v: %v\n%+v\n%+v", expect.Seed(), n, user, shown, principal,
				admitted, v.Err, g.Route, rows.all)
			if admitted {
				listed++
			} else {
				refused++
			}
		}
	}
	expect.That(t, listed > 150 && refused > 150, "%d listed, %d not", listed, refused)
}

func hands(all []circulation.StandIn) map[string]bool {
	users := map[string]bool{}
	for _, s := range all {
		users[s.Hand.User] = true
	}
	return users
}

// instead is a stamp that counts only for somebody else.
func instead(a Subject, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
	if g := a.Asked(id).Gate; !g.NeedsStandIn(by.ID) {
		return aggregate.Change{}, nil
	}
	return Approve(a, id, by, p, now)
}
