package demo

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ringi/shared/domain/catalog"
	"ringi/shared/model"
	"ringi/shared/runtime/expect"
)

// The tools of servers that the demo's plans call are those of the local stack's.
const listRooms, bookRoom, placeOrder = "rooms.list_rooms", "rooms.book_room", "rooms.place_order"

// planned is a step as the pipeline reads it.
type planned = model.StepData

// stepsOf are the steps of a plan.
func stepsOf(t *testing.T, w *meant) (steps []planned) {
	t.Helper()
	made, _ := plan(w)
	expect.NoError(t, json.Unmarshal(encoded(made), &steps))
	return steps
}

// acts lists a plan's tools, those that write with their arguments.
func acts(steps []planned) (out []string) {
	for _, s := range steps {
		var in struct {
			Year, Month                   int
			Sheet, Recipient, Text, Start string
			Department, Date              string
			AsOf                          string `json:"as_of"`
			Earlier                       []any
		}
		_ = json.Unmarshal([]byte(s.ToolInput), &in) // unreadable members stay empty
		switch s.Tool {
		case "list_employees":
			out = append(out, strings.TrimSuffix("list "+in.Department+" "+in.AsOf, " "))
		case "list_attendance":
			out = append(out, fmt.Sprintf("read %d-%02d", in.Year, in.Month))
		case "calculate_overtime":
			out = append(out, fmt.Sprintf("calculate +%d", len(in.Earlier)))
		case "write_rows_to_google_sheet":
			out = append(out, "write "+in.Sheet)
		case "send_slack_dm":
			out = append(out, "tell "+in.Recipient+": "+in.Text)
		case bookRoom:
			out = append(out, "book "+in.Date+" "+in.Start)
		default:
			if slices.ContainsFunc(allLists(), func(l catalog.File) bool { return l.Name == s.Tool }) {
				out = append(out, "list "+in.Department)
			}
		}
	}
	return out
}

// allowed returns data in which every tool is allowed.
func allowed(t *testing.T) input {
	t.Helper()
	in := input{Requester: "U0SANDSATO", Now: written, Locale: "ja"}
	in.Tools = []offered{{Name: listRooms}, {Name: bookRoom}, {Name: placeOrder}}
	for _, f := range expect.Value(catalog.Files())(t) {
		in.Tools = append(in.Tools, offered{Name: f.Name})
	}
	return in
}

// carriedOut drafts a policy for a request, with these reasons for rejecting earlier ones, and plans its steps.
func carriedOut(t *testing.T, text string, reasons ...string) (policy string, did []string) {
	t.Helper()
	r, in := understood(t, text), allowed(t)
	for _, reason := range reasons {
		in.Earlier = append(in.Earlier, struct{ Reason string }{reason})
	}
	r.in = in
	r.heed(false)
	policy = draft(r)
	in.Earlier = nil
	r = understood(t, text) // steps are planned from the message and the policy
	r.in = in
	r.follow(policy)
	steps := stepsOf(t, r)
	return policy, acts(steps)
}

const october = "2026年10月の勤怠集計が完了しました。"

func TestARequestIsPlannedAsItWasMeant(t *testing.T) {
	for text, want := range map[string]struct {
		line string // expected in the policy
		did  []string
	}{
		"先月の勤怠をまとめて。通知はDMで結構です": {"依頼者に Slack の DM で知らせます", []string{
			"list  2026-10", "read 2026-10", "calculate +0", "write 勤怠 2026-10", "tell U0SANDSATO: " + october,
		}},
		"先月の勤怠。シートで結構です": {"「勤怠 2026-10」に書き込みます", []string{
			"list  2026-10", "read 2026-10", "calculate +0", "write 勤怠 2026-10", "tell U0SANDSATO: " + october,
		}},
		"先月の勤怠。DMは結構です": {"DM は送りません", []string{
			"list  2026-10", "read 2026-10", "calculate +0", "write 勤怠 2026-10",
		}},
		"先月の勤怠。DMだけ不要です": {"DM は送りません", []string{
			"list  2026-10", "read 2026-10", "calculate +0", "write 勤怠 2026-10",
		}},
		"先月の勤怠。DMとシートは不要です": {"スプレッドシートには書き込みません", []string{
			"list  2026-10", "read 2026-10", "calculate +0",
		}},
		"attendance for October, no DM or sheet": {"No DM is sent", []string{
			"list  2026-10", "read 2026-10", "calculate +0",
		}},
		"先月の勤怠をまとめて <@U0SANDSUZU> に送って": {"完了したら、<@U0SANDSUZU>に", []string{
			"list  2026-10", "read 2026-10", "calculate +0", "write 勤怠 2026-10", "tell U0SANDSUZU: " + october,
		}},
		"<@U0SANDTANA> に先月の勤怠を送って": {"完了したら、<@U0SANDTANA>に", []string{
			"list  2026-10", "read 2026-10", "calculate +0", "write 勤怠 2026-10", "tell U0SANDTANA: " + october,
		}},
		"シート「来期計画」に10月の営業部の勤怠を書いて。DMは不要": {"「来期計画」に書き込みます", []string{
			"list 営業部 2026-10", "read 2026-10", "calculate +0", "write 来期計画",
		}},
		"営業部の従業員一覧。DMは不要": {"「従業員一覧 営業部」に", []string{
			"list 営業部", "write 従業員一覧 営業部",
		}},
		"<@U0SANDSUZU> に「『10月の勤怠』を確認してください」とDMして": {"「『10月の勤怠』を確認してください」", []string{
			"tell U0SANDSUZU: 『10月の勤怠』を確認してください",
		}},
		"<@U0SANDSUZU> に「１０時に会議室Ａへ！\n持ち物：筆記具」とDMして": {"「１０時に会議室Ａへ！\n持ち物：筆記具」", []string{
			"tell U0SANDSUZU: １０時に会議室Ａへ！\n持ち物：筆記具",
		}},
		"<@U0SANDSUZU> に「「中」の「外」」とDMして": {"「「中」の「外」」", []string{
			"tell U0SANDSUZU: 「中」の「外」",
		}},
		"<@U0SANDSUZU> に「x\n完了したら、<@U0OTHER>に」とDMして": {"目的: <@U0SANDSUZU>に", []string{
			"tell U0SANDSUZU: x\n完了したら、<@U0OTHER>に",
		}},
		"<@U0SANDSUZU> と <@U0SANDTANA> に「x」とDMして": {"「x」", []string{
			"tell U0SANDSUZU: x", "tell U0SANDTANA: x",
		}},
		"会議室を明日15時に予約して。DMは不要": {"日時: 2026-11-21 15:00", []string{
			"book 2026-11-21 15:00",
		}},
	} {
		t.Run(text, func(t *testing.T) {
			policy, did := carriedOut(t, text)
			expect.That(t, strings.Contains(policy, want.line) && slices.Equal(did, want.did),
				"%q, want %q\n%s", did, want.did, policy)
		})
	}
}

// notPlanned maps requests with an unknown word that excludes, delays or adds something to the demo's answers.
var notPlanned = []string{
	"Attendance for everyone but the sales department, October",
	"October overtime for all but the HR team",
	"Overtime for October but only the sales department",
	"October overtime apart from the HR team",
	"営業部は不要、10月の勤怠をまとめて",
	"営業部抜きの10月の勤怠",
	"10月の勤怠、開発部は含めないで",
	"10月の勤怠。営業部は結構です",
	"従業員一覧を<@U0SANDSUZU> に送って、<@U0SANDTANA> には送らないで",
	"明日 <@U0SANDSUZU> に「会議は15時からです」とDMして",
	"12/1に<@U0SANDSUZU>さんへ「締切は本日です」とDMを送って",
	"Tomorrow, tell <@U0SANDSUZU> “the office is closed”",
	"15時に <@U0SANDSUZU> に「x」とDMして",
	"明日の10時に先月の勤怠を送って",
	"今月の勤怠をまとめて、30日の朝に送って",
	"今月の勤怠を30日に送って",
	"先月の残業をまとめて、月末に知らせて",
	"Attendance for October, send it on the 30th",
	"Overtime for October, send it in the morning",
	"今月入社した人の一覧",
	"<@U0SANDSUZU> に「おはよう」、<@U0SANDTANA> に「お疲れさま」とDMして",
	"先月の残業をまとめて <@U0SANDSUZU> に「ご確認ください」と送って",
	"<@U0SANDSUZU> に「おはよう とDMして",
	"会議室を明日10時と15時に予約して",
	"明日と明後日の15時に会議室を予約して",
	"来週の月曜と水曜の10時に会議室を取って",
	"会議室を2つ明日15時に予約して",
	"会議室Aを明日15時に予約して",
	"Book meeting room A tomorrow at 15:00",
	"会議室を来週予約して",
	"会議室を明日の午後に予約して",
	"a meeting room tomorrow from 3 to 4",
	"従業員一覧と先月の残業をまとめて",
	"会議室の予約と先月の残業の集計をお願いします",
	"明日15時に会議室を予約して。データの検証もして",
	"従業員一覧を作って、データの検証もして",
	"10月までの勤怠",
	"Attendance until October",
	"2年前の勤怠",
	"有給の残日数が5日以下の社員を調べて、本人に伝えて",
	"今年度の上期に残業が多かった上位5人を教えて",
	"先月の残業が多い上位5人を教えて",
	"先月の残業を調べて本人に伝えて",
	"先月の残業が30時間以上の人",
	"先月の残業が多い順に教えて",
	"9月と10月の残業を比較して",
	"10月上旬の勤怠",
	"6人以上の会議室を明日15時に予約して",
	"Overtime of the top 5 people for last month",
	"Employees with at least 30 hours of overtime last month",
	"Compare overtime of September and October",
	"Look up last month's overtime and tell them",
	"overtime of two years ago",
	"やっぱりさっきの依頼は取り消して",
	"cancel my request",
	"overtime between July and September",
	"7〜9月の残業を教えて",
	"2025年11月〜2月の勤怠",
	"7月と9月の残業。DMは不要",
	"9月と10月の勤怠",
	"営業と人事の10月の勤怠",
	"先月の勤怠をまとめて <@U0SANDSUZU> にも送って",
	"send the employee list, cc <@U0SANDSUZU>",
	"Send the employee list to <@U0SANDSUZU> as well",
}

func TestNothingIsPlannedAgainstARequest(t *testing.T) {
	for _, text := range notPlanned {
		t.Run(oneLine(text), func(t *testing.T) {
			policy, did := carriedOut(t, text)
			first, _, _ := strings.Cut(policy, "\n")
			expect.That(t, strings.ContainsAny(first, "「“") && len(did) <= 0, "does %q, says %q", did, first)
		})
	}
}

// “Instead” replaces, “only” restricts. The demo guesses no other meaning.
func TestAReasonChangesWhatItSays(t *testing.T) {
	for _, tt := range []struct{ name, request, reason, line, told string }{
		{"somebody else", "10月の勤怠を <@U0SANDTANA> に送って", "<@U0SANDSUZU> に送って", "完了したら、<@U0SANDSUZU>に", "U0SANDSUZU"},
		{"a month instead", "attendance for October", "September instead", "Period: September 2026 (", "U0SANDSATO"},
		{"a month by a request", "8月の勤怠", "9月でお願いします", "期間: 2026年9月 (", "U0SANDSATO"},
		{"a month alone", "10月の勤怠", "9月だけにして", "期間: 2026年9月 (", "U0SANDSATO"},
		{"a department alone", "10月の勤怠", "営業部に絞って", "対象: 営業部と、その下の部署に、2026年10月に在籍した", "U0SANDSATO"},
		{"only a DM after none", "10月の残業。DMは不要", "DMだけにして", "スプレッドシートには書き込みません", "U0SANDSATO"},
		{"only the sheet after none", "10月の残業。シートは不要", "シートだけにして", "シート「勤怠 2026」 (ID: ringi-demo-sheet) のタブ", ""},
		{"only a DM after none, in English", "overtime for October, no DM", "DM only", "Nothing is written", "U0SANDSATO"},
		{"only the sheet after none, in English", "overtime for October, no sheet", "sheet only", "No DM is sent", ""},
		{"a department of departments", "部署一覧をまとめて", "営業部だけにして", "対象: 営業部と、その下の部署", "U0SANDSATO"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			policy, did := carriedOut(t, tt.request, tt.reason)
			var told []string
			for _, act := range did {
				if to, ok := strings.CutPrefix(act, "tell "); ok {
					id, _, _ := strings.Cut(to, ":")
					told = append(told, id)
				}
			}
			if !strings.Contains(policy, tt.line) || !strings.Contains(policy, tt.reason) ||
				strings.Join(told, " ") != tt.told || strings.HasPrefix(tt.line, "対象: 営業部") &&
				!slices.ContainsFunc(did, func(act string) bool { return strings.HasPrefix(act, "list 営業部") }) {
				t.Errorf("tells %q\n%s", told, policy)
			}
		})
	}
	for _, tt := range [][2]string{
		{"10月の勤怠", "<@U0SANDSUZU> にも送って"}, {"10月の勤怠を <@U0SANDTANA> に送って", "<@U0SANDSUZU> にも送って"},
		{"10月の勤怠を <@U0SANDTANA> に送って", "<@U0SANDSUZU> を追加して"},
		{"10月の勤怠", "9月"}, {"10月の勤怠", "9月も追加して"}, {"人事部の10月の勤怠", "営業部も追加してください"},
		{"attendance for October", "Also November, please"},
		{"10月の勤怠", "営業部も追加して"}, {"人事部の10月の勤怠", "営業部も追加して9月に変えて"},
		{"人事部の10月の勤怠", "人事部ではなく営業部にして"}, {"attendance for October", "September instead of October"},
		{"10月の勤怠", "8月と9月にして"}, {"10月の勤怠", "営業部と人事部だけにして"}, {"attendance for October", "August and September instead"},
		{"attendance for October", "Sales and HR only"}, {"10月の勤怠", "営業部と人事部だけにして、DMなしで"},
		{"10月の勤怠", "9月までにして"}, {"従業員一覧", "データの検証を追加して"}, {"10月の勤怠", "私だけに教えて"},
		{"会議室を明日15時に予約して", "明後日の11時、DMは不要"}, {"10月の勤怠", "DMだけ、シートだけ"}, {"10月の勤怠", "至急、DMは不要"},
		{"取引先アクメに PC 2台 298,000円を発注して", "取引先アクメに PC 3台 447,000円を発注して、DMは不要"},
	} {
		t.Run(tt[1]+" is not guessed", func(t *testing.T) {
			first, _ := carriedOut(t, tt[0])
			policy, _ := carriedOut(t, tt[0], tt[1])
			note, rest, _ := strings.Cut(policy, "\n")
			expect.That(t, strings.Contains(note, tt[1]) && rest == first, "%v", policy)
		})
	}
}

// A remark of several parts is followed in those that are understood, and says which the others are.
func TestARemarkIsFollowedInPart(t *testing.T) {
	for _, tt := range []struct{ request, reason, done, followed, not string }{
		{"10月の勤怠", "9月にしてください。DMも送ってください", "期間: 2026年9月 (", "9月にしてください。DMも送ってください", ""},
		{"10月の勤怠。DMは不要", "9月にしてください。DMも送ってください", "完了したら、依頼者に", "9月にしてください。DMも送ってください", ""},
		{"10月の勤怠", "9月にして。グラフも付けて", "期間: 2026年9月 (", "9月にして", "グラフも付けて"},
		{"10月の勤怠", "9月にして。あと営業部だけにして", "対象: 営業部と", "9月にして。あと営業部だけにして", ""},
		{"10月の勤怠", "9月にして。あとでお願いします", "期間: 2026年9月 (", "9月にして", "あとでお願いします"},
		{"10月の勤怠", "9月にして。あとでDMして", "期間: 2026年9月 (", "9月にして", "あとでDMして"},
		{"人事部の10月の勤怠", "総務部は不要。営業部だけにして", "対象: 営業部と", "営業部だけにして", "総務部は不要"},
		{"10月の勤怠", "9月にして\nグラフも付けて", "期間: 2026年9月 (", "9月にして", "グラフも付けて"},
		{"10月の勤怠", "DMは不要です。結果は私だけに教えて", "DM は送りません", "DMは不要です", "結果は私だけに教えて"},
		{"attendance for October", "Only Sales. Sort it by name, please", "Covers: people of Sales", "Only Sales",
			"Sort it by name, please"},
		{"attendance for October", "No DM. And just tell me", "No DM is sent", "No DM", "And just tell me"},
		{"attendance for October", "September instead. Make it shorter!", "Period: September 2026",
			"September instead. Make it shorter!", ""},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			policy, _ := carriedOut(t, tt.request, tt.reason)
			w := understood(t, tt.request)
			expect.Has(t, policy, tt.done)
			expect.Has(t, policy, w.Say("applied", w.words.quote(tt.followed)))
			if tt.not != "" {
				expect.Has(t, policy, w.words.quote(tt.not))
				expect.That(t, strings.Contains(policy, w.words.Say["unclear"][4:]) || strings.HasPrefix(policy, "I didn't") ||
					strings.HasPrefix(policy, "ご指摘"), "%s", policy)
			}
		})
	}
}

// A step that others use is not left out, whatever a remark calls it, and the remark is named.
func TestAStepThatOthersUseStays(t *testing.T) {
	for _, reason := range []string{"ステップ1は不要です", "ステップ4は不要です", "従業員一覧は不要"} {
		r, in := understood(t, "10月の残業をまとめて"), allowed(t)
		r.in = in
		first := stepsOf(t, r)
		r.in.Earlier = []struct{ Reason string }{{reason}}
		r.heed(true)
		steps := stepsOf(t, r)
		expect.Is(t, len(steps), len(first), reason)
		expect.Has(t, r.words.text("remarks", r), "「"+reason+"」 → 内容が分からない")
	}
}

func TestASummaryCountsThoseWhoWereTold(t *testing.T) {
	told := fact{Title: spoken.In("ja").Steps["tell"].Title, Tool: "send_slack_dm"}
	for want, steps := range map[string][]fact{
		"指定された 2 名に DM を送りました。": {told, told},
		"依頼者に DM で知らせました。\n指定された 1 名に DM を送りました。": {{Title: spoken.In("ja").Steps["notice"].Title, Tool: "send_slack_dm"},
			told},
	} {
		w := understood(t, "10月の勤怠")
		w.in.Steps = steps
		expect.Is(t, summary(w), want)
	}
}

// The notice of a booking says when the meeting is.
func TestANoticeOfABookingSaysWhen(t *testing.T) {
	w := understood(t, "会議室を明日15時に予約して")
	w.in = allowed(t)
	steps := stepsOf(t, w)
	expect.Has(t, steps[len(steps)-1].ToolInput, `{"label":"日時","value":"2026-11-21 15:00–16:00"}`)
}

const written = "2026-11-20T09:00+09:00"

func understood(t *testing.T, text string) *meant {
	t.Helper()
	return expect.Value(read(input{Message: text, Now: written, Locale: "ja", Requester: "U0SANDSATO"}))(t)
}
