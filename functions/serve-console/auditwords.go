package main

import (
	"ringi/shared/explain/auditlog"
	"ringi/shared/words/language"
)

type auditTexts struct {
	About, Action, AnyAction, Actor, Anybody, Resource, ResourceHint, From, To, Days, Show, Clear string
	When, Who, What, On, Details, NoDetails, OpenTask, OpenSession, OpenContest, All              string
	Empty, EmptyHint, Older, Newest, Export, ExportAbout, CSV, JSONLines, Entries                 string
	Problems                                                                                      map[string]string
}

var auditWords = language.InEach(
	auditTexts{
		About:  "だれが、いつ、何をしたかの記録です。新しい順に並びます。Ringi が記録を書き換えたり消したりすることはありません。外からの改ざんは、検証 (verify) で見つかります。",
		Action: "操作", AnyAction: "すべて", Actor: "だれが", Anybody: "すべての人", Resource: "対象", ResourceHint: "依頼などの ID です。一覧の「この対象の記録」を押すと入ります。",
		From: "この日から", To: "この日まで", Days: "日付は日本時間です。", Show: "絞り込む", Clear: "最近 30 日に戻す",
		When: "日時", Who: "だれが", What: "何をしたか", On: "対象", Details: "詳細", NoDetails: "ありません", OpenTask: "依頼を開く", OpenSession: "会話を開く", OpenContest: "コンテストを開く", All: "この対象の記録",
		Empty: "この条件に合う記録はありません。", EmptyHint: "期間を広げるか、条件を減らしてください。", Older: "前の記録", Newest: "最新に戻る",
		Export: "書き出す", ExportAbout: "上で絞り込んだ記録をすべてファイルにします。1 回に書き出せるのは %s 件までです。", CSV: "CSV(表計算ソフト用)", JSONLines: "JSON Lines(検証用、記録のまま)",
		Entries: "記録",
		Problems: map[string]string{
			"action": "操作の名前が正しくありません。一覧から選んでください。", "actor": "「だれが」は、一覧から選んでください。",
			"resource": "「対象」には、記録に出てくる ID を入れてください。", "from": "「この日から」を、「この日まで」より前の日付にしてください。", "to": "「この日まで」には、2026-04-18 のような日付を入れてください。",
		},
	},
	auditTexts{
		About:  "Who did what, and when, newest first. Ringi never changes or removes an entry; what somebody changes behind its back is found by verify.",
		Action: "Action", AnyAction: "All", Actor: "Who", Anybody: "Anybody", Resource: "Concerns", ResourceHint: "the ID of a request or another thing; “All entries of it” in the list fills it in.",
		From: "From this day", To: "To this day", Days: "Days are Japan's.", Show: "Filter", Clear: "Back to the last 30 days",
		When: "Time", Who: "Who", What: "What", On: "Concerns", Details: "Details", NoDetails: "None", OpenTask: "Open the request", OpenSession: "Open the conversation", OpenContest: "Open the contest", All: "All entries of it",
		Empty: "No entry matches.", EmptyHint: "Take more days, or fewer conditions.", Older: "Older entries", Newest: "Back to the newest",
		Export: "Export", ExportAbout: "Writes everything that the filter above selects into a file, at most %s entries.", CSV: "CSV, for a spreadsheet", JSONLines: "JSON Lines, as recorded, to verify",
		Entries: "Entries",
		Problems: map[string]string{
			"action": "There is no such action. Choose one from the list.", "actor": "Choose “Who” from the list.",
			"resource": "“Concerns” takes an ID that stands in an entry.", "from": "“From this day” must be a day before “To this day”.", "to": "“To this day” takes a date such as 2026-04-18.",
		},
	},
)

type exportTexts struct {
	Title, Back, Waiting, Running, Done, Failed, Rows, Bytes, Form, AskedAt, Fetch, LinkNote, Again, Recorded, Stay string
	Forms                                                                                                           map[auditlog.Form]string
	Problems                                                                                                        map[auditlog.Problem]string
}

var exportWords = language.InEach(
	exportTexts{
		Title: "監査ログの書き出し", Back: "監査ログへ戻る", Waiting: "順番を待っています", Running: "書き出しています", Done: "できました", Failed: "書き出せませんでした",
		Rows: "件数", Bytes: "バイト数", Form: "形式", AskedAt: "頼んだ日時", Fetch: "ファイルを受け取る", LinkNote: "押すと受け取り用のリンクができ、%d 分で使えなくなります。ファイルは %d 時間で消えます。",
		Again: "監査ログへ戻り、条件を変えてもう一度書き出してください。", Recorded: "書き出したことは、監査ログに残ります。", Stay: "このページは自動で新しくなります。閉じても、書き出しは続きます。",
		Forms: map[auditlog.Form]string{auditlog.CSV: "CSV", auditlog.JSONLines: "JSON Lines"},
		Problems: map[auditlog.Problem]string{
			auditlog.TooMany: "記録が多すぎます。期間を短くしてください。", auditlog.TooSlow: "時間内に読み終わりませんでした。期間を短くしてください。",
			auditlog.Broken: "途中でうまくいかなくなりました。少し待ってから、もう一度お試しください。", auditlog.Abandoned: "途中で止まりました。もう一度お試しください。",
		},
	},
	exportTexts{
		Title: "Export of the audit log", Back: "Back to the audit log", Waiting: "Waiting", Running: "Being written", Done: "Ready", Failed: "It could not be written",
		Rows: "Entries", Bytes: "Bytes", Form: "Format", AskedAt: "Asked for at", Fetch: "Get the file", LinkNote: "This makes a link that works for %d minutes. The file is kept for %d hours.",
		Again: "Go back to the audit log, change the filter and export again.", Recorded: "That it was exported is recorded in the audit log.", Stay: "This page updates itself. You may close it; the export goes on.",
		Forms: map[auditlog.Form]string{auditlog.CSV: "CSV", auditlog.JSONLines: "JSON Lines"},
		Problems: map[auditlog.Problem]string{
			auditlog.TooMany: "There are too many entries. Take fewer days.", auditlog.TooSlow: "They could not be read in time. Take fewer days.",
			auditlog.Broken: "Something went wrong on the way. Wait a little, then try again.", auditlog.Abandoned: "It stopped on the way. Please try again.",
		},
	},
)
