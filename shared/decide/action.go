package decide

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/organisation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/slack/card"
	"ringi/shared/words/language"
)

// Action is what is about to be asked: an action that an agent or a person proposes.
type Action struct {
	Conversation *conversation.Conversation
	Askers       []string // along a route, the latest first: at least one
	Type         agent.ActionType
	Calls        []rules.Call // one of a tool_call, else none
	Now          time.Time
	Home         rules.Home
	// Typed says that a person proposes it at once: then nobody asks whether others are in the channel.
	Typed bool
	// Organised reports whether an organisation stands. Then ByIDs finds nobody.
	Organised bool
}

// FoundFor is what the rules say about an action or a call.
type FoundFor struct {
	Found
	// Unruled says that no rule but the last takes the action: what the settings approve goes without a person.
	Unruled bool
}

// facts returns what the rules may know of it.
func (x *Action) facts(r *rules.Rules, d Seats) *rules.Facts {
	f := &rules.Facts{
		Kind: rules.KindAction, Place: x.Conversation.RulesPlace(), Calls: x.Calls,
		On: organisation.DateOf(x.Now.In(tenancy.Zone())).String(), Inside: x.Type.Inside(),
		Home: x.Home, Spoken: true,
	}
	for _, user := range x.Askers {
		f.Askers = append(f.Askers, d.Person(user))
	}
	latest := ""
	if len(x.Askers) > 0 {
		latest = x.Askers[0]
	}
	AskedBy(f, r, d, latest)
	return f
}

// ShownTo is Steps.ShownTo for whatever may be proposed in a conversation in direct messages.
func (x *Action) ShownTo(r *rules.Rules) []string { return shownTo(r, x.facts(r, ids{}), ids{}) }

// ByIDs finds whom the rules ask, as far as they name everybody themselves. What must be looked up is not Unruled.
func (x *Action) ByIDs(r *rules.Rules) (FoundFor, error) {
	f := x.facts(r, ids{})
	answer := namedIn(r.Match(f), x.Conversation.Locale)
	switch {
	case x.Organised || answer.Unsure:
		return FoundFor{Found: Found{LookUp: &answer.Rule}}, nil
	case answer.Route != nil && !answer.Route.OfIDs(x.known(f)...):
		return FoundFor{Found{LookUp: &answer.Rule}, answer.Last}, nil
	}
	found, err := resolve(r, answer, f, ids{})
	return FoundFor{found, answer.Last}, err
}

// known returns the kinds of stages that are known without asking Slack.
func (x *Action) known(f *rules.Facts) []rules.WhoKind {
	if x.Typed && !f.Place.Direct {
		return []rules.WhoKind{rules.WhoChannel}
	}
	return nil
}

// By finds whom the rules ask.
func (x *Action) By(r *rules.Rules, d Seats) (FoundFor, error) {
	f := x.facts(r, d)
	answer := namedIn(r.Match(f), x.Conversation.Locale)
	found, err := resolve(r, answer, f, d)
	return FoundFor{found, answer.Last}, err
}

// Refusal returns the error by which such a refusal is told, or nil.
func (f *FoundFor) Refusal() error {
	if f.Refused == nil {
		return nil
	}
	return conversation.ErrByRules{Why: f.Refused.Why, Rule: f.Refused.Rule, Detail: f.Refused.Detail}
}

// mostKept is up to how many bytes, as JSON, a gate's row has of calls with their destinations.
const mostKept = 64 << 10

// CallsOf returns what the rules may know of the calls of these steps, and the rows of their tools, whose marks say so:
// a Change that relies on the calls relies on those.
func CallsOf(tenant string, steps []task.Step, permissions []tenancy.ToolPermission) (calls []rules.Call,
	on []aggregate.Owned) {
	for _, s := range steps {
		p := tenancy.Unsaved(tenant, s.Tool)
		if i := slices.IndexFunc(permissions, func(p tenancy.ToolPermission) bool { return p.ToolName == s.Tool }); i >= 0 {
			p = permissions[i]
		}
		calls = append(calls, p.Call(s.ToolVersion, s.Access, s.ToolInput, s.Mark))
		row := aggregate.Owned{Key: tenancy.ToolKey(s.Tool), Rev: p.Rev, Err: aggregate.ErrSettings}
		if !slices.Contains(on, row) {
			on = append(on, row)
		}
	}
	return calls, on
}

// Kept returns what a gate's row has of the calls while its people are looked up. If that is too much, the destinations
// are left out, so that they may be anywhere.
func Kept(calls []rules.Call) []rules.Call {
	text, err := json.Marshal(calls)
	if err == nil && len(text) <= mostKept {
		return calls
	}
	calls = slices.Clone(calls)
	for i := range calls {
		calls[i].Destinations = nil
	}
	return calls
}

// again returns how a step's gate opens if the rule that takes its call is the one by which the steps were settled, at
// whatever revision: by one stamp of anybody for whom their last stage was stamped. It returns nil if that is another
// rule, if the steps' stamps are below the floor for what is known now, or if nobody is left who may stamp. Then the
// rule's route is gone from its beginning.
func (x *Steps) again(r *rules.Rules, answer rules.Answer, f *rules.Facts, d Seats) *aggregate.Opening {
	s := x.Settled
	if s == nil || answer.Refused || answer.Rule.ID != s.Rule.ID || !r.Floor.Allows(f, s.Stamps, s.Hands) {
		return nil
	}
	now := *s
	now.Rule, now.Org = answer.Rule, d.Org()
	others := slices.ContainsFunc(answer.Route.Stages, func(stage rules.Stage) bool { return stage.Others })
	var people []circulation.Person
	for _, p := range s.Desk.People {
		is := d.Person(p.User)
		is.Via = p.Via
		standing := d.Employment(is, f.On)
		may := standing == rules.EmploymentEmployee || standing == rules.EmploymentOther && others
		if may && (now.Org == "" || is.Person != "") && !slices.ContainsFunc(f.Askers, is.Is) {
			people = append(people, is)
		}
	}
	if len(people) == 0 {
		return nil
	}
	now.Askers = slices.Clone(f.Askers)
	for _, p := range s.Askers {
		if !slices.ContainsFunc(now.Askers, p.Is) {
			now.Askers = append(now.Askers, p)
		}
	}
	o := now.Opening(people)
	return &o
}

// Pick replaces the waiting policy by another team's submission, which the person has read. If the next card could not
// show all of its text it returns explain.ErrMalformedForm: no card offers such a submission. unread is the error of
// reading the text, if any.
func Pick(team, content string, unread error) Act {
	return Gate(task.CardPrompt, on(func(a *task.Aggregate, id string, by aggregate.Actor, p aggregate.Policy,
		now time.Time) (aggregate.Change, error) {
		switch {
		case unread != nil:
			return aggregate.Change{}, unread
		case !card.Stampable(content):
			return aggregate.Change{}, explain.ErrMalformedForm
		}
		name := team
		for _, row := range a.Prompts {
			if e := row.Contest.Entry(team); row.ID == id && e != nil {
				name = e.TeamName
			}
		}
		terms, _ := a.TermsOf(id)
		return a.PickDraft(id, team, content, card.PickReason(terms.Locale, name), by, p, now)
	}))
}

// TakeBest ends the contest that drafts a policy with its best draft so far, if there is one.
func TakeBest(scored bool) Act {
	return on(func(a *task.Aggregate, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change,
		error) {
		return a.TakeBest(id, scored, by, p, now)
	})
}

// MayPick checks whether the person may replace the waiting policy: they must be allowed to reject it, and somebody
// must remain who may approve theirs. Its change is never committed.
func MayPick() Act {
	return Gate(task.CardPrompt, func(a Subject, id string, by aggregate.Actor, p aggregate.Policy,
		now time.Time) (aggregate.Change, error) {
		change, err := MayReject(a, id, by, p, now)
		if err == nil {
			err = p.Author(by)
		}
		return change, err
	})
}

// ErrTyped refuses a person's own proposal for what they typed.
type ErrTyped struct{ Faults []conversation.OwnFault }

func (e ErrTyped) Error() string {
	return fmt.Sprintf("%s, and %d more", e.Faults[0].Sentence(language.English), len(e.Faults)-1)
}

// Unwrap makes the refusal one of a field.
func (e ErrTyped) Unwrap() error {
	return aggregate.ErrField{Field: string(e.Faults[0].Field), Limit: e.Faults[0].Sentence(language.English)}
}

// MayPropose checks whether a person may propose an action of their own now, before they type one. Its change is never
// committed.
func MayPropose(a Subject, _ string, by aggregate.Actor, p aggregate.Policy, _ time.Time) (aggregate.Change, error) {
	of, is := a.(*conversation.Aggregate)
	if !is {
		return aggregate.Change{}, aggregate.ErrNotFound
	}
	if of.Current() != nil {
		return aggregate.Change{}, conversation.ErrPending
	}
	return aggregate.Change{}, p.Request(by)
}

// Propose makes a person's own proposal of an action in a conversation. It waits for approval as an agent's does, and
// the person counts as who asked for it. A proposal to write a file beside others waits for a run, which can read them;
// form identifies the form, which counts once. The verdict's error is ErrTyped for what they typed,
// aggregate.ErrNotAllowed also if nobody could approve it, and conversation.ErrByRules for what the tenant's rules
// refuse. What they ask of people who must be looked up waits for a run, too, which does that.
func (m Maker) Propose(ctx context.Context, c Click, form string, o conversation.Own) (v Verdict) {
	// Slack's bots have ids like people's. While Slack doesn't say who these are, they are people.
	if apps, err := m.People.Apps(ctx, c.Team, o.Authors); err == nil {
		o.Authors = slices.DeleteFunc(slices.Clone(o.Authors), func(id string) bool { return slices.Contains(apps, id) })
	}
	for range 2 { // the settings may change meanwhile
		t, err := m.tenant(ctx, c.Ref.Tenant)
		if err != nil && !errors.Is(err, aggregate.ErrSettings) {
			return Verdict{Err: err}
		}
		if v.Err = err; err == nil {
			v = m.Decide(ctx, c, proposing(form, o, t))
		}
		if !errors.Is(v.Err, aggregate.ErrSettings) {
			break
		}
	}
	return v
}

// tenant is what a person's own proposal depends on.
type tenant struct {
	tenancy.Settings
	rules *rules.Rules // nil: none that decide about actions
	// organised reports whether an organisation stands, by the row on.
	organised bool
	on        []aggregate.Owned
}

// tenant reads the settings, and the rules if the settings say that there are some. It returns aggregate.ErrSettings if
// one changed meanwhile.
func (m Maker) tenant(ctx context.Context, id string) (t tenant, err error) {
	if t.Settings, err = m.Store.Settings(ctx, id); err != nil {
		return t, fmt.Errorf("read the settings: %w", err)
	}
	if t.RulesRev == 0 {
		return t, nil
	}
	r, err := Rules(ctx, m.Store, id, t.Settings)
	if err != nil || r == nil || !r.Actions() {
		return t, err
	}
	organised, on, err := Organised(ctx, m.Store, id)
	t.rules, t.organised, t.on = r, organised, []aggregate.Owned{on}
	return t, err
}

func proposing(form string, o conversation.Own, t tenant) Act {
	return func(a Subject, _ string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
		of, is := a.(*conversation.Aggregate)
		if !is {
			return aggregate.Change{}, aggregate.ErrNotFound
		}
		def, _ := agent.Find(agent.Named(t.Agents), of.Conversation.AgentID)
		own, faults := o.Read(def, of.Conversation.On(), of.Conversation.KnowsFiles())
		if faults != nil {
			return aggregate.Change{}, ErrTyped{faults}
		}
		ruled := t.rules != nil && of.Conversation.ByRules(t.Settings)
		if !ruled {
			if err := t.Nobody(of.Origin(), by.ID); err != nil {
				return aggregate.Change{}, err
			}
		}
		if own.Payload.Bytes == 0 {
			return of.Type(form, o, by, p, now)
		}
		own.Terms = t.ActionTerms(of.Origin().Channel, now)
		if ruled {
			x := Action{Conversation: of.Conversation, Askers: of.RouteAskersAfter(nil, by.ID, o.Authors...),
				Type: own.Type, Now: now, Organised: t.organised, Home: t.DirectApprovers, Typed: true}
			found, err := x.ByIDs(t.rules)
			if err == nil {
				err = found.Refusal()
			}
			if err != nil {
				return aggregate.Change{}, err
			}
			if own.Opening, own.Rows = found.Opening, t.on; found.LookUp != nil { // a run asks Slack
				own.LookUp, own.Rows = &conversation.LookUp{Rule: *found.LookUp}, nil
			}
		}
		return of.Propose(own, by, p, now)
	}
}
