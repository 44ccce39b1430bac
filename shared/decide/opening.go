package decide

import (
	"cmp"
	"errors"
	"slices"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/words/language"
)

// Whom a gate asks is found in one way. The built-in rule's people are looked up at the click, so its gate opens with
// its content. Where a tenant has rules, the content is saved first, without deadline, index entry or copy. Then
// resume-task, and call-tool for a call, asks the rules, the organisation and Slack (Find), and opens the gate or ends
// what it belongs to. While Slack is silent it waits: a run as it does for who asks, a call for an hour. The commit
// that opens relies on the content's row, the settings' revision, the rows of the tools and of the organisation, so
// what changed meanwhile is asked anew. Where the rules have ended meanwhile, the built-in one takes over.
//
// Askers are the requester and whoever filled in the form again; who picked the draft, or whose words models were
// shown, is none. Whoever rejects asks for nothing, since one rejection would otherwise take an approver away from
// every later version.
//
// Before a step the rules are asked again about the request as a whole: this call as it is about to be made, earlier
// ones as they were made, later ones as planned. So amounts in several steps count together, and no step meets a rule
// for smaller requests by itself. If the same rule takes it, one stamp of somebody who stamped the last stage is
// enough; otherwise the other rule's route begins.

// About is what the rules are asked about.
type About struct {
	Kind      rules.Kind
	Place     rules.Place
	Requester string
	Askers    []circulation.Person
	Calls     []rules.Call
	Settled   *task.Settled // how the steps were settled, if one of them is asked about
	Locale    string
}

// AboutSteps is a request's steps, or one of them if it was settled how they were. calls are what the rules may know of
// the calls of all steps; see CallsOf.
func AboutSteps(a *task.Aggregate, calls []rules.Call, settled *task.Settled, s tenancy.Settings) *About {
	o := a.Request.Origin()
	kind := rules.KindSteps
	if settled != nil {
		kind = rules.KindStep
	}
	return &About{Kind: kind, Place: rules.Place{Channel: o.Channel, Direct: o.ChannelType == "im"},
		Requester: a.Head.Requester, Askers: aggregate.People(a.Askers()...), Calls: calls, Settled: settled,
		Locale: a.Language(s.Locale)}
}

// AboutCall is a call that somebody answers for, whose card is in a channel. Of one that runs elsewhere the rules know
// that it may do anything.
func AboutCall(answers, channel string, c call.Content, p tenancy.ToolPermission, s tenancy.Settings) *About {
	x := &About{Kind: rules.KindCall, Place: rules.Place{Channel: channel}, Requester: answers,
		Askers: []circulation.Person{{User: answers}}, Locale: s.Locale}
	if !c.Elsewhere {
		x.Calls = []rules.Call{p.Call(c.ToolVersion, c.Access, aggregate.JSON(c.Arguments), c.Mark)}
	}
	return x
}

func (x *About) facts(r *rules.Rules, d rules.Directory) *rules.Facts {
	f := &rules.Facts{Kind: x.Kind, Place: x.Place, Calls: x.Calls, Askers: x.Askers}
	AskedBy(f, r, d, x.Requester)
	return f
}

// Found is what the rules say: how a gate opens, or why nobody is asked. Neither: they have ended.
type Found struct {
	Opening *aggregate.Opening
	Refused *aggregate.Refusal
}

// By finds whom the rules ask.
func (x *About) By(r *rules.Rules, d rules.Directory) (Found, error) {
	f := x.facts(r, d)
	answer := namedIn(r.Match(f), x.Locale)
	if o := x.again(answer, f, d); o != nil {
		return Found{Opening: o}, nil
	}
	return resolve(r, answer, f, d)
}

// AskedBy adds to facts, which have the askers, who asks, as the conditions of rules know them.
func AskedBy(f *rules.Facts, r *rules.Rules, d rules.Directory, user string) {
	f.Requester, f.Organised = user, d.Organised()
	for _, group := range r.Groups() {
		if !slices.Contains(f.Groups, group) && slices.Contains(d.Members(group), user) {
			f.Groups = append(f.Groups, group)
		}
	}
	if !f.Organised {
		return
	}
	f.Departments, f.Unknown = d.Departments(user), unknown(r, d)
	for _, p := range append([]circulation.Person{{User: user}}, f.Askers...) {
		if f.Stranger == "" && d.Person(p.User) == "" {
			f.Stranger = p.User
		}
	}
}

// unknown returns the departments of the rules' conditions that the organisation doesn't have.
func unknown(r *rules.Rules, d rules.Directory) (names []string) {
	for i := range r.Rules {
		names = append(names, r.Rules[i].Unknown(d)...)
	}
	return names
}

func resolve(r *rules.Rules, answer rules.Answer, f *rules.Facts, d rules.Directory) (Found, error) {
	if answer.Refused {
		return Found{Refused: refused(answer, f)}, nil
	}
	route, err := answer.Resolve(f, d)
	if none, is := errors.AsType[*rules.Unresolved](err); is {
		no := &aggregate.Refusal{Why: task.ReasonNoRoute, Rule: answer.Rule, Detail: none.Name, Lacks: none.Why,
			Of: none.Of}
		switch none.Why {
		case rules.LeftUnknown:
			no.Why, no.Detail = task.ReasonUnknownPost, cmp.Or(none.Name, answer.Rule.Name)+": "+none.What
		case rules.LeftAbove:
			no.Why = task.ReasonUnknownPost
		}
		return Found{Refused: no}, nil
	}
	if err != nil {
		return Found{}, err
	}
	o := &aggregate.Opening{Rule: answer.Rule, Route: route, Askers: f.Askers, Seen: seenBy(r, answer, f)}
	return Found{Opening: o}, nil
}

// seenBy returns what the rules saw, as the gate keeps it.
func seenBy(r *rules.Rules, answer rules.Answer, f *rules.Facts) *aggregate.Seen {
	is := &aggregate.Seen{ByAmount: slices.ContainsFunc(r.Rules, func(x rules.Rule) bool {
		return x.ID == answer.Rule.ID && x.Bounded()
	})}
	if len(f.Departments) > 0 {
		is.Department = f.Departments[0]
	}
	sum := f.Amount()
	if sum.Known() {
		is.Amount, is.Currency = string(sum.Value), sum.Currency
	} else {
		is.Why = string(sum.Why)
	}
	return is
}

func refused(answer rules.Answer, f *rules.Facts) *aggregate.Refusal {
	switch {
	case answer.Unknown != "":
		return &aggregate.Refusal{Why: task.ReasonUnknownPost, Rule: answer.Rule, Detail: answer.Rule.Name + ": " +
			answer.Unknown}
	case answer.Unsure:
		return &aggregate.Refusal{Why: task.ReasonNoDepartment, Rule: answer.Rule, Detail: answer.Rule.Name}
	case f.Stranger != "" && f.Stranger == f.Requester:
		return &aggregate.Refusal{Why: task.ReasonNoRow, Rule: answer.Rule}
	case f.Stranger != "":
		return &aggregate.Refusal{Why: task.ReasonNoRowOther, Rule: answer.Rule, Detail: f.Stranger}
	}
	return &aggregate.Refusal{Why: task.ReasonRuleRefuses, Rule: answer.Rule, Detail: answer.Refuse}
}

// own are the names of what nobody has named: the rule that answers where none of an administrator's does, and the
// stage that it asks.
type own struct{ last, channel, unlabelled, unruled, silent string }

var owns = language.InEach(
	own{"そのほか", "チャンネルの1人",
		"「{label}」の値が分からないか、どのルールにも挙がっていないため、承認する人を決められません。「{label}」を確かめて、" +
			"もう一度依頼してください。",
		"ほかのどのルールにも当てはまりません。管理者に、コンソールの「回覧ルール」で、この内容を受け付けるルールを加えるよう頼み、" +
			"その後に、もう一度依頼してください。",
		"必要な場合は、管理者に、コンソールの「回覧ルール」でこのルールを見直すよう頼んでください。"},
	own{"Everything else", "One of the channel",
		"“{label}” isn’t known, or no rule lists its value, so it can’t be said who has to approve. Check it, and ask again.",
		"No other rule fits. Ask an administrator to add a rule for it in the console under “Routing rules”, " +
			"then ask again.",
		"If you need it, ask an administrator to change this rule in the console under “Routing rules”."})

// namedIn gives a name to a rule and a stage of the last rule. It says why a rule refuses that hangs on a label, and
// what to do where a rule refuses and its administrator says nothing.
func namedIn(a rules.Answer, locale string) rules.Answer {
	w := owns.In(locale)
	switch {
	case a.Unlabelled != "":
		a.Refuse = language.Fill(w.unlabelled, "label", a.Unlabelled)
	case a.Last && a.Refused:
		a.Refuse = cmp.Or(a.Refuse, w.unruled)
	case a.Refused && a.Rule.Name != "":
		a.Refuse = cmp.Or(a.Refuse, w.silent)
	}
	if !a.Last {
		return a
	}
	a.Rule.Name = w.last
	if !a.Refused {
		a.Stages[0].Name = w.channel
	}
	return a
}

// CallsOf returns what the rules may know of the calls of these steps, and the rows of their tools, whose marks say so:
// a Change that relies on the calls relies on those.
func CallsOf(tenant string, steps []task.Step, permissions []tenancy.ToolPermission) (calls []rules.Call,
	on []aggregate.Owned) {
	for _, s := range steps {
		p := tenancy.Standing(permissions, tenant, s.Tool)
		calls = append(calls, p.Call(s.ToolVersion, s.Access, s.ToolInput, s.Mark))
		row := aggregate.Owned{Key: tenancy.ToolKey(s.Tool), Rev: p.Rev, Err: aggregate.ErrSettings}
		if !slices.Contains(on, row) {
			on = append(on, row)
		}
	}
	return calls, on
}

// again returns how a step's gate opens if the rule that takes its call is the one by which the steps were settled, at
// whatever revision: by one stamp of anybody for whom their last stage was stamped. It returns nil if that is another
// rule, or if nobody is left who may stamp. Then the rule's route is gone from its beginning.
func (x *About) again(answer rules.Answer, f *rules.Facts, d rules.Directory) *aggregate.Opening {
	s := x.Settled
	if s == nil || answer.Refused || answer.Rule.ID != s.Rule.ID {
		return nil
	}
	now := *s
	now.Rule, now.Desk.People = answer.Rule, slices.DeleteFunc(slices.Clone(s.Desk.People),
		func(p circulation.Person) bool {
			return !d.MayStamp(p.User) || slices.ContainsFunc(f.Askers, p.Is)
		})
	if len(now.Desk.People) == 0 {
		return nil
	}
	now.Askers = slices.Clone(f.Askers)
	for _, p := range s.Askers {
		if !slices.ContainsFunc(now.Askers, p.Is) {
			now.Askers = append(now.Askers, p)
		}
	}
	return now.Opening()
}
