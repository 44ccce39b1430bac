package turn

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"ringi/shared/domain/conversation"
	"ringi/shared/model"
	"ringi/shared/words/language"
)

// Round is an answer that read files, with what it read.
type Round struct {
	Text    string              `json:"text,omitempty"` // what the agent said
	Calls   []model.Call        `json:"calls"`
	Results []model.Result      `json:"results,omitempty"` // one for each call; nil: not read yet
	Version string              `json:"version"`           // of the files
	Reads   []conversation.Read `json:"reads,omitempty"`   // what of it people are shown
}

// Paid commits what a model's answer cost that reads, and the rounds so far, of which the last one has no results yet.
// goOn is false if the turn may read no more after this round. Its error ends the turn.
type Paid func(ctx context.Context, rounds []Round, used model.Usage) (goOn bool, err error)

// PaidError is an error of Turn.Paid.
type PaidError struct{ Err error }

func (e *PaidError) Error() string { return "commit what an answer cost: " + e.Err.Error() }
func (e *PaidError) Unwrap() error { return e.Err }

// roundID begins the ids of calls in rounds.
const roundID = "read_"

// leastLeft is the time that an answer to what was read needs.
const leastLeft = time.Minute

// readers are the part of a turn that reads.
type readers struct {
	t      Turn
	rounds []Round
	last   bool // no more reads
}

// begin puts the rounds of an earlier try at the same answer into the request.
func (t Turn) begin(ctx context.Context, r *model.Request) *readers {
	x := &readers{t: t, last: t.Files == nil}
	for _, round := range t.Earlier {
		x.answered(ctx, &round)
		x.add(r, round)
	}
	if !x.last {
		r.Parallel = true
	}
	x.limit(ctx, r)
	return x
}

// limit takes the read tools away once no more reads are possible. Other tools stay, so that the agent can propose.
func (x *readers) limit(ctx context.Context, r *model.Request) {
	deadline, bounded := ctx.Deadline()
	if x.last = x.last || len(x.rounds) >= MaxRounds || bounded && time.Until(deadline) < leastLeft; !x.last {
		return
	}
	r.Tools = slices.DeleteFunc(slices.Clone(r.Tools), func(t model.Tool) bool { return reads(t.Name) })
	r.Parallel = false
}

// said returns what the agent said before it read, and after that.
func (x *readers) said(text string) string {
	var all []string
	for _, round := range x.rounds {
		all = append(all, round.Text)
	}
	all = slices.DeleteFunc(append(all, strings.TrimSpace(language.Visible(text))), func(s string) bool { return s == "" })
	return strings.Join(all, "\n\n")
}

// read answers a model's answer that calls a read tool. It reports false if there is none.
func (x *readers) read(ctx context.Context, r *model.Request, got model.Response, reply *Reply) (bool, error) {
	if x.last || got.Stop == model.StopRefused || got.Stop == model.StopLength ||
		!slices.ContainsFunc(got.Calls, func(c model.Call) bool { return reads(c.Name) }) {
		return false, nil
	}
	round := Round{Text: strings.TrimSpace(language.Visible(got.Text)), Version: x.t.Files.Version}
	for i, c := range got.Calls {
		c.ID, c.Input = fmt.Sprintf(roundID+"%d_%d", len(x.rounds)+1, i+1), c.Object()
		round.Calls = append(round.Calls, c)
	}
	for _, c := range round.Calls[:min(len(round.Calls), MaxReads)] { // what it is going to read
		if read, ok := asRead(c); ok {
			round.Reads = append(round.Reads, read)
		}
	}
	goOn := true
	if x.t.Paid != nil {
		var err error
		if goOn, err = x.t.Paid(ctx, append(slices.Clone(x.rounds), round), reply.Usage); err != nil {
			return true, &PaidError{err}
		}
		reply.Usage = model.Usage{}
	}
	x.answered(ctx, &round)
	x.add(r, round)
	x.last = !goOn
	x.limit(ctx, r)
	return true, nil
}

const (
	readFirst = "Not proposed: the same answer reads files, and what it reads comes first. Propose it after you have " +
		"seen that, if it still fits."
	tooMany = "Not read: at most %d reads in one answer. Read it in the next one."
)

// answered adds the results of a round that has none.
func (x *readers) answered(ctx context.Context, round *Round) {
	if round.Results != nil {
		if x.t.Files != nil {
			for _, r := range round.Results {
				x.t.Files.count(r.Text)
			}
		}
		return
	}
	round.Reads = nil
	for i, c := range round.Calls {
		out := model.Result{CallID: c.ID, Failed: true}
		switch {
		case x.t.Files == nil || reads(c.Name) && round.Version != x.t.Files.Version:
			out.Text = "Not read: the files have changed since. Read it again if you need it."
		case !reads(c.Name):
			out.Text = readFirst
		case i >= MaxReads:
			out.Text = fmt.Sprintf(tooMany, MaxReads)
		default:
			var lines conversation.Lines
			out, lines = x.t.Files.Read(ctx, c)
			if read, ok := asRead(c); ok {
				read.From, read.To, read.Failed = lines.From, lines.To, out.Failed
				round.Reads = append(round.Reads, read)
			}
		}
		round.Results = append(round.Results, out)
	}
}

// add puts a round into the request: the agent's answer that read, and what it was answered.
func (x *readers) add(r *model.Request, round Round) {
	x.rounds = append(x.rounds, round)
	spoken, results := model.Message{Role: model.Assistant}, model.Message{Role: model.User}
	if round.Text != "" {
		spoken.Parts = append(spoken.Parts, model.Part{Text: round.Text})
	}
	for i, c := range round.Calls {
		spoken.Parts = append(spoken.Parts, model.Part{Call: &c})
		results.Parts = append(results.Parts, model.Part{Result: &round.Results[i]})
	}
	r.Messages = append(r.Messages, spoken, results)
}

// readOf names what the agent read in an earlier turn, which is not shown again.
func readOf(all []conversation.Read) (out []entry) {
	for _, r := range all {
		e := entry{Read: r.Path, Searched: r.Text}
		if r.To > 0 {
			e.Lines = conversation.NumbersOf([]conversation.Lines{{From: r.From, To: r.To}}, false)
		}
		if !r.Failed && r.Tool != listFiles {
			out = append(out, e)
		}
	}
	if out != nil {
		out = append([]entry{{NotShown: "what you read of these files before your answer above; read them again if " +
			"you need it"}}, out...)
	}
	return out
}

// ReadKept reads rounds that were stored. It leaves out those that can't be used.
func ReadKept(text json.RawMessage) (rounds []Round, err error) {
	if err := json.Unmarshal(text, &rounds); err != nil {
		return nil, fmt.Errorf("read rounds: %w", err)
	}
	return slices.DeleteFunc(rounds, func(r Round) bool {
		return len(r.Calls) == 0 || r.Results != nil && len(r.Results) != len(r.Calls)
	}), nil
}
