package turn_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/vendors/models"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/model/turn"
	"ringi/shared/runtime/expect"
)

func messages(n, size int) (out []turn.Message) {
	for i := range n {
		out = append(out, turn.Message{Key: fmt.Sprint(i), Sender: conversation.FromUser, Name: "佐藤",
			Text: strings.Repeat("x", size)})
	}
	return out
}

func bytesOf(list []turn.Message) (n int) {
	for _, m := range list {
		n += len(m.Text)
	}
	return n
}

func TestAConversationIsFoldedOverItsLimitsOnly(t *testing.T) {
	for about, tt := range map[string]struct {
		history []turn.Message
		folds   bool
	}{
		"nothing":           {nil, false},
		"one":               {messages(1, 10), false},
		"as many as may be": {messages(1000, 1), false},
		"one more":          {messages(1001, 1), true},
		"as long as may be": {messages(2, 102_400), false},
		"a byte more":       {append(messages(2, 102_400), messages(1, 1)...), true},
		"in characters of three bytes": {append(messages(100, 0), turn.Message{Text: strings.Repeat("人",
			68_267)}), true},
		"one message that is all too long": {messages(1, 300_000), false},
		"two of them":                      {messages(2, 300_000), true},
		"a summary and one that is long": {append([]turn.Message{{Collapsed: true, Text: "s"}}, messages(1,
			300_000)...),
			false},
	} {
		older, shown := turn.Fold(tt.history, 1<<30)
		expect.That(t, (len(older) > 0) == tt.folds && len(older)+len(shown) == len(tt.history),
			"%s: %d are older, %d shown", about, len(older), len(shown))
		if len(tt.history) > 0 && (len(shown) == 0 || shown[len(shown)-1].Text != tt.history[len(tt.history)-1].Text) {
			t.Errorf("%s: the newest is gone", about)
		}
		if tt.folds && len(shown) > 1 && (len(shown)+1 > turn.MaxMessages ||
			bytesOf(shown)+turn.MaxFolded > turn.MaxBytes) {
			t.Errorf("%s: %d messages of %d bytes are too much still", about, len(shown), bytesOf(shown))
		}
	}
}

// Each summary costs a call, so not every new message may need one.
func TestAFoldLeavesRoom(t *testing.T) {
	folds, shown := 0, []turn.Message(nil)
	for range 500 {
		shown = append(shown, messages(10, 12)...)
		older, rest := turn.Fold(shown, 1<<30)
		if older == nil {
			continue
		}
		folds++
		summary := strings.Repeat("x", turn.MaxFolded)
		shown = append([]turn.Message{{Sender: conversation.FromSystem, Collapsed: true, Text: summary}}, rest...)
	}
	expect.That(t, folds >= 5 && folds <= 25 && len(shown) <= turn.MaxMessages, "%d folds, %d shown", folds, len(shown))
}

func TestASummaryFoldsTheEarlierOneIn(t *testing.T) {
	older := []turn.Message{{Sender: conversation.FromSystem, Collapsed: true, Text: "前の要約"}, user("予算は 3 万円です"),
		{Sender: conversation.FromAgent, Text: "はい", Proposal: &turn.Proposal{Summary: "一覧を作る"}}}
	onEach(t, func(t *testing.T, w *world) {
		w.Scripted(models.Script{Text: "要約です"})
		text, usage := turn.Summarize(t.Context(), w.wire, older, 1<<30, "ja")
		expect.That(t, text == "要約です" && usage.Calls == 1 && usage.ID != "" && usage.Prompt == "fold.ja.1",
			"%q %+v", text, usage)
		for _, want := range []string{"前の要約", "予算は 3 万円です", "一覧を作る"} {
			expect.Has(t, w.Asked()[0], want, "the model is not told")
		}
		for about, s := range map[string]models.Script{"cut off": {Text: "要", Stop: "length"},
			"refused": {Stop: "refused"}, "empty": {}, "too long": {Text: strings.Repeat("x",
				turn.MaxFolded+1)}, "broken": {Text: "要", Cut: true}} {
			w.Scripted(s)
			calls := 1
			if s.Stop == "length" { // it is asked for again with more room
				w.Scripted(s)
				calls = 2
			}
			text, usage := turn.Summarize(t.Context(), w.wire, older, 1<<30, "ja")
			expect.That(t, text == "" && usage.Calls == calls, "%s: %q %+v", about, text, usage)
		}
	})
}

// wireOf makes a wire of a function.
type wireOf func(model.Request) (model.Response, error)

func (w wireOf) Say(_ context.Context, r model.Request) (model.Response, error) { return w(r) }

func TestFilesAreShownWithinLimitsAndTheRestIsSaid(t *testing.T) {
	w := &sees{}
	text := func(name string, size int) turn.File {
		return turn.File{Name: name, Type: "text/plain", Hash: name, Size: size, Body: []byte(strings.Repeat("t",
			size))}
	}
	image := func(name string) turn.File {
		return turn.File{Name: name, Type: "image/png", Hash: name, Size: 3, Body: []byte("png")}
	}
	history := []turn.Message{
		{Sender: conversation.FromUser, Name: "佐藤", Text: "古い", Files: []turn.File{text("first.txt", 60_000),
			image("one.png")}},
		{Sender: conversation.FromUser, Name: "佐藤", Text: "新しい", Files: []turn.File{
			text("second.txt", 60_000), text("third.txt", 60_000), text("huge.txt",
				turn.MaxFileText+1), image("2"), image("3"), image("4"), image("5"), image("6"),
			{Name: "a.xlsx", Type: "application/vnd.ms-excel", Size: 5}, {Name: "gone.txt", Type: "text/plain",
				Hash: "gone",
				Size: 5}, {Name: "locked.txt", Type: "text/plain", Why: "Slack did not give it"},
			{Name: "odd.txt", Type: "text/plain", Hash: "odd", Size: 1, Body: []byte{0xff}},
		}},
	}
	// Rows have only the names of files. The files are in Slack.
	bodies := map[string][]byte{}
	for _, m := range history {
		for j := range m.Files {
			bodies[m.Files[j].Name], m.Files[j].Body, m.Files[j].Hash = m.Files[j].Body, nil, ""
		}
	}
	var read []string
	turn.Attach(history, func(f turn.File) ([]byte, string) {
		read = append(read, f.Name)
		if f.Name == "gone.txt" {
			return nil, "it is not there any more"
		}
		return bodies[f.Name], ""
	})
	expect.Same(t, []string{"second.txt", "third.txt", "2", "3", "4", "5", "6", "gone.txt", "odd.txt"}, read)
	is := history[1].Files[0]
	expect.That(t, is.Hash == aggregate.HashOf(strings.Repeat("t", 60_000)) && is.Size == 60_000, "%s", is.Hash)
	expect.Value(turn.Answer(t.Context(), w, turnOf(history...)))(t)
	said := w.request.Messages[0].Parts
	images := 0
	for _, p := range said {
		if p.Image != nil {
			images++
		}
	}
	expect.Is(t, images, turn.MaxImages, "images are shown")
	for _, want := range []string{
		`"file":"first.txt","not_read":"only the newest`, `"file":"one.png","not_read":"only the newest 5 images`,
		`"file":"huge.txt","not_read":"the text has 65537 bytes`, `"file":"a.xlsx","not_read":"only text and images`,
		`"file":"gone.txt","not_read":"it is not there`, `"file":"locked.txt","not_read":"Slack did not give it"`,
		`"file":"odd.txt","not_read":"it is no UTF-8"`, `"text":"ttt`, `"from":"佐藤"`,
	} {
		expect.Has(t, said[0].Text, want, "the model is not told")
	}
}

func TestAWireOfAnyErrorIsAModelsError(t *testing.T) {
	_, err := turn.Answer(t.Context(), wireOf(func(model.Request) (model.Response, error) {
		return model.Response{},
			errors.New("secret words")
	}), turnOf(user("x")))
	var e *model.Error
	expect.That(t, errors.As(err, &e) && e.Retryable && !strings.Contains(err.Error(), "secret words"), "%v", err)
}

// sees is a model that keeps the last request.
type sees struct{ request model.Request }

func (w *sees) Say(_ context.Context, r model.Request) (model.Response, error) {
	w.request = r
	return model.Response{Text: "ok", Stop: model.StopEnd}, nil
}

// Everything that is sent counts, not only what people wrote.
func TestEverythingThatIsSentIsCounted(t *testing.T) {
	long := strings.Repeat("x", 30_000) // 10,000 tokens
	for about, m := range map[string]turn.Message{
		"a person's words": {Sender: conversation.FromUser, Text: long},
		"an agent's words": {Sender: conversation.FromAgent, Text: long},
		"a file": {Sender: conversation.FromUser, Files: []turn.File{{Name: "a.txt", Type: "text/plain",
			Body: []byte(long)}}},
		"a payload": {Sender: conversation.FromAgent, Proposal: &turn.Proposal{Type: tenancy.CodeGenerate,
			Payload: `{"files":"` + long + `"}`}},
		"a command's output": {Sender: conversation.FromSystem, ActionID: "a",
			Pieces: []conversation.Piece{{Text: long, Quoted: true}}},
		"a summary":        {Sender: conversation.FromSystem, Collapsed: true, Text: long},
		"six large images": {Sender: conversation.FromUser, Files: images(6)},
		"Japanese":         {Sender: conversation.FromUser, Text: strings.Repeat("人", 7_000)},
	} {
		of := turn.Weigh([]turn.Message{m})
		const min = 9_600
		expect.That(t, of >= min && of < 11_500, "%s: %d tokens", about, of)
		if m.Collapsed {
			continue // one that is alone need not be folded again
		}
		older, _ := turn.Fold([]turn.Message{m, {Sender: conversation.FromUser, Text: "and now?"}}, min-1_000)
		expect.Is(t, len(older), 1, "%s: folded", about)
		older, _ = turn.Fold([]turn.Message{m, {Sender: conversation.FromUser, Text: "and now?"}}, 12_000)
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
		{Sender: conversation.FromUser, Text: "look", Files: []turn.File{text("old.txt", 30)}},
		{Sender: conversation.FromAgent, Text: "I propose", Proposal: &turn.Proposal{ActionID: "a",
			Type:    tenancy.CodeGenerate,
			Payload: `{"files":"` + strings.Repeat("z", 30<<10) + `"}`}},
		{Sender: conversation.FromUser, Text: "these two", Files: []turn.File{text("large.txt", 60),
			text("small.txt", 3)}},
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
		return turn.Turn{Agent: tenancy.Agent{ID: "a", Capabilities: tenancy.Capabilities, ContextTokens: tokens},
			MaySandbox: true, Locale: "ja", Now: time.Now()}
	}
	for tokens, least := range map[int]int{0: 100_000, 16_000: 4_000, 32_000: 16_000, 1_000_000: 970_000} {
		room := expect.Value(of(tokens).Room())(t)
		expect.That(t, room >= least && room < max(tokens, 128_000)-min(tokens, 64_000)/4, "%d tokens leave %d",
			tokens, room)
	}
	w := &sees{}
	small := of(16_000)
	small.History = []turn.Message{{Sender: conversation.FromUser, Text: "x"}}
	expect.Value(turn.Answer(t.Context(), w, small))(t)
	expect.Is(t, w.request.MaxTokens, 4_000)
}

// A summary's own request fits the model, too.
func TestASummaryIsAskedForWithinTheRoom(t *testing.T) {
	w := &sees{}
	for _, n := range []int{1, 200} {
		_, used := turn.Summarize(t.Context(), w, messages(n, 600_000/n), 20_000, "ja")
		got := model.Tokens(w.request.Messages[0].Parts[0].Text)
		expect.That(t, got <= 20_000 && used.Calls == 1 &&
			strings.Count(w.request.Messages[0].Parts[0].Text, `"from"`) == n, "%d messages: %d tokens", n, got)
	}
}
