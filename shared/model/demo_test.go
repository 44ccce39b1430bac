package model_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/model"
	"ringi/shared/model/demo"
	"ringi/shared/runtime/expect"
)

// think runs the first three layers on a message.
func think(t *testing.T, text string) (e task.Extract, steps []task.Step) {
	t.Helper()
	g := demo.Layers{}
	e, _, err := model.Extract(t.Context(), g, model.ExtractInput{Text: text, Locale: "ja", Now: now(), Try: 1})
	expect.NoError(t, err)
	tk := task.Task{Title: e.Title, Description: e.Description, Priority: e.Priority}
	made, _, err := model.Draft(t.Context(), g, model.DraftInput{Task: tk, Request: text, Locale: "ja", Now: now(),
		Try: 1})
	expect.NoError(t, err)
	steps, _, _, err = model.Plan(t.Context(), g, model.PlanInput{Task: tk, Request: text, Policy: made.Content,
		Tools: catalog(t), Requester: "U0SANDSATO", Locale: "ja", Now: now(), Try: 1})
	expect.NoError(t, err)
	return e, steps
}

// shown returns the lines about the steps on a card.
func shown(steps []task.Step) (lines []string) {
	for _, s := range steps {
		mark := ""
		if s.RequiresHumanCheck {
			mark = " 🔍"
		}
		lines = append(lines, fmt.Sprintf("%d. %s — %s%s", s.Order, s.Title, s.Tool, mark))
	}
	return lines
}

var seed = []string{
	"1. 従業員一覧を取得 — list_employees", "2. 勤怠データ取得 — list_attendance", "3. 残業時間計算 — calculate_overtime",
	"4. シートに書き込み — write_rows_to_google_sheet", "5. 完了通知 — send_slack_dm",
}

func withChecks(lines []string) []string {
	out := append([]string{}, lines...)
	out[len(out)-1] += " 🔍"
	out[len(out)-2] += " 🔍"
	return out
}

func TestDemoFailsWhenAsked(t *testing.T) {
	g := demo.Layers{}
	layers := map[string]func(text string, try int) error{
		"extract": func(text string, try int) error {
			_, _, err := model.Extract(t.Context(), g, model.ExtractInput{Text: text, Now: now(), Try: try})
			return err
		},
		"draft": func(text string, try int) error {
			_, _, err := model.Draft(t.Context(), g, model.DraftInput{Request: text, Now: now(), Try: try})
			return err
		},
		"plan": func(text string, try int) error {
			_, _, _, err := model.Plan(t.Context(), g, model.PlanInput{Request: text, Now: now(), Try: try, Tools: catalog(t),
				Requester: "U012"})
			return err
		},
		"summarize": func(text string, try int) error {
			_, _, err := model.Summarize(t.Context(), g, model.SummaryInput{Request: text, Now: now(), Try: try})
			return err
		},
	}
	for asked := range layers {
		for layer, call := range layers {
			for try := 1; try <= 2; try++ {
				for text, reason := range map[string]aggregate.Reason{
					"勤怠 demo: fail " + asked:             task.ReasonModelDemo,
					"勤怠 demo: bad output twice " + asked: task.ReasonModelBadOutput,
					"勤怠 demo: bad output " + asked:       "", // repaired
				} {
					err := call(text, try)
					want := reason != "" && asked == layer && try == 1
					got := model.Failure(err).Reason
					expect.That(t, (err != nil) == want && (!want || got == reason), "%s at %s, try %d: %v", text, layer, try, err)
				}
			}
		}
	}
	for layer, call := range layers {
		expect.That(t, call("demo: bad output twice", 1) != nil, "%s gave an answer", layer)
	}
	_, usage, err := model.Extract(t.Context(), g, model.ExtractInput{Text: "demo: bad output", Now: now(), Try: 1})
	expect.That(t, err == nil && usage.Calls == 2, "the repair took %d calls, %v", usage.Calls, err)
	e, steps := think(t, "今月の勤怠をまとめて demo: human check")
	d := cmp.Diff(withChecks(seed), shown(steps))
	expect.That(t, d == "" && !strings.Contains(e.Description, "demo:"), "%s %q", d, e.Description)
}

func TestACallIsLoggedWithoutItsContent(t *testing.T) {
	var b bytes.Buffer
	was := slog.Default()
	slog.SetDefault(slog.New(slog.NewJSONHandler(&b, nil)))
	defer slog.SetDefault(was)
	_, usage, err := model.Extract(t.Context(), demo.Layers{}, model.ExtractInput{Text: "himitsu", Now: now(),
		Locale: "en", Try: 1})
	expect.NoError(t, err)
	n := strings.Count(b.String(), `"provider":"demo"`)
	expect.That(t, n == 1 && !strings.Contains(b.String(), "himitsu"), "%d lines: %s", n, b.String())
	if !strings.HasPrefix(usage.Prompt, "extract.en.") || !strings.Contains(b.String(), `"prompt":"`+usage.Prompt+`"`) {
		t.Errorf("the prompt %q is not in the log: %s", usage.Prompt, b.String())
	}
}
