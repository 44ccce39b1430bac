package demo

import (
	"strings"
	"testing"

	"ringi/shared/model"
	"ringi/shared/runtime/expect"
)

// People stamp a team's draft: whatever the request asks of the teams, nothing in it is about them.
func TestNoDraftOfATeamTalksOfTheContest(t *testing.T) {
	for _, request := range []string{"先月の残業を確認して", "Check overtime for October"} {
		for _, marker := range []string{"", " demo: unscored a", " demo: unscored a round 2", " demo: play on"} {
			for round, material := range []string{request + marker, "<data>" + string(encoded(object{"message": request + marker, "now": written, "locale": "ja"})) + "</data>"} {
				for _, results := range [][]string{nil, {"", "見つかりました\n詳細"}, {"ERROR: none"}} {
					said := []model.Message{model.Words(model.User, "<data>"+string(encoded(object{"request": material, "team": "慎重チーム", "team_id": "a", "round": round + 1, "history": make([]object, round)}))+"</data>")}
					for _, x := range results {
						said = append(said, model.Message{Role: model.User, Parts: []model.Part{{Result: &model.Result{Text: x}}}})
					}
					out := expect.Value(Teams{}.Say(t.Context(), model.Request{Messages: said}, func(string) {}))(t)
					for _, talk := range []string{"慎重チーム", "demo:", "Draft by", "案 (", "evaluator", "評価", "メンバー", "member", "重視", "Focus", "点数"} {
						expect.That(t, len(out.Text) > 10 && !strings.Contains(out.Text, talk), "%q: %q in\n%s", request+marker, talk, out.Text)
					}
				}
			}
		}
	}
}
