package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ringi/shared/decide"
	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/organisation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
	"ringi/shared/tool"
)

// ruledWorld is a conversation of U1 in channel C1 under a tenant's rules.
type ruledWorld struct {
	*world
	reads int // how often the rules were read
}

// noting is a store that counts the reads of rules.
type noting struct {
	Store
	w *ruledWorld
	s tenancy.Settings
}

func (n noting) Settings(ctx context.Context, tenant string) (tenancy.Settings, error) {
	row, err := n.w.Rows.KindStore.Store.Settings(ctx, tenant)
	s := n.s
	s.Rev, s.RulesRev = row.Rev, row.RulesRev
	return s, err
}

func (n noting) Rules(ctx context.Context, tenant string) (*rules.Rules, int, error) {
	n.w.reads++
	return n.w.Rows.KindStore.Store.Rules(ctx, tenant)
}

func inChannel(t *testing.T, server *storetest.Server, locale string, change func(*tenancy.Settings)) *ruledWorld {
	t.Helper()
	in := inbound(root, "U1", "please list employees")
	in.Channel, in.ChannelType = "C1", "channel"
	w := &ruledWorld{world: talkingOf(t, server, in, conversation.Opening{AgentID: "codex", Locale: locale}, change)}
	s := tenancy.DefaultSettings()
	change(&s)
	s.Locale = locale
	w.Store, w.Catalog = noting{joined{w.Store}, w, s}, tool.Builtin
	w.vendor.says.Calls = script()
	return w
}

func unset(*tenancy.Settings) {}

// script proposes a command, which changes nothing outside.
func script() []model.Call {
	return []model.Call{{ID: "c1", Name: "shell_command",
		Input: json.RawMessage(`{"script":"ls","timeout_seconds":60,"summary":"lists"}`)}}
}

func asks(who rules.Who) rules.Outcome {
	return rules.Outcome{Route: &rules.Policy{Stages: []rules.Stage{
		{Name: "経理", Who: who, Need: 1, Empty: rules.EmptyRefuse}}}}
}

func ofPeople(users ...string) rules.Who { return rules.Who{Kind: rules.WhoPeople, People: users} }

func ofGroup() rules.Who { return rules.Who{Kind: rules.WhoGroup, Group: "S0KEIRI"} }

// saved saves one rule of a kind over revision rev.
func (w *ruledWorld) saved(rev int, kind rules.Kind, o rules.Outcome) {
	w.T.Helper()
	x := &rules.Rules{Form: rules.Form, Floor: rules.Floor{Stamps: 1}, Rules: []rules.Rule{{
		ID: "01KS000000000000000000000A", Name: "操作", When: rules.Conditions{Kinds: []rules.Kind{kind}}, Outcome: o}}}
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: "U9", Team: "T1"}
	_, _, err := w.Rows.KindStore.Store.SaveRules(w.T.Context(), w.Ref.Tenant, x, rev, nil, by, w.Now())
	expect.NoError(w.T, err)
}

func (w *ruledWorld) proposes() *conversation.Action {
	w.T.Helper()
	expect.Value(w.handle())(w.T)
	return w.Load().Current()
}

// Empty says that others are in every channel.
func (group) Empty(string, []circulation.Person, string) bool { return false }

// finds has Slack say who is in the group.
func (w *ruledWorld) finds(users ...string) {
	w.LookUp = func(_ context.Context, team string, _ *decide.Organisation, do func(d decide.Seats) error) error {
		expect.Is(w.T, team, "T1")
		return do(group{users})
	}
}

func TestWithoutRulesForActionsNothingIsReadAndTheSettingsDecide(t *testing.T) {
	server := storetest.Start(t)
	w := inChannel(t, server, "en", unset)
	x := w.proposes()
	expect.That(t, x != nil && !x.Gate.Ruled() && w.reads == 0, "%+v after %d reads", x, w.reads)

	steps := inChannel(t, server, "en", unset)
	steps.saved(0, rules.KindSteps, rules.Outcome{Refuse: "no"})
	x = steps.proposes()
	expect.That(t, x != nil && !x.Gate.Ruled() && x.Status == conversation.ActionPending, "rules for steps alone: %+v", x)
	expect.Is(t, steps.reads, 1)
}

func TestARuleSaysWhoIsAskedAboutAnAction(t *testing.T) {
	server := storetest.Start(t)
	for name, c := range map[string]struct {
		o    rules.Outcome
		find func(w *ruledWorld)
		want string // who is asked
	}{
		"people":            {asks(ofPeople("U2", "U1", "U3")), nil, "U2 U3"},
		"a group":           {asks(ofGroup()), func(w *ruledWorld) { w.finds("U1", "U2") }, "U2"},
		"nobody but askers": {asks(ofPeople("U1")), nil, ""},
	} {
		w := inChannel(t, server, "ja", func(s *tenancy.Settings) {
			s.Approvers = tenancy.Approvers{Mode: aggregate.ApproversList} // nobody, without rules
		})
		if c.find != nil {
			c.find(w)
		}
		w.saved(0, rules.KindAction, c.o)
		x := w.proposes()
		if c.want == "" {
			expect.That(t, x == nil, "%s: %+v", name, x)
			expect.Has(t, w.Newest().Content, "ルール「操作」の段階「経理」に必要な人がいないため")
			continue
		}
		expect.Must(t, x != nil && x.Gate.Ruled() && x.Status == conversation.ActionPending, "%s: %+v", name, x)
		var asked []string
		for _, p := range x.Gate.Route.Stages[0].People {
			asked = append(asked, p.User)
		}
		expect.Is(t, strings.Join(asked, " "), c.want, name)
		expect.That(t, x.Gate.Terms.Rule.Name == "操作" && x.Gate.Terms.Rule.Revision == 1 && x.Gate.AskedSum != "",
			"%s: %+v", name, x.Gate)
		expect.Is(t, w.reads, 1, name, "reads")
		_, err := w.handle() // Step Functions may call twice
		expect.That(t, err == nil && w.Load().Conversation.Actions == 1, "%s: it is proposed again: %v", name, err)
	}
}

func TestARuleMayRefuseAnActionAndSaysWhy(t *testing.T) {
	server := storetest.Start(t)
	for locale, want := range map[string]string{
		"ja": "ルール「操作」により、この操作は提案できません。購買部へ。",
		"en": "Rule “操作” doesn't let this action be proposed. 購買部へ。",
	} {
		w := inChannel(t, server, locale, unset)
		w.saved(0, rules.KindAction, rules.Outcome{Refuse: "購買部へ。"})
		x := w.proposes()
		a := w.Load()
		expect.That(t, x == nil && a.Conversation.Actions == 0 && a.Conversation.Refused == 1, "%s: %+v", locale, x)
		expect.Is(t, w.Newest().Content, want)
		expect.That(t, len(a.Inbox) == 1 && a.Next(w.Now()).State == conversation.StateAnswer, "the agent isn't told")
	}
}

// staff is an organisation of which U2 has left.
const staff = `employee_number,name,email,department_code,parent_department,position,rank,employment,valid_to,status
1,U1,u1@example.com,HQ,,,,employee,,
2,U2,u2@example.com,HQ,,,,employee,2020-01-31,
3,U4,u4@example.com,HQ,,,,employee,,leave
`

// Who asks without a row of that day gets a sentence, before a model is paid; others are answered as ever.
func TestWhoHasNoRowIsToldBeforeAModelIsPaid(t *testing.T) {
	server := storetest.Start(t)
	for name, c := range map[string]struct {
		accounts map[string]string // numbers by account
		said     string            // also by U2; empty: nothing
		want     string            // empty: the model is asked
	}{
		"has a row": {map[string]string{"1": "U1"}, "", ""},
		"has none":  {nil, "", "Who asks isn't in today's organisation table (not in it, left, or not begun yet)"},
		"on leave":  {map[string]string{"3": "U1"}, "", "Who asks is on leave or seconded"},
		"left":      {map[string]string{"2": "U1"}, "", "Who asks isn't in today's organisation table"},
		"another, who left, writes before it is answered": {map[string]string{"1": "U1", "2": "U2"}, "and me too",
			"Who asks isn't in today's organisation table"},
	} {
		w := inChannel(t, server, "en", unset)
		w.saved(0, rules.KindAction, asks(ofPeople("U3")))
		w.staffed(c.accounts)
		if c.said != "" {
			w.Tell("1776675650.000100", "U2", c.said)
		}
		expect.Value(w.handle())(t)
		if c.want == "" {
			expect.Is(t, len(w.vendor.requests), 1, name)
			continue
		}
		expect.Is(t, len(w.vendor.requests), 0, name)
		expect.Has(t, w.Newest().Content, c.want)
		if c.said != "" { // U1's message is answered next, without the words of U2, who asks for nothing
			expect.Is(t, len(w.Load().Waiting()), 1, name)
			expect.Value(w.handle())(t)
			expect.Is(t, len(w.vendor.requests), 1, name)
			sent := fmt.Sprint(w.vendor.requests[0])
			expect.That(t, !strings.Contains(sent, c.said) && !strings.Contains(sent, c.want), "%s: %s", name, sent)
			expect.That(t, !slices.Contains(w.Load().RouteAskersAfter(nil, ""), "U2"), "%s: U2 asks", name)
		}
	}
}

func (w *ruledWorld) staffed(accounts map[string]string) {
	w.T.Helper()
	people := expect.Value(organisation.Read([]byte(staff)))(w.T)
	m := people.Match(nil, organisation.DateOf(w.Now()))
	for number, user := range accounts {
		m.Accounts[number] = append(m.Accounts[number], organisation.Matched{ID: user})
	}
	w.Organisation = func(context.Context, string) (decide.StandingOrganisation, error) {
		return decide.StandingOrganisation{Organisation: &decide.Organisation{Version: "v1", People: people,
			Accounts: m.Kept()}}, nil
	}
}

func TestRulesThatChangeWhileTheAgentAnswersAreReadAgain(t *testing.T) {
	w := inChannel(t, storetest.Start(t), "en", unset)
	w.saved(0, rules.KindAction, rules.Outcome{Refuse: "no"})
	w.vendor.asked = func() { w.saved(1, rules.KindAction, asks(ofPeople("U2"))) }
	x := w.proposes()
	expect.That(t, x != nil && len(w.vendor.requests) == 1, "%+v after %d requests", x, len(w.vendor.requests))
	expect.That(t, x.Gate.Ruled() && x.Gate.Terms.Rule.Revision == 2, "%+v", x.Gate)

	began := inChannel(t, storetest.Start(t), "en", unset)
	began.vendor.asked = func() { began.saved(0, rules.KindAction, asks(ofPeople("U2"))) }
	x = began.proposes()
	expect.That(t, x != nil && x.Gate.Ruled(), "rules that begin meanwhile: %+v", x)
}

// Somebody whose words the agent is shown meanwhile is asked about nothing that it proposes then.
func TestWhoProposesWhileTheAgentAnswersCountsAsAnAsker(t *testing.T) {
	w := inChannel(t, storetest.Start(t), "en", unset)
	w.saved(0, rules.KindAction, asks(ofPeople("U1", "U2")))
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: "U3", Team: "T1", Member: true}
	policy := aggregate.Policy{Team: "T1", Mode: aggregate.ApproversChannel, AllowSelf: true}
	w.vendor.says.Calls = script()
	w.vendor.asked = func() {
		text := aggregate.JSON(`{"script":"ls","timeout_seconds":60,"base":""}`)
		w.Do(func(a *conversation.Aggregate) (aggregate.Change, error) {
			return a.Propose(conversation.Proposal{Type: conversation.ShellCommand,
				Payload: aggregate.Blob{JSON: text, Bytes: len(text)}, Seconds: 60, Summary: "ls",
				Terms: w.settings().ActionTerms("", w.Now())}, by, policy, w.Now())
		})
		w.Do(func(a *conversation.Aggregate) (aggregate.Change, error) {
			return a.Cancel(a.Current().ActionID, by, policy, w.Now())
		})
	}
	x := w.proposes()
	expect.Must(t, x != nil && x.Gate.Ruled() && len(w.vendor.requests) == 1, "%+v", x)
	expect.Is(t, len(x.Gate.Askers), 2, x.Gate.Askers)
}

// What the settings approve goes without a person only where no rule but the last takes it.
func TestWhatTheSettingsApproveGoesUnlessARuleTakesIt(t *testing.T) {
	server := storetest.Start(t)
	test := []model.Call{{ID: "c1", Name: "test_run",
		Input: json.RawMessage(`{"argv":["npm","test"],"timeout_seconds":60,"summary":"tests"}`)}}
	for name, c := range map[string]struct {
		tools *rules.Tools
		auto  int // how many went without a person before
		want  string
	}{
		"the last rule":            {&rules.Tools{Use: rules.UseWriting}, 0, "auto"},
		"the last rule, once more": {&rules.Tools{Use: rules.UseWriting}, 10, "last"},
		"another rule":             {nil, 0, "01KS000000000000000000000A"},
	} {
		w := inChannel(t, server, "en", func(s *tenancy.Settings) {
			s.AutoActions = []agent.AutoRule{{Type: agent.TestRun, Argv: []string{"npm", "test"}, Place: "C1"}}
		})
		x := &rules.Rules{Form: rules.Form, Floor: rules.Floor{Stamps: 1}, Rules: []rules.Rule{{
			ID: "01KS000000000000000000000A", Name: "操作", Outcome: asks(ofPeople("U2")),
			When: rules.Conditions{Kinds: []rules.Kind{rules.KindAction}, Tools: c.tools}}}}
		by := aggregate.Actor{Type: aggregate.ActorUser, ID: "U9", Team: "T1"}
		_, _, err := w.Rows.KindStore.Store.SaveRules(t.Context(), w.Ref.Tenant, x, 0, nil, by, w.Now())
		expect.NoError(t, err)
		w.Do(func(a *conversation.Aggregate) (aggregate.Change, error) {
			s, head := *a.Conversation, a.Head
			s.Unasked = c.auto
			in := *a.Inbox[0]
			if c.auto > 0 {
				in.User = "" // the system's word on the last result
			}
			return aggregate.Change{Head: &head, Rows: []aggregate.Row{&s, &in}}, nil
		})
		w.vendor.says.Calls = test
		w.finds()
		got := w.proposes()
		expect.Must(t, got != nil, "%s: nothing is proposed, %s", name, w.Newest().Content)
		if c.want == "auto" {
			expect.That(t, got.ApprovedBy == conversation.ApprovedByAuto && !got.Gate.Ruled() && got.Rule != "", "%s: %+v",
				name, got)
			continue
		}
		expect.That(t, got.Status == conversation.ActionPending && got.Rule == "" && got.Gate.Ruled(), "%s: %+v", name, got)
		expect.Is(t, got.Gate.Terms.Rule.ID, c.want, name)
	}
}

func TestAWriteThatNoRuleTakesIsRefusedByTheLast(t *testing.T) {
	w := inChannel(t, storetest.Start(t), "en", unset)
	w.saved(0, rules.KindSteps, asks(ofPeople("U2")))
	w.saved(1, rules.KindAction, asks(ofPeople("U2")))
	x := &rules.Rules{Form: rules.Form, Floor: rules.Floor{Stamps: 1}, Rules: []rules.Rule{{
		ID: "01KS000000000000000000000A", Name: "操作", Outcome: asks(ofPeople("U2")), When: rules.Conditions{
			Kinds: []rules.Kind{rules.KindAction}, Places: &rules.Places{Channels: []string{"C2"}}}}}}
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: "U9", Team: "T1"}
	_, _, err := w.Rows.KindStore.Store.SaveRules(t.Context(), w.Ref.Tenant, x, 2, nil, by, w.Now())
	expect.NoError(t, err)
	w.vendor.says.Calls = []model.Call{wish("send_slack_dm", `{"recipient":"U002","text":"welcome","details":[]}`)}
	got := w.proposes()
	expect.That(t, got == nil, "%+v", got)
	expect.Has(t, w.Newest().Content, "Rule “Everything else” doesn't let this action be proposed.")

	w.vendor.says.Calls = script()
	w.finds()
	got = w.proposes()
	expect.That(t, got != nil && got.Gate.Route.Stages[0].Name == "One of the channel", "a command: %+v", got)
}

// In direct messages a channel's stage asks the home. Without one the proposal is refused when it is made, and the
// conversation goes on.
func TestAProposalInDirectMessagesAsksTheHome(t *testing.T) {
	server := storetest.Start(t)
	channel := asks(rules.Who{Kind: rules.WhoChannel})
	channel.Route.Stages[0].Empty = rules.Empty{}
	channel.Route.Stages = append(channel.Route.Stages, asks(ofPeople("U3")).Route.Stages...)
	for name, c := range map[string]struct {
		home rules.Home
		who  rules.Outcome
		told []string
	}{
		"no home":             {rules.Home{}, channel, nil},
		"a channel":           {rules.Home{Channel: "CHOME"}, channel, []string{"CHOME"}},
		"people":              {rules.Home{Users: []string{"U1", "U2"}}, channel, []string{"U1", "U2"}},
		"named people, alone": {rules.Home{}, asks(ofPeople("U2")), nil},
	} {
		w := inChannel(t, server, "en", func(s *tenancy.Settings) { s.DirectApprovers = c.home })
		w.saved(0, rules.KindAction, c.who)
		w.Do(func(a *conversation.Aggregate) (aggregate.Change, error) {
			s, head := *a.Conversation, a.Head
			s.ChannelType = "im"
			return aggregate.Change{Head: &head, Rows: []aggregate.Row{&s}}, nil
		})
		w.finds()
		x := w.proposes()
		expect.Same(t, w.Load().Conversation.ShownTo, c.told)
		if name == "no home" {
			expect.That(t, x == nil, "%+v", x)
			expect.Has(t, w.Newest().Content, "“Approvers of direct messages” isn't set")
			continue
		}
		expect.Must(t, x != nil && x.Gate.Ruled(), "%s: %+v", name, x)
		expect.Is(t, x.Gate.Home, c.home.Channel, name)
		people := x.Gate.Route.Stages[0].People
		expect.That(t, c.home.Channel != "" || len(people) == 1 && people[0].User == "U2", "%s: %+v", name, people)
	}
}

// group is a directory of one user group, where no organisation stands.
type group struct{ users []string }

func (group) Org() string                           { return "" }
func (group) Person(user string) circulation.Person { return circulation.Person{User: user} }
func (g group) Members(string) []string             { return g.users }
func (group) Handle(id string) string               { return id }
func (group) Employment(circulation.Person, string) rules.Employment {
	return rules.EmploymentEmployee
}
func (group) Manager(circulation.Person, string) (circulation.Person, bool) {
	return circulation.Person{}, false
}
func (group) Topmost(circulation.Person, string) bool             { return false }
func (group) Knows(string, string) bool                           { return true }
func (group) OnlyIn([]string, string) string                      { return "" }
func (group) Holders(string, string, string) []circulation.Person { return nil }
func (group) OnLeave(string, string, string) []circulation.Person { return nil }
func (group) Over(string, string, string) (circulation.Person, bool) {
	return circulation.Person{}, false
}
func (group) Here(circulation.Person, string) bool                       { return true }
func (group) Departments(circulation.Person, string) []string            { return nil }
func (group) Department(circulation.Person, string) string               { return "" }
func (group) Position(circulation.Person, string) string                 { return "" }
func (group) LeaveAbove(circulation.Person, string) []circulation.Person { return nil }
func (group) CodeOf(string, string) string                               { return "" }
func (group) NameOf(department string) string                            { return department }
func (group) Absences(circulation.Person, string) []circulation.StandIn  { return nil }
func (group) StandsOver(string, string, string) bool                     { return false }
func (group) Outranks(circulation.Person, string, string) bool {
	return false
}
