package round_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"ringi/shared/domain/contest"
	"ringi/shared/model"
	"ringi/shared/model/round"
	"ringi/shared/model/teamconfig"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/legible"
)

func TestASubmissionThatCantBeUsedIsAskedForAgain(t *testing.T) {
	answers := []string{"", "長すぎる案", "案"}
	n := 0
	var last model.Request
	p := p2(play(), "leader")
	p.Accept = func(s string) []string {
		if s != "案" {
			return []string{"it is too long"}
		}
		return nil
	}
	m := roundModels{"leader": func(_ context.Context, r model.Request) (model.Response, error) {
		n++
		last = r
		return text(answers[n-1])
	}}
	out := expect.Value(round.Runner{Models: m}.Round(t.Context(), p))(t)
	if out.Result.SubmissionContent != "案" || n != 3 || !strings.Contains(last.Messages[4].Parts[0].Text, "too long") {
		t.Errorf("%d: %+v", n, last.Messages)
	}
	n, answers, p.Accept = 0, []string{strings.Repeat("長", 50_000), "案"}, nil
	out = expect.Value(round.Runner{Models: m}.Round(t.Context(), p))(t)
	expect.That(t, out.Result.SubmissionContent == "案" && strings.Contains(last.Messages[2].Parts[0].Text, "150000 bytes"),
		"%d: %.100s", n, last.Messages[2].Parts[0].Text)
	n, answers, p.Accept = 0, []string{"a", "b", "c", "案"}, func(string) []string { return []string{"no"} }
	_, err := round.Runner{Models: m}.Round(t.Context(), p)
	ends(t, "never", err, contest.PartialFailure, round.Leader)
}

// Cards omit lines and runs of blanks in which nothing is visible, but models read them. So a policy has none of them,
// and no combining letters without a base or letters that are newer than Go's Unicode tables.
func TestAPolicyHasNoWordsThatItsCardFoldsAway(t *testing.T) {
	above := "\u0363\u1ddd\u1de4\u0366 \u1de4\u0364\u1de0\u0369" // "also send", above nothing
	young := "\U0001ccd6\U0001cce1\U0001cce8\U0001cce4"          // "ALSO" in outlines
	p := p2(play(), "leader")
	p.Accept = func(string) []string { return nil }
	for _, said := range []string{"目的: 集計\n\n" + above + "\n\n以上", "目的: 集計\n\n" + young + "\n\n以上", "目的: 集計" + strings.Repeat(" ", legible.MaxBlanks) + young + "\n\n以上"} {
		m := roundModels{"leader": func(context.Context, model.Request) (model.Response, error) { return text(said) }}
		got := expect.Value(round.Runner{Models: m}.Round(t.Context(), p))(t).Result.SubmissionContent
		expect.That(t, got == legible.Paragraphs(said) && !strings.Contains(got, young) && !strings.Contains(got, above),
			"submitted is %+q", got)
	}
}

func TestWhatWasCutOffIsNotSubmittedAsIfItWereWhole(t *testing.T) {
	cut := func(s string) (model.Response, error) { return model.Response{Text: s, Stop: model.StopLength}, nil }
	var asked []model.Request
	m := roundModels{"leader": func(_ context.Context, r model.Request) (model.Response, error) {
		switch asked = append(asked, r); len(asked) {
		case 1:
			return model.Response{Calls: []model.Call{{Name: "delegate_to_analyst", Input: json.RawMessage(`{"task": "調べる"}`)}}}, nil
		case 2, 3: // the second one with more room
			return cut("目的: 経費を")
		}
		return text("目的: 経費を減らす")
	}, "member": func(context.Context, model.Request) (model.Response, error) { return cut("三件あり") }}
	p := p2(play(), "leader")
	p.Team.Members = []teamconfig.Member{{AgentName: "analyst", AgentType: "plain", ToolDescription: "調べます", Model: "member"}}
	out := expect.Value(round.Runner{Models: m}.Round(t.Context(), p))(t)
	if len(asked) != 4 || asked[1].More || !asked[2].More || asked[3].More || out.Result.SubmissionContent != "目的: 経費を減らす" || !strings.Contains(asked[3].Messages[4].Parts[0].Text, "cut off after 16000 tokens") {
		t.Errorf("%d answers: %+v", len(asked), out.Result)
	}
	got := out.Record.Submissions[0]
	expect.That(t, got.Status == contest.Error && got.Content == "" && strings.Contains(*got.ErrorMessage, "途中で切れた"), "%+v", got)
	m["leader"] = func(context.Context, model.Request) (model.Response, error) { return cut("目的: 経費を") }
	_, err := round.Runner{Models: m}.Round(t.Context(), p)
	ends(t, "always", err, contest.PartialFailure, round.Leader)
	p.Team.Leader.StopSequences = []string{"終わり"}
	m["leader"] = func(context.Context, model.Request) (model.Response, error) {
		return cut("目的: 経費を減らす終わりに")
	}
	expect.Value(round.Runner{Models: m}.Round(t.Context(), p))(t)
}
