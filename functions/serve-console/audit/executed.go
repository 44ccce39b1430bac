package audit

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"ringi/functions/serve-console/subject"
	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/catalog"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/rules"
	domain "ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/slack/card"
	"ringi/shared/store"
	"ringi/shared/words/legible"
)

// executed is how what was decided was carried out (施行), by Ringi.
type executed struct {
	At   time.Time
	By   string          // as whose doing it stands
	Done bool            // by Ringi: a decision's record is nobody's deed
	Says []subject.Piece // what was done
	Made string          // what the writes made, as their results name it: addresses, ids and numbers
}

// Text says what was done and made, without formatting.
func (x executed) Text() string {
	return strings.Trim(textOf(x.Says)+" · "+x.Made, " ·")
}

func textOf(pieces []subject.Piece) string {
	return strings.Join(web.Each(pieces, func(p subject.Piece) string { return p.Text }), "")
}

// executed returns how a line's request or action was carried out, empty unless all of it was.
func (s *speaker) executed(x *store.RegisteredTask, sum explain.Sum) (out executed) {
	switch {
	case x.Action != nil && x.Action.Status == conversation.ActionSucceeded && x.Action.CompletedAt != nil:
		out.At = *x.Action.CompletedAt
		out.Made = legible.Beginning(card.OneLine(x.Action.ResultSummary), mostMade)
	case x.Executed.CompletedAt != nil:
		out.At = *x.Executed.CompletedAt
		out.Says = s.Briefly(sum.First().Sentence)
		if sum.Final {
			sum.Amount = rules.Nothing() // it has a column of its own
			out.Says = s.Briefly(sum.Done(""))
		}
		out.Made = madeBy(x.Steps, x.Executed.Results)
	default:
		return out
	}
	out.By = s.words.Say("recorded")
	if out.Done = !slices.ContainsFunc(x.Steps, func(s domain.Step) bool { return s.Tool == catalog.Decide }); out.Done {
		out.By = s.words.Say("by_ringi")
	}
	return out
}

// stamped returns what steps were stamped with, as text: what each does, and with which arguments.
func (s *speaker) stamped(steps []domain.Step, of explain.Sum) string {
	sum := s.SumOf(of, steps)
	var all []string
	for _, e := range slices.Concat(sum.Writes, sum.Reads) {
		parts := []string{textOf(e.Sentence), textOf(e.Text)}
		if e.Items != nil {
			for _, row := range e.Items.Rows {
				parts = append(parts, strings.Join(row, " "))
			}
		}
		for _, a := range slices.Concat(e.Rest, e.Details, e.Defaults) {
			parts = append(parts, textOf(a.Name)+": "+textOf(a.Value))
		}
		parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
		all = append(all, strings.Join(parts, " / "))
	}
	return legible.Beginning(card.OneLine(strings.Join(all, " ; ")), mostStamped)
}

// mostStamped is how many characters of what was stamped a file has; the sheet has all of it.
const mostStamped = 2000

// mostMade is how many characters say what was made.
const mostMade = 200

// madeBy returns what the results of writes name, in the order of the steps.
func madeBy(steps []domain.Step, results []domain.ResultEntry) string {
	var all []string
	for _, r := range results {
		if r.Result == nil || r.Status != domain.StepCompleted || !slices.ContainsFunc(steps, func(s domain.Step) bool {
			return s.StepID == r.StepID && s.Access == aggregate.Write && s.Tool != catalog.Decide
		}) {
			continue
		}
		all = append(all, namedIn(r.Result.JSON)...)
	}
	return legible.Beginning(strings.Join(all, " · "), mostMade)
}

// namedIn returns the address of what a result names, or else its ids and numbers with what they are called.
func namedIn(result aggregate.JSON) (all []string) {
	var members map[string]any
	d := json.NewDecoder(strings.NewReader(string(result)))
	d.UseNumber()
	if d.Decode(&members) != nil {
		return nil // of no object
	}
	if url, _ := members["url"].(string); card.Linked(url) != "" {
		return []string{url}
	}
	for name, v := range members {
		text, is := v.(string)
		if n, number := v.(json.Number); number {
			text, is = n.String(), true
		}
		if is && text != "" && rules.Identifies(name) {
			all = append(all, legible.OneLine(name)+" "+legible.OneLine(legible.Mask(text)))
		}
	}
	slices.Sort(all)
	return all
}
