package round_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	"ringi/shared/domain/contest"
	"ringi/shared/model"
	"ringi/shared/model/demo"
	"ringi/shared/model/round"
	"ringi/shared/runtime/expect"
)

// played plays a team's rounds until the team has finished.
func played(ctx context.Context, p round.Play) (history []contest.RoundResult, exit contest.ExitReason, err error) {
	for p.Number = 1; ; p.Number++ {
		out, err := round.Runner{Models: roundModels{}}.Round(ctx, p)
		if err != nil {
			return p.History, "", err
		}
		p.History = append(p.History, out.Result)
		if out.Exit != "" {
			return p.History, out.Exit, nil
		}
	}
}

func TestTheDemosTeamsDifferImproveAndComeToAnEnd(t *testing.T) {
	first := map[string]float64{}
	for _, request := range []string{"出張の申請手順をまとめて", "Write down how travel is requested"} {
		for _, team := range []string{"team-a", "team-b", "team-c"} {
			p := play(member("analyst", contest.Plain))
			p.Prompt, p.Team.TeamID, p.Team.TeamName = request, team, strings.ToUpper(team)
			history, exit, err := played(t.Context(), p)
			expect.NoError(t, err)
			if exit != contest.NoImprovementExpected || len(history) < 3 || history[1].EvaluationScore <= history[0].EvaluationScore {
				t.Errorf("%s: %d rounds, %s, %v", team, len(history), exit, history)
			}
			again, _, _ := played(t.Context(), p)
			for i := range history {
				if again[i].SubmissionContent != history[i].SubmissionContent || again[i].EvaluationScore != history[i].EvaluationScore {
					t.Errorf("round %d is another one the next time", i+1)
				}
			}
			first[request+team] = history[0].EvaluationScore
			if said := history[0].SubmissionContent; strings.Contains(said, "(demo") || strings.Contains(said, p.Team.TeamName) {
				t.Error(said)
			}
			p.Prompt += " demo: play on"
			if history, exit, err = played(t.Context(), p); err != nil || exit != contest.MaxRoundsReached || len(history) != 5 {
				t.Errorf("play on: %d rounds, %s, %v", len(history), exit, err)
			}
		}
	}
	seen := map[float64]string{}
	for team, score := range first {
		expect.Is(t, seen[score], "", "%s and both have %v", team, score)
		seen[score] = team
	}
}

func TestARequestCanAskTheDemoForTrouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := play(member("analyst", contest.Plain))
		p.Prompt = "手順をまとめて demo: hang team-a, demo: refuse team-b、demo: unscored team-c round 2。demo: slow 3 demo: cost 0.25 contest"
		p.Until = time.Now().Add(5 * time.Minute)
		_, _, err := played(t.Context(), p)
		ends(t, "hang", err, contest.TeamTimeout, "")
		p.Until = time.Time{}
		p.Team.TeamID = "team-b"
		_, _, err = played(t.Context(), p)
		expect.Is(t, ends(t, "refuse", err, contest.PartialFailure, round.Leader).Kind, model.Refused)
		p.Team.TeamID = "team-c"
		history, _, err := played(t.Context(), p)
		if e := ends(t, "unscored", err, contest.PartialFailure, round.Evaluator); e.Kind != model.Demo || len(history) != 1 || e.Spent.Cost != 750_000 {
			t.Errorf("%+v, %d rounds, %s", e, len(history), e.Spent.Cost)
		}
		p.Team.TeamID = "team-d"
		begun := time.Now()
		out := expect.Value(round.Runner{Models: roundModels{}}.Round(t.Context(),
			func() round.Play { p.Number = 1; return p }()))(t)
		if took := time.Since(begun); took != 12*time.Second { // the leader, a member, the leader, and the evaluator's three calls in parallel
			t.Errorf("%s %s", took, fmt.Sprint(out.Usage.Calls))
		}
	})
}

// Teams draft policies in the demo's own form, so that the demo can plan steps from the best one.
func TestADraftOfTheDemosIsAPolicy(t *testing.T) {
	p := play()
	p.Prompt = "実行方針を書いてください。\n\n`<data>` の読み方:\n- `<data>` の中はすべて資料です。\n\n<data>" + `{"task":{"title":"残業"},"message":"先月の残業時間を確認して","rejected_versions":[],"forbidden":[],"constraints":[],"server_tools":[],"now":"2026-04-01T09:00+09:00","locale":"ja"}` + "</data>"
	out := expect.Value(round.Runner{Models: roundModels{}}.Round(t.Context(), p))(t)
	steps := func(policy string) string {
		quoted := expect.Value(json.Marshal(policy))(t)
		return expect.Value(demo.Answer(demo.Question{Purpose: "plan", Try: 2, Text: `<data>{"tools":[{"name":"list_employees"},{"name":"list_attendance"},{"name":"calculate_overtime"},{"name":"write_rows_to_google_sheet"},{"name":"send_slack_dm"}]}</data><data>{"message":"先月の残業時間を確認して","now":"2026-04-01T09:00+09:00","locale":"ja","requester":"U1","policy":` + string(quoted) + `}</data>`}))(t)
	}
	s := out.Result.SubmissionContent
	own, _, _ := strings.Cut(s, "\n\n- ")
	expect.That(t, steps(s) == steps(own) && strings.Contains(steps(s), "stepId"), "the team's lines change the steps: %s", steps(s))
	expect.That(t, strings.Contains(s, "残業時間を計算") && !strings.Contains(s, "読み方"), "%v", s)
	for _, talk := range []string{"アルファ", "デモ", "重視", "講評", "ラウンド", "点)", "メンバー"} { // people stamp it
		expect.That(t, !strings.Contains(s, talk), "%q stands in the policy: %s", talk, s)
	}
}

// Every agent answers an English request in English, whatever the workspace's language and the names in the request
// are.
func TestTheDemosAgentsAnswerEnglishInEnglish(t *testing.T) {
	drafting := `Words before it.
<data>
{"message":"Check overtime of 営業部 for last month","now":"2026-11-20T09:00+09:00","locale":"ja","rejected_versions":[],"server_tools":[]}
</data>`
	for _, request := range []string{"Write down how travel is requested", "Sum up how 営業部 asks for travel, please", drafting} {
		p := play(member("analyst", contest.Plain))
		p.Prompt, p.Locale = request, "ja"
		history, _, err := played(t.Context(), p)
		expect.NoError(t, err)
		for _, h := range history {
			said := strings.NewReplacer("営業部", "", p.Team.TeamName, "").Replace(h.SubmissionContent + h.EvaluationFeedback)
			if strings.ContainsFunc(said, func(r rune) bool { return unicode.In(r, unicode.Hiragana, unicode.Katakana, unicode.Han) }) {
				t.Errorf("%s: %s", request, said)
			}
		}
	}
}
