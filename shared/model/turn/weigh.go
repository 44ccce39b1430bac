package turn

import (
	"slices"
	"strings"

	"ringi/shared/model"
)

// tooLarge is why a file that was read is not shown.
const tooLarge = "it is too large for what the agent's model takes at once"

// Tokens estimates a text's tokens from above: three bytes of ASCII to a token, and one and a half tokens to any other
// character.
func Tokens(text string) int {
	ascii, other := 0, 0
	for _, r := range text {
		if r < 0x80 {
			ascii++
		} else {
			other++
		}
	}
	return (ascii+2)/3 + (other*3+1)/2
}

func weighParts(parts []model.Part) (n int) {
	for _, p := range parts {
		n += Tokens(p.Text)
		switch {
		case p.Image != nil:
			n += model.ImageTokens
		case p.Call != nil:
			n += weighCall(*p.Call)
		case p.Result != nil:
			n += Tokens(p.Result.Text)
		}
	}
	return n
}

// Weigh estimates the tokens of a history as it is sent: with files, images, proposals and what came of them.
func Weigh(history []Message) (n int) {
	for _, m := range said(history) {
		n += weighParts(m.Parts)
	}
	return n
}

// weigh estimates the tokens of one message.
func (m Message) weigh() int {
	if m.Sender != FromAgent {
		return Weigh([]Message{m})
	}
	n := Tokens(m.Text) + Tokens(m.HandOver)
	proposals := m.Refused
	if m.Proposal != nil {
		proposals = append([]Proposal{*m.Proposal}, proposals...)
	}
	for _, p := range proposals {
		n += Tokens(string(p.Type)) + Tokens(p.Payload) + Tokens(p.Summary) + Tokens(awaiting)
	}
	return n + weighRounds(m.Rounds)
}

func weighRounds(rounds []Round) (n int) {
	for _, r := range rounds {
		n += Tokens(r.Text)
		for _, c := range r.Calls {
			n += weighCall(c)
		}
		for _, result := range r.Results {
			n += Tokens(result.Text)
		}
	}
	return n
}

// weighCall estimates the tokens of a call with the thoughts that its vendor hung on it and gets back.
func weighCall(c model.Call) int {
	return Tokens(c.Name) + Tokens(string(c.Input)) + Tokens(string(c.Hung()))
}

// Share returns how much of the room the history may have, in tokens: what the agent reads in this turn needs the rest,
// at least a quarter.
func (t Turn) Share(room int) int {
	if t.Files == nil {
		return room
	}
	return max(room-max(weighRounds(t.Earlier), room/4), room/4)
}

// Fit leaves out results of earlier rounds and what hangs on their calls, the oldest first, and bounds those of new
// ones, so that they fit the room beside the history.
func (t *Turn) Fit(room int) {
	room = max(room-Weigh(t.History), room/4)
	t.Earlier = slices.Clone(t.Earlier)
	for i := 0; i < len(t.Earlier) && weighRounds(t.Earlier) > room; i++ {
		t.Earlier[i].Results, t.Earlier[i].Calls = slices.Clone(t.Earlier[i].Results), slices.Clone(t.Earlier[i].Calls)
		for j := range t.Earlier[i].Calls {
			t.Earlier[i].Calls[j].Opaque = nil
		}
		for j := range t.Earlier[i].Results {
			t.Earlier[i].Results[j].Text = "Not shown any more: " + tooLarge + ". Read fewer lines at once."
		}
	}
	if t.Files != nil {
		t.Files.room = room
	}
}

// Room returns how many tokens the history may have, so that it fits the agent's model beside the prompt, the tools and
// the answer. At least a quarter of what the model takes is left.
func (t Turn) Room() (int, error) {
	bare := t
	bare.History = nil
	r, err := bare.request()
	if err != nil {
		return 0, err
	}
	n := t.Agent.Context() - r.MaxTokens - Tokens(r.System)
	for _, tool := range r.Tools {
		n -= Tokens(tool.Name) + Tokens(tool.Description) + Tokens(string(tool.Schema))
	}
	for _, m := range r.Messages {
		n -= weighParts(m.Parts)
	}
	return max(n, t.Agent.Context()/4), nil
}

// Fit returns a history without what is too large for the room: first the files, the oldest and the largest of a
// message first, then what was read and the arguments of proposals, the oldest first. Messages stay, and say what is
// missing.
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
		over -= weighRounds(out[i].Rounds)
		for _, r := range out[i].Rounds {
			out[i].Read = append(slices.Clone(out[i].Read), r.Reads...)
		}
		out[i].Rounds = nil
	}
	for i := 0; i < len(out) && over > 0; i++ {
		if p := out[i].Proposal; p != nil && !p.Omitted {
			less := *p
			less.Payload, less.Omitted = "{}", true
			out[i].Proposal, over = &less, over-Tokens(p.Payload)
		}
	}
	return out
}

func fileTokens(f File) int {
	if strings.HasPrefix(f.Type, "image/") {
		return model.ImageTokens
	}
	return Tokens(string(f.Body))
}

// largest returns the file of which most is shown, or nil.
func largest(files []File) (at *File) {
	for i := range files {
		if files[i].Body != nil && (at == nil || fileTokens(files[i]) > fileTokens(*at)) {
			at = &files[i]
		}
	}
	return at
}
