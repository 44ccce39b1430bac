package conversation

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/words/legible"
)

// ranWords say what became of one command of several.
type ranWords struct{ command, exit, signal, timedOut, began, runs, notRun, took, lines string }

// Ran is what became of one command of several. It is of the command with the same place in the payload.
type Ran struct {
	StartedAt time.Time `json:"started_at"`
	From      int       `json:"from"`  // number of its first line of output, if it has one
	Lines     int       `json:"lines"` // of its output, those that are not kept included
	// Over says that the command has ended. Of one that has not, nobody knows more than that it began.
	Over     bool   `json:"over,omitempty"`
	ExitCode *int   `json:"exit_code,omitempty"` // nil: a signal ended it, or nobody knows
	Signal   string `json:"signal,omitempty"`
	TimedOut bool   `json:"timed_out,omitempty"`
	Millis   int64  `json:"ms,omitempty"` // how long it took
}

// Succeeded reports whether the command ended as it should, so that the next one may begin.
func (r Ran) Succeeded() bool { return r.Over && r.ExitCode != nil && *r.ExitCode == 0 && !r.TimedOut }

// Brief says in one word how the command ended, for the audit log.
func (r Ran) Brief() string {
	switch {
	case !r.Over:
		return "begun"
	case r.TimedOut:
		return "timeout"
	case r.ExitCode != nil:
		return fmt.Sprint(*r.ExitCode)
	}
	return "signal " + strings.ReplaceAll(legible.OneLine(r.Signal), ",", "")
}

// BriefOf says how each of several commands ended, those that have not begun left out.
func BriefOf(ran []Ran) string {
	words := make([]string, len(ran))
	for i, r := range ran {
		words[i] = r.Brief()
	}
	return strings.Join(words, ", ")
}

// withRan adds to an audit entry how each of several commands ended.
func withRan(ran []Ran, details map[string]any) map[string]any {
	if len(ran) > 0 {
		details["commands"] = BriefOf(ran)
	}
	return details
}

// Began records that the invocation that executes an action has begun these of its commands. What was recorded stays
// if the invocation ends without a result.
func (a *Aggregate) Began(id, invocation string, ran []Ran, now time.Time) (aggregate.Change, error) {
	x, err := a.executedBy(id, invocation)
	if err != nil {
		return aggregate.Change{}, err
	}
	if len(ran) <= len(x.Commands) || len(ran) > MaxCommands {
		return aggregate.Change{}, nil
	}
	c := a.begin(now)
	n := *x
	n.Commands = slices.Clone(ran)
	c.Put(&n)
	return c.done()
}

// RanLines says of each of an action's several commands what became of it; empty before the action has begun, and for
// one that is no plan.
func (x *Action) RanLines(locale string) (lines []string) {
	if x.Plan == 0 || x.StartedAt == nil {
		return nil
	}
	w := said.In(locale).ran
	for i := range x.Plan {
		line := fmt.Sprintf(w.command, i+1)
		if i < len(x.Commands) {
			line += strings.Join(x.Commands[i].said(w, x.Status == ActionExecuting), " · ")
		} else if x.Status == ActionExecuting || x.Outcome != "" || x.Status == ActionCancelled && x.Late == nil {
			continue // nobody knows whether it has begun meanwhile
		} else {
			line += w.notRun
		}
		lines = append(lines, line)
	}
	return lines
}

// said says what became of a command.
func (r Ran) said(w ranWords, executing bool) (all []string) {
	switch {
	case !r.Over && executing:
		all = append(all, w.runs)
	case !r.Over:
		all = append(all, w.began)
	case r.TimedOut:
		all = append(all, w.timedOut)
	case r.ExitCode != nil:
		all = append(all, fmt.Sprintf(w.exit, *r.ExitCode))
	default:
		all = append(all, fmt.Sprintf(w.signal, signalName(r.Signal)))
	}
	if r.Over {
		all = append(all, fmt.Sprintf(w.took, fmt.Sprintf("%.1f", float64(r.Millis)/1000)))
	}
	if r.Lines > 0 {
		all = append(all, fmt.Sprintf(w.lines, NumbersOf([]Lines{{r.From, r.From + r.Lines - 1}}, false)))
	}
	return all
}

// signalName returns a signal's name, or ? for what is none: the sandbox could say anything there.
func signalName(name string) string {
	if name == "" || len(name) > 20 || strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-") != "" {
		return "?"
	}
	return name
}

// Printed returns the number of the command, from 1, of whose output this line of the whole output is the first that is
// shown; 0: none. before is the line that is shown before it, 0: none.
func (x *Action) Printed(line, before int) int {
	for i, r := range x.Commands {
		if before < r.From && r.From <= line && (line < r.From+r.Lines || !r.Over) {
			return i + 1
		}
	}
	return 0
}
