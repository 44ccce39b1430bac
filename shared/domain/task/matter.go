package task

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/catalog"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/tenancy"
	"ringi/shared/words/language"
	"ringi/shared/words/legible"
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
	m = Matter{Kind: typed.Kind, Title: strings.Join(strings.Fields(legible.Visible(typed.Title)), " "),
		Description: strings.TrimSpace(legible.Paragraphs(legible.Visible(typed.Description)))}
	m.Amount = typedAmount(string(typed.Amount))
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

// typedForm is an amount as people type it, such as 120万円 or ¥1,200,000: digits with or without commas between
// thousands, and 万 or 億. It has no decimals, since a point may stand between thousands.
var typedForm = language.Regexp{Text: `^¥? ?(\d+|\d{1,3}(?:,\d{3})+)([万億]?) ?円?$`}

var zerosOf = map[string]string{"万": "0000", "億": "00000000"}

// typedAmount reads an amount. What it can't read is not Valid.
func typedAmount(text string) rules.Decimal {
	if text = strings.TrimSpace(legible.Narrow(text)); text == "" {
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
	tool, _ := catalog.Named(catalog.Decide)
	mark := rules.Mark{Version: version, How: rules.HowNothing}
	if m.Amount != "0" {
		mark.How, mark.Pointers, mark.CurrencyAt = rules.HowSum, []string{"/amount"}, "/currency"
	}
	mark.LabelledBy = []rules.Label{{Name: catalog.MatterLabel, Pointer: "/matter"}}
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
	c.audit(by, AuditPromptEdited, "prompt", n.ID, about)
	return n
}

// records reports whether a plan records a decision, which therefore has a number, under whatever rule.
func records(steps []Step) bool {
	return slices.ContainsFunc(steps, func(s Step) bool { return s.Tool == catalog.Decide })
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
