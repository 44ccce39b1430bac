package turn

import (
	"context"
	"log/slog"
	"slices"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/model"
	"ringi/shared/words/language"
)

// Limits of the part of a conversation that a model is shown, including the summary of older messages.
const (
	MaxMessages = 1000
	MaxBytes    = 204_800 // of UTF-8
)

// MaxFolded bounds a summary, in bytes of UTF-8.
const MaxFolded = 12_000

// FoldedTokens is what a summary may have.
const FoldedTokens = MaxFolded / 2

// Fold splits a history, oldest first, that is too long: of which the messages' texts pass a limit, or all that is sent
// (see Weigh) passes the room, in tokens. older, which includes the previous summary, is to be summarized, and shown
// remains. older is nil if the history is short enough. Fold splits off more than necessary, so that not every new
// message needs another summary. The newest message always remains.
func Fold(history []Message, room int) (older, shown []Message) {
	size, tokens := 0, 0
	weights := make([]int, len(history))
	for i, m := range history {
		weights[i] = m.weigh()
		size, tokens = size+len(m.Text), tokens+weights[i]
	}
	if len(history) <= MaxMessages && size <= MaxBytes && tokens <= room || len(history) < 2 {
		return nil, history
	}
	n := 0
	for ; n < len(history)-1 && (len(history)-n+1 > MaxMessages*3/4 || size+MaxFolded > MaxBytes*3/4 ||
		tokens+FoldedTokens > room*3/4); n++ {
		size, tokens = size-len(history[n].Text), tokens-weights[n]
	}
	if n == 1 && history[0].Collapsed { // a summary alone need not be summarized again
		n = 2
	}
	if n >= len(history) {
		return nil, history
	}
	return history[:n], history[n:]
}

// Summarize returns the model's summary of older messages, which include the previous summary. What is too long for the
// room, in tokens, is sent with each message cut. The summary is empty if there is no usable answer. The usage is the
// call's, even if its answer was not used.
func Summarize(ctx context.Context, w model.Wire, older []Message, room int, locale string) (string, model.Usage) {
	p, err := model.ReadPrompt(prompts, "fold", locale)
	if err != nil { // the prompts are embedded
		panic(err)
	}
	r := model.Request{Purpose: "chat", System: p.Text, MaxTokens: min(MaxTokens, room/2),
		Messages: []model.Message{model.Words(model.User, fenced(within(plainly(older), room*3/4)))}}
	got, err := model.SayWhole(ctx, w, r, p.Name())
	got.Usage.ID = aggregate.NewID()
	text := strings.TrimSpace(language.Visible(got.Text))
	if err != nil || got.Stop != model.StopEnd || !language.Legible(text) || len(text) > MaxFolded {
		slog.WarnContext(ctx, "older messages have no summary", "stop", got.Stop, "bytes", len(text), "err", err)
		return "", got.Usage
	}
	return text, got.Usage
}

// plainly lists who said what, without the turns that vendors require.
func plainly(older []Message) (out []entry) {
	for _, m := range older {
		switch {
		case m.Collapsed:
			out = append(out, m.folded()...)
		case m.Sender == conversation.FromSystem:
			out = append(out, m.system()...)
		case m.Sender == conversation.FromUser:
			out = append(out, m.spoken()...)
		case m.Proposal != nil:
			out = append(out, entry{Agent: m.Text + "\n(proposed: " + m.Proposal.Summary + ")"})
		default:
			out = append(out, entry{Agent: m.Text})
		}
		for _, f := range m.Files {
			out = append(out, entry{From: line(m.Name), File: line(f.Name)})
		}
	}
	return out
}

// within cuts the entries' texts so that all together fit the room, in tokens.
func within(list []entry, room int) []entry {
	for most := MaxBytes; most > maxLine && model.Tokens(fenced(list)) > room; most /= 2 {
		for i := range list {
			for _, text := range []*string{&list[i].Agent, &list[i].System, &list[i].Quoted, &list[i].Summary, &list[i].Text} {
				*text = language.Clip(*text, most)
			}
		}
	}
	return list
}

// maxLine is to how many characters a message is cut at least.
const maxLine = 80

// tooLarge is why a file that was read is not shown.
const tooLarge = "it is too large for what the agent's model takes at once"

// Weigh estimates the tokens of a history as it is sent: with files, images, proposals and what came of them.
func Weigh(history []Message) (n int) {
	for _, m := range said(history) {
		n += m.Tokens()
	}
	return n
}

// weigh estimates the tokens of one message.
func (m Message) weigh() int {
	if m.Sender != conversation.FromAgent {
		return Weigh([]Message{m})
	}
	n := model.Tokens(m.Text) + model.Tokens(m.Request)
	if p := m.Proposal; p != nil {
		n += model.Tokens(string(p.Type)+p.Payload+p.Summary) + model.Tokens(awaiting)
	}
	return n
}

// weighRead estimates the tokens of calls that read, and of their results.
func weighRead(rounds []Round) (n int) {
	for _, r := range rounds {
		for _, c := range r.Calls {
			n += c.Tokens()
		}
		for _, result := range r.Results {
			n += model.Tokens(result.Text)
		}
	}
	return n
}

// Weigh estimates the tokens of the history and of what was read beside it.
func (t Turn) Weigh(read []Round) int { return Weigh(t.History) + weighRead(read) }

// Share returns how much of the room the history may have, in tokens: what the agent reads in this turn needs the rest,
// at least a quarter.
func (t Turn) Share(room int) int {
	if t.Files == nil {
		return room
	}
	return max(room-max(weighRead(t.Earlier), room/4), room/4)
}

// Fit bounds the results of reads so that they fit the room beside the history.
func (t *Turn) Fit(room int) {
	if t.Files != nil {
		t.Files.room = max(room-Weigh(t.History), room/4)
	}
}

// Room returns how many tokens the history may have, so that it fits the agent's model beside the prompt, the tools and
// the answer. At least a quarter of what the model takes is left.
func (t Turn) Room() (int, error) {
	bare := t
	bare.History = nil
	r, _, err := bare.request()
	if err != nil {
		return 0, err
	}
	return max(t.Agent.Context()-r.MaxTokens-r.Tokens(), t.Agent.Context()/4), nil
}

// Fit returns a history without what is too large for the room: first the files, the oldest and the largest of a
// message first, then the arguments of proposals, the oldest first. Messages stay, and say what is missing.
func Fit(history []Message, room int) []Message {
	out := slices.Clone(history)
	for i := range out {
		out[i].Files = slices.Clone(out[i].Files)
	}
	over := Weigh(out) - room
	for i := 0; i < len(out) && over > 0; i++ {
		for over > 0 {
			f := largest(out[i].Files)
			if f == nil {
				break
			}
			over -= fileTokens(*f)
			f.Body, f.Why = nil, tooLarge
		}
	}
	for i := 0; i < len(out) && over > 0; i++ {
		if p := out[i].Proposal; p != nil && !p.Omitted {
			less := *p
			less.Payload, less.Omitted = "{}", true
			out[i].Proposal, over = &less, over-model.Tokens(p.Payload)
		}
	}
	return out
}

func fileTokens(f File) int { return model.Message{Parts: []model.Part{shownAs(f)}}.Tokens() }

// largest returns the file of which most is shown, or nil.
func largest(files []File) (at *File) {
	for i := range files {
		if files[i].Body != nil && (at == nil || fileTokens(files[i]) > fileTokens(*at)) {
			at = &files[i]
		}
	}
	return at
}
