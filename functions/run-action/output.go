package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/isolated"
	"ringi/shared/words/legible"
)

// lines collects a command's output.
type lines struct {
	*job
	mu      sync.Mutex
	next    int // index of the line after the last one
	came    int // how many lines came
	held    []conversation.LogEntry
	kept    []int           // the indexes of the lines that are kept, held ones included
	gone    []int           // of lines that are to be deleted
	last    []isolated.Line // the last lines, for the agent
	tests   conversation.Tests
	begun   []int // of several commands: the index of the first line of each that has begun
	flushed time.Time
	drawn   time.Time
}

// add adds a line. It never fails: an approved command is not stopped because its output can't be saved.
func (l *lines) add(ctx context.Context, line isolated.Line) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.Now().UTC()
	at := line.Number - 1
	l.held = append(l.held, conversation.LogEntry{
		LogID: fmt.Sprintf("%s-%d", l.action.ActionID, at), ActionID: l.action.ActionID, Order: at, Text: line.Text,
		Err: line.Err, CreatedAt: now, DeleteAfter: now.Add(logKept).Unix(),
	})
	l.next, l.came = at+1, l.came+1
	if l.action.ActionType == conversation.TestRun {
		l.tests.Read(line.Text)
	}
	if l.kept = append(l.kept, at); len(l.kept) > conversation.MostLines {
		l.drop(l.surplus(conversation.MostLines, len(l.kept), func(i int) int { return l.kept[i] }))
	}
	if l.last = append(l.last, line); len(l.last) > tailLines {
		i := l.surplus(tailLines, len(l.last), func(i int) int { return l.last[i].Number - 1 })
		l.last = slices.Delete(l.last, i, i+1)
	}
	if len(l.held) >= conversation.MostLines || now.Sub(l.flushed) >= l.FlushEvery {
		l.keep(ctx)
	}
	return nil
}

// begins notes that the next line is another command's.
func (l *lines) begins() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.begun = append(l.begun, max(l.next, l.came))
}

// surplus returns the place of the line to drop where more than most lines are kept: the oldest of the first command
// that
// has more than its part. So one that prints much doesn't push out what others printed. at returns the index of the
// line
// at a place.
func (l *lines) surplus(most, n int, at func(place int) int) (place int) {
	part := most / max(1, len(l.payload.Commands))
	for _, end := range append(l.begun[min(1, len(l.begun)):len(l.begun):len(l.begun)], l.next) {
		from := place
		for place < n && at(place) < end {
			place++
		}
		if place-from > part {
			return from
		}
	}
	return 0
}

// drop drops the line at this place of those that are kept.
func (l *lines) drop(place int) {
	at := l.kept[place]
	l.kept = slices.Delete(l.kept, place, place+1)
	if i := slices.IndexFunc(l.held, func(e conversation.LogEntry) bool { return e.Order == at }); i >= 0 {
		l.held = slices.Delete(l.held, i, i+1)
		return
	}
	l.gone = append(l.gone, at)
}

// keepUp saves the last lines of a command that has fallen silent.
func (l *lines) keepUp(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(l.FlushEvery):
			l.flush(ctx)
		}
	}
}

// logKept is how long output is kept, even if the conversation is not.
const logKept = 30 * 24 * time.Hour

func (l *lines) flush(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.keep(ctx)
}

// keep saves the pending lines and has the card redrawn, with a limited frequency.
func (l *lines) keep(ctx context.Context) {
	l.flushed = l.Now()
	if len(l.held) == 0 {
		return
	}
	conversation.Log(ctx, conversation.EventChunk, l.ref.ID, l.session.AgentID, l.action.ActionID, "lines", len(l.held))
	if err := l.Store.AppendLog(ctx, l.ref, l.action.ActionID, l.held, l.gone); err != nil {
		conversation.LogError(ctx, conversation.EventChunk, l.ref.ID, l.session.AgentID, l.action.ActionID, "LOG_NOT_KEPT",
			err.Error())
		if len(l.held) < conversation.MostLines {
			return
		}
		l.lose()
		return
	}
	l.held, l.gone = nil, nil
	if l.Now().Sub(l.drawn) < l.RedrawEvery {
		return
	}
	l.drawn = l.Now()
	if err := l.Store.Redraw(ctx, l.ref); err != nil {
		conversation.LogError(ctx, conversation.EventChunk, l.ref.ID, l.session.AgentID, l.action.ActionID, "CARD_NOT_DRAWN",
			err.Error())
	}
}

// lose gives up the lines that could not be saved. Some of them may have been; those are deleted with the next ones.
func (l *lines) lose() {
	for _, e := range l.held {
		l.kept = slices.DeleteFunc(l.kept, func(at int) bool { return at == e.Order })
		l.gone = append(l.gone, e.Order)
	}
	l.held, l.gone = nil, l.gone[max(0, len(l.gone)-2*conversation.MostLines):] // the others expire
}

// mostTail is how many bytes of output the agent sees: one line of the greatest length with its number, at least.
const mostTail = isolated.MaxLine + 32

// count returns how many lines there were so far.
func (l *lines) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(l.next, l.came)
}

// into writes into a result how many lines there were, which are missing, and the last ones for the agent. dropped is
// how many never came.
func (l *lines) into(r *conversation.Result, dropped int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	kept := l.kept
	if n := len(l.held); n > 0 { // what could not be saved is not there
		kept = slices.DeleteFunc(slices.Clone(kept), func(at int) bool { return at >= l.held[0].Order })
	}
	r.Lines = max(l.next, l.came+dropped)
	r.Dropped, r.Missing = r.Lines-len(kept), conversation.Missing(kept, r.Lines)
	r.Tail, r.TailLines = l.tail()
	r.Tests = l.tests.Counted()
}

// tail returns the last lines for the agent, each after its number, and which these are. Of several commands each has a
// part of them, and what one leaves of its part is for the next.
func (l *lines) tail() (text string, shown []conversation.Lines) {
	var out []string
	size, from := 0, 0
	for n := range max(1, len(l.begun)) {
		to := len(l.last)
		if n+1 < len(l.begun) {
			to = from + len(until(l.last[from:], l.begun[n+1]))
		}
		var own []string
		first := to
		for first > from {
			one := fmt.Sprintf("%d: %s", l.last[first-1].Number, l.last[first-1].Text)
			whole := out == nil && own == nil && to == len(l.last)
			if size+len(one)+1 > mostTail*(n+1)/max(1, len(l.begun)) && !whole {
				break
			}
			size += len(one) + 1
			own, first = append(own, legible.FirstBytes(one, mostTail)), first-1
		}
		slices.Reverse(own)
		out = append(out, own...)
		for _, line := range l.last[first:to] {
			shown = conversation.WithLine(shown, line.Number)
		}
		from = to
	}
	return strings.Join(out, "\n"), shown
}

// until returns the lines before the one with this index.
func until(all []isolated.Line, end int) []isolated.Line {
	if i := slices.IndexFunc(all, func(line isolated.Line) bool { return line.Number > end }); i >= 0 {
		return all[:i]
	}
	return all
}

// progress follows the commands of an action that runs several.
type progress struct {
	*job
	lines *lines
	notes chan []conversation.Ran // what the row is to say

	mu  sync.Mutex
	ran []conversation.Ran
}

// begins notes that a command begins. The one before it has ended with exit code 0: no other is followed by one.
func (p *progress) begins(n int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n != len(p.ran)+1 || n > len(p.payload.Commands) {
		return fmt.Errorf("command %d of %d begins, after %d", n, len(p.payload.Commands), len(p.ran))
	}
	now, count := p.Now().UTC().Truncate(time.Millisecond), p.lines.count()
	if n > 1 {
		last, code := &p.ran[n-2], 0
		last.Over, last.ExitCode, last.Millis = true, &code, now.Sub(last.StartedAt).Milliseconds()
		last.Lines = count + 1 - last.From
	}
	p.ran = append(p.ran, conversation.Ran{StartedAt: now, From: count + 1})
	p.lines.begins()
	p.notes <- slices.Clone(p.ran)
	return nil
}

// keep writes notes into the action's row until there are no more. It never holds up a command: of several notes it
// writes the last, and what can't be written is in the result.
func (p *progress) keep(ctx context.Context) (done chan struct{}) {
	done = make(chan struct{})
	go func() {
		defer close(done)
		for ran := range p.notes {
			for more := true; more; {
				select {
				case newer, open := <-p.notes:
					if more = open; open {
						ran = newer
					}
				default:
					more = false
				}
			}
			_, err := p.Store.Decide(ctx, p.ref, func(a *conversation.Aggregate) (aggregate.Change, error) {
				return a.Began(p.action.ActionID, p.invocation, ran, p.Now())
			})
			if err != nil && !errors.Is(err, aggregate.ErrMoved) { // it was cancelled
				conversation.LogError(ctx, conversation.EventChunk, p.ref.ID, p.session.AgentID, p.action.ActionID,
					"PROGRESS_NOT_KEPT", err.Error())
			}
		}
	}()
	return done
}

// ended returns what became of each command that began, as the sandbox says. It says nothing of commands that nobody
// saw begin.
func (p *progress) ended(said []isolated.Ran) []conversation.Ran {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := p.ran[:min(len(p.ran), len(said))]
	from := 1
	for i, s := range said[:len(out)] {
		r := &out[i]
		r.Over, r.Signal, r.TimedOut, r.Millis = true, s.Signal, s.TimedOut, min(max(s.Millis, 0), maxMillis)
		r.From, r.Lines = from, min(max(s.Lines, 0), p.lines.count()+1-from)
		from += r.Lines
		if r.ExitCode = nil; s.Signal == "" {
			r.ExitCode = &s.ExitCode
		}
	}
	return out
}

// maxMillis is longer than any command may run.
const maxMillis = 2 * conversation.MaxSeconds * 1000

// whole reports whether all commands have run and succeeded.
func (p *progress) whole(ran []conversation.Ran) bool {
	return len(ran) == len(p.payload.Commands) &&
		!slices.ContainsFunc(ran, func(r conversation.Ran) bool { return !r.Succeeded() })
}

// limit returns the time limit of the command that ended last, in seconds.
func (p *progress) limit(ran int) int {
	if all := p.payload.Commands; ran > 0 && ran <= len(all) {
		return all[ran-1].TimeoutSeconds
	}
	return p.payload.Seconds()
}
