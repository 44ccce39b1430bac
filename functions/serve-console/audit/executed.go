package audit

import (
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

// executed returns how a line's request or call was carried out, empty unless all of it was.
func (s *speaker) executed(x *store.RegisteredTask, sum explain.Sum) (out executed) {
	switch {
	case x.Call != nil && x.Call.Status == conversation.ActionSucceeded && x.Call.CompletedAt != nil:
		out.At = *x.Call.CompletedAt
		out.Says, out.Made = s.done(sum), s.returned(x)
	case x.Executed.CompletedAt != nil:
		out.At = *x.Executed.CompletedAt
		out.Says, out.Made = s.done(sum), s.madeBy(x.Steps, x.Executed.Results)
	default:
		return out
	}
	out.By = s.words.Say("recorded")
	if out.Done = !slices.ContainsFunc(x.Steps, func(s domain.Step) bool { return s.Tool == catalog.Decide }); out.Done {
		out.By = s.words.Say("by_ringi")
	}
	return out
}

// done says what steps did, without the amount, which has a column of its own.
func (s *speaker) done(sum explain.Sum) []subject.Piece {
	if !sum.Final {
		return s.Briefly(sum.First().Sentence)
	}
	sum.Amount = rules.Nothing()
	return s.Briefly(sum.Done(""))
}

// returned says what an agent's call made, unless what it returned is large.
func (s *speaker) returned(x *store.RegisteredTask) string {
	if x.Call.Result == nil || len(x.Steps) == 0 {
		return ""
	}
	is, err := conversation.ReadCallResult([]byte(x.Call.Result.JSON))
	if err != nil {
		return ""
	}
	return card.MadeBy(card.Made(s.Locale, aggregate.JSON(is.Value)))
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

// mostStamped is how many characters of what was stamped a file has.
const mostStamped = 2000

// mostMore is how many characters of what else was stamped a line of the list has.
const mostMore = 200

// madeBy returns what the results of writes name, in the order of the steps.
func (s *speaker) madeBy(steps []domain.Step, results []domain.ResultEntry) string {
	var all []string
	for _, r := range results {
		if r.Result == nil || r.Status != domain.StepCompleted {
			continue
		}
		for i := range steps {
			if is := &steps[i]; is.StepID == r.StepID && is.Access == aggregate.Write && is.Tool != catalog.Decide {
				all = append(all, card.Made(s.Locale, r.Result.JSON)...)
			}
		}
	}
	return card.MadeBy(all)
}
