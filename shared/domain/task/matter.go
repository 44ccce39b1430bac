package task

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/tenancy"
	"ringi/shared/words/language"
)

// Matter is a request for a decision alone, as a form has it. No model reads it: the policy is the form's text, and the
// plan is one step, which records the decision.
type Matter struct {
	Kind        string        `json:"matter"` // one of the settings' list
	Title       string        `json:"title"`
	Amount      rules.Decimal `json:"amount,omitempty"` // 0: there is none; empty: nobody knows it yet
	Description string        `json:"description"`
}

// MatterCurrency is the unit of a form's amount.
const MatterCurrency = "JPY"

// Limits of a form, in characters. The description is as long as Slack's field for a request.
const (
	MaxMatterTitle       = 150
	MaxMatterDescription = 3000
)

// ReadMatter returns a form of some settings as it was typed, in the form that is kept, and what the fields that are
// wrong are called.
func ReadMatter(typed Matter, s tenancy.Settings) (m Matter, wrong []string) {
	m = Matter{Kind: typed.Kind, Title: strings.Join(strings.Fields(language.Visible(typed.Title)), " "),
		Description: strings.TrimSpace(language.Paragraphs(language.Visible(typed.Description)))}
	m.Amount = TypedAmount(string(typed.Amount))
	unless := func(fits bool, field string) {
		if !fits {
			wrong = append(wrong, field)
		}
	}
	within := func(text string, most int) bool { return text != "" && utf8.RuneCountInString(text) <= most }
	unless(slices.Contains(s.MatterNames(), m.Kind), "matter")
	unless(within(m.Title, MaxMatterTitle), "title")
	unless(m.Amount == "" || m.Amount.Valid(), "amount")
	unless(within(m.Description, MaxMatterDescription) && len(Mentioned(m.Description)) <= MaxMentioned, "description")
	return m, wrong
}

// typedForm is an amount as people type it, such as 120万円, ¥1,200,000 or 1,200,000 yen: digits with or without commas
// between thousands, and 万 or 億. It has no decimals, since a point may stand between thousands.
var typedForm = language.Regexp{Text: `(?i)^(?:¥|JPY)? ?(\d+|\d{1,3}(?:,\d{3})+)([万億]?) ?(?:円|yen|JPY)?$`}

var zerosOf = map[string]string{"万": "0000", "億": "00000000"}

// TypedAmount reads an amount. What it can't read is not Valid.
func TypedAmount(text string) rules.Decimal {
	if text = strings.TrimSpace(language.Narrow(text)); text == "" {
		return ""
	}
	is := typedForm.Get().FindStringSubmatch(text)
	if is == nil {
		return "?"
	}
	return rules.Decimal(strings.ReplaceAll(is[1], ",", "") + zerosOf[is[2]])
}

// Money returns the form's amount; one that nobody typed isn't known.
func (m *Matter) Money() rules.Amount {
	if m.Amount == "" || m.Amount == "0" {
		return rules.Amount{Value: m.Amount}
	}
	return rules.Amount{Value: m.Amount, Currency: MatterCurrency}
}

// Steps returns the plan. version is that of the tool. The mark says what the form says, so that no administrator marks
// the tool: its label is the kind of matter. An amount that nobody typed is unknown.
func (m *Matter) Steps(locale, version string) []Step {
	tool, _ := tenancy.OwnToolNamed(tenancy.DecideTool)
	mark := rules.Mark{Version: version, How: rules.HowNothing}
	if m.Amount != "0" {
		mark.How, mark.Pointers, mark.CurrencyAt = rules.HowSum, []string{"/amount"}, "/currency"
	}
	mark.LabelledBy = []rules.Label{{Name: tenancy.MatterLabel, Pointer: "/matter"}}
	input, _ := json.Marshal(struct { // texts and valid numbers can always be written
		Matter   string      `json:"matter"`
		Title    string      `json:"title"`
		Amount   json.Number `json:"amount,omitempty"`
		Currency string      `json:"currency,omitempty"`
	}{m.Kind, m.Title, json.Number(m.Amount), m.Money().Currency})
	name := tool.Title.In(locale)
	return []Step{{StepID: "step-1", Order: 1, Title: name, Tool: tool.Name, ToolInput: aggregate.JSON(input),
		Description: name, ExpectedOutput: tool.About.In(locale), Access: tool.Effect, ToolVersion: version, Mark: &mark}}
}

// Matter returns the form of a request for a decision alone as it was last filled in; nil of any other request.
func (a *Aggregate) Matter() *Matter { return a.filled(a.Prompt()) }

// Direct reports whether new messages where the requester asked say how it goes. A form's card is only edited.
func (a *Aggregate) Direct() bool { return a.Request.ChannelType == "im" && a.Matter() == nil }

// MatterOf returns the form from which steps were made; nil of any other request.
func (a *Aggregate) MatterOf(steps *Process) *Matter { return a.filled(a.policyOf(steps)) }

func (a *Aggregate) filled(p *Prompt) *Matter {
	switch {
	case p != nil && p.Matter != nil:
		return p.Matter
	case a.Request == nil:
		return nil
	}
	return a.Request.Matter
}

// policyOf returns the policy from which steps were made, or nil.
func (a *Aggregate) policyOf(steps *Process) *Prompt {
	return aggregate.First(a.Prompts, func(p *Prompt) bool { return p.ID == steps.PromptID })
}

// policyBy returns the policy that a version is, or from which its steps were made; else the newest.
func (a *Aggregate) policyBy(version Gated) *Prompt {
	var is *Prompt
	switch row := version.(type) {
	case *Prompt:
		is = row
	case *Process:
		is = a.policyOf(row)
	}
	return cmp.Or(is, a.Prompt())
}

// filledAfter returns the form that one of the askers filled in after these steps were given back to them, or nil.
func (a *Aggregate) filledAfter(steps *Process) *Prompt {
	if p := a.policyOf(steps); p != nil {
		if n := aggregate.Find(a.Prompts, PromptKey(p.Version+1)); n != nil && n.Matter != nil {
			return n
		}
	}
	return nil
}

// EditorOf returns which of the askers filled in the form of steps after another had been given back; "": none.
func (a *Aggregate) EditorOf(steps *Process) string {
	if p := a.policyOf(steps); p != nil {
		return p.EditedBy
	}
	return ""
}

// fillIn makes what was typed in the form the next version of the policy, from which the next steps are made. The task
// is called as it says; of its files, what was added is read first.
func (c *change) fillIn(a *Aggregate, was *Process, e Refill, by aggregate.Actor) *Prompt {
	before := a.Prompt()
	c.RelyOn(was)
	t := *a.Task
	t.Title, t.Description, t.UpdatedAt = e.Matter.Title, e.Matter.Description, c.Now
	c.Put(&t)
	n := c.beginPrompt()
	n.Content, n.EditedBy, n.Matter, n.Files = e.Content, by.ID, e.Matter, e.Files
	about := a.versioned(n.Version, n.hash())
	about["from_version"] = before.Version
	c.Record(&c.Head, by, AuditPromptEdited, "prompt", n.ID, about)
	return n
}

// decided writes the step that records a decision, complete as it begins: nobody is called. The number is its result.
func (c *change) decided(s *StepResult, number string) {
	if number == "" {
		c.Fail(aggregate.ErrConflict)
	}
	result, _ := json.Marshal(map[string]string{"number": number})
	c.moveStep(s, StepCompleted, func(n *StepResult) {
		n.Claim, n.CompletedAt = nil, &c.Now
		n.Result = &aggregate.Blob{JSON: aggregate.JSON(result), Bytes: len(result)}
	})
}

// Refill is a form as one of its askers filled it in again, with its text and all its files.
type Refill struct {
	Content string
	Matter  *Matter
	Files   []aggregate.SharedFile
}

// Returned returns the form's steps that were given back and wait for one of their askers, without end, or nil.
func (a *Aggregate) Returned() *Process {
	p, steps := a.Prompt(), a.Process()
	if a.Head.Ended != nil || p == nil || p.Status != aggregate.Approved || steps == nil ||
		!a.GivenBack(steps.ID) {
		return nil
	}
	return steps
}

// GivenBack reports whether what the gate with this id asks about is a form that was sent back: no model makes another
// version, one of the askers fills it in again.
func (a *Aggregate) GivenBack(id string) bool {
	g := a.Asked(id).Gate
	return g != nil && g.SentBack() && a.Follows(id) == FollowsAsker
}

// RefilledBy returns who filled the form in again after the steps with this key were given back; "" if nobody did.
func (a *Aggregate) RefilledBy(key string) (user string, version int) {
	if p := aggregate.Find(a.Processes, key); p != nil {
		if n := a.filledAfter(p); n != nil {
			return n.EditedBy, p.Version + 1
		}
	}
	return "", 0
}

// Withdrawn reports whether a person ended the request.
func (a *Aggregate) Withdrawn() bool {
	return a.Head.Ended != nil && a.Head.Ended.Reason == ReasonByPerson
}

// AsksFor returns nil if the steps with this id are this person's own request, ErrNotFound or ErrNotAllowed.
func (a *Aggregate) AsksFor(id string, by aggregate.Actor, p aggregate.Policy) error {
	steps, is := a.gateOf(id).(*Process)
	switch {
	case !is:
		return aggregate.ErrNotFound
	case by.Type != aggregate.ActorUser || !steps.IsAsker(by.ID):
		return aggregate.ErrNotAllowed{Rule: aggregate.RuleNotRequester}
	}
	return p.Request(by)
}

// MayRefill returns nil if the steps with this id wait until this person fills in their form again. It returns the
// errors of AsksFor, ErrDecided, ErrNotLatest or ErrMoved.
func (a *Aggregate) MayRefill(id string, by aggregate.Actor, p aggregate.Policy) error {
	if err := a.AsksFor(id, by, p); err != nil {
		return err
	}
	switch row := a.gateOf(id); {
	case a.Head.Ended != nil:
		return a.ended()
	case a.superseding(row) > 0:
		return aggregate.ErrNotLatest{Latest: a.superseding(row)}
	case a.Returned() == nil || a.Returned().ID != id:
		return aggregate.ErrMoved
	}
	return nil
}

// RefilledBefore returns aggregate.ErrDecided with whoever filled in the form of the steps with this id before; nil if
// nobody did.
func (a *Aggregate) RefilledBefore(id string) error {
	if p, is := a.gateOf(id).(*Process); is {
		if n := a.filledAfter(p); n != nil {
			return aggregate.ErrDecided{Status: DecidedRefilled, By: n.EditedBy, At: n.CreatedAt}
		}
	}
	return nil
}

// DecidedRefilled is the status of steps whose form an asker filled in again, for whoever else does so later.
const DecidedRefilled = "refilled"

// Refill makes the next version of a form that was given back, in a new run and with a new route: no stamp carries
// over. It is the next policy, from which the next steps are made. A second click with the same content changes
// nothing. It returns the errors of MayRefill, or Problem.
func (a *Aggregate) Refill(id string, e Refill, by aggregate.Actor, p aggregate.Policy,
	now time.Time) (aggregate.Change, error) {
	row, is := a.gateOf(id).(*Process)
	if is && a.refilledSo(row, e, by) {
		return aggregate.Change{}, nil
	}
	if err := a.MayRefill(id, by, p); err != nil {
		return aggregate.Change{}, err
	}
	if len(e.Files) > MaxAttached {
		return aggregate.Change{}, aggregate.Problem{Field: "files", Code: fmt.Sprintf("must be at most %d", MaxAttached)}
	}
	c := a.begin(now)
	c.progress()
	c.Head.Run++
	c.Made = c.fillIn(a, row, e, by)
	return c.done()
}

// refilledSo reports whether a form that was given back became what this person makes of it.
func (a *Aggregate) refilledSo(was *Process, e Refill, by aggregate.Actor) bool {
	n := a.filledAfter(was)
	return n != nil && n.EditedBy == by.ID && n.Content == e.Content && // which says all that was typed
		slices.EqualFunc(a.filesOf(n), e.Files, func(x, y aggregate.SharedFile) bool { return x.ID == y.ID })
}

// Refilled returns the newest policy if one of its askers filled in its form again; nil otherwise.
func (a *Aggregate) Refilled() *Prompt {
	if p := a.Prompt(); p != nil && p.EditedBy != "" {
		return p
	}
	return nil
}
