package demo

import "fmt"

// words is one language. Lines that follow looks for appear nowhere else in a policy.
type words struct {
	locale         string
	month          func(m month) string
	quote, and, to string // of what people said; between two of a list; from one month to another

	employeesTitle, attendanceTitle, validateTitle, overtimeTitle, sheetTitle, noticeTitle, tellTitle step

	titleAttendance, titleOvertime, titleEmployees, titleMessage, titleEmpty, titleOf string // of the task
	describe                                                                          string // request
	list                                                                              listForms

	can, canEmployees, canList, canAnd, canOr                                                                                 string // "{lists}" in can are those that are known
	noAction, noEvery, noDenied, noNarrow, noPay, noTopic, noPerson, tooMuch, tooLong, tooMany, tooWide, tooManyTold, nothing string // instead of a plan
	noCancel, noRoom, noSecond, noLater, noWhen, noQuote, noValidate, longMessage                                             string // likewise
	unread, refused, wholeMonths, ahead, marks, noHistory                                                                     string // first lines of a policy
	assumedMonth, fiscal, requester, sayLine, privacyMessage                                                                  string
	purposeAttendance, purposeOvertime, purposeEmployees, purposeMessage                                                      string
	countAttendance, countOvertime, countEmployees                                                                            string // purposes without a sheet
	scope, scopeOf, period, periodSoFar, how, readEmployees, readAttendance                                                   string
	calculate, average, count, countAverage                                                                                   string // with a sheet, and without
	validateLine, sheetLine, noSheetLine, onlyCounts, noticeLine, noNoticeLine, toldLine                                      string
	humanLine, privacy, ofEmployees, ofAttendance, earlier, reflected, notReflected, stillNeeded                              string

	tabAttendance, tabOvertime, tabEmployees string
	columns                                  map[string]string // titles by the rows' members: one name means different things in the lists of the catalog

	doneAttendance, doneOvertime, doneEmployees, countedEmployees                               string
	about                                                                                       string // of a plan
	labelEmployees, labelPeriod, labelSoFar, labelOver45, labelOver80, labelAverage, labelSheet string
	sumEmployees, sumOvertime, sumOver, sumAverage, sumSheet, sumNotice                         string
	sumValidated, sumTold, sumDone, sumOne, sumSeveral, separator                               string
	moreMonths, moreTables, seeSheet, noSpace                                                   string // of what a notice or a summary leaves out

	meeting meetingWords
}

// step is how a step is called, described and what is expected of it.
type step struct{ title, description, expected string }

// of is the step for one of several tables.
func (s step) of(about string) step {
	s.title += about
	return s
}

var japanese = words{
	locale: "ja",
	month:  func(m month) string { return fmt.Sprintf("%d年%d月", m.year(), m.name()) },
	quote:  "「%s」", and: "、", to: "〜",

	employeesTitle:  step{"従業員一覧を取得", "freee人事労務から在籍中の従業員の一覧を取得する", "従業員のリスト"},
	attendanceTitle: step{"勤怠データ取得", "%sの勤怠サマリーを従業員ごとに取得する", "従業員ごとの勤怠サマリー"},
	validateTitle:   step{"データの検証", "取得した勤怠データに欠落・重複・あり得ない値がないか検証し、あれば中断する", "問題 0 件"},
	overtimeTitle:   step{"残業時間計算", "残業時間を計算し、45・80・100 時間を超える人に印を付ける", "従業員ごとの残業時間"},
	sheetTitle:      step{"Sheet 書き込み", "結果をスプレッドシートの「%s」に書き込む", "書き込んだ範囲と URL"},
	noticeTitle:     step{"完了通知", "依頼者に Slack の DM で完了を知らせる", "送信したメッセージ"},
	tellTitle:       step{"DM を送信", "指定された人に Slack の DM を送る", "送信したメッセージ"},

	titleAttendance: "%sの勤怠集計", titleOvertime: "%sの残業時間の確認", titleEmployees: "従業員一覧の取得", titleMessage: "DM の送信: %s",
	list: listForms{
		description: "{from}から{things}の一覧を取得する", expected: "{things}のリスト", title: "{tab}の取得", purpose: "目的: {things}の一覧を作成します。", count: "目的: {things}の数を確認します。",
		scope: "対象: 会社のすべての{things}", scopeOf: "対象: %sと、その下の{things}", read: "{from}から{things}の一覧を読み取ります。", privacy: "取り扱う情報: {handled}のみ。",
		noHistory: "注意: {tab}は今日現在のものしか取得できません。", done: "{tab}の作成が完了しました。", counted: "{things}の数を確認しました。", label: "{things}の数", sum: "{things} %v 件を確認しました。",
	},
	titleEmpty: "内容の確認", titleOf: "%sの", describe: "依頼内容: %s",

	canEmployees: "従業員一覧", canList: "{tab}", canAnd: "・", canOr: "・",
	can: "デモモデルにできるのは、月ごとの勤怠の集計、残業時間の確認、{lists}の取得、会議室の予約、@ で指定した人への「…」の DM です。" +
		"「営業部の先月の残業を確認して」「7月から9月の勤怠をまとめて、DM は不要」のように書いてください。",
	noAction: "デモモデルには%sはできません。", noEvery: "%sのような繰り返しの依頼はできません。", noDenied: "デモモデルは%sのような除外や否定を読み取れません。", noNarrow: "デモモデルは%sのような絞り込み・順位・比較を読み取れません。", noPay: "給与に関する情報(%s)は読み取りません。", noTopic: "デモモデルには%sの内容が分かりません。",
	noPerson: "デモモデルには%sが誰のことか分かりません。1 人だけの勤怠を取り出すツールもありません。DM の宛先は @ で指定してください。",
	tooMuch:  "デモモデルには、依頼のうち%sほか %d 語が分かりません。",
	tooLong:  "%d か月分の依頼です。一度に扱えるのは %d か月までです。", tooMany: "部署と月の組み合わせが %d 件あります。一度に扱えるのは %d 件までです。",
	tooWide:     "シートに書く表が %d 個になり、承認のカードにすべてを表示できません。一度に扱えるのは %d 個までです。期間や部署を分けるか、「シートは不要」と書いてください。",
	tooManyTold: "知らせる相手が %d 人います。一度に知らせられるのは %d 人までです。",
	noCancel:    "前の依頼は、ここでは取りやめられません(%s)。取りやめるには、その依頼のカードのメニュー「⋯」から「取り消す・終える」を選んでください。",
	noRoom:      "会議室は選べません(%s)。空いている最初の部屋を予約します。",
	noSecond:    "一度に受けられるのは一つの依頼だけです。%sは別の依頼に分けてください。",
	noLater:     "承認されたらすぐに実行します。%sのような先の日時は指定できません。",
	noWhen:      "デモモデルには%sがいつのことか分かりません。",
	noQuote:     "かぎ括弧や引用符が対になっていません。",
	noValidate:  "データの検証は、勤怠と残業にだけできます。",
	longMessage: "DM の文面は %d 字までです。",
	nothing:     "何も実行しません。",
	unread:      "注意: 依頼のうち%sはデモモデルに分からないため、この計画に入っていません。",
	refused:     "注意: 前の版へのご指摘%sはデモモデルに分からないため、反映していません。", wholeMonths: "注意: 勤怠は月単位でしか取得できないため、%sではなく%sの全体を対象にします。",
	marks: "注意: 該当する人だけでなく全員を載せ、45・80・100 時間を超える人に印を付けます。",
	ahead: "注意: %sはまだ始まっていないため、記録がない可能性があります。", noHistory: "注意: 従業員一覧は今日現在のものしか取得できません。",
	assumedMonth: "前提: 月の指定がないため、依頼のあった月とします。", fiscal: "前提: 四半期は 4 月に始まる年度で数えます。", requester: "依頼者",
	sayLine: "%sに、次の文面を DM で送ります: %s", privacyMessage: "取り扱う情報: 上の文面のみ。",

	purposeAttendance: "目的: %sの勤怠を集計し、結果をスプレッドシートにまとめます。",
	purposeOvertime:   "目的: %sの残業時間を調べ、上限に近い人が分かるようにします。",
	purposeEmployees:  "目的: 従業員の一覧を作成します。",
	countAttendance:   "目的: %sの勤怠を集計し、人数と合計を確認します。",
	countOvertime:     "目的: %sの残業時間を調べ、上限を超える人が何人いるかを確認します。",
	countEmployees:    "目的: 従業員の人数を確認します。",
	purposeMessage:    "目的: %sに DM を送ります。",
	scope:             "対象: 在籍中の全従業員(退職者は含みません)",
	scopeOf:           "対象: %sと、その下の部署に在籍中の従業員(退職者は含みません)",
	period:            "期間: %s(月初から月末まで)",
	periodSoFar:       "期間: %s(月初から月末まで。終わっていない月は、実行する時点までの記録を数え、集計期間の欄には月末までと出ます)",
	how:               "進め方:",
	readEmployees:     "freee人事労務から従業員一覧を読み取ります。",
	readAttendance:    "従業員ごとに勤怠サマリーを読み取ります。",
	calculate:         "残業時間を計算し、月 45 時間・80 時間・100 時間を超える人に印を付けます(80・100 時間は休日労働を含みます)。",
	average:           "2 か月目からは前の月も合わせ、2〜6 か月平均 80 時間と年 360 時間を超える人にも印を付けます。",
	count:             "残業時間を計算し、月 45 時間・80 時間・100 時間を超える人数を数えます(80・100 時間は休日労働を含みます)。",
	countAverage:      "2 か月目からは前の月も合わせ、2〜6 か月平均 80 時間と年 360 時間を超える人数も数えます。",
	validateLine:      "計算の前にデータの検証を行い、欠落・重複・あり得ない値があれば中断します。",
	sheetLine:         "スプレッドシート ringi-demo-sheet の%sに書き込みます。列は%sです。",
	noSheetLine:       "スプレッドシートには書き込みません。",
	onlyCounts:        "お知らせするのは件数と合計だけです。一人ひとり、一件ごとの値は載せません。",
	noticeLine:        "完了したら、%sに Slack の DM で知らせます。",
	noNoticeLine:      "完了の DM は送りません。",
	toldLine:          "終わったことは、Ringi が依頼者に知らせます。",
	humanLine:         "書き込みと送信の直前に、担当者が引数を見て判断します。",
	privacy:           "取り扱う情報: %sのみ。給与と口座の情報は読み取りません。",
	ofEmployees:       "氏名、社員番号、メールアドレス、入社日、退職日",
	ofAttendance:      "、勤怠",
	earlier:           "前の版へのご指摘:", reflected: "%s → 反映しました。", notReflected: "%s → デモモデルに分からないため、反映していません。", stillNeeded: "%s → 結果をほかのステップが使うため、取り除いていません。",

	tabAttendance: "勤怠 %d-%02d", tabOvertime: "残業 %d-%02d", tabEmployees: "従業員一覧",
	columns:        japanesePeople,
	doneAttendance: "%sの勤怠集計が完了しました。", doneOvertime: "%sの残業時間の確認が完了しました。",
	doneEmployees: "従業員一覧の作成が完了しました。", countedEmployees: "従業員の人数を確認しました。",
	about:          "(%s)",
	labelEmployees: "対象人数", labelPeriod: "集計期間", labelSoFar: "集計期間(実行した時点まで)", labelOver45: "45 時間超", labelOver80: "80 時間超(休日労働を含む)", labelAverage: "2〜6 か月平均 80 時間超", labelSheet: "シート",
	sumEmployees: "従業員 %v 名を確認しました。", sumOvertime: "残業時間の合計は %v 時間です。",
	sumOver: "月 45 時間超 %v 名、80 時間超 %v 名、100 時間超 %v 名(80・100 時間は休日労働を含む)。", sumAverage: "2〜6 か月平均 80 時間超 %v 名、360 時間超 %v 名。", sumSheet: "%v 行を書き込みました: %v",
	sumNotice: "依頼者に DM で知らせました。", sumValidated: "データの検証で問題は見つかりませんでした。", sumTold: "指定された %d 名に DM を送りました。", sumDone: "すべてのステップが完了しました。",
	sumOne: "1 か月分のため、複数月平均 80 時間と年 360 時間の上限は判定できません。", sumSeveral: "%v か月分で判定。年 360 時間は、この期間だけの合計です。",
	moreMonths: "ほか %d か月分", moreTables: "ほか %d 件の表", seeSheet: "シートをご覧ください", noSpace: "ここには載せきれません",
	separator: "\n", meeting: japaneseMeeting,
}

var japanesePeople = map[string]string{
	"num": "社員番号", "display_name": "氏名", "email": "メールアドレス", "entry_date": "入社日", "work_days": "労働日数",
	"work_hours": "総労働時間", "overtime_hours": "残業時間", "legal_overtime_hours": "法定時間外", "holiday_work_hours": "休日労働",
	"latenight_work_hours": "深夜労働", "flag": "上限", "period": "集計期間", "start_date": "開始日", "end_date": "終了日",
}

var englishWords = words{
	locale: "en",
	month:  func(m month) string { return fmt.Sprintf("%s %d", m.name(), m.year()) },
	quote:  "“%s”", and: ", ", to: " to ",

	employeesTitle:  step{"List employees", "Fetch the list of current employees from freee HR", "A list of employees"},
	attendanceTitle: step{"Fetch attendance", "Fetch each employee's attendance summary for %s", "One attendance summary per employee"},
	validateTitle:   step{"Validate the data", "Look for missing, doubled and impossible values in the attendance data; stop if there are any", "No problems"},
	overtimeTitle:   step{"Calculate overtime", "Calculate overtime and mark who is above 45, 80 and 100 hours", "Overtime per employee"},
	sheetTitle:      step{"Write to the sheet", "Write the result to the tab “%s” of the spreadsheet", "The range written and its address"},
	noticeTitle:     step{"Notify on completion", "Tell the requester by direct message in Slack", "The message sent"},
	tellTitle:       step{"Send a direct message", "Send those named a direct message in Slack", "The message sent"},

	titleAttendance: "Attendance summary for %s", titleOvertime: "Overtime check for %s", titleEmployees: "List of employees", titleMessage: "Send a message: %s",
	list: listForms{
		description: "Fetch the list of {things} from {from}", expected: "A list of {things}", title: "List of {things}", purpose: "Purpose: make a list of the {things}.", count: "Purpose: count the {things}.",
		scope: "Covers: all {things} of the company", scopeOf: "Covers: %s, and the {things} below", read: "Read the list of {things} from {from}.", privacy: "Information handled: {handled} only.",
		noHistory: "Note: the list of {things} is always today's.", done: "The list of {things} is done.", counted: "The {things} are counted.", label: "{tab}", sum: "%v {things} were looked at.",
	},
	titleEmpty: "Clarify the request", titleOf: "%s: ", describe: "Request: %s",

	canEmployees: "employees", canList: "{things}", canAnd: ", ", canOr: " or ",
	can: "The demo model can sum up attendance by the month, check overtime, list {lists}, book a meeting room, and send “…” to people named with @. " +
		"Write, for example, “Check overtime of the sales department for last month” or “Attendance for July to September, no DM”.",
	noAction: "The demo model can't do what %s asks for. ", noEvery: "Nothing is done again and again (%s). ", noDenied: "The demo model can't read what %s leaves out. ", noNarrow: "The demo model can't pick out, rank or compare as %s asks. ", noPay: "Pay (%s) is not read. ", noTopic: "The demo model doesn't understand %s. ",
	noPerson: "The demo model doesn't know who %s is, and no tool takes one person's records alone. Name with @ whom to send a message to.",
	tooMuch:  "Of this request the demo model doesn't understand %s and %d more words. ",
	tooLong:  "The request is about %d months; %d can be handled at once.", tooMany: "Departments times months make %d tables; %d can be handled at once.",
	tooWide:     "It makes %d tables for the spreadsheet; the card that people approve can show %d. Ask for fewer months or departments at once, or say “no sheet”.",
	tooManyTold: "There are %d people to tell; %d can be told at once.",
	noCancel:    "An earlier request can't be cancelled here (%s). To cancel it, open the menu “⋯” of its card and choose “Cancel or end”. ",
	noRoom:      "A room can't be chosen (%s): the first that is free is booked. ",
	noSecond:    "One request at a time: write another one for %s. ",
	noLater:     "Work is done as soon as it is approved: it can't be put off to %s. ",
	noWhen:      "The demo model can't tell when %s is. ",
	noQuote:     "The quotation marks don't match. ",
	noValidate:  "Only attendance and overtime can be validated. ",
	longMessage: "A direct message has %d characters at most. ",
	nothing:     "Nothing will be done.",
	unread:      "Note: the demo model doesn't understand %s in the request: it is not part of this plan.",
	refused:     "Note: the demo model doesn't understand the remark on the version before, %s: it was not taken in.", wholeMonths: "Note: attendance comes by whole months only: instead of %s, all of %s is covered.",
	marks: "Note: everybody is listed; those above 45, 80 and 100 hours are marked.",
	ahead: "Note: %s has not begun: there may be no records.", noHistory: "Note: the list of employees is always today's.",
	assumedMonth: "Assumed: the month of the request, as none is named.", fiscal: "Assumed: quarters of the fiscal year that begins in April.", requester: "the requester",
	sayLine: "Send %s this text by direct message: %s", privacyMessage: "Information handled: the text above only.",

	purposeAttendance: "Purpose: sum up attendance for %s and put the result into a spreadsheet.",
	purposeOvertime:   "Purpose: look into overtime for %s and show who is close to the limits.",
	purposeEmployees:  "Purpose: make a list of the employees.",
	countAttendance:   "Purpose: sum up attendance for %s in counts and totals.",
	countOvertime:     "Purpose: look into overtime for %s and count who is above the limits.",
	countEmployees:    "Purpose: count the employees.",
	purposeMessage:    "Purpose: send %s a direct message.",
	scope:             "Covers: all current employees (nobody who has retired)",
	scopeOf:           "Covers: the current employees of %s, and of the departments below (nobody who has retired)",
	period:            "Period: %s (first to last day of the month)",
	periodSoFar:       "Period: %s (first to last day of the month; of a month that is not over, what is recorded when it runs; the period is still given to its last day)",
	how:               "How:",
	readEmployees:     "Read the list of employees from freee HR.",
	readAttendance:    "Read each employee's attendance summary.",
	calculate:         "Calculate overtime and mark who is above 45, 80 and 100 hours a month (80 and 100 with work on holidays).",
	average:           "From the second month on, count in the months before: mark who is above 80 hours on average over 2 to 6 months, or above 360 hours.",
	count:             "Calculate overtime and count who is above 45, 80 and 100 hours a month (80 and 100 with work on holidays).",
	countAverage:      "From the second month on, count in the months before: how many are above 80 hours on average over 2 to 6 months, or above 360 hours.",
	validateLine:      "Validate the data before calculating; stop if values are missing, doubled or impossible.",
	sheetLine:         "Write to the spreadsheet ringi-demo-sheet, tab by tab: %s. Columns: %s.",
	noSheetLine:       "Nothing is written to a spreadsheet.",
	onlyCounts:        "Only counts and totals are told, no single person's or row's values.",
	noticeLine:        "When done, tell %s by direct message in Slack.",
	noNoticeLine:      "No direct message is sent at the end.",
	toldLine:          " Ringi itself tells whoever asked that it is done.",
	humanLine:         "Right before anything is written or sent, a person looks at the arguments and decides.",
	privacy:           "Information handled: %s only. No pay or bank data is read.",
	ofEmployees:       "names, employee numbers, e-mail addresses, dates of entry and retirement",
	ofAttendance:      ", attendance",
	earlier:           "Remarks on earlier versions:", reflected: "%s → taken in.", notReflected: "%s → not taken in: the demo model doesn't understand it.", stillNeeded: "%s → not taken in: other steps use the result.",

	tabAttendance: "Attendance %d-%02d", tabOvertime: "Overtime %d-%02d", tabEmployees: "Employees",
	columns:        englishPeople,
	doneAttendance: "The attendance summary for %s is done.", doneOvertime: "The overtime check for %s is done.",
	doneEmployees: "The list of employees is done.", countedEmployees: "The employees are counted.",
	about:          " (%s)",
	labelEmployees: "Employees", labelPeriod: "Days counted", labelSoFar: "Days counted, until the run", labelOver45: "Above 45 h", labelOver80: "Above 80 h, holiday work included", labelAverage: "Above 80 h on average over 2 to 6 months", labelSheet: "Sheet",
	sumEmployees: "%v employees were looked at.", sumOvertime: "Overtime adds up to %v hours.",
	sumOver: "Above 45 hours: %v, above 80: %v, above 100: %v (80 and 100 with work on holidays).", sumAverage: "Above 80 hours on average over 2 to 6 months: %v, above 360 hours: %v.", sumSheet: "%v rows were written: %v",
	sumNotice: "The requester was told by direct message.", sumValidated: "Validation found no problems.", sumTold: "Direct messages were sent to those named (%d).", sumDone: "All steps are done.",
	sumOne: "With one month only, the limits of 80 h on average and 360 h a year can't be judged.", sumSeveral: "Judged by %v months. Above 360 h a year are those who are above it in these months alone.",
	moreMonths: "+%d month(s)", moreTables: "+%d table(s)", seeSheet: "see the spreadsheet", noSpace: "there is no space for them here",
	separator: "\n", meeting: englishMeeting,
}

var englishPeople = map[string]string{
	"num": "Number", "display_name": "Name", "email": "E-mail", "entry_date": "Joined", "work_days": "Days worked",
	"work_hours": "Hours worked", "overtime_hours": "Overtime", "legal_overtime_hours": "Statutory overtime",
	"holiday_work_hours": "Holiday work", "latenight_work_hours": "Late-night work", "flag": "Limit", "period": "Days counted", "start_date": "From", "end_date": "To",
}
