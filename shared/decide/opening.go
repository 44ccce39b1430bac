package decide

import (
	"cmp"
	"errors"
	"slices"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/words/language"
)

// Whom a gate asks is found by the tenant's rules once its content is known. plan-process opens the gate
// of steps at once where the rule names everybody by id and no organisation stands. Otherwise the version is saved with
// its rule as generating, without deadline, index entry or copy, and resume-task looks people up and opens it, or
// refuses. execute-process does the same with a step's gate, answer-message and whoever proposes an action with that,
// and calls.Ask with a call, for which call-tool looks people up.
//
// Nothing is generated again for a slow look-up: Next is Pause of a second, and while Slack is silent the run waits, as
// it does for who asks. An action or a call is tried for an hour. The commit that opens relies on the version's row,
// the settings' revision, the rows of the tools and of the organisation, so what changed meanwhile is decided anew.
// Rules that have ended leave the gate to the settings.
//
// Askers are the requester, whoever filled in the form again, and who picked the draft; whose words models were shown
// is none. Whoever rejects asks for nothing, since one rejection would otherwise take an approver away from every later
// version.
//
// Before a step the rules are asked again about the request as a whole: this call as it is about to be made, earlier
// ones as they were made, later ones as planned. So amounts in several steps count together, and no step meets a rule
// for smaller requests by itself. If the same rule takes it, one stamp of somebody who stamped the last stage is
// enough; otherwise the other rule's route begins.

// Found is what the rules say about a gate.
type Found = task.Found

// Seats is a rules.Directory that also knows where somebody works.
type Seats interface {
	rules.Directory
	// Has reports whether an account is of somebody in the organisation.
	Has(user string) bool
	// Department returns what somebody's department is called; "" while no organisation stands.
	Department(user string) string
}

// Steps is what is about to be asked: a request's steps, or one of them.
type Steps struct {
	Task  *task.Aggregate
	Calls []rules.Call // what the rules may know of the calls of all steps; see CallsOf
	// Settled is how the steps were settled, if one of them is asked about. The same rule then asks for one stamp more.
	Settled *task.Settled
	// Settings say in which language unless the request does.
	Settings tenancy.Settings
	// Organised reports whether an organisation stands. Then ByIDs finds nobody.
	Organised bool
}

func (x *Steps) locale() string { return x.Task.Language(x.Settings.Locale) }

// facts returns what the rules may know of it. Of a request whose steps aren't known yet it has no calls.
func (x *Steps) facts(r *rules.Rules, d Seats) *rules.Facts {
	o := x.Task.Request.Origin()
	f := &rules.Facts{
		Kind: rules.KindSteps, Place: rules.Place{Channel: o.Channel, Direct: o.ChannelType == "im"},
		Calls: x.Calls, Askers: x.Task.AskersOfSteps(),
	}
	AskedBy(f, r, d, x.Task.Head.Requester)
	return f
}

// AskedBy adds to facts, which have the askers, who asks, as the conditions of rules know them.
func AskedBy(f *rules.Facts, r *rules.Rules, d Seats, user string) {
	f.Requester, f.Organised = user, d.Org() != ""
	for _, group := range r.Groups() {
		if !slices.Contains(f.Groups, group) && slices.Contains(d.Members(group), user) {
			f.Groups = append(f.Groups, group)
		}
	}
	if !f.Organised {
		return
	}
	f.Departments, f.Department, f.Unknown = d.Departments(user), d.Department(user), unknown(r, d)
	for _, p := range append([]circulation.Person{{User: user}}, f.Askers...) {
		if f.Stranger == "" && !d.Has(p.User) {
			f.Stranger = p.User
		}
	}
}

// unknown returns the departments of the rules' conditions that the organisation doesn't have.
func unknown(r *rules.Rules, d Seats) (names []string) {
	for i := range r.Rules {
		names = append(names, r.Rules[i].When.Requester.Unknown(d)...)
	}
	return names
}

// ByIDs finds whom the rules ask, as far as they name everybody themselves.
func (x *Steps) ByIDs(r *rules.Rules) (Found, error) {
	f := x.facts(r, ids{})
	answer := namedIn(r.Match(f), x.locale())
	if x.Organised || answer.Unsure || len(r.Groups()) > 0 {
		return Found{LookUp: &answer.Rule}, nil
	}
	if o := x.again(answer, f, ids{}); o != nil {
		return Found{Opening: o}, nil
	}
	if answer.Route != nil && !answer.Route.OfIDs() {
		return Found{LookUp: &answer.Rule}, nil
	}
	return resolve(r, answer, f, ids{})
}

// By finds whom the rules ask.
func (x *Steps) By(r *rules.Rules, d Seats) (Found, error) {
	f := x.facts(r, d)
	answer := namedIn(r.Match(f), x.locale())
	if o := x.again(answer, f, d); o != nil {
		return Found{Opening: o}, nil
	}
	return resolve(r, answer, f, d)
}

func resolve(r *rules.Rules, answer rules.Answer, f *rules.Facts, d Seats) (Found, error) {
	if answer.Refused {
		return Found{Refused: refused(answer, f)}, nil
	}
	route, err := answer.Route.Resolve(f, d)
	if none, is := errors.AsType[*rules.Unresolved](err); is {
		no := &task.Refusal{Why: task.ReasonNoRoute, Rule: answer.Rule, Detail: none.Name, Lacks: none.Why,
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
	is := &aggregate.Seen{Department: f.Department, ByAmount: slices.ContainsFunc(r.Rules, func(x rules.Rule) bool {
		return x.ID == answer.Rule.ID && x.When.Amount != nil
	})}
	sum := f.Amount()
	if sum.Known() {
		is.Amount, is.Currency = string(sum.Value), sum.Currency
	} else {
		is.Why = string(sum.Why)
	}
	return is
}

func refused(answer rules.Answer, f *rules.Facts) *task.Refusal {
	switch {
	case answer.Unknown != "":
		return &task.Refusal{Why: task.ReasonUnknownPost, Rule: answer.Rule, Detail: answer.Rule.Name + ": " + answer.Unknown}
	case answer.Unsure:
		return &task.Refusal{Why: task.ReasonNoDepartment, Rule: answer.Rule, Detail: answer.Rule.Name}
	case f.Stranger != "" && f.Stranger == f.Requester:
		return &task.Refusal{Why: task.ReasonNoRow, Rule: answer.Rule}
	case f.Stranger != "":
		return &task.Refusal{Why: task.ReasonNoRowOther, Rule: answer.Rule, Detail: f.Stranger}
	}
	return &task.Refusal{Why: task.ReasonRuleRefuses, Rule: answer.Rule, Detail: answer.Refuse}
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
	if a.Route != nil && len(a.Route.Stages) == 1 && a.Route.Stages[0].Name == "" {
		route := *a.Route
		stage := route.Stages[0]
		stage.Name = w.channel
		route.Stages, a.Route = []rules.Stage{stage}, &route
	}
	return a
}

// ids knows nobody but by their account. Whether they are still there is known when their copy is made.
type ids struct{}

func (ids) Org() string                     { return "" }
func (ids) Has(string) bool                 { return false }
func (ids) MayStamp(user string) bool       { return user != "" }
func (ids) Members(string) []string         { return nil }
func (ids) Handle(group string) string      { return group }
func (ids) Above(string) ([]string, bool)   { return nil, true }
func (ids) Over(string, string) []string    { return nil }
func (ids) NameOf(department string) string { return department }
func (ids) Knows(string, string) bool       { return true }
func (ids) Holders(string, string) []string { return nil }
func (ids) Departments(string) []string     { return nil }
func (ids) Department(string) string        { return "" }

// Empty isn't known: whoever asks it resolves no channel's stage.
func (ids) Empty(string, []circulation.Person) bool { return false }
