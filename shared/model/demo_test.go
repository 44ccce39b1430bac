package model_test

import (
	"bytes"
	"encoding/json"
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

func TestDemoPlans(t *testing.T) {
	english := []string{
		"1. List employees — list_employees", "2. Fetch attendance — list_attendance",
		"3. Calculate overtime — calculate_overtime",
		"4. Write to the sheet — write_rows_to_google_sheet", "5. Notify on completion — send_slack_dm",
	}
	for text, test := range map[string]struct {
		title, month string
		want         []string
	}{
		"今月の勤怠をまとめて":                        {"2026年4月の勤怠集計", `"month":4`, seed},
		"12月の残業を確認して":                       {"2025年12月の残業時間の確認", `"month":12`, seed},
		"Summarize this month's attendance": {"Attendance summary for April 2026", `"month":4`, english},
		"overtime of May":                   {"Overtime check for May 2025", `"month":5`, english},
		"従業員一覧を取得して": {"従業員一覧の取得", "",
			[]string{"1. 従業員一覧を取得 — list_employees", "2. シートに書き込み — write_rows_to_google_sheet", "3. 完了通知 — send_slack_dm"}},
	} {
		t.Run(text, func(t *testing.T) {
			e, policy, steps := think(t, text, "ja", nil, nil)
			expect.That(t, e.Title == test.title && policy != "", "title %q, want %q", e.Title, test.title)
			expect.Same(t, test.want, shown(steps))
			all, _ := json.Marshal(steps)
			expect.That(t, strings.Contains(string(all), test.month) &&
				strings.Contains(string(all), `"recipient":"U0SANDSATO"`), "steps: %s", all)
		})
	}
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

func TestDemoPriority(t *testing.T) {
	for text, want := range map[string]task.Extract{
		"至急、勤怠をまとめて":                {Priority: task.Urgent, TaskType: task.TypeUrgent},
		"急ぎで勤怠をまとめて":                {Priority: task.High, TaskType: task.TypeStandard},
		"時間のあるときに勤怠を":               {Priority: task.Low, TaskType: task.TypeStandard},
		"今月の勤怠をまとめて":                {Priority: task.Medium, TaskType: task.TypeStandard},
		"URGENT: list of employees": {Priority: task.Urgent, TaskType: task.TypeUrgent},
	} {
		e, _, _ := think(t, text, "ja", nil, nil)
		expect.That(t, e.Priority == want.Priority && e.TaskType == want.TaskType, "%s: %s %s", text, e.Priority, e.TaskType)
	}
}

func TestDemoListensToRejections(t *testing.T) {
	checked := append([]string{}, seed...)
	checked[3] += " 🔍"
	checked[4] += " 🔍"
	validated := []string{seed[0], seed[1], "3. データの検証 — calculate_overtime", "4. 残業時間計算 — calculate_overtime",
		"5. シートに書き込み — write_rows_to_google_sheet", "6. 完了通知 — send_slack_dm"}
	for name, test := range map[string]struct {
		l2, l3 []string
		line   string // expected in the policy
		want   []string
	}{
		"validation at L3":       {nil, []string{"データの検証を追加して"}, "", validated},
		"validation at L2":       {[]string{"データの検証を追加して"}, nil, "計算の前にデータの検証を行い", validated},
		"validation, then check": {nil, []string{"検証を追加", "書き込み前に人が確認すること"}, "", withChecks(validated)},
		"human check at L3":      {nil, []string{"送信前に人が確認してください"}, "", checked},
		"human check at L2":      {[]string{"human check please"}, nil, "担当者が引数を確認して判断します", checked},
		"only some steps":        {nil, []string{"no DM", "シートは外して"}, "", seed[:3]},
		"a step by its number":   {nil, []string{"ステップ4は不要"}, "", seed},
		"the dialog's own at L2": {[]string{"ステップ 3 の前にデータの検証を追加してください"}, nil, "計算の前にデータの検証を行い", validated},
		"the dialog's own at L3": {nil, []string{"ステップ 3 の前にデータの検証を追加してください"}, "", validated},
		"validation elsewhere":   {[]string{"ステップ 5 の前にデータの検証を追加してください"}, nil, "ご指摘「ステップ 5 の前に", seed},
	} {
		t.Run(name, func(t *testing.T) {
			_, first, _ := think(t, "今月の勤怠をまとめて", "ja", nil, nil)
			_, policy, steps := think(t, "今月の勤怠をまとめて", "ja", test.l2, test.l3)
			expect.Same(t, test.want, shown(steps))
			expect.That(t, strings.Contains(policy, test.line) && (len(test.l2) > 0) != (policy == first), "policy: %s", policy)
		})
	}
}

// The remarks say what the demo did about every reason, including older ones. No step's title repeats a reason.
func TestDemoSaysWhatBecameOfEveryReason(t *testing.T) {
	for locale, tt := range map[string]struct {
		request string
		reasons []string
		want    string
	}{
		"ja": {"今月の勤怠をまとめて", []string{"最後のステップは不要です", "ステップ4をステップ2の前に", "シートは不要です"},
			"「最後のステップは不要です」、「ステップ4をステップ2の前に」 → 内容が分からないため、反映していません。\n「シートは不要です」 → 反映しました。"},
		"en": {"Summarize this month's attendance", []string{"Put step 4 first", "without a sheet", "Make it nicer"},
			"“Put step 4 first”, “Make it nicer” → not applied: I didn't understand it.\n“without a sheet” → applied."},
	} {
		in := model.PlanInput{Task: task.Task{Title: "t"}, Request: tt.request, Policy: "p", Tools: catalog(t),
			Requester: "U0SANDSATO", Locale: locale, Now: now(), Try: 1}
		for n, reason := range append(tt.reasons, "") {
			steps, remarks, _, err := model.Plan(t.Context(), demo.Layers{}, in)
			expect.NoError(t, err)
			if (remarks == "") != (n == 0) || n == len(tt.reasons) && remarks != tt.want || len(steps) < 3 ||
				strings.Contains(steps[0].Title, "(") {
				t.Errorf("%s v%d: %q, %v", locale, n+1, remarks, shown(steps))
			}
			in.Earlier = append(in.Earlier, model.PlanVersion{Steps: steps, Reason: reason})
		}
		for n := range 46 {
			in.Earlier = append(in.Earlier, model.PlanVersion{Reason: fmt.Sprintf("長い指摘 %d 番。", n) + strings.Repeat("あ", 900)})
		}
		_, remarks, _, err := model.Plan(t.Context(), demo.Layers{}, in)
		expect.That(t, err == nil && strings.Contains(remarks, "長い指摘 45 番"), "%s: %q, %v", locale, remarks, err)
	}
}

func withChecks(lines []string) []string {
	out := append([]string{}, lines...)
	out[len(out)-1] += " 🔍"
	out[len(out)-2] += " 🔍"
	return out
}

func TestFiveRejectionsStillPlan(t *testing.T) {
	reasons := []string{"a", strings.Repeat("長い指摘", 250), "<!channel> *b*", "c\nd", "データの検証"}
	_, policy, steps := think(t, "今月の勤怠をまとめて", "ja", reasons, reasons)
	expect.That(t, len(steps) == 6 && strings.Contains(policy, "「c d」") && strings.Contains(policy, "「データの検証」 → 反映しました。"),
		"%v\n%s", shown(steps), policy)
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

func TestDemoSummary(t *testing.T) {
	in := model.SummaryInput{Request: "今月の勤怠をまとめて", Locale: "ja", Now: now(), Try: 1, Steps: []model.StepResult{
		{Tool: "list_employees", Result: json.RawMessage(`{"count":42,"employees":[]}`)},
		{Tool: "calculate_overtime",
			Result: json.RawMessage(`{"mode":"calculate","count":42,"over_45h":4,"over_80h":1,"over_100h":0,` +
				`"total_overtime_hours":712.5}`)},
		{Tool: "write_rows_to_google_sheet",
			Result: json.RawMessage(`{"updated_rows":42,"url":"http://127.0.0.1/sheets/x"}`)},
		{Tool: "send_slack_dm", Result: json.RawMessage(`{"message_ts":"1.2"}`)},
	}}
	got, _, err := model.Summarize(t.Context(), demo.Layers{}, in)
	want := "従業員 42 名を確認しました。\n残業時間の合計は 712.5 時間です。\n月 45 時間超 4 名、80 時間超 1 名、100 時間超 0 名 (80・100 時間は休日労働を含む)。\n42 " +
		"行を書き込みました: http://127.0.0.1/sheets/x\n依頼者に DM で知らせました。"
	d := cmp.Diff(want, got)
	expect.That(t, d == "" && err == nil, "%v %v", d, err)
}
