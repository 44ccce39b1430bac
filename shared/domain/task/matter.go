package task

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/catalog"
	"ringi/shared/domain/rules"
	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

// Matter is a request for a decision alone, as a form has it. No model reads it: the policy is the form's text, and the
// plan is one step, which records the decision.
type Matter struct {
	Kind        string        `json:"matter"` // one of the settings' list
	Title       string        `json:"title"`
	Amount      rules.Decimal `json:"amount,omitempty"`   // empty: no money is asked for
	Currency    string        `json:"currency,omitempty"` // of the amount
	Description string        `json:"description"`
}

// Limits of a form, in characters. The description is as long as Slack's field for a request.
const (
	MaxMatterTitle       = 150
	MaxMatterDescription = 3000
)

// MatterCurrencies are the units of a form's amount, the usual one first.
var MatterCurrencies = []string{"JPY", "USD", "EUR"}

// ReadMatter returns a form as it was typed, in the form that is kept, and the names of the fields that are wrong.
func ReadMatter(typed Matter, kinds []string) (m Matter, wrong []string) {
	m = Matter{Kind: typed.Kind, Title: strings.Join(strings.Fields(legible.Visible(typed.Title)), " "),
		Description: strings.TrimSpace(legible.Paragraphs(legible.Visible(typed.Description)))}
	if m.Amount = typedAmount(string(typed.Amount), typed.Currency); m.Amount != "" {
		m.Currency = typed.Currency
	}
	unless := func(fits bool, field string) {
		if !fits {
			wrong = append(wrong, field)
		}
	}
	within := func(text string, most int) bool { return text != "" && utf8.RuneCountInString(text) <= most }
	unless(slices.Contains(kinds, m.Kind), "matter")
	unless(within(m.Title, MaxMatterTitle), "title")
	unless(m.Amount == "" || m.Amount.Valid() && strings.Trim(string(m.Amount), "0.") != "", "amount")
	unless(m.Amount == "" || slices.Contains(MatterCurrencies, m.Currency), "currency")
	unless(within(m.Description, MaxMatterDescription) && len(Mentioned(m.Description)) <= MaxMentioned, "description")
	return m, wrong
}

// typedForm is an amount as people type it, such as 120万円 or ¥1,200,000: a sign of its unit, digits with or without
// commas between thousands, decimals, and 万 or 億.
var typedForm = language.Regexp{Text: `^([¥$€]?) ?(\d+|\d{1,3}(?:,\d{3})+)(\.\d+)?([万億]?) ?(円?)$`}

var (
	unitOf  = map[string]string{"¥": "JPY", "円": "JPY", "$": "USD", "€": "EUR"}
	zerosOf = map[string]string{"万": "0000", "億": "00000000"}
)

// typedAmount reads an amount of a unit. What it can't read is not Valid, nor is what may be meant otherwise: with the
// sign of another unit, with parts of a yen, or with three decimals, since a point may stand between thousands.
func typedAmount(text, unit string) rules.Decimal {
	if text = strings.TrimSpace(legible.Narrow(text)); text == "" {
		return ""
	}
	is := typedForm.Get().FindStringSubmatch(text)
	if is == nil || is[3] != "" && (unit == "JPY" || len(is[3]) == len(".000") || is[4] != "") {
		return "?"
	}
	for _, sign := range []string{is[1], is[5]} {
		if sign != "" && unitOf[sign] != unit {
			return "?"
		}
	}
	return rules.Decimal(strings.ReplaceAll(is[2], ",", "") + is[3] + zerosOf[is[4]])
}

// Steps returns the plan. version is that of the tool. The mark says what the form says, so that no administrator marks
// the tool: its destination is the kind of matter.
func (m *Matter) Steps(locale, version string) []Step {
	tool, _ := catalog.Named(catalog.Decide)
	input, _ := json.Marshal(struct { // texts and a valid number can always be written
		Matter   string      `json:"matter"`
		Title    string      `json:"title"`
		Amount   json.Number `json:"amount,omitempty"`
		Currency string      `json:"currency,omitempty"`
	}{m.Kind, m.Title, json.Number(m.Amount), m.Currency})
	mark := rules.Mark{Version: version, How: rules.HowNothing, Destinations: []string{"/matter"}}
	if m.Amount != "" {
		mark.How, mark.Currency = rules.HowSum, m.Currency
		mark.Pointers, mark.Units, mark.Asides = []string{"/amount"}, []string{"/currency"}, []string{"/title"}
	}
	name := tool.Title.In(locale)
	return []Step{{StepID: "step-1", Order: 1, Title: name, Tool: tool.Name, ToolInput: aggregate.JSON(input),
		Description: name, ExpectedOutput: tool.About.In(locale), Access: tool.Effect, ToolVersion: version, Mark: &mark}}
}

// Matter returns the form of a request for a decision alone; nil of any other request.
func (a *Aggregate) Matter() *Matter {
	if a.Request == nil {
		return nil
	}
	return a.Request.Matter
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
