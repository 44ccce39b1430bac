package demo

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

// The steps deliver what the policy promises: all columns of the sheet or, without a sheet, only counts.
func TestAPolicyPromisesWhatItsStepsBring(t *testing.T) {
	for text, tt := range map[string]struct{ says, silent []string }{
		"先月の勤怠をまとめて":                       {[]string{"結果をスプレッドシートにまとめます", "列は社員番号、氏名、労働日数", "退職日、勤怠のみ", "(月初から月末まで)"}, []string{"スプレッドシートには書き込みません", "入社日です"}},
		"先月の勤怠をまとめて。シートは不要":                {[]string{"人数と合計を確認します", "スプレッドシートには書き込みません", "件数と合計だけです", "超える人数を数えます"}, []string{"スプレッドシートにまとめます", "印を付け"}},
		"先月の残業を調べて。シートは不要":                 {[]string{"上限を超える人が何人いるか", "件数と合計だけです"}, []string{"上限に近い人が分かる", "印を付け"}},
		"従業員一覧を取得して":                       {[]string{"列は社員番号、氏名、メールアドレス、入社日です", "メールアドレス、入社日、退職日のみ"}, []string{"勤怠"}},
		"従業員一覧。シートは不要":                     {[]string{"従業員の人数を確認します", "件数と合計だけです"}, []string{"一覧を作成します"}},
		"部署一覧。シートは不要":                      {[]string{"部署の数を確認します"}, []string{"一覧を作成します"}},
		"今月の勤怠をまとめて":                       {[]string{"期間: 2026年11月 (月初から月末まで。今月分は実行時点までの記録です。集計期間の欄は月末までの表示になります)"}, nil},
		"Attendance for October, no sheet": {[]string{"as counts and totals", "Nothing is written to a spreadsheet", "Reports totals only"}, []string{"in a spreadsheet", "mark who"}},
		"Overtime for October, no sheet":   {[]string{"count how many are over the limits"}, []string{"close to the limits", "mark anyone"}},
		"List all employees":               {[]string{"Columns: Number, Name, Email, Joined.", "start and end dates only"}, []string{"attendance"}},
		"attendance for this month":        {[]string{"this month covers records so far"}, nil},
		"List employees, no sheet":         {[]string{"count the employees"}, []string{"list the"}},
		"List of departments, no sheet":    {[]string{"count the departments"}, []string{"list the"}},
	} {
		t.Run(text, func(t *testing.T) {
			policy, did := carriedOut(t, text)
			for _, says := range tt.says {
				expect.Has(t, policy, says, "is missing")
			}
			for _, silent := range tt.silent {
				expect.That(t, !strings.Contains(policy, silent), "%q stands in\n%s", silent, policy)
			}
			writes := strings.Contains(strings.Join(did, "\n"), "write ")
			expect.That(t, writes != (strings.Contains(policy, "件数と合計だけ") || strings.Contains(policy, "totals only")), "does %q after\n%s", did, policy)
		})
	}
}

// The policy of an order or a booking has only the lines that its steps carry out.
func TestAPolicyHasALineForEachStepAndNoMore(t *testing.T) {
	for text, lines := range map[string]int{"取引先アクメに PC 2台 298,000円を発注して": 2, "会議室を予約して": 3, "<@U0SUZUKI> に「x」とDMして": 1,
		"Order 2 PCs from Acme at 149,000 yen each": 2, "Book a meeting room": 3, "List all positions": 3, "10月の残業": 5} {
		_, policy, steps := planFor(t, text)
		reads := strings.Contains(policy, "従業員一覧を読み取ります")
		numbered := regexp.MustCompile(`(?m)^\d+\. `).FindAllString(policy, -1)
		expect.That(t, len(steps) == lines && len(numbered) == lines && (lines > 3) == reads,
			"%s: %d steps\n%s", text, len(steps), policy)
	}
}

// The title of a column depends on the list. Another list may have another title for the same member, or none.
func TestAColumnIsTitledByItsTopic(t *testing.T) {
	for _, locale := range language.All {
		topics := []string{"attendance", "overtime"}
		for _, l := range allLists() {
			topics = append(topics, l.Name)
		}
		w := meant{words: spoken.In(locale)}
		for _, w.Topic = range topics {
			for _, c := range w.Columns() {
				expect.That(t, c["title"] != c["key"], "%s has no title for %s", w.Topic, c["key"])
			}
		}
	}
}

// returned are facts that the steps of a plan may return in a workspace of the other language.
func returned(steps []planned) (out []fact) {
	for i, s := range steps {
		f := fact{Title: s.Title, Tool: s.Tool, Facts: map[string]any{"count": 42.0}}
		switch s.Tool {
		case "calculate_overtime":
			f.Facts = map[string]any{"mode": "calculate", "period": fmt.Sprintf("2026-01-%02d〜2026-01-31", i), "months": 3.0, "note": "判定できません / can't be judged", "total_overtime_hours": 812.5, "over_45h": 4.0, "over_80h": 1.0, "over_100h": 0.0, "over_80h_average": 1.0, "over_360h": 0.0}
		case "write_rows_to_google_sheet":
			f.Facts = map[string]any{"updated_rows": 42.0, "url": "http://127.0.0.1:4566/sheets/ringi-demo-sheet"}
		}
		out = append(out, f)
	}
	return out
}

// A summary is in the request's language, even if the workspace has another.
func TestANoteIsInTheRequestsLanguage(t *testing.T) {
	for text, want := range map[string]string{"Overtime for October": "need more than one month.", "10月の残業": "1 か月分のため、"} {
		r := understood(t, text)
		r.in = allowed(t)
		steps := stepsOf(t, r)
		r.in.Steps = returned(steps)
		said := summary(r)
		expect.That(t, strings.Contains(said, want) && !strings.Contains(said, "/ can't"), "%s: %s", text, said)
	}
}
