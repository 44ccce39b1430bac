package demo

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/model"
	"ringi/shared/runtime/expect"
	"ringi/shared/tool"
	"ringi/shared/words/language"
)

// The policy of an order names each value of the call, so that nobody is asked about it twice, and keeps its reference.
func TestThePolicyOfAnOrderNamesWhatIsCalled(t *testing.T) {
	for _, text := range []string{
		"取引先アクメに PC 2台 298,000円を発注して", "Order 2 PCs from Acme at 149,000 yen each",
	} {
		_, policy, steps := planFor(t, text)
		expect.Must(t, len(steps) == 2, "%s: %v", text, steps)
		expect.Is(t, steps[0].Tool, placeOrder)
		arguments := expect.Value(tool.Parse(aggregate.JSON(steps[0].ToolInput)))(t)
		expect.Has(t, policy, arguments.Text("reference"))
	}
}

// A price that may be of all or of one is told as read.
func TestThePolicyOfAnOrderSaysHowThePriceWasRead(t *testing.T) {
	for text, says := range map[string]string{
		"アクメにモニターを 5 台 32,000円で発注して":                "¥32,000 は、5 点の合計とします",
		"Order 5 monitors from Acme for 32,000 yen": "¥32,000 is for all 5 together",
	} {
		_, policy, _ := planFor(t, text)
		expect.Has(t, policy, says)
	}
	for _, text := range []string{"アクメにモニターを 5 台、単価32,000円で発注して", "アクメにモニターを 1 台 32,000円で発注して"} {
		_, policy, _ := planFor(t, text)
		expect.That(t, !strings.Contains(policy, "前提") && strings.Contains(policy, "単価: ¥32,000"), "%s: %s", text, policy)
	}
}

// What a remark on an order says of its number is followed by the policy, and by the steps if it is less than the
// stamped policy says: they are told as a change since the version before.
func TestTheNumberOfAnOrderIsCorrected(t *testing.T) {
	mark := &rules.Mark{Version: "v1", How: rules.HowProduct, Currency: "JPY",
		Pointers: []string{"/items/*/quantity", "/items/*/unit_price"}}
	for _, x := range []struct{ request, total, one, since string }{
		{"Order 3 office chairs from Acme at 12,000 yen each", "Total: ¥12,000", "Quantity: 1\nUnit price: ¥12,000",
			"items › 1 › quantity 3 → 1; Total ¥36,000 → ¥12,000"},
		{"アクメに PC 3台 447,000円を発注して", "合計: ¥149,000", "数量: 1\n単価: ¥149,000",
			"items › 1 › quantity 3 → 1; 合計 ¥447,000 → ¥149,000"},
	} {
		is := understood(t, x.request)
		one, odd := []string{"1 is enough", "1 office chair is enough", "quantity 1", "Quantity: 1", "1 instead", "only 1",
			"make it 1", "change it to 1 instead", "make it 1 office chair, please",
			"only 1 office chair please", "1 office chair instead"}, []string{"2 desks are enough", "1 or 2", "0 instead", "1"}
		if is.words.Locale == "ja" {
			one, odd = []string{"1台にして", "1 台で十分", "1台で十分です", "PCは1台で足ります", "「PC」1台だけにしてください", "数量は1", "数量を1に変更して",
				"1台でお願いします", "１台でいいです"}, []string{"机は1台で十分", "1台か2台", "0台にして", "1台追加して", "20000台にして"}
		}
		for _, reason := range one {
			policy := draftAfter(t, x.request, reason)
			expect.That(t, strings.Contains(policy, x.one) && strings.Contains(policy, x.total), "%s: %s", reason, policy)
			_, _, v1 := planFor(t, x.request)
			w := understood(t, x.request)
			w.in = allowed(t)
			w.in.Earlier = []struct{ Reason string }{{reason}}
			w.heed(true)
			var said []string
			for _, c := range explain.Between(w.words.Locale, marked(v1, mark), marked(stepsOf(t, w), mark)) {
				name := ""
				for _, piece := range c.Name {
					name += piece.Text
				}
				said = append(said, name+" "+c.Was[0].Text+" → "+c.Is[0].Text)
			}
			expect.Is(t, strings.Join(said, "; "), x.since, reason)
		}
		for _, reason := range odd {
			expect.Is(t, is.remark(reason, false)[0].Form, "unclear", reason)
		}
		more := map[string]string{"ja": "4台にして", "en": "4 instead"}[is.words.Locale]
		expect.Is(t, is.remark(more, true)[0].Form, "settled", more)
	}
}

// marked are steps as a task has them.
func marked(steps []planned, mark *rules.Mark) (out []task.Step) {
	for _, s := range steps {
		out = append(out, task.Step{StepID: s.StepID, Order: s.Order, Title: s.Title, Tool: s.Tool, ToolVersion: "v1",
			Access: aggregate.Write, ToolInput: aggregate.JSON(s.ToolInput),
			Mark: map[bool]*rules.Mark{true: mark}[s.Tool == placeOrder]})
	}
	return out
}

// At the steps, a remark on what the approved policy says is named as such.
func TestStepsDontChangeWhatThePolicySettles(t *testing.T) {
	for reason, text := range map[string]string{"September instead": "attendance for October",
		"only Sales": "attendance for October", "9月にして": "10月の勤怠", "営業部だけにして": "10月の勤怠"} {
		w := understood(t, text)
		w.in.Earlier = []struct{ Reason string }{{reason}}
		w.heed(true)
		expect.Is(t, w.words.text("remarks", w), w.Say("settled", w.words.quote(reason)))
	}
}

// Whoever approves the steps is told, too, that a month hasn't begun: its figures would be zeros.
func TestStepsSayThatAMonthHasNotBegun(t *testing.T) {
	for text, want := range map[string]string{"attendance for December 2099": "hasn't started", "2099年12月の勤怠": "まだ始まっていない",
		"attendance for October": "", "9月の勤怠": ""} {
		w := understood(t, text)
		said := w.words.text("remarks", w)
		expect.That(t, strings.Contains(said, want) && (want != "" || said == ""), "%s: %s", text, said)
	}
}

// No date, condition, alternative or second item becomes a part of a name: 月末まで is no supplier.
func TestAnOrderThatSaysMoreIsNotPlaced(t *testing.T) {
	for _, text := range []string{"月末までにアクメに PC 3台 447,000円を発注して", "3営業日以内にアクメに PC 3台 447,000円を発注して",
		"今週中にアクメに PC 3台 447,000円を発注して", "Order 3 PCs from Acme by Friday at 149,000 yen each",
		"鈴木さんの確認後に、アクメに PC 2台 298,000円を発注して", "アクメではなくグローバルに PC 2台 298,000円を発注して",
		"アクメかグローバルに PC 2台 298,000円を発注して", "アクメまたはグローバルに PC 2台 298,000円を発注して",
		"アクメに PC 2台とマウス1個 300,000円を発注して", "在庫がなければアクメに PC 2台 298,000円を発注して",
		"Order 2 PCs from Acme or Globex at 149,000 yen each", "Order 2 PCs from Acme if approved at 149,000 yen each",
		"Order 2 PCs and 1 mouse from Acme at 149,000 yen each", "Order 2 to 3 PCs from Acme at 149,000 yen each",
		"上司の承認を得たうえでアクメにPC 2台 298,000円を発注して", "OKならアクメにPC 2台 298,000円を発注して", "すぐアクメにPC 2台 298,000円を発注して",
		"OK アクメに PC 2台 298,000円を発注して", "アクメに税込PC 2台 298,000円を発注して",
		"アクメに金曜着でPCを2台298,000円で発注して", "アクメに金曜着PCを2台298,000円で発注して", "アクメに税抜でPCを2台298,000円で発注して",
		"アクメに請求書払いでPCを2台298,000円で発注して", "アクメに月額でPCを2台298,000円で発注して", "アクメに至急PCを2台298,000円で発注して",
		"アクメに中古のPCを約2台298,000円で発注して", "アクメにPC約2台 298,000円を発注して", "アクメに「」を2台298,000円で発注して",
		"Order 2 PCs from Acme pending approval at 149,000 yen each",
		"Order 2 PCs from Acme provided it is in stock at 149,000 yen each",
		"Order 2 PCs from Acme on Friday at 149,000 yen each", "Order 2 PCs from Acme Friday at 149,000 yen each",
		"Order 2 PCs from Acme in two weeks at 149,000 yen each", "Order 2 PCs from Acme plus tax at 149,000 yen each",
		"Order 2 PCs a month from Acme at 149,000 yen each", "Order 2 PCs monthly from Acme at 149,000 yen each",
		"Order 2 PCs from Acme ASAP at 149,000 yen each", "Order 2 PCs from Acme for Sales at 149,000 yen each",
		"Order 2 PCs from Acme October at 149,000 yen each", "Order 2 PCs today from Acme at 149,000 yen each",
		"Order 2 hundred pens from Acme for 200 yen", "Order 2 more PCs from Acme at 149,000 yen each",
		"Order 2 PCs from stock at 149,000 yen each", "Order 2 PCs from Acme at 149,000 yen each for everyone",
		"Check order 2 PCs from Acme at 149,000 yen each",
		"Order 2 dozen pens from Acme for 200 yen", "Order 2 PCs from Acme after the audit at 149,000 yen each"} {
		r := understood(t, text)
		expect.That(t, r.Cannot() != "", "%s: ordered %+v", text, r.Order)
	}
}

// Without the tool an order is answered at once, and a reason that fits no order is said to be not understood.
func TestAnOrderNeedsItsTool(t *testing.T) {
	in := allowed(t)
	in.Message = "取引先アクメに PC 2台 298,000円を発注して"
	for _, tools := range [][]string{nil, {placeOrder + ": x. y"}} {
		in.More = tools
		b := expect.Value(json.Marshal(in))(t)
		answer := expect.Value(Answer(Question{Purpose: "extract", Try: 1, Text: "<data>" + string(b) + "</data>"}))(t)
		expect.Is(t, strings.Contains(answer, "発注のツールが許可されていない"), tools == nil, "%s", answer)
	}
	policy, _ := carriedOut(t, in.Message, "10月にして")
	expect.Has(t, policy, "反映していません")
}

// draftAfter drafts the policy that follows rejections for these reasons.
func draftAfter(t *testing.T, text string, reasons ...string) string {
	t.Helper()
	policy, _ := carriedOut(t, text, reasons...)
	return policy
}

// Reasons as the dialog's example gives them, are understood at the policy.
func TestAPolicyFollowsItsReasons(t *testing.T) {
	for reason, says := range map[string]string{
		"Add a validation of the data before step 3": "3. Validate the data before calculating",
		"Validate the data after step 2":             "3. Validate the data before calculating",
		"No sheet, please":                           "4. Nothing is written to a spreadsheet.",
		"without a DM":                               "No DM is sent by a step; ",
	} {
		policy := draftAfter(t, "attendance for October", reason)
		expect.That(t, strings.Contains(policy, says) && strings.Contains(policy, "“"+reason+"” → applied."), "%s:\n%s",
			reason, policy)
	}
	both := draftAfter(t, "attendance for October", "Add a validation of the data before step 3", "no sheet")
	expect.That(t, strings.Contains(both, "5. Nothing is written") && strings.Contains(both, "3. Validate"), "%s", both)
}

// A version that took in nothing says so in its first line, with what is understood. The rest is the version before.
func TestAVersionThatTookNothingInSaysSo(t *testing.T) {
	for text, tt := range map[string]struct{ odd, understood, first string }{
		"attendance for October": {"Make it nicer", "only Sales",
			"I didn't understand your feedback (“Make it nicer”), so this version doesn't reflect it. " +
				"What I can follow: “October instead”, “only Sales”, “no DM”, “no sheet”, “validate the data”, " +
				"“have a person check first”, “make it shorter”. For anything else, cancel it and ask anew."},
		"10月の勤怠をまとめて": {"もっと良くして", "営業部だけにして",
			"ご指摘「もっと良くして」の内容が分からなかったため、このバージョンには反映していません。" +
				"「10月にして」、「営業部だけにして」、「DM は不要」、「シートは不要」、「データの検証を追加」、「書き込み前に人が確認」、「もっと簡潔に」のようなご指摘は反映できます。"},
	} {
		v1, v2 := draftAfter(t, text), draftAfter(t, text, tt.odd)
		first, rest, _ := strings.Cut(v2, "\n")
		expect.That(t, rest == v1 && strings.HasPrefix(first, tt.first), "%s", v2)
		_, again, _ := strings.Cut(draftAfter(t, text, tt.odd, tt.odd+"!"), "\n")
		expect.Is(t, again, v1)
		v3 := draftAfter(t, text, tt.odd, tt.understood)
		expect.That(t, !strings.HasPrefix(v3, tt.first[:9]) && strings.Contains(v3, tt.odd) &&
			!strings.Contains(v3, "\n"+v1), "%s", v3)
		first, rest, _ = strings.Cut(draftAfter(t, text, tt.odd, tt.understood, tt.odd), "\n")
		expect.That(t, rest == v3 && strings.HasPrefix(first, tt.first), "%s\n%s", first, rest)
	}
}

// The reasons that a policy gives as examples would be followed by it.
func TestTheExamplesOfAPolicyAreFollowed(t *testing.T) {
	for _, text := range []string{"10月の勤怠をまとめて", "overtime for October", "役職一覧", "List all positions", "会議室を予約して",
		"Order 2 PCs from Acme at 149,000 yen each", "<@U0SUZUKI> に「x」とDMして", "Send <@U0SUZUKI> a DM “x”"} {
		w := understood(t, text)
		examples := regexp.MustCompile(`「(.*?)」|“(.*?)”`).FindAllStringSubmatch(w.Form("feedback"), -1)
		expect.That(t, len(examples) > 1, "%s: %q", text, w.Form("feedback"))
		for _, m := range examples {
			expect.Is(t, understood(t, text).remark(m[1]+m[2], false)[0].Form, "applied", "%s: %s", text, m[0])
		}
	}
}

// The steps deliver what the policy promises: all columns of the sheet or, without a sheet, only counts.
func TestAPolicyPromisesWhatItsStepsBring(t *testing.T) {
	for text, tt := range map[string]struct{ says, silent []string }{
		"先月の勤怠をまとめて": {[]string{"結果をスプレッドシートにまとめます", "列は社員番号、氏名、労働日数", "退職日、勤怠のみ", "(月初から月末まで)"},
			[]string{"スプレッドシートには書き込みません", "入社日です"}},
		"先月の勤怠をまとめて。シートは不要": {[]string{"人数と合計を確認します", "スプレッドシートには書き込みません", "件数と合計だけです", "超える人数を数えます"},
			[]string{"スプレッドシートにまとめます", "印を付け"}},
		"先月の残業を調べて。シートは不要": {[]string{"上限を超える人が何人いるか", "件数と合計だけです"}, []string{"上限に近い人が分かる", "印を付け"}},
		"従業員一覧を取得して":       {[]string{"列は社員番号、氏名、メールアドレス、入社日です", "メールアドレス、入社日、退職日のみ"}, []string{"勤怠"}},
		"従業員一覧。シートは不要":     {[]string{"従業員の人数を確認します", "件数と合計だけです"}, []string{"一覧を作成します"}},
		"部署一覧。シートは不要":      {[]string{"部署の数を確認します"}, []string{"一覧を作成します"}},
		"今月の勤怠をまとめて":       {[]string{"期間: 2026年11月 (今月は実行した時点までの記録。集計期間の欄は月末まで)"}, nil},
		"Attendance for October, no sheet": {[]string{"as counts and totals", "Nothing is written to a spreadsheet",
			"Reports totals only"}, []string{"in a spreadsheet", "mark who"}},
		"Overtime for October, no sheet": {[]string{"count how many are over the limits"},
			[]string{"close to the limits", "mark anyone"}},
		"List all employees": {[]string{"Columns: Number, Name, Email, Joined.", "start and end dates only"},
			[]string{"attendance"}},
		"attendance for this month":     {[]string{"this month covers records so far"}, nil},
		"List employees, no sheet":      {[]string{"count the employees"}, []string{"list the"}},
		"List of departments, no sheet": {[]string{"count the departments"}, []string{"list the"}},
	} {
		t.Run(text, func(t *testing.T) {
			policy, did := carriedOut(t, text)
			for _, says := range tt.says {
				expect.Has(t, policy, says, "is missing")
			}
			for _, silent := range tt.silent {
				said := strings.ReplaceAll(policy, "「勤怠 2026」", "") // the sheet's name
				expect.That(t, !strings.Contains(said, silent), "%q stands in\n%s", silent, policy)
			}
			writes := strings.Contains(strings.Join(did, "\n"), "write ")
			expect.That(t, writes != (strings.Contains(policy, "件数と合計だけ") || strings.Contains(policy, "totals only")),
				"does %q after\n%s", did, policy)
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
			f.Facts = map[string]any{"mode": "calculate", "period": fmt.Sprintf("2026-01-%02d〜2026-01-31", i),
				"note": "判定できません / can't be judged", "total_overtime_hours": 812.5, "over_45h": 4.0, "over_80h": 1.0,
				"over_100h": 0.0}
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

// What members read of rooms stands in a policy about rooms, and in no other.
func TestADraftQuotesWhatWasReadOnlyOfRooms(t *testing.T) {
	const read = "使った後はホワイトボードを消してください。"
	for request, quotes := range map[string]bool{"先月の残業を確認して": false, "会議室を明日15時に予約して": true,
		"取引先アクメに PC 2台 298,000円を発注して": false, "経費精算の進め方を決めて": true} {
		s := teamData{TeamID: "a", results: []string{read}, Request: "<data>" + string(encoded(object{"message": request,
			"now": written, "locale": "ja", "server_tools": []string{listRooms, bookRoom, placeOrder}})) + "</data>"}
		if strings.HasPrefix(request, "経費") { // a contest of its own
			s.Request = request
		}
		said := s.draft(spoken.In("ja").Teams, "")
		expect.Is(t, strings.Contains(said, read), quotes, said)
	}
}

// The drafts of two teams differ in the lines below what both are for.
func TestDraftsOfTeamsDifferWhereAReaderLooks(t *testing.T) {
	request := "<data>" + string(encoded(object{"message": "Check overtime for October", "now": written,
		"locale": "en"})) +
		"</data>"
	second := map[string]bool{}
	for _, team := range []string{"a", "b", "c"} {
		lines := strings.Split(teamData{TeamID: team, Request: request}.draft(spoken.In("en").Teams, ""), "\n")
		expect.Has(t, lines[0], "October")
		second[lines[1]] = true
	}
	expect.That(t, len(second) > 1, "%v", second)
}

// People stamp a team's draft: whatever the request asks of the teams, nothing in it is about them.
func TestNoDraftOfATeamTalksOfTheContest(t *testing.T) {
	for _, request := range []string{"先月の残業を確認して", "Check overtime for October"} {
		for _, marker := range []string{"", " demo: unscored a", " demo: unscored a round 2", " demo: play on"} {
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

// A remark that changes the month changes the title.
func TestTheTitleFollowsARemark(t *testing.T) {
	for reason, want := range map[string]string{"September instead": "September", "9月にして": "9月"} {
		w := understood(t, map[bool]string{true: "attendance for October", false: "10月の勤怠"}[want == "September"])
		w.in.Earlier = []struct{ Reason string }{{reason}}
		w.heed(false)
		expect.That(t, strings.Contains(w.Form("title"), want), "%s: %s", reason, w.Form("title"))
	}
}
