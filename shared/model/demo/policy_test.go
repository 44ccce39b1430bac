package demo

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

// The tools of servers that the demo's plans call are those of the local stack's.
const listRooms, bookRoom, placeOrder = "rooms.list_rooms", "rooms.book_room", "rooms.place_order"

// planned is a step as the pipeline reads it.
type planned = model.StepData

// stepsOf are the steps of a plan.
func stepsOf(t *testing.T, w *meant) (steps []planned) {
	t.Helper()
	expect.NoError(t, json.Unmarshal(encoded(w.Plan()["steps"]), &steps))
	return steps
}

// allowed returns data in which every tool is allowed.
func allowed(t *testing.T) (in input) {
	t.Helper()
	tools := []object{{"name": listRooms}, {"name": bookRoom}, {"name": placeOrder}}
	for _, f := range expect.Value(tenancy.OwnTools())(t) {
		tools = append(tools, object{"name": f.Name})
	}
	data := object{"requester": "U0SANDSATO", "now": written, "locale": "ja", "tools": tools}
	expect.NoError(t, json.Unmarshal(encoded(data), &in))
	return in
}

const written = "2026-11-20T09:00+09:00"

func understood(t *testing.T, text string) *meant {
	t.Helper()
	in := allowed(t)
	in.Message = text
	return expect.Value(read(in))(t)
}

// rejected is a request with the reasons for rejecting earlier versions.
func rejected(t *testing.T, text, on string, reasons ...string) *meant {
	t.Helper()
	w := understood(t, text)
	for _, r := range reasons {
		w.In.Earlier = append(w.In.Earlier, struct{ Reason string }{r})
	}
	w.heed(on)
	return w
}

func policyOf(w *meant) string { return strings.ReplaceAll(w.Text("policy"), inLine, "\n") }

// carriedOut drafts a policy for a request, with these reasons for rejecting earlier ones, and plans its steps.
func carriedOut(t *testing.T, text string, reasons ...string) (policy string, steps []planned) {
	t.Helper()
	policy = policyOf(rejected(t, text, "reason", reasons...))
	w := understood(t, text) // steps are planned from the message and the policy
	for _, m := range form("$applied").FindAllStringSubmatch(policy, -1) {
		w.says(m[1], "reason")
	}
	return policy, stepsOf(t, w)
}

// A word that no phrase has, wherever it stands in a request that is planned, is refused by name or stands in the
// policy.
func TestNoWordOfARequestIsDropped(t *testing.T) {
	strange := map[string][]string{"ja": {"ホゲラ", "以外", "ふがふが", "除外"}, "en": {" blorb ", " except ", " not ", " Smith "}}
	for _, name := range language.All {
		planned := 0
		for _, x := range requests(t, name) {
			if x[1] == "refused" || strings.Contains(x[0], "demo:") {
				continue
			}
			planned++
			for at := 0; at <= len(x[0]); at++ {
				if at < len(x[0]) && !utf8.RuneStart(x[0][at]) {
					continue
				}
				for _, w := range []string{strange[name][at%4]} {
					text := x[0][:at] + w + x[0][at:]
					r := understood(t, text)
					said := r.Text("cannot")
					if said == "" {
						said = policyOf(r)
					}
					whole := r.Text("cannot") != "" || strings.Contains(said, strings.TrimSpace(w))
					expect.Must(t, whole, "%q: %s", text, said)
				}
			}
		}
		expect.That(t, planned > 30, "only %d requests of %s are planned", planned, name)
	}
}

// What a request forwards is read with it. What can't be seen of it, and files, are refused; an order may have them.
func TestWhatARequestEnclosesIsReadOrRefused(t *testing.T) {
	for _, tt := range []struct {
		text      string
		forwarded []object
		files     []object
		want      string
	}{
		{"今月の勤怠をまとめて", []object{{"text": "対象は営業だけ。DM は送らないでください"}}, nil, "勤怠 | 2026-11 | 営業部 | sheet"},
		{"これをお願いします", []object{{"text": "営業の先月の残業を確認して"}}, nil, "残業 | 2026-10 | 営業部 | sheet | U0SANDSATO"},
		{"", []object{{"text": "Overtime for Sales for October, no DM"}}, nil, "Overtime | 2026-10 | Sales | sheet"},
		{"今月の勤怠をまとめて", []object{{"text": "派遣の人は除いてください"}}, nil, "refused: が分かりません"},
		{"今月の勤怠をまとめて", []object{{"text": "営業だけ", "not_shown": "the rest"}}, nil, "refused: 見えない部分を使えません"},
		{"これをお願いします", []object{{}}, nil, "refused: 見えない部分を"},
		{"今月の勤怠。これをお願いします", nil, nil, "refused: が分かりません"},
		{`Send <@U0SANDSATO> a DM "Please submit" only to people over 45 hours`, nil, nil, "refused: This demo model"},
		{"今月の勤怠をまとめて", nil, []object{{}}, "refused: 添付ファイルと"},
		{"取引先アクメに PC 2台 298,000円を発注して", nil, []object{{}}, "order from アクメ: [{PC 2 149000}] | U0SANDSATO"},
		{"Order 2 PCs from Acme at 149,000 yen each. The quotation is attached.", nil, []object{{}},
			"order from Acme: [{PCs 2 149000}] | U0SANDSATO"},
	} {
		reply, policy, steps := planFor(t, tt.text, tt.forwarded, tt.files)
		if named, refused := strings.CutPrefix(tt.want, "refused: "); refused {
			expect.That(t, len(steps) == 0 && strings.Contains(reply, named), "%s: %s", tt.text, reply)
			continue
		}
		expect.Is(t, scopeOf(steps), tt.want, "%s: %s\n%s", tt.text, reply, policy)
	}
}

// A question what there is to ask for is answered, also where the demo knows no word of it.
func TestAQuestionIsAnswered(t *testing.T) {
	for text, helps := range map[string]bool{"使い方は?": true, "What can you do?": true, "こんにちは": true, "": true,
		"ありがとうございます": true, "help": true, "何ができますか": true, "使い方と先月の残業": false, "hello, buy a printer": false} {
		expect.Is(t, understood(t, text).No == "help", helps, text)
	}
}

// Without the tool an order is answered at once.
func TestAnOrderNeedsItsTool(t *testing.T) {
	in := allowed(t)
	in.Message = "取引先アクメに PC 2台 298,000円を発注して"
	for _, tools := range [][]string{nil, {placeOrder + ": x. y"}} {
		in.More, in.Tools = tools, nil
		answer := expect.Value(answer(model.Extracting, 1, "<data>"+string(encoded(in))+"</data>"))(t)
		expect.Is(t, strings.Contains(answer, "発注のツールが許可されていない"), tools == nil, "%s", answer)
		expect.That(t, !strings.Contains(answer, "役職の一覧"), "it offers what isn't allowed: %s", answer)
	}
}

// “Instead” replaces, “only” restricts. The demo guesses no other meaning: the next version is the one before.
func TestAReasonIsAppliedOrNothingIs(t *testing.T) {
	for _, tt := range []struct{ request, reason, line, plans string }{
		{"attendance for October", "September instead", "Period: September 2026 (",
			"Attendance | 2026-09 | all | sheet | U0SANDSATO"},
		{"8月の勤怠", "9月でお願いします。DMは不要", "期間: 2026年9月 (", "勤怠 | 2026-09 | all | sheet"},
		{"10月の勤怠", "営業部に絞って", "対象: 営業部と、その下の部署に、2026年10月に在籍した", "勤怠 | 2026-10 | 営業部 | sheet | U0SANDSATO"},
		{"10月の残業", "シートは不要", "スプレッドシートには書き込みません", "2026-10 | all | U0SANDSATO"},
		{"overtime for October, no sheet", "sheet only", "No step sends a DM", "Overtime | 2026-10 | all | sheet"},
		{"attendance for October", "Validate the data after step 2", "3. Validate the data before calculating",
			"Attendance | 2026-10 | all | validate,sheet | U0SANDSATO"},
		{"取引先アクメに PC 3台 447,000円を発注して", "2台で足ります。DMは不要", "298,000", "order from アクメ: [{PC 2 149000}]"},
		{"10月の勤怠", "書き込み前に人が確認", "担当者が引数を確認して判断します", "勤怠 | 2026-10 | all | sheet | check,U0SANDSATO"},
	} {
		policy, steps := carriedOut(t, tt.request, tt.reason)
		expect.Is(t, scopeOf(steps), tt.plans, tt.reason)
		expect.Has(t, policy, tt.line)
		w := rejected(t, tt.request, "reason", tt.reason)
		for _, part := range w.Applied { // what was understood of it, and not its words as a whole
			expect.Has(t, policy, w.Say("applied", w.words.quote(part)))
		}
		expect.That(t, slices.Equal(w.Applied, []string{tt.reason}) || !strings.Contains(policy, tt.reason), "%s", policy)
		expect.Has(t, policy, w.Form("title")[:len("2026年")])
	}
	_, steps := carriedOut(t, "overtime for October, sheet only", "no sheet")
	expect.Is(t, scopeOf(steps), "2026-10 | all")
	_, steps = carriedOut(t, "order 3 chairs from Acme at 5,000 yen each", "Only 10 are needed")
	expect.Is(t, scopeOf(steps), "order from Acme: [{chairs 10 5000}] | U0SANDSATO")
	policy, _ := carriedOut(t, "<@U0SANDTAKA> に「請求書を確認して」とDMして", "文面を「請求書を今週中に確認して」に変えてください")
	expect.Has(t, policy, "「請求書を今週中に確認して」")
	for _, tt := range [][2]string{
		{"10月の勤怠", "<@U0SANDSUZU> にも送って"}, {"10月の勤怠", "9月"}, {"人事部の10月の勤怠", "営業部も追加してください"},
		{"attendance for October", "Also November, please"}, {"人事部の10月の勤怠", "人事部ではなく営業部にして"},
		{"attendance for October", "September instead of October"}, {"10月の勤怠", "8月と9月にして"},
		{"attendance for October", "Sales and HR only"}, {"10月の勤怠", "9月までにして"}, {"従業員一覧", "データの検証を追加して"},
		{"10月の勤怠", "私だけに教えて"}, {"会議室を明日15時に予約して", "明後日の11時、DMは不要"}, {"10月の勤怠", "人事部だけにDMして"},
		{"取引先アクメに PC 2台 298,000円を発注して", "10月にして"}, {"10月の勤怠", "9月にして。グラフも付けて"},
	} {
		first, _ := carriedOut(t, tt[0])
		policy, _ := carriedOut(t, tt[0], tt[1])
		expect.Is(t, policy, first, tt[1])
	}
}

// The policy of an order or a booking has only the lines that its steps carry out. That of an order names its
// reference, so that nobody is asked about it twice.
func TestAPolicyHasALineForEachStepAndNoMore(t *testing.T) {
	for text, lines := range map[string]int{"取引先アクメに PC 2台 298,000円を発注して": 2, "会議室を予約して": 3, "<@U0SUZUKI> に「x」とDMして": 1,
		"Order 2 PCs from Acme at 149,000 yen each": 2, "Book a meeting room": 3, "List all positions": 3, "10月の残業": 5} {
		_, policy, steps := planFor(t, text)
		var arguments struct{ Reference string }
		_ = json.Unmarshal([]byte(steps[0].ToolInput), &arguments) // others have none
		expect.That(t, strings.Contains(policy, arguments.Reference) &&
			(arguments.Reference == "") == (steps[0].Tool != placeOrder), "%s: %+v", text, arguments)
		reads := strings.Contains(policy, "従業員一覧を読み取ります")
		numbered := regexp.MustCompile(`(?m)^\d+\. `).FindAllString(policy, -1)
		expect.That(t, len(steps) == lines && len(numbered) == lines && (lines > 3) == reads,
			"%s: %d steps\n%s", text, len(steps), policy)
	}
}

// Of a month that hasn't begun all figures would be zeros.
func TestAMonthThatHasNotBegunIsDeclined(t *testing.T) {
	for text, no := range map[string]string{"attendance for December 2099": "unbegun", "2099年12月の勤怠": "unbegun",
		"来月の残業": "unbegun", "attendance for October": "", "9月の勤怠": ""} {
		expect.Is(t, understood(t, text).No, no, text)
	}
}

// People stamp a team's draft: whatever the request asks of the teams, nothing in it is about them.
func TestNoDraftOfATeamTalksOfTheContest(t *testing.T) {
	for _, request := range []string{"先月の残業を確認して", "Check overtime for October"} {
		for _, marker := range []string{"", " demo: unscored a", " demo: unscored a round 2"} {
			for round, material := range []string{request + marker,
				"<data>" + string(encoded(object{"message": request + marker, "now": written, "locale": "ja"})) + "</data>"} {
				for _, results := range [][]string{nil, {"", "見つかりました\n詳細"}, {"ERROR: none"}} {
					said := []model.Message{model.Words(model.User, "<data>"+string(encoded(object{"request": material,
						"team": "慎重チーム", "team_id": "a", "round": round + 1, "history": make([]object, round)}))+"</data>")}
					for _, x := range results {
						said = append(said, model.Message{Role: model.User, Parts: []model.Part{{Result: &model.Result{Text: x}}}})
					}
					out := expect.Value(Teams{}.Say(t.Context(), model.Request{Messages: said}))(t)
					for _, talk := range []string{"慎重チーム", "demo:", "Draft by", "案 (", "evaluator", "評価", "メンバー", "member", "重視",
						"Focus", "点数"} {
						expect.That(t, len(out.Text) > 10 && !strings.Contains(out.Text, talk), "%q: %q in\n%s", request+marker, talk,
							out.Text)
					}
				}
			}
		}
	}
}
