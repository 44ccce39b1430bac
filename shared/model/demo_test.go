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
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/model/demo"
	"ringi/shared/runtime/expect"
)

// think runs the first three layers on a message. l2 and l3 are reasons for rejecting the second and third layer's
// versions.
func think(t *testing.T, text, locale string, l2, l3 []string) (e task.Extract, policy string, steps []task.Step) {
	t.Helper()
	g := demo.Layers{}
	e, _, err := model.Extract(t.Context(), g, model.ExtractInput{Text: text, Locale: locale, Now: now(), Try: 1})
	expect.NoError(t, err)
	tk := task.Task{Title: e.Title, Description: e.Description, Priority: e.Priority}
	draft := model.DraftInput{Task: tk, Request: text, Locale: locale, Now: now(), Try: 1}
	for _, reason := range append(l2, "") {
		made, _, err := model.Draft(t.Context(), g, draft)
		expect.NoError(t, err)
		policy = made.Content
		draft.Earlier = append(draft.Earlier, model.Version{Content: policy, Reason: reason})
	}
	plan := model.PlanInput{Task: tk, Request: text, Policy: policy, Tools: catalog(t), Requester: "U0SANDSATO",
		Locale: locale, Now: now(), Try: 1}
	for _, reason := range append(l3, "") {
		if steps, _, _, err = model.Plan(t.Context(), g, plan); err != nil {
			t.Fatal(err)
		}
		plan.Earlier = append(plan.Earlier, model.PlanVersion{Steps: steps, Reason: reason})
	}
	return e, policy, steps
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

// A request for a meeting room is answered by a reply while its tools are missing, and so says a policy from before.
func TestDemoSaysBeforeTheStampThatNoRoomCanBeBooked(t *testing.T) {
	allowed := []tenancy.ToolPermission{{ToolName: "rooms.list_rooms", Allowed: true},
		{ToolName: "rooms.book_room", Allowed: true}}
	for text, says := range map[string]string{"明日の会議室を予約して": "会議室のツールが許可されていないため",
		"book a meeting room": "Meeting-room tools aren't allowed yet"} {
		for n, permissions := range [][]tenancy.ToolPermission{nil, allowed[:1], {allowed[0], {ToolName: "rooms.book_room"}},
			allowed} {
			in := model.DraftInput{Request: text, Locale: "ja", Now: now(), Try: 1,
				Bounds: model.BoundsOf(permissions, func(string) []tenancy.Constraint { return nil })}
			policy, _, err := model.Draft(t.Context(), demo.Layers{}, in)
			said := strings.HasPrefix(policy.Content, says)
			expect.That(t, err == nil && said == (n < 3), "%s, permissions %d: %s %v", text, n, policy, err)
			var more []string
			for _, name := range in.Bounds.ServerTools {
				more = append(more, name+": 会議室. Rooms.")
			}
			e, _, err := model.Extract(t.Context(), demo.Layers{}, model.ExtractInput{Text: text, Tools: more, Locale: "ja",
				Now: now(), Try: 1})
			expect.That(t, err == nil && strings.HasPrefix(e.Sentence, says) == (n < 3) &&
				(e.Kind == task.KindUnsupported) == (n < 3),
				"%s, permissions %d: %+v %v", text, n, e, err)
		}
	}
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
	e, _, steps := think(t, "今月の勤怠をまとめて demo: human check", "ja", nil, nil)
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
