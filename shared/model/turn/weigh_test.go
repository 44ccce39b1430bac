package turn_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/agent"
	"ringi/shared/model"
	"ringi/shared/model/turn"
	"ringi/shared/runtime/expect"
)

// sees is a model that keeps the last request.
type sees struct{ request model.Request }

func (w *sees) Say(_ context.Context, r model.Request, _ func(string)) (model.Response, error) {
	w.request = r
	return model.Response{Text: "ok", Stop: model.StopEnd}, nil
}

// Everything that is sent counts, not only what people wrote.
func TestEverythingThatIsSentIsCounted(t *testing.T) {
	long := strings.Repeat("x", 30_000) // 10,000 tokens
	for about, m := range map[string]turn.Message{
		"a person's words": {Sender: turn.FromUser, Text: long},
		"an agent's words": {Sender: turn.FromAgent, Text: long},
		"a file": {Sender: turn.FromUser, Files: []turn.File{{Name: "a.txt", Type: "text/plain",
			Body: []byte(long)}}},
		"a payload": {Sender: turn.FromAgent, Proposal: &turn.Proposal{Type: agent.CodeGenerate,
			Payload: `{"files":"` + long + `"}`}},
		"a refused payload": {Sender: turn.FromAgent, Proposal: &turn.Proposal{},
			Refused: []turn.Proposal{{Payload: `{"files":"` + long + `"}`}}},
		"what its vendor hung on a read": {Sender: turn.FromAgent, Text: "x", Rounds: []turn.Round{{
			Calls: []model.Call{{Name: "read_file", Input: json.RawMessage("{}"),
				Opaque: &model.Opaque{From: "x", Data: json.RawMessage(`"` + long + `"`)}}},
			Results: []model.Result{{Text: "a"}}}}},
		"a command's output": {Sender: turn.FromSystem, ActionID: "a", Pieces: []turn.Piece{{Text: long, Quoted: true}}},
		"a summary":          {Sender: turn.FromSystem, Collapsed: true, Text: long},
		"seven large images": {Sender: turn.FromUser, Files: images(7)},
		"Japanese":           {Sender: turn.FromUser, Text: strings.Repeat("人", 7_000)},
	} {
		of := turn.Weigh([]turn.Message{m})
		min := 9_900
		if strings.Contains(about, "images") {
			min = turn.MaxImages * 1_600
		}
		expect.That(t, of >= min && of < 11_500, "%s: %d tokens", about, of)
		if m.Collapsed {
			continue // one that is alone need not be folded again
		}
		older, _ := turn.Fold([]turn.Message{m, {Sender: turn.FromUser, Text: "and now?"}}, min-1_000)
		expect.Is(t, len(older), 1, "%s: folded", about)
		older, _ = turn.Fold([]turn.Message{m, {Sender: turn.FromUser, Text: "and now?"}}, 12_000)
		expect.Is(t, len(older), 0, "%s: folded, though there is room", about)
	}
}

func images(n int) (out []turn.File) {
	for i := range n {
		out = append(out, turn.File{Name: fmt.Sprint(i), Type: "image/png", Body: []byte("x")})
	}
	return out
}

// The newest message always remains; of what alone is too large for the model, files and old arguments are left out,
// and the agent is told so.
func TestWhatAloneIsTooLargeIsLeftOutAndSaid(t *testing.T) {
	text := func(name string, kib int) turn.File {
		return turn.File{Name: name, Type: "text/plain", Body: []byte(strings.Repeat("y", kib<<10))}
	}
	history := []turn.Message{
		{Sender: turn.FromUser, Text: "look", Files: []turn.File{text("old.txt", 30)}},
		{Sender: turn.FromAgent, Text: "I propose", Proposal: &turn.Proposal{ActionID: "a", Type: agent.CodeGenerate,
			Payload: `{"files":"` + strings.Repeat("z", 30<<10) + `"}`}},
		{Sender: turn.FromUser, Text: "these two", Files: []turn.File{text("large.txt", 60), text("small.txt", 3)}},
	}
	whole := turn.Weigh(history)
	fits := turn.Fit(history, 13_000)
	expect.That(t, turn.Weigh(fits) <= 13_000 && turn.Weigh(history) == whole, "%d of %d tokens, the history has %d",
		turn.Weigh(fits), whole, turn.Weigh(history))
	expect.That(t, fits[0].Files[0].Body == nil && fits[2].Files[0].Body == nil && fits[2].Files[1].Body != nil &&
		!fits[1].Proposal.Omitted,
		"%+v", fits[2].Files[1].Why)
	expect.Has(t, fits[2].Files[0].Why, "too large for what the agent's model takes")
	least := turn.Fit(history, 10)
	expect.That(t, least[1].Proposal.Omitted && len(least) == 3 && least[2].Text == "these two", "%+v", least[1])
	expect.Same(t, history, turn.Fit(history, whole))
}

// The prompt, the tools and the answer have their place beside the history, and a small model gets a small answer.
func TestTheRoomIsWhatTheAgentsOwnModelLeaves(t *testing.T) {
	of := func(tokens int) turn.Turn {
		return turn.Turn{Agent: agent.Definition{ID: "a", Capabilities: agent.Capabilities, ContextTokens: tokens},
			MaySandbox: true, Locale: "ja", Now: time.Now()}
	}
	for tokens, least := range map[int]int{0: 100_000, 16_000: 4_000, 32_000: 16_000, 1_000_000: 970_000} {
		room := expect.Value(of(tokens).Room())(t)
		expect.That(t, room >= least && room < max(tokens, 128_000)-min(tokens, 64_000)/4, "%d tokens leave %d", tokens, room)
	}
	w := &sees{}
	small := of(16_000)
	small.History = []turn.Message{{Sender: turn.FromUser, Text: "x"}}
	expect.Value(turn.Answer(t.Context(), w, small, nil))(t)
	expect.Is(t, w.request.MaxTokens, 4_000)
}

// Rounds of an earlier try fit with what the vendor hung on their calls, of which the oldest is left out, but not in the
// rounds that are stored.
func TestWhatHangsOnOldCallsIsLeftOutWithTheirResults(t *testing.T) {
	round := func() turn.Round {
		hung := &model.Opaque{From: "x", Data: json.RawMessage(`"` + strings.Repeat("s", 30_000) + `"`)}
		return turn.Round{Calls: []model.Call{{Name: "read_file", Opaque: hung}}, Results: []model.Result{{Text: "a"}}}
	}
	stored := []turn.Round{round(), round(), round()}
	x := turn.Turn{Earlier: stored}
	x.Fit(25_000)
	hangs := func(rounds []turn.Round) (all []bool) {
		for _, r := range rounds {
			all = append(all, r.Calls[0].Opaque != nil)
		}
		return all
	}
	expect.Same(t, []bool{false, true, true}, hangs(x.Earlier))
	expect.Same(t, []bool{true, true, true}, hangs(stored))
}

// A summary's own request fits the model, too.
func TestASummaryIsAskedForWithinTheRoom(t *testing.T) {
	w := &sees{}
	for _, n := range []int{1, 200} {
		_, used := turn.Summarize(t.Context(), w, messages(n, 600_000/n), 20_000, "ja")
		got := turn.Tokens(w.request.Messages[0].Parts[0].Text)
		expect.That(t, got <= 20_000 && used.Calls == 1 &&
			strings.Count(w.request.Messages[0].Parts[0].Text, `"from"`) == n, "%d messages: %d tokens", n, got)
	}
}
