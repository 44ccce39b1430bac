package main

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/boot"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi"
	"ringi/shared/words/language"
)

const (
	// streamFrom is the length, in characters, from which an unfinished answer is shown.
	streamFrom = 200
	// streamLines is the length, in characters, from which only complete lines are shown. No message ends before it,
	// unless most of its text is escaped.
	streamLines = 600
	// streamEvery is the time between two calls: Slack allows 100 appends a minute in a workspace (its Tier 4).
	streamEvery = 1200 * time.Millisecond
	// streamWithin bounds each call to Slack, so that the answer itself is not delayed.
	streamWithin = 5 * time.Second
)

type Streamer interface {
	StartStream(ctx context.Context, channel, thread, team, user, markdown string) (ts string, err error)
	AppendStream(ctx context.Context, channel, ts, markdown string) error
	StopStream(ctx context.Context, channel, ts string) error
	FindStreams(ctx context.Context, channel, thread string, since time.Time) ([]string, error)
	Delete(ctx context.Context, channel, ts string) error
}

// Notes records which message shows an unfinished answer.
type Notes interface {
	PutNote(ctx context.Context, ref aggregate.Ref, r aggregate.Row, of string, first bool) error
	DropNote(ctx context.Context, ref aggregate.Ref, r aggregate.Row, of string) error
}

// growing is the message that shows one unfinished answer. If it fails, the card updater draws the answer's card in its
// place, or posts it.
type growing struct {
	*answering
	row    *conversation.Stream
	latest chan string // holds only the newest text
	ended  chan struct{}
	over   chan struct{}
	shown  string // the text that Slack already shows
	failed bool
	half   bool        // the text is no answer; set before ended is closed
	void   atomic.Bool // the text so far no longer counts: the model is asked again
	told   bool        // the message says that it is no answer
}

// halves says of a text that stands for now that it is no answer.
var halves = language.InEach("(ここで途切れたため、この回答は使いません。)", "(It broke off here, so this answer isn't used.)")

// grow shows the text while the answer is made. end returns when nothing more will be sent; half says that the text is
// no answer, which the message says then. A repeated turn begins no second message: its answer replaces the first
// turn's
// message.
func (t *answering) grow(ctx context.Context) (onText func(string), end func(half bool)) {
	if t.Streamer == nil || !t.clear(ctx) {
		return nil, func(bool) {}
	}
	g := &growing{answering: t, latest: make(chan string, 1), ended: make(chan struct{}), over: make(chan struct{})}
	go g.run(context.WithoutCancel(ctx))
	return g.say, func(half bool) {
		g.half = half
		close(g.ended)
		<-g.over
	}
}

// say replaces the text that waits to be shown; "" says that what was shown no longer counts. Only one goroutine may
// call it.
func (g *growing) say(text string) {
	if text == "" {
		g.void.Store(true)
	}
	select {
	case <-g.latest:
	default:
	}
	g.latest <- text
}

func (g *growing) run(ctx context.Context) {
	defer close(g.over)
	var err error
	defer boot.Recover(ctx, &err, g.ref.Log()) // a panic must not end the answer
	for {
		select {
		case <-g.ended:
			g.stop(ctx)
			return
		case text := <-g.latest:
			if g.void.Swap(false) && g.row != nil {
				g.tell(ctx)
				g.failed = true // the card of the next answer takes the message
			}
			if g.failed || !g.show(ctx, text) {
				continue
			}
			select {
			case <-g.ended:
			case <-time.After(g.Every):
			}
		}
	}
}

// show sends the new part of a text, and reports whether it succeeded.
func (g *growing) show(ctx context.Context, text string) bool {
	if utf8.RuneCountInString(text) <= streamFrom {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, streamWithin)
	defer cancel()
	whole := card.Streamed(sure(text))
	more, follows := strings.CutPrefix(whole, g.shown)
	switch {
	case strings.HasPrefix(g.shown, whole): // nothing new is sure
		return false
	case !follows: // the model started over, or the earlier text is now formatted differently
		g.failed = true
		return false
	case utf8.RuneCountInString(more) > slackapi.MaxStreamed:
		return false
	}
	var err error
	if g.row == nil {
		err = g.begin(ctx, more)
	} else {
		err = g.Streamer.AppendStream(ctx, g.a.Conversation.Channel, g.row.TS, more)
	}
	g.shown = whole
	if err != nil {
		g.failed = true
		slog.WarnContext(ctx, "the answer is shown when it is done", "session", g.ref.ID, "err", err)
	}
	return true
}

// sure returns the part of an unfinished text that the answer's first message will show: at most one message, and of a
// text that may soon fill one only complete lines, since the message may end after any of them.
func sure(text string) string {
	if parts := conversation.Parts(text); len(parts) > 1 {
		return parts[0]
	}
	if utf8.RuneCountInString(text) < streamLines {
		return text
	}
	return text[:strings.LastIndexByte(text, '\n')+1]
}

// begin creates the row, posts the message, and then saves the message's timestamp in the row.
func (g *growing) begin(ctx context.Context, text string) error {
	s := g.a.Conversation
	row := conversation.NewStream(g.seen[0], g.Now())
	if err := g.Notes.PutNote(ctx, g.ref, row, row.Of, true); err != nil {
		return err
	}
	ts, err := g.Streamer.StartStream(ctx, s.Channel, s.ThreadTS, s.TeamID, asker(g.seen, s), text)
	if unknown := (slackapi.Unknown{}); errors.As(err, &unknown) { // the message may exist; the card updater looks
		return err
	}
	if err != nil {
		return errors.Join(err, g.Notes.DropNote(ctx, g.ref, row, row.Of))
	}
	row.TS, g.row = ts, row
	if err := g.Notes.PutNote(ctx, g.ref, row, row.Of, false); err != nil {
		g.discard(ctx, row)
		g.row = nil
		return err
	}
	return nil
}

// asker returns the author of the newest message that is answered.
func asker(seen []*conversation.Inbox, s *conversation.Conversation) string {
	for _, i := range slices.Backward(seen) {
		if i.User != "" {
			return i.User
		}
	}
	return s.Opener
}

// stop ends the stream, so that the card can replace the message. If stop fails, the card updater ends the stream.
func (g *growing) stop(ctx context.Context) {
	if g.row == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, streamWithin)
	defer cancel()
	if g.half {
		g.tell(ctx)
	}
	if err := g.Streamer.StopStream(ctx, g.a.Conversation.Channel, g.row.TS); err != nil {
		slog.WarnContext(ctx, "a message still grows", "session", g.ref.ID, "ts", g.row.TS, "err", err)
	}
}

// tell says below the text, once, that it is no answer.
func (g *growing) tell(ctx context.Context) {
	if g.told {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, streamWithin)
	defer cancel()
	err := g.Streamer.AppendStream(ctx, g.a.Conversation.Channel, g.row.TS, "\n\n"+halves.In(g.settings.Locale))
	if g.told = err == nil; err != nil {
		slog.WarnContext(ctx, "half a text stands for an answer", "session", g.ref.ID, "ts", g.row.TS, "err", err)
	}
}

// clear deletes the message of an earlier answer. It reports whether this turn may begin a message: a repeated turn may
// not, and only looks for the one it began.
func (t *answering) clear(ctx context.Context) bool {
	row := t.a.Stream
	if row == nil {
		return len(t.seen) > 0
	}
	ctx, cancel := context.WithTimeout(ctx, streamWithin)
	defer cancel()
	if row.Of != t.seen[0].Message {
		return t.discard(ctx, row)
	}
	if row.TS != "" {
		return false
	}
	found, err := t.Streamer.FindStreams(ctx, t.a.Conversation.Channel, t.a.Conversation.ThreadTS, row.StartedAt)
	if found = t.a.Uncarded(found); err == nil && len(found) > 0 {
		next := *row
		next.TS = found[0]
		err = t.Notes.PutNote(ctx, t.ref, &next, row.Of, false)
	}
	if err != nil {
		slog.WarnContext(ctx, "a message of an earlier try is not found", "session", t.ref.ID, "err", err)
	}
	return false
}

// orphaned deletes the message of an answer that was superseded.
func (t *answering) orphaned(ctx context.Context) {
	a, err := t.Store.Load(ctx, t.ref)
	if err != nil { // the card updater or the next answer deletes it
		return
	}
	t.a = a
	if row := a.Leftover(); row != nil {
		t.discard(ctx, row)
	}
}

// discard deletes a message that belongs to no answer, with its row.
func (t *answering) discard(ctx context.Context, row *conversation.Stream) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), streamWithin)
	defer cancel()
	channel, found, err := t.a.Conversation.Channel, []string{row.TS}, error(nil)
	if row.TS == "" {
		found, err = t.Streamer.FindStreams(ctx, channel, t.a.Conversation.ThreadTS, row.StartedAt)
		found = t.a.Uncarded(found)
	}
	for _, ts := range found {
		err = errors.Join(err, t.Streamer.StopStream(ctx, channel, ts), t.Streamer.Delete(ctx, channel, ts))
	}
	if err == nil {
		err = t.Notes.DropNote(ctx, t.ref, row, row.Of)
	}
	if err != nil {
		slog.WarnContext(ctx, "a message of an earlier answer stays for now", "session", t.ref.ID, "ts", row.TS, "err", err)
	}
	return err == nil
}
