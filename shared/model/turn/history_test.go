package turn

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/runtime/expect"
)

// The turns made from any history obey the vendors' rules. The test checks thousands of histories against the
// stand-ins.
func TestNoHistoryBreaksTheRulesOfTurns(t *testing.T) {
	for seed := range uint64(3) {
		random := rand.New(rand.NewPCG(seed, 1))
		for range 3000 {
			history := historyOf(random)
			why := broken(said(history))
			expect.Must(t, why == "", "seed %d: %s of %+v", seed, why, history)
		}
	}
}

func historyOf(random *rand.Rand) (out []Message) {
	texts := []string{"", " ", "はい", "x\u202ey", "</messages>", "\x00"}
	for i := range random.IntN(12) {
		m := Message{Sender: []conversation.Sender{conversation.FromUser, conversation.FromAgent,
			conversation.FromAgent, conversation.FromSystem, "later"}[random.IntN(5)], Name: "佐藤",
			Text: texts[random.IntN(len(texts))]}
		switch {
		case m.Sender == conversation.FromAgent && random.IntN(2) == 0:
			m.Proposal = &Proposal{ActionID: fmt.Sprint("A", i), Type: tenancy.ActionTypes[random.IntN(3)],
				Payload: []string{"{}", "", "null", `{"argv":["a"]}`}[random.IntN(4)]}
		case m.Sender == conversation.FromAgent:
			m.Request = []string{"", "買う"}[random.IntN(2)]
			m.Read = []conversation.Read{{Tool: readFile, Path: "a"}}[:random.IntN(2)]
		default:
			m.ActionID = []string{"", fmt.Sprint("A", random.IntN(12))}[random.IntN(2)]
			m.Collapsed = random.IntN(9) == 0
			for range random.IntN(2) {
				m.Files = append(m.Files, File{Name: "a", Type: []string{"image/png", "text/plain",
					"x"}[random.IntN(3)],
					Body: [][]byte{nil, []byte("a")}[random.IntN(2)]})
			}
		}
		out = append(out, m)
	}
	return out
}

// broken returns the first rule that turns break, empty if none.
func broken(turns []model.Message) string {
	open, seen := map[string]bool{}, map[string]bool{}
	for i, turn := range turns {
		want := model.User
		if i%2 == 1 {
			want = model.Assistant
		}
		switch {
		case turn.Role != want:
			return fmt.Sprintf("turn %d is the %s's", i, turn.Role)
		case len(turn.Parts) == 0:
			return fmt.Sprintf("turn %d is empty", i)
		}
		began := false
		for _, p := range turn.Parts {
			switch {
			case p.Call != nil:
				if seen[p.Call.ID] || want != model.Assistant || len(p.Call.ID) > 64 {
					return "the call " + p.Call.ID + " is there twice, or not the agent's"
				}
				open[p.Call.ID], seen[p.Call.ID] = true, true
			case p.Result != nil:
				if !open[p.Result.CallID] || began || p.Result.Text == "" {
					return "the result of " + p.Result.CallID + " has no call, or comes too late"
				}
				delete(open, p.Result.CallID)
			case p.Image == nil && strings.TrimSpace(p.Text) == "":
				return fmt.Sprintf("turn %d has an empty text", i)
			default:
				began = true
			}
		}
		if want == model.User && len(open) > 0 {
			return fmt.Sprintf("turn %d leaves calls without a result", i)
		}
	}
	if len(turns)%2 == 0 {
		return "the last turn is not the user's"
	}
	return ""
}

// An agent gets no invisible characters, wherever they are. Tabs of a table remain.
func TestAnAgentReadsWhatPeopleSee(t *testing.T) {
	const hidden = "\U000e0063\U000e0061\u200b\u202e"
	text := func(name string) File {
		return File{ID: name, Name: name + hidden, Type: "text/plain", Body: []byte("a\tb" + hidden), Size: 9}
	}
	history := []Message{
		{Sender: conversation.FromSystem, Collapsed: true, Text: "summary" + hidden},
		{Sender: conversation.FromUser, Name: "佐藤" + hidden, Text: "words" + hidden, Files: []File{text("file")}},
		{Sender: conversation.FromAgent, Text: "yes" + hidden, Proposal: &Proposal{ActionID: "A", Type: tenancy.TestRun,
			Payload: `{"argv":["a"]}`, Summary: "tests"}},
		{Sender: conversation.FromSystem, ActionID: "A", Pieces: []conversation.Piece{{Text: "own" + hidden},
			{Text: "output" + hidden, Quoted: true}}},
		{Sender: conversation.FromSystem, ActionID: "B", Text: "other" + hidden},
		{Sender: conversation.FromUser, Name: "田中", Files: []File{{Name: "large" + hidden, Type: "text/plain",
			Why: "too large" + hidden}}},
	}
	var all strings.Builder
	for _, s := range said(history) {
		for _, p := range s.Parts {
			all.WriteString(p.Text)
			if p.Result != nil {
				all.WriteString(p.Result.Text)
			}
		}
	}
	folded := fenced(plainly(history))
	for about, text := range map[string]string{"an answer": all.String(), "a summary": folded} {
		expect.That(t, !strings.ContainsAny(text, hidden), "%s is made of %+q", about, text)
		for _, want := range []string{"summary", "佐藤", "words", `"file":"file"`, `{"system":"own"},{"quoted":"output"}`,
			`{"quoted":"other"}`, `"file":"large"`} {
			expect.Has(t, text, want, "%s is made without", about)
		}
	}
	expect.Has(t, all.String(), `a\tb`, "a table lost its tabs")
}

// For the model that summarizes, only the field identifies the speaker, because a name can be anything.
func TestNobodySpeaksAsTheAgentToASummarizer(t *testing.T) {
	got := fenced(plainly([]Message{{Sender: conversation.FromUser, Name: "agent", Text: "mine"},
		{Sender: conversation.FromAgent, Text: "its"},
		{Sender: conversation.FromAgent, Text: "go", Proposal: &Proposal{Summary: "tests"}}}))
	expect.Has(t, got, `[{"from":"agent","text":"mine"},{"agent":"its"},{"agent":"go\n(proposed: tests)"}]`)
}

// The reasons are those that Attach gives, so a new reason fails the test until it has a kind for people.
func TestEveryReasonOfAnUnreadFileHasItsKind(t *testing.T) {
	files := func(n int, f File) (out []File) {
		for range n {
			out = append(out, f)
		}
		return out
	}
	text, image := File{Type: "text/plain", Size: MaxFileText}, File{Type: "image/png", Size: 9}
	for want, given := range map[conversation.Cause][]File{
		conversation.TooLarge:   {{Type: "image/png", Size: MaxImage + 1}, {Type: "text/plain", Size: MaxFileText + 1}},
		conversation.OtherType:  {{Type: "application/zip"}},
		conversation.TooMany:    append(files(MaxFilesText/MaxFileText+1, text), files(MaxImages+1, image)...),
		conversation.Silent:     {{Type: "text/plain", Why: conversation.NotNow}},
		conversation.Unreadable: {{Type: "text/plain", Why: "files.info: file_deleted: the file can't be read"}},
	} {
		history := []Message{{Files: given}}
		Attach(history, func(f File) ([]byte, string) { return []byte(strings.Repeat("x", f.Size)), "" })
		found := false
		for _, f := range history[0].Files {
			expect.That(t, f.Why == "" || conversation.CauseOf(f.Why) == want,
				"%q is %s, want %s", f.Why, conversation.CauseOf(f.Why), want)
			found = found || f.Why != ""
		}
		expect.That(t, found && slices.Contains(conversation.Causes, want), "no file is unread by %s", want)
	}
}

// A request that the agent offered stays in its history as its call.
func TestTheAgentSeesWhatItOffered(t *testing.T) {
	asked := Message{Sender: conversation.FromUser, Name: "佐藤", Text: "稟議にして"}
	sent := said([]Message{asked, {Sender: conversation.FromAgent, Text: "しました", Request: "買う"},
		{Sender: conversation.FromUser, Name: "佐藤", Text: "ありがとう"}})
	parts := sent[1].Parts
	call := parts[len(parts)-1].Call
	expect.Must(t, call != nil && call.Name == "offer_request" && string(call.Input) == `{"request":"買う"}`, "%+v",
		parts)
	result := sent[2].Parts[0].Result
	expect.Must(t, result != nil && result.CallID == call.ID && strings.Contains(result.Text, "by a button"), "%+v",
		sent[2].Parts[0])
}

// What is told of an action after its end stands in the history, too: an outcome that was unknown, or late output.
func TestTheAgentIsToldWhatCameAfterAnActionsEnd(t *testing.T) {
	told := func(text string) Message {
		return Message{Sender: conversation.FromSystem, ActionID: "A", Pieces: []conversation.Piece{{Text: text}}}
	}
	sent := said([]Message{{Sender: conversation.FromUser, Text: "go"},
		{Sender: conversation.FromAgent, Text: "ok", Proposal: &Proposal{ActionID: "A", Type: tenancy.ShellCommand,
			Payload: "{}"}},
		told("withdrawn"), told("its output"), {Sender: conversation.FromAgent, Text: "I see"}, told("later still"),
		{Sender: conversation.FromUser, Text: "well"}})
	expect.Must(t, len(sent) == 5 && len(sent[2].Parts) == 2, "%+v", sent)
	result, after := sent[2].Parts[0].Result.Text, sent[2].Parts[1].Text
	expect.That(t, strings.Contains(result, "withdrawn") && !strings.Contains(result, "output"), "%s", result)
	expect.That(t, strings.Contains(after, "its output") && !strings.Contains(after, "withdrawn"), "%s", after)
	expect.Has(t, sent[4].Parts[0].Text, "later still")
}

func TestEachLanguageHasAllSentences(t *testing.T) { expect.Whole[texts](t, embedded, "texts") }
