package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/explain"
	"ringi/shared/model"
	"ringi/shared/model/turn"
	"ringi/shared/runtime/isolated"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store/large"
	"ringi/shared/words/language"
)

// layWithin bounds the time for laying attachments. Those that take longer are laid in a later turn.
const layWithin = 60 * time.Second

// attachments are those of the conversation in this turn.
type attachments struct {
	*conversation.Laid
	version string            // of what is laid, also by this turn
	refused map[string]string // why a file is not laid, by Slack's id
	added   map[string]bool   // files laid or read by this turn, by Slack's id
}

// lay adds the files of the history to the conversation's attachments, each once: the answer's commit takes over the
// new version. Repeated after a crash it makes the same version of the same files. What can't be laid now stays where
// it is, and another turn tries again.
func (t *answering) lay(ctx context.Context, history []turn.Message) {
	s := t.a.Conversation
	t.laid = &attachments{Laid: &conversation.Laid{List: slices.Clone(s.Attached)}, version: s.AttachmentsVersion,
		refused: map[string]string{}, added: map[string]bool{}}
	unread := func(x conversation.Attached) bool { return x.Why == conversation.NotNow }
	fresh := func(m turn.Message) bool { return slices.ContainsFunc(m.Files, t.toLay) }
	if !slices.ContainsFunc(history, fresh) && !slices.ContainsFunc(t.laid.List, unread) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, layWithin)
	defer cancel()
	if err := t.openAttachments(ctx); errors.Is(err, large.ErrGone) {
		slog.WarnContext(ctx, "the attachments of a conversation are gone", "session", t.ref.ID, "version", t.laid.version)
		t.laid.Laid = &conversation.Laid{Tree: &files.Tree{}}
	} else if err != nil {
		slog.WarnContext(ctx, "the attachments of a conversation are not read", "session", t.ref.ID, "err", err)
		return
	}
	for _, m := range history {
		for _, f := range m.Files {
			t.layFile(ctx, f)
		}
	}
	t.readLaid(ctx)
	if len(t.laid.added) == 0 {
		return
	}
	version, err := t.Attachments.Put(ctx, t.ref, t.laid.Tree)
	if err != nil {
		slog.WarnContext(ctx, "attachments are not laid", "session", t.ref.ID, "err", err)
		t.laid.Laid = &conversation.Laid{List: slices.Clone(s.Attached)}
		clear(t.laid.added)
		return
	}
	t.laid.version = version
}

// toLay reports whether a file is to be fetched: it has an id, is not there yet, and not beyond those of its message.
func (t *answering) toLay(f turn.File) bool {
	return f.ID != "" && f.Why != conversation.Beyond && t.laid.ByID(f.ID) == nil
}

// openAttachments reads the attachments, once for a turn.
func (t *answering) openAttachments(ctx context.Context) (err error) {
	if t.laid.Tree == nil {
		t.laid.Tree, err = t.Attachments.Get(ctx, t.ref, t.laid.version)
	}
	return err
}

// layFile adds a file that is not there yet.
func (t *answering) layFile(ctx context.Context, f turn.File) {
	if !t.toLay(f) {
		return
	}
	why := t.laid.Refuses(int64(f.Size))
	if why == "" {
		got, err := t.File(ctx, t.ref, f.ID, isolated.MaxFile)
		switch {
		case errors.Is(err, slackapi.ErrFile):
			why = err.Error()
		case err != nil:
			slog.WarnContext(ctx, "a file is not laid", "file", f.ID, "err", err)
			why = conversation.NotNow
		default:
			x := conversation.Attached{FileID: f.ID, Type: f.Type}
			_, why = t.laid.Add(x, cmp.Or(f.Name, got.Name), got.Body)
		}
	}
	if why != "" {
		t.laid.refused[f.ID] = why
		return
	}
	t.laid.added[f.ID] = true
}

// readLaid has the files read that are no text by themselves.
func (t *answering) readLaid(ctx context.Context) {
	for i := range t.laid.List {
		x := &t.laid.List[i]
		if x.Text != "" || x.Image() || x.Why != "" && x.Why != conversation.NotNow {
			continue
		}
		was := x.Why
		x.Why = conversation.NotNow
		content, ok := t.laid.Tree.Content(x.Path)
		if ok {
			text, err := t.Text(ctx, t.ref, content)
			if err == nil {
				t.laid.Read(x, text)
			} else {
				slog.WarnContext(ctx, "a file has no text now", "file", x.FileID, "err", err)
			}
		}
		if x.Why != was {
			t.laid.added[x.FileID] = true
		}
	}
}

// show gives the model a laid file in place of Slack's: its text where it has one, and where it lies.
func (t *answering) show(ctx context.Context, f *turn.File) {
	x := t.laid.ByID(f.ID)
	if x == nil {
		f.Why = cmp.Or(f.Why, t.laid.refused[f.ID], conversation.NotNow)
		return
	}
	f.Lies, f.Remarks, f.Type = files.AttachedFolder+"/"+x.Path, x.Remarks, x.Type
	switch {
	case x.Image():
		f.Size = int(x.Bytes)
	case x.Text != "":
		f.TextLies, f.Type, f.Encoding = files.AttachedFolder+"/"+x.Text, "text/plain", x.Encoding
		f.Size = int(x.Bytes)
		if t.openAttachments(ctx) == nil {
			text, _ := t.laid.Tree.Content(x.Text)
			f.Size = len(text)
		}
	default:
		f.Why = x.Why
	}
}

// unreadable tells people which of the newly noted files the agent can't read, or can't read whole, and why.
func (t *answering) unreadable(noted []conversation.Attachment) (lines []conversation.Unread) {
	say := func(name, text string) {
		lines = append(lines, conversation.Unread{Name: language.First(language.OneLine(name), maxFileName), Why: text})
	}
	for _, f := range noted {
		x, refused := t.laid.ByID(f.FileID), t.laid.refused[f.FileID]
		switch {
		case x != nil && x.Text != "":
		case refused != "":
			say(f.Name, explain.Unread(t.settings.Locale, refused))
		case f.Kind == unread:
			say(f.Name, explain.Unread(t.settings.Locale, f.Why))
		}
		if x == nil || !t.laid.added[f.FileID] {
			continue
		}
		for _, r := range x.Remarks {
			if text := explain.FileRemark(t.settings.Locale, r); text != "" {
				say(f.Name, text)
			}
		}
	}
	return lines[:min(len(lines), maxUnread)]
}

// Limits of what people are told at once: characters of a name, and lines.
const maxFileName, maxUnread = 60, 20

// attach shows the laid files of the turn's messages. If one can't be read, the agent gets the reason instead.
func (t *answering) attach(ctx context.Context, history []turn.Message) {
	for i := range history {
		for j := range history[i].Files {
			t.show(ctx, &history[i].Files[j])
		}
	}
	turn.Attach(history, func(f turn.File) ([]byte, string) {
		if err := t.openAttachments(ctx); err != nil {
			return nil, conversation.NotNow
		}
		x := t.laid.ByID(f.ID)
		body, _ := t.laid.Tree.Content(cmp.Or(x.Text, x.Path))
		slog.InfoContext(ctx, "a file is shown", "session", t.ref.ID, "file", f.ID, "bytes", len(body))
		return body, ""
	})
}

// unread is the kind of an attachment that was not read.
const unread = "unread"

// remember collects the attachments on which earlier answers were based.
func (t *answering) remember(all []conversation.Message) {
	t.read = map[string]conversation.Attachment{}
	for _, m := range all {
		if m.Sender != conversation.FromAgent {
			continue
		}
		for _, f := range m.Attachments {
			t.read[f.FileID] = f
		}
	}
}

// readings returns the files on which no earlier answer was based: as they were read now, or why they were not read.
func (t *answering) readings(history []turn.Message) []conversation.Attachment {
	var out []conversation.Attachment
	noted := map[string]bool{}
	for _, m := range history {
		for _, f := range m.Files {
			x := conversation.Attachment{Kind: unread, Name: f.Name, Type: f.Type, FileID: f.ID, Bytes: int64(f.Size),
				Why: f.Why}
			switch {
			case f.Body != nil && strings.HasPrefix(f.Type, "image/"):
				x.Kind, x.Hash = "image", f.Hash
			case f.Body != nil:
				x.Kind, x.Hash = "text", f.Hash
			case f.TextLies != "": // too long to be shown at once: the agent reads it by a tool
				x.Kind, x.Why = "text", ""
			}
			if was, known := t.read[f.ID]; f.ID == "" || noted[f.ID] || known && (was.Hash != "" || was == x) {
				continue
			}
			noted[f.ID] = true
			out = append(out, x)
		}
	}
	return out
}

// giveThread gives the agent what was said in the thread before somebody called it, once for a conversation. What of it
// can't be read, the agent answers without.
func (t *answering) giveThread(ctx context.Context) error {
	s := t.a.Conversation
	if s.ThreadBefore == "" || t.Thread == nil {
		return nil
	}
	said, of := model.ReadThread(ctx, func(ctx context.Context, n int) (out []model.Said, err error) {
		said, err := t.Thread(ctx, t.ref, s.Channel, s.ThreadTS, s.ThreadBefore, n)
		for _, x := range said {
			out = append(out, model.Said(x))
		}
		return out, err
	}, func(try int, err error) bool { return slackapi.Again(ctx, try, t.Rest, err) })
	a, failed := t.Store.Decide(ctx, t.ref, func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.GiveThread(t.in.Run, earlierOf(said), *of, t.Now())
	})
	switch {
	case errors.Is(failed, aggregate.ErrNotDue): // another invocation was faster
		return nil
	case failed != nil:
		return fmt.Errorf("give the thread: %w", failed)
	}
	t.a = a
	return nil
}

func earlierOf(said []model.Said) (out []conversation.Earlier) {
	for _, s := range said {
		at, err := aggregate.ParseTS(s.TS)
		if err != nil {
			continue
		}
		out = append(out, conversation.Earlier{User: s.User, At: at, Text: s.Text, Quoted: s.Quoted})
	}
	return out
}

// forwarded returns the messages that a person's message forwards.
func forwarded(m conversation.Message, names map[string]string) (out []turn.Forwarded) {
	for _, q := range m.Forwarded {
		out = append(out, turn.Forwarded{Where: q.Where, Cut: q.Cut, Earlier: turn.Earlier{
			Name: cmp.Or(names[q.User], q.Name), UserID: q.User, At: q.At, Text: named(q.Text, names)}})
	}
	return out
}
