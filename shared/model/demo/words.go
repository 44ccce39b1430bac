package demo

import (
	"fmt"
	"time"
)

// words is one language. Lines that follow looks for appear nowhere else in a policy.
type words struct {
	month func(year int, m time.Month) string
	quote string // of a remark

	employeesTitle, attendanceTitle, validateTitle, overtimeTitle, sheetTitle, noticeTitle step
	rereadTitle                                                                            step // validation where there is no attendance

	titleAttendance, titleOvertime, titleEmployees, titleEmpty string // of the task
	describe                                                   string // request
	empty                                                      string
	help                                                       string // the plain reply to whoever asks what Ringi is for

	purposeAttendance, purposeOvertime, purposeEmployees, purposeOther    string
	scope, scopeOf, period, how, readEmployees, readAttendance, calculate string
	validateLine, sheetLine, noSheetLine, noticeLine, noNoticeLine        string
	humanLine, privacy, earlier, reflected, reflectedIn                   string

	tabAttendance, tabOvertime, tabEmployees string
	columns                                  map[string]string

	doneAttendance, doneOvertime, doneEmployees, doneOther     string
	labelEmployees, labelPeriod                                string
	labelOver45, labelOver80, labelSheet                       string
	sumEmployees, sumOvertime, sumOver, sumSheet, sumNotice    string
	sumValidated, sumDone, labelRemark, titleRemark, separator string

	meeting meetingWords
}

// step is how a step is called, described and what is expected of it.
type step struct{ title, description, expected string }

var japanese = words{
	month: func(y int, m time.Month) string { return fmt.Sprintf("%d年%d月", y, m) },
	quote: "「%s」",

	employeesTitle:  step{"従業員一覧を取得", "freee人事労務から在籍中の従業員の一覧を取得する", "従業員のリスト"},
	attendanceTitle: step{"勤怠データ取得", "%sの勤怠サマリーを従業員ごとに取得する", "従業員ごとの勤怠サマリー"},
	validateTitle:   step{"データの検証", "取得した勤怠データに欠落・重複・あり得ない値がないか検証し、あれば中断する", "問題 0 件"},
	rereadTitle:     step{"データの検証", "従業員一覧をもう一度取得し、件数を通知に並べて検証できるようにする", "同じ件数の従業員のリスト"},
	overtimeTitle:   step{"残業時間計算", "残業時間を計算し、45・80・100 時間を超える人に印を付ける", "従業員ごとの残業時間"},
	sheetTitle:      step{"Sheet 書き込み", "結果をスプレッドシートの「%s」に書き込む", "書き込んだ範囲と URL"},
	noticeTitle:     step{"完了通知", "依頼者に Slack の DM で完了を知らせる", "送信したメッセージ"},

	titleAttendance: "%sの勤怠集計", titleOvertime: "%sの残業時間の確認", titleEmployees: "従業員一覧の取得", titleEmpty: "内容の確認",
	help:     "デモ用のモデルです。勤怠の集計、残業時間の確認、従業員一覧を依頼できます。",
	describe: "依頼内容: %s", empty: "本文のない依頼です。従業員一覧の件数を依頼者に知らせます。",

	purposeAttendance: "目的: %sの勤怠を集計し、結果をスプレッドシートにまとめます。",
	purposeOvertime:   "目的: %sの残業時間を調べ、上限に近い人が分かるようにします。",
	purposeEmployees:  "目的: 従業員の一覧を作成します。",
	purposeOther:      "目的: ご依頼「%s」について、従業員一覧を調べて結果を知らせます。",
	scope:             "対象: 在籍中の全従業員(退職者は含みません)",
	scopeOf:           "対象: %sに在籍中の従業員(退職者は含みません)",
	period:            "期間: %s(月初から月末まで)",
	how:               "進め方:",
	readEmployees:     "freee人事労務から従業員一覧を読み取ります。",
	readAttendance:    "従業員ごとに勤怠サマリーを読み取ります。",
	calculate:         "残業時間を計算し、月 45 時間・80 時間・100 時間を超える人に印を付けます。",
	validateLine:      "計算の前にデータの検証を行い、欠落・重複・あり得ない値があれば中断します。",
	sheetLine:         "スプレッドシート ringi-demo-sheet の「%s」に書き込みます。",
	noSheetLine:       "スプレッドシートには書き込みません。",
	noticeLine:        "完了したら、依頼者に Slack の DM で知らせます。",
	noNoticeLine:      "完了の DM は送りません。",
	humanLine:         "書き込みと送信の直前に、担当者が引数を見て判断します。",
	privacy:           "取り扱う情報: 氏名、社員番号、メールアドレス、勤怠のみ。給与と口座の情報は読み取りません。",
	earlier:           "前の版へのご指摘:", reflected: "%s → 反映しました。", reflectedIn: "%s → 手順の見出しと通知の文面に反映します。",

	tabAttendance: "勤怠 %d-%02d", tabOvertime: "残業 %d-%02d", tabEmployees: "従業員一覧",
	columns: map[string]string{
		"num": "社員番号", "display_name": "氏名", "email": "メールアドレス", "entry_date": "入社日", "work_days": "労働日数",
		"work_hours": "総労働時間", "overtime_hours": "残業時間", "legal_overtime_hours": "法定時間外", "holiday_work_hours": "休日労働",
		"latenight_work_hours": "深夜労働", "flag": "上限", "period": "集計期間",
	},
	doneAttendance: "%sの勤怠集計が完了しました。", doneOvertime: "%sの残業時間の確認が完了しました。",
	doneEmployees: "従業員一覧の作成が完了しました。", doneOther: "ご依頼の件、従業員一覧を調べました。",
	labelEmployees: "対象人数", labelPeriod: "集計期間", labelOver45: "45 時間超", labelOver80: "80 時間超", labelSheet: "シート", labelRemark: "ご指摘",
	sumEmployees: "従業員 %v 名を確認しました。", sumOvertime: "残業時間の合計は %v 時間です。",
	sumOver: "月 45 時間超 %v 名、80 時間超 %v 名、100 時間超 %v 名。", sumSheet: "%v 行を書き込みました: %v",
	sumNotice: "依頼者に DM で知らせました。", sumValidated: "データの検証で問題は見つかりませんでした。", sumDone: "すべてのステップが完了しました。",
	titleRemark: "%s(ご指摘%sを記載)", separator: "\n", meeting: japaneseMeeting,
}

var englishWords = words{
	month: func(y int, m time.Month) string { return fmt.Sprintf("%s %d", m, y) },
	quote: "“%s”",

	employeesTitle:  step{"List employees", "Fetch the list of current employees from freee HR", "A list of employees"},
	attendanceTitle: step{"Fetch attendance", "Fetch each employee's attendance summary for %s", "One attendance summary per employee"},
	validateTitle:   step{"Validate the data", "Look for missing, doubled and impossible values in the attendance data; stop if there are any", "No problems"},
	rereadTitle:     step{"Validate the data", "Fetch the list of employees once more, so that the notice shows both counts", "A list of as many employees"},
	overtimeTitle:   step{"Calculate overtime", "Calculate overtime and mark who is above 45, 80 and 100 hours", "Overtime per employee"},
	sheetTitle:      step{"Write to the sheet", "Write the result to the tab “%s” of the spreadsheet", "The range written and its address"},
	noticeTitle:     step{"Notify on completion", "Tell the requester by direct message in Slack", "The message sent"},

	titleAttendance: "Attendance summary for %s", titleOvertime: "Overtime check for %s", titleEmployees: "List of employees", titleEmpty: "Clarify the request",
	help:     "This is the demo model. Ask for a summary of attendance, a check of overtime or the list of employees.",
	describe: "Request: %s", empty: "The request has no text. The requester is told how many employees there are.",

	purposeAttendance: "Purpose: sum up attendance for %s and put the result into a spreadsheet.",
	purposeOvertime:   "Purpose: look into overtime for %s and show who is close to the limits.",
	purposeEmployees:  "Purpose: make a list of the employees.",
	purposeOther:      "Purpose: for the request “%s”, look at the list of employees and report.",
	scope:             "Covers: all current employees (nobody who has retired)",
	scopeOf:           "Covers: the current employees of %s (nobody who has retired)",
	period:            "Period: %s (first to last day of the month)",
	how:               "How:",
	readEmployees:     "Read the list of employees from freee HR.",
	readAttendance:    "Read each employee's attendance summary.",
	calculate:         "Calculate overtime and mark who is above 45, 80 and 100 hours a month.",
	validateLine:      "Validate the data before calculating; stop if values are missing, doubled or impossible.",
	sheetLine:         "Write to the tab “%s” of the spreadsheet ringi-demo-sheet.",
	noSheetLine:       "Nothing is written to a spreadsheet.",
	noticeLine:        "When done, tell the requester by direct message in Slack.",
	noNoticeLine:      "No direct message is sent at the end.",
	humanLine:         "Right before anything is written or sent, a person looks at the arguments and decides.",
	privacy:           "Information handled: names, employee numbers, e-mail addresses and attendance only. No pay or bank data is read.",
	earlier:           "Remarks on earlier versions:", reflected: "%s → taken in.", reflectedIn: "%s → goes into a step's title and the text of the notice.",

	tabAttendance: "Attendance %d-%02d", tabOvertime: "Overtime %d-%02d", tabEmployees: "Employees",
	columns: map[string]string{
		"num": "Number", "display_name": "Name", "email": "E-mail", "entry_date": "Joined", "work_days": "Days worked",
		"work_hours": "Hours worked", "overtime_hours": "Overtime", "legal_overtime_hours": "Statutory overtime",
		"holiday_work_hours": "Holiday work", "latenight_work_hours": "Late-night work", "flag": "Limit", "period": "Days counted",
	},
	doneAttendance: "The attendance summary for %s is done.", doneOvertime: "The overtime check for %s is done.",
	doneEmployees: "The list of employees is done.", doneOther: "About your request: the list of employees was looked at.",
	labelEmployees: "Employees", labelPeriod: "Days counted", labelOver45: "Above 45 h", labelOver80: "Above 80 h", labelSheet: "Sheet", labelRemark: "Remark",
	sumEmployees: "%v employees were looked at.", sumOvertime: "Overtime adds up to %v hours.",
	sumOver: "Above 45 hours: %v, above 80: %v, above 100: %v.", sumSheet: "%v rows were written: %v",
	sumNotice: "The requester was told by direct message.", sumValidated: "Validation found no problems.", sumDone: "All steps are done.",
	titleRemark: "%s (with the remark %s)", separator: "\n", meeting: englishMeeting,
}
