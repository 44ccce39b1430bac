package task

import (
	"fmt"
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
)

// Mentions have names wherever people or models write them, up to a maximum.
func TestPeopleWhoAreMentionedHaveTheirNames(t *testing.T) {
	r := Reader{Locale: "ja", Person: func(id string) string {
		return map[string]string{"U1SUZUKI": "鈴木 一郎", "U1FALSE": "<@U1SUZUKI>"}[id]
	}}
	told := r.History(Source{Task: &task.Aggregate{
		Request: &task.Request{Text: "結果を <@U1SUZUKI> さんに"}, Task: &task.Task{Description: "<@U1SUZUKI> へ"},
		Prompts: []*task.Prompt{
			{Content: "<@U1FALSE> に送る", Gate: aggregate.Gate{Verdict: aggregate.Verdict{RejectionReason: "<@U1SUZUKI> に"}}},
			{Content: "<@U1SUZUKI> に送る"},
		},
	}})
	const name = "@鈴木 一郎 (U1SUZUKI)"
	expect.Same(t, "結果を "+name+" さんに", told.Message.Text)
	expect.Same(t, name+" へ", told.Description)
	expect.Same(t, name+" に送る", told.Policies[0].Text)
	expect.Same(t, name+" に", told.Policies[0].Because)
	expect.Same(t, "@<@U1SUZUKI> (U1FALSE) に送る", told.Policies[1].Text)

	var crowd []string
	for i := range task.MaxMentioned + 1 {
		crowd = append(crowd, fmt.Sprintf("<@U2CROWD%d>", i))
	}
	expect.Same(t, 1, strings.Count(r.Named(strings.Join(crowd, " ")), "<@"))
}

// A browser reorders numbers after right-to-left text: [「אלפא」, 100, 900] would read as 900, 100.
func TestAValueFromRightToLeftTurnsNothingBesideIt(t *testing.T) {
	r := Reader{Locale: "ja", Person: func(id string) string { return "יעל" }}
	for input, want := range map[aggregate.JSON]string{
		`{"amounts":["אלפא",100,900]}`: "[「\u2068אלפא\u2069」, 100, 900]",
		`{"amounts":["a",100,900]}`:    "[「a」, 100, 900]",
	} {
		if got := r.Effects([]task.Step{{Tool: "bank.pay", ToolInput: input}})[0]; !strings.Contains(got, want) {
			t.Errorf("%s is shown as %+q", input, got)
		}
	}
	if got := r.effect([]explain.Piece{{Kind: explain.Person, Text: "U1"}}); got != "\u2068יעל (U1)\u2069" {
		t.Errorf("a person is %+q", got)
	}
}
