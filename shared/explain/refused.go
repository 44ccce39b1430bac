package explain

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/words/language"
)

// Marks formats the variable parts of a sentence for a surface. The results are inserted unchanged.
type Marks interface {
	Person(id string) string        // empty: the system
	Group(id string) string         // of people
	Channel(id string) string       // empty if it can't be named
	Time(t time.Time) string        // also the zero time
	Text(s string, most int) string // text by others, at most most characters
}

// Surface is where and in which language a person reads the text.
type Surface struct {
	Locale string
	Marks  Marks
}

// The most characters of a field's name and of the text about it.
const (
	maxName   = 64
	maxDetail = 300
)

// refusalWords are the texts of one language, with placeholders such as {names}.
type refusalWords struct {
	Notes   map[Class]string // unsaved for a missing class
	Unsaved string
	Direct  string // tells others who decides in a direct message
	Reason  string // the note on an invalid reason
	Rules   map[aggregate.Rule]string
	Decided map[string]string // by status, or how the task ended
	// Of an agent's action: one runs, or how it ended.
	ActionRuns string
	ActionOver map[aggregate.Reason]string

	Acts map[string]string // by circulation.Why, some with what is known beside it

	ByRules map[aggregate.Reason]string // of a call about which nobody is asked

	OwnRequest string // replaces the text of RuleSelf where no other approver is referred to

	CanDecide, May, Nobody, NobodyElse, OneOf, Members, MembersOfIt, And, AndOthers string
	NotRequester, RequesterAlone, CancelAccepted, ReasonNotTaken                    string
}

var refusalWordsOf = language.Catalog[refusalWords]{Files: &texts, Folder: "texts/refused"}

// Note returns the text for one person: who decided and when, or why it was refused, and what to do. It follows from
// the error's class. Unknown errors are shown as "could not be saved".
func (s Surface) Note(err error) string {
	if r, is := errors.AsType[*circulation.Refusal](err); is {
		return s.act(r, aggregate.Origin{})
	}
	w, class := refusalWordsOf.In(s.Locale), ClassOf(err)
	text, ok := w.Notes[class]
	switch class {
	case Decided:
		decided, _ := errors.AsType[aggregate.ErrDecided](err)
		return s.decided(decided)
	case NotLatest:
		old, _ := errors.AsType[aggregate.ErrNotLatest](err)
		return fill(text, "latest", old.Latest)
	case NotAllowed:
		if rule := w.Rules[ruleOf(err)]; rule != "" {
			return rule
		}
	case Field:
		field, _ := errors.AsType[aggregate.Problem](err)
		if field.Field == "rejection_reason" {
			return fill(w.Reason, "max", aggregate.MaxReason)
		}
		return fill(text, "field", s.Marks.Text(field.Field, maxName), "limit", s.Marks.Text(field.Code, maxDetail))
	case Stopped:
		stop, _ := errors.AsType[task.StopError](err)
		return s.sentence(stop.Reason, stop.Detail)
	case Full:
		full, _ := errors.AsType[aggregate.ErrFull](err)
		return s.sentence(full.Reason, fmt.Sprint(full.Most))
	case MaxAttempts:
		return fill(text, "max", task.MaxAttempts)
	case MaxRetries:
		return fill(text, "max", task.MaxRetries)
	}
	if !ok {
		return w.Unsaved
	}
	return text
}

func (s Surface) sentence(r aggregate.Reason, detail string) string {
	fit := func(text string) string { return s.Marks.Text(text, maxDetail) }
	return Ended(s.Locale, r, FitDetail(r, detail, fit, s.Marks.Person), NoRetry)
}

// decided says who has already decided, or how the task ended.
func (s Surface) decided(e aggregate.ErrDecided) string {
	why := ""
	if e.Reason != "" {
		why = s.sentence(e.Reason, "")
	}
	decided := refusalWordsOf.In(s.Locale).Decided
	return fill(cmp.Or(decided[stateOf(e)], decided["otherwise"]), "who", s.Marks.Person(e.By),
		"when", s.Marks.Time(e.At), "why", why)
}

func stateOf(e aggregate.ErrDecided) string {
	switch {
	case e.Reason == task.ReasonByPerson:
		return "by_person"
	case e.Reason == task.ReasonExpired:
		return "by_time"
	case e.Reason != "" && e.Status == string(task.TaskFailed):
		return "task_failed"
	case e.Reason != "":
		return "task_over"
	case e.Status == string(aggregate.Approved) && e.By == "":
		return "approved_automatically"
	}
	return e.Status
}

// CancelledBefore is the note for a person who cancels again.
func (s Surface) CancelledBefore(by string, at time.Time) string {
	return s.decided(aggregate.ErrDecided{By: by, At: at, Reason: task.ReasonByPerson})
}

// CancelAccepted is the note after a task was cancelled if its card is not visible.
func (s Surface) CancelAccepted() string { return refusalWordsOf.In(s.Locale).CancelAccepted }

// ReasonNotTaken tells a person that their reason for rejecting was not used; the cause is told separately.
func (s Surface) ReasonNotTaken() string { return refusalWordsOf.In(s.Locale).ReasonNotTaken }

// Why is Note, but does not refer to another approver.
func (s Surface) Why(err error, o aggregate.Origin) string {
	switch r, ofAct := errors.AsType[*circulation.Refusal](err); {
	case ruleOf(err) == aggregate.RuleSelf:
		return refusalWordsOf.In(s.Locale).OwnRequest
	case ofAct:
		return s.act(r, o)
	}
	return s.Note(err)
}

// Refused is Why for a click that a rule refused. It also names the people who may decide, as WhoDecides does.
func (s Surface) Refused(err error, set tenancy.Settings, o aggregate.Origin, askers ...string) string {
	text := s.Why(err, o)
	if ruleOf(err) == aggregate.RuleNotMember && o.ChannelType == "im" { // which nobody can join
		return refusalWordsOf.In(s.Locale).Direct
	}
	switch ruleOf(err) {
	case aggregate.RuleSelf:
		if !nobodyElse(set, o, askers) {
			text = s.Note(err)
		}
		fallthrough
	case aggregate.RuleGuest, aggregate.RuleNotMember, aggregate.RuleNotListed:
		return text + "\n" + s.WhoDecides(set, o, askers...)
	case aggregate.RuleNotParty:
		who := s.Either(o.User, s.Approvers(set, o))
		return text + "\n" + fill(refusalWordsOf.In(s.Locale).May, "who", who)
	}
	return text
}

// RefusedOn is Refused of what somebody did on a subject. Of what an agent asks for it says how that ended.
func (s Surface) RefusedOn(of Asking, err error, set tenancy.Settings) string {
	w := refusalWordsOf.In(s.Locale)
	_, ofTask := of.(*task.Aggregate)
	_, talk := of.(*conversation.Aggregate)
	e, decided := errors.AsType[aggregate.ErrDecided](err)
	rejected := e.Reason == conversation.ReasonRejected || e.Reason == call.ReasonDenied
	switch why := e.Reason; {
	case errors.Is(err, conversation.ErrPending):
		return conversation.OtherActionOpen(s.Locale)
	case talk && errors.Is(err, aggregate.ErrInFlight):
		return w.ActionRuns
	case ofTask || !decided || why == "" && w.Decided[e.Status] != "":
		return s.Refused(err, set, of.Origin(), of.Askers()...)
	case rejected:
		return s.decided(aggregate.ErrDecided{Status: string(aggregate.Rejected), By: e.By, At: e.At})
	case why == call.ReasonAged:
		e.Reason = conversation.ReasonExpired
	}
	return fill(cmp.Or(w.ActionOver[e.Reason], w.ActionOver[""]), "who", s.Marks.Person(e.By), "when", s.Marks.Time(e.At))
}

// ruleOf returns the rule that refused, empty if none did.
func ruleOf(err error) aggregate.Rule {
	refused, _ := errors.AsType[aggregate.ErrNotAllowed](err)
	return refused.Rule
}

//go:noinline
func fill(text string, pairs ...any) string { return language.Fill(text, pairs...) }

// RefusedByRules says why by the tenant's rules nobody is asked about a call. text shows what others wrote, at most so
// many characters of it.
func RefusedByRules(locale string, e aggregate.Refusal, text func(s string, most int) string) string {
	said := fill(refusalWordsOf.In(locale).ByRules[e.Why], "rule", text(e.Rule.Name, maxName), "text",
		text(e.Detail, maxDetail))
	return strings.TrimSpace(said)
}

// act says why somebody can't do what they wanted on a gate under a rule of a request from o, and what to do.
func (s Surface) act(r *circulation.Refusal, o aggregate.Origin) string {
	w, key := refusalWordsOf.In(s.Locale), string(r.Why)
	switch {
	case r.Why == circulation.WhyTurn && r.Yours == "":
		key = "turn_over"
	case r.Why == circulation.WhySelf && r.For.User != "" && r.For.User == r.Asker.User:
		key = "self_principal"
	case r.Why == circulation.WhySelf && o.User != "" && r.Asker.User != o.User:
		key = "author"
	case r.Why == circulation.WhyFound:
		key = "no_" + string(r.Lacks)
	}
	var names []string
	for _, p := range r.People {
		names = append(names, s.Marks.Person(p.User))
	}
	who := s.few(names)
	if who == "" {
		who = s.Approvers(tenancy.Settings{}, aggregate.Origin{Channel: o.Channel})
	}
	whose := who
	if name := s.stage(Given(r.Name)); name != "" {
		whose = name + " (" + who + ")"
	}
	return fill(cmp.Or(w.Acts[key], w.Acts[string(circulation.WhyUnknown)]), "names", who,
		"whose", whose, "yours", s.stage(r.Yours),
		"principal", s.Marks.Person(r.For.User), "n", r.Missing, "max", circulation.MaxText)
}

// Retry is the button by which people go on from where a sentence stands.
type Retry int

const (
	NoRetry    Retry = iota // there is none: a sentence that names one ends before
	RetryDraft              // tries to draft again
	RetryRun                // makes another attempt
)

// pressed finds in a text where a button is named.
var pressed = language.Regexp{Text: `\{(again|press|button)\}`}

// RetryOf is by which button people go on with a task now; none after an attempt that isn't its newest.
func RetryOf(a *task.Aggregate, after ...*task.Execution) Retry {
	if len(after) > 0 && after[0] != a.Execution() {
		return NoRetry
	}
	for _, o := range a.Offers() {
		switch o.Act {
		case task.ActRetryExecution:
			return RetryRun
		case task.ActRetryGeneration:
			return RetryDraft
		}
	}
	return NoRetry
}

// KnownEnd returns the sentence of a code for places without buttons, without a detail. It returns false for any other
// text, such as a person's own words.
func KnownEnd(locale string, code string) (sentence string, known bool) {
	w := endWordsOf.In(locale)
	text, known := w.Sentences[aggregate.Reason(code)]
	return fill(w.Log.put(text, ""), "why", w.lacks(nil)), known
}

// FitDetail makes a reason's detail fit to be shown, with person if it is an account. That of a rule's refusal keeps
// its lines, which Ended reads.
func FitDetail(r aggregate.Reason, detail string, fit, person func(string) string) string {
	if r == task.ReasonNoRowOther || r == task.ReasonAskerLeft || r == task.ReasonNoRecipient {
		return person(detail)
	}
	if x, is := lackOf(r, detail); is && len(x) == lackLines {
		of := ""
		if x[2] != "" {
			of = person(x[2])
		}
		return strings.Join([]string{fit(x[0]), x[1], of, fit(x[3])}, "\n")
	}
	rule, said, ruled := strings.Cut(detail, "\n")
	if !ruled || r != task.ReasonRuleRefuses && r != task.ReasonStepRefused {
		return fit(detail)
	}
	return fit(rule) + "\n" + fit(said)
}

// byRule says of a refusal by a rule which rule refuses, and what it says; "" if the detail doesn't have that.
func (w endWords) byRule(r aggregate.Reason, detail string) string {
	rule, said, ruled := strings.Cut(detail, "\n")
	switch {
	case !ruled:
		return ""
	case r == task.ReasonRuleRefuses:
		return strings.TrimSpace(fill(w.RuleRefuses, "rule", rule, "text", said))
	case r == task.ReasonStepRefused:
		return strings.TrimSpace(fill(w.RuleStops, "rule", rule, "text", said))
	}
	return ""
}

// lackLines has the detail of a stage that finds nobody: its name, why, an account above whom nobody is found, and the
// rule's name.
const lackLines = 4

// lackOf returns the lines of the detail of a stage that finds nobody. A list may have only their beginning.
func lackOf(r aggregate.Reason, detail string) (lines []string, is bool) {
	is = r == task.ReasonNoRoute || r == task.ReasonStepNoRoute || r == task.ReasonUnknownPost
	return strings.Split(detail, "\n"), is
}

// lacks says why a stage finds nobody, and what to do.
func (w endWords) lacks(lines []string) string {
	why, of, rule := "", "", ""
	if len(lines) == lackLines {
		why, of, rule = lines[1], lines[2], lines[3]
	}
	if of != "" {
		why += "_of"
	}
	return fill(cmp.Or(w.Lacks[why], w.Lacks[""]), "who", of, "rule", rule)
}

// unrouted returns what happened where a stage with these lines has no route: of one that finds people, who aren't
// those that the rule needs, it isn't said that nobody is found.
func (w endWords) unrouted(r aggregate.Reason, lines []string) string {
	if len(lines) > 1 {
		if text := w.Unmet[r]; text != "" && slices.Contains([]string{rules.LeftPeople, rules.LeftMany, rules.LeftChannel,
			rules.LeftAlone}, lines[1]) {
			return text
		}
	}
	return w.Sentences[r]
}
