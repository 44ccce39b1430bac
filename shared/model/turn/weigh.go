package turn

import (
	"slices"
	"strings"

	"ringi/shared/model"
)

// imageTokens is what vendors count for a large image.
const imageTokens = 1_600

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
			n += imageTokens
		case p.Call != nil:
			n += Tokens(p.Call.Name) + Tokens(string(p.Call.Input))
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
	n := Tokens(m.Text)
	proposals := m.Refused
	if m.Proposal != nil {
		proposals = append([]Proposal{*m.Proposal}, proposals...)
	}
	for _, p := range proposals {
		n += Tokens(string(p.Type)) + Tokens(p.Payload) + Tokens(p.Summary) + Tokens(awaiting)
	}
	return n
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
			out[i].Proposal, over = &less, over-Tokens(p.Payload)
		}
	}
	return out
}

func fileTokens(f File) int {
	if strings.HasPrefix(f.Type, "image/") {
		return imageTokens
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
