package chat

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"ringi/shared/agent"
	"ringi/shared/model"
)

// Whatever was said in whatever order, the vendors take it: the stand-ins' rules, held against thousands of histories.
func TestNoHistoryBreaksTheRulesOfTurns(t *testing.T) {
	for seed := range uint64(3) {
		random := rand.New(rand.NewPCG(seed, 1))
		for range 3000 {
			history := historyOf(random)
			if why := broken(said(history)); why != "" {
				t.Fatalf("seed %d: %s of %+v", seed, why, history)
			}
		}
	}
}

func historyOf(random *rand.Rand) (out []Message) {
	texts := []string{"", " ", "はい", "x\u202ey", "</messages>", "\x00"}
	for i := range random.IntN(12) {
		m := Message{Sender: []Sender{FromUser, FromAgent, FromAgent, FromSystem, "later"}[random.IntN(5)], Name: "佐藤", Text: texts[random.IntN(len(texts))]}
		switch {
		case m.Sender == FromAgent && random.IntN(2) == 0:
			m.Proposal = &Proposal{ActionID: fmt.Sprint("A", i), Type: agent.ActionTypes[random.IntN(3)], Payload: []string{"{}", "", "null", `{"argv":["a"]}`}[random.IntN(4)]}
			for range random.IntN(3) {
				m.Refused = append(m.Refused, Proposal{Type: agent.ShellCommand, Payload: "{}"})
			}
		case m.Sender != FromAgent:
			m.ActionID = []string{"", fmt.Sprint("A", random.IntN(12))}[random.IntN(2)]
			m.Collapsed = random.IntN(9) == 0
			for range random.IntN(2) {
				m.Files = append(m.Files, File{Name: "a", Type: []string{"image/png", "text/plain", "x"}[random.IntN(3)], Body: [][]byte{nil, []byte("a")}[random.IntN(2)]})
			}
		}
		out = append(out, m)
	}
	return out
}

// broken is the rule that turns break, empty if none.
func broken(turns []Said) string {
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
