package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

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
		l.drop()
	}
	if l.last = append(l.last, line); len(l.last) > tailLines {
		l.last = l.last[1:]
	}
	if len(l.held) >= conversation.MostLines || now.Sub(l.flushed) >= l.FlushEvery {
		l.keep(ctx)
	}
	return nil
}

// drop drops the oldest line of those that are kept.
func (l *lines) drop() {
	at := l.kept[0]
	l.kept = l.kept[1:]
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

// into writes into a result how many lines there were and are missing, and the last ones for the agent. dropped is how
// many never came.
func (l *lines) into(r *conversation.Result, dropped int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	kept := l.kept
	if n := len(l.held); n > 0 { // what could not be saved is not there
		kept = slices.DeleteFunc(slices.Clone(kept), func(at int) bool { return at >= l.held[0].Order })
	}
	r.Lines = max(l.next, l.came+dropped)
	r.Dropped, r.Tail = r.Lines-len(kept), l.tail()
	r.Tests = l.tests.Counted(r.ExitCode)
}

// tail returns the last lines for the agent, each after its number.
func (l *lines) tail() string {
	var out []string
	size := 0
	for first := len(l.last); first > 0; first-- {
		one := fmt.Sprintf("%d: %s", l.last[first-1].Number, l.last[first-1].Text)
		if size += len(one) + 1; size > mostTail && out != nil {
			break
		}
		out = append(out, legible.FirstBytes(one, mostTail))
	}
	slices.Reverse(out)
	return strings.Join(out, "\n")
}
