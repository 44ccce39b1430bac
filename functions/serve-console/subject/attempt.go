package subject

import (
	"encoding/json"
	"slices"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/slack/card"
	"ringi/shared/words/language"
)

// Attempt is one execution.
type Attempt struct {
	ID                 string
	Version, Number    int
	Decision           string // number of what was decided
	Status             task.ExecutionStatus
	Started, Completed time.Time
	Took, Waited       string // in words; for people
	Error              string // why it failed, in a sentence
	Unwritten          string // says that nothing was written, if that is known
	Failed             string // says which step failed, if one did
	StoppedBy, Retried string
	Summary            string
	Steps              []Run
	Folded             bool // steps are left out
}

// waiting is the status of a step that people are asked about before it runs.
const waiting = "waiting"

type Run struct {
	Key    string // names the row in addresses of its results: process version, attempt and order
	Step   Step
	Status string // a step's status, or waiting; empty: not begun
	Late   bool   // completed after the execution was stopped
	Reused bool
	Seen   string // who saw that a write of unknown outcome arrived; Found: Ringi itself did
	Found  bool
	Call
	Result  *Result
	Folded  bool   // arguments and result are left out
	Address string // of what it made
	Sheet   bool   // that is a sheet
	Error   string
	Took    string
	Crashes int
	Gate    *Verdict // who was asked before it ran, and the decision
}

// Call is what a step's call does, with all of its arguments.
type Call struct {
	Effect  web.Effect
	Masked  []string // the names of arguments with masked data
	Left    int      // rows that are not shown
	Preview string   // used if the arguments can't be shown in full
}

func (r Reader) attempt(s Source, e *task.Execution) Attempt {
	a := s.Task
	t := Attempt{ID: e.ID, Version: e.ProcessVersion, Number: e.Attempt, Decision: e.Number, Status: e.Status,
		Waited: explain.Length(r.Locale, time.Duration(e.WaitedMS)*time.Millisecond), Summary: r.prose(e.Summary),
		Started: web.TimeOf(e.StartedAt), Completed: web.TimeOf(e.CompletedAt)}
	if e.StartedAt != nil && e.CompletedAt != nil {
		t.Took = explain.Length(r.Locale, e.CompletedAt.Sub(*e.RanFrom()))
	}
	if e.Error != "" {
		t.Error = explain.Ended(r.Locale, e.Error, language.ForeignLine(card.StepNamed(r.Locale, a, e, e.ErrorDetail)),
			explain.RetryOf(a, e))
	}
	if e.Status == task.ExecutionFailed {
		t.Unwritten = explain.Unwritten(r.Locale, a.Steps)
	}
	if e.CancelledAt != nil {
		t.StoppedBy, t.Completed = r.Person(e.CancelledBy), *e.CancelledAt
	}
	if e.RetriedBy != "" {
		t.Retried = r.Person(e.RetriedBy)
	}
	if p := a.ProcessOf(e); p != nil {
		steps := r.steps(p.Steps)
		for i := range p.Steps {
			t.Steps = append(t.Steps, r.run(s, e, p.Steps, i, steps[i]))
			if t.Steps[i].Status == string(task.StepFailed) {
				t.Failed = card.FailedStep(r.Locale, steps[i].Order, steps[i].Name)
			}
		}
	}
	return t
}

// Made returns the steps that made something.
func (t Attempt) Made() []Run {
	return slices.DeleteFunc(slices.Clone(t.Steps), func(s Run) bool { return s.Address == "" })
}

// Now names where the attempt stands, as task.yaml has words for steps and for attempts.
func (t Attempt) Now() string {
	switch {
	case slices.ContainsFunc(t.Steps, func(s Run) bool { return s.Status == waiting }):
		return waiting
	case t.Status == task.ExecutionRunning:
		return "executing"
	}
	return string(t.Status)
}

func (r Reader) run(s Source, e *task.Execution, steps []task.Step, i int, shown Step) Run {
	a, planned := s.Task, steps[i]
	r.Settled = true // what waits stands above, whole
	out := Run{Key: Key(e.ProcessVersion, e.Attempt, planned.Order), Step: shown}
	if g := a.GateOf(e, planned.Order); g != nil {
		v := r.verdict(a, g.ID, &g.Gate)
		out.Gate = &v
		if g.Status == aggregate.PendingApproval && a.Head.Ended == nil {
			out.Status = waiting
		}
	}
	row := a.StepOf(e, planned.Order)
	if row == nil {
		out.Call = r.told(explain.EffectOf(r.Locale, planned, nil, steps[:i]), false)
		return out
	}
	out.Status, out.Reused, out.Crashes, out.Found = string(row.Status), row.Reused, row.Crashes, row.Found
	if row.ConfirmedBy != "" {
		out.Seen = r.Person(row.ConfirmedBy)
	}
	if row.CompletedAt != nil {
		out.Took = explain.Length(r.Locale, time.Duration(row.DurationMS)*time.Millisecond)
	}
	out.Late = row.Status == task.StepCompleted && row.CompletedAt != nil && e.CancelledAt != nil &&
		row.CompletedAt.After(*e.CancelledAt)
	if row.Error != "" {
		out.Error = explain.Ended(r.Locale, row.Error, language.ForeignLine(row.ErrorDetail), explain.NoRetry)
	}
	arguments := row.Arguments
	if v, ok := s.Opened[arguments.S3Key]; ok && !v.Expired {
		arguments.JSON = aggregate.JSON(v.JSON)
	}
	out.Call, _ = r.call(planned, arguments, false)
	if shown, _, ok := explain.Masked(planned, arguments, r.Locale); ok && row.Status == task.StepCompleted &&
		planned.Access == aggregate.Write {
		planned.ToolInput = arguments.JSON
		out.Effect.Sentence = r.done(explain.EffectOf(r.Locale, planned, shown, nil), row.Result)
	}
	out.Result, out.Address = r.result(s, row.Result), card.Address(row)
	out.Sheet = planned.Act() == rules.ActSheet
	return out
}

// done is an effect's sentence once it is done, with how many rows the result says that a sheet got.
func (r Reader) done(e explain.Effect, b *aggregate.Blob) []web.Piece {
	result := map[string]json.RawMessage{}
	if b != nil {
		_ = json.Unmarshal([]byte(b.JSON), &result) // one that says nothing of rows
	}
	e.Amount = rules.Nothing() // it stands above
	return r.Line(e.Done(r.Locale, language.OneLine(string(result["updated_rows"]))))
}

// call returns what a call with these arguments does, uncut if all is set. whole is false if any are missing.
func (r Reader) call(planned task.Step, b aggregate.Blob, all bool) (c Call, whole bool) {
	shown, hidden, ok := explain.Masked(planned, b, r.Locale)
	if !ok {
		c.Effect = r.Effect(explain.Effect{Sentence: []explain.Piece{{Text: web.ToolBeside(planned.Tool)}},
			Access: planned.Access, Act: planned.Act(), Amount: planned.Amount()})
		c.Preview = language.Spelled(language.Mask(language.Beginning(string(b.JSON), maxText)))
		return c, false
	}
	planned.ToolInput = b.JSON
	c = r.told(explain.EffectOf(r.Locale, planned, shown, nil), all) // no value of a call refers to a step
	c.Masked = hidden
	return c, true
}

// told draws an effect: all of it, or the beginnings of its texts and few rows. Texts come with invisible characters
// spelled out, so they may be longer than the arguments.
func (r Reader) told(e explain.Effect, all bool) (c Call) {
	cut := func(pieces []explain.Piece) []explain.Piece {
		out := slices.Clone(pieces)
		for i := range out {
			if !all {
				out[i].Text = language.Beginning(out[i].Text, maxText)
			}
		}
		return out
	}
	e.Sentence, e.Words, e.Rest = cut(e.Sentence), cut(e.Words), slices.Clone(e.Rest)
	for i, x := range e.Rest {
		e.Rest[i].Value = cut(x.Value)
	}
	if !all && len(e.Rest) > maxRows {
		c.Left, e.Rest = len(e.Rest)-maxRows, e.Rest[:maxRows]
	}
	c.Effect = r.Effect(e)
	return c
}
