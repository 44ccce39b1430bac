package main

import (
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/words/language"
)

// storyTexts are the texts of the page of a task.
type storyTexts struct {
	Untitled, System, ThatChannel                                                             string
	Status, Gate, Step, Surface, Made, Kind                                                   map[string]string
	Priority                                                                                  map[task.Priority]string
	Act, Confirm, ActAbout                                                                    map[aggregate.Act]string
	Asked, By, At, Urgency, Message, OpenMessage, PrivateMessage                              string
	Description, Answer, EndedAt, ParkedTitle, HeldTitle, WaitsUntil, ChoiceTitle, ChoiceOpen string
	ChoiceReason, ChoiceRequest, ChoiceOver, Beside                                           string
	Waiting, Settled, DecideBy, Version, NotWhole, Reason, ReasonHint, Acts, Typed            string
	Policies, Plans, NoneYet, Because, WhatChanged, Remarks, Approved, AutoApproved           string
	Rejected, Via, OnBehalf, Checked, Writes, Reads, Effect, Expected                         string
	Runs, NoRuns, Attempt, Took, Waited, Summary, Error, StoppedBy, RetriedBy                 string
	Timeline, TheStep, Result, Arguments, MaskedNote, LeftOut                                 string
	MoreRows, MoreValues, TableFile, ValuesFile, Expired, Failed, Preview, Empty              string
	Carried, Late, Crashes, MadeAt, WholeFile                                                 string
	Costs, NoCosts, Model, Calls, Input, Output, Cached, Cost, Unpriced, Sum, Sent            string
	ShowSent, NotKept, Nothing                                                                string
	Log, LogMore, LogAll, Action, Resource, Details                                           string
	RunLink, RunHere, SentTitle, SentAbout, SentExpired, SentLeft, Back                       string
}

var storyWords = language.InEach(
	storyTexts{
		Untitled: "(無題)", System: "Ringi", ThatChannel: "依頼のあったチャンネル",
		Status: map[string]string{
			"received": "受付済み", "asked": "判断待ち", "parked": "作成に失敗", "held": "保留", "extracted": "準備中", "running": "実行中", "completed": "完了",
			"failed": "失敗", "cancelled": "取り消し", "answered": "返答のみ", "refused": "受け付けず",
		},
		Gate: map[string]string{
			"generating": "作成中", "pending_approval": "承認待ち", "approved": "承認済み", "rejected": "却下", "expired": "期限切れ", "cancelled": "取り消し",
		},
		Step: map[string]string{
			"running": "呼び出し中", "completed": "完了", "failed": "失敗", "unknown": "結果不明", "waiting": "確認待ち", "": "まだ", "pending": "開始待ち", "cancelled": "中止",
		},
		Surface:  map[string]string{"slack": "Slack", "console": "コンソール"},
		Made:     map[string]string{"TASK": "依頼の読み取り", "ANSWER": "返答", "PROMPT": "実行方針", "PROCESS": "実行ステップ", "EXECUTION": "実行とまとめ", "": "結果なし"},
		Kind:     map[string]string{"prompt": "実行方針", "process": "実行ステップ", "step": "ステップの実行"},
		Priority: map[task.Priority]string{task.Low: "低", task.Medium: "中", task.High: "高", task.Urgent: "緊急"},
		Act: map[aggregate.Act]string{
			aggregate.ActApprove: "✅ 承認", aggregate.ActReject: "❌ 却下", task.ActTakeAsReason: "却下理由にする", task.ActTakeAsRequest: "新しい依頼にする",
			task.ActRetryGeneration: "🔄 再試行", task.ActRetryExecution: "🔄 再実行", task.ActCancelExecution: "⏹️ 中止", task.ActCancelTask: "依頼を取り消す",
		},
		Confirm: map[aggregate.Act]string{
			task.ActCancelExecution: "実行を中止しますか。元に戻せません。", task.ActCancelTask: "この依頼を取り消しますか。元に戻せません。",
			task.ActTakeAsReason: "待っている版を、このメッセージを理由に却下しますか。",
		},
		ActAbout: map[aggregate.Act]string{
			task.ActCancelExecution: "呼び出し中のステップは、その結果だけを記録します。", task.ActCancelTask: "続けるには、もう一度依頼することになります。",
			task.ActRetryExecution: "完了したステップはやり直しません。",
		},
		Asked: "依頼した人", By: "した人", At: "日時", Urgency: "優先度", Message: "メッセージ", OpenMessage: "Slack で開く", PrivateMessage: "ダイレクトメッセージ",
		Description: "内容", Answer: "返答", EndedAt: "終了", ParkedTitle: "作成できませんでした", HeldTitle: "承認できる人がいません", WaitsUntil: "次の再開",
		ChoiceTitle: "このメッセージの扱い", ChoiceOpen: "まだ選ばれていません。", ChoiceReason: "却下理由になりました。", ChoiceRequest: "新しい依頼になりました。",
		ChoiceOver: "待っていたものは、もう承認を待っていません。", Beside: "同じスレッドで待っていた依頼",
		Waiting: "判断を待っています", Settled: "判断は済んでいます", DecideBy: "期限", Version: "版",
		NotWhole: "引数の全文をこのページに表示できないため、ここでは承認できません。Slack のカードの「全文を確認」から承認してください。",
		Reason:   "却下の理由", ReasonHint: "1〜1,000 文字。次の版は、この理由を踏まえて作られます。", Acts: "この依頼にできること", Typed: "入力していた理由",
		Policies: "実行方針", Plans: "実行ステップ", NoneYet: "まだありません。", Because: "前の版の却下理由", WhatChanged: "前の版との違い", Remarks: "却下理由への対応",
		Approved: "承認", AutoApproved: "自動承認", Rejected: "却下", Via: "操作した場所", OnBehalf: "代理", Checked: "実行前に確認", Writes: "書き込み", Reads: "読み取り",
		Effect: "すること", Expected: "期待する結果",
		Runs: "実行", NoRuns: "まだ実行されていません。", Attempt: "回目", Took: "かかった時間", Waited: "うち人を待った時間", Summary: "サマリー", Error: "失敗の理由", StoppedBy: "中止した人", RetriedBy: "再実行した人",
		Timeline: "時間の流れ", TheStep: "ステップ", Result: "結果", Arguments: "引数",
		MaskedNote: "個人情報を隠した引数", LeftOut: "指定しないときの既定値",
		MoreRows: "行は表示していません。", MoreValues: "件の値は表示していません。", TableFile: "CSV(全行)", ValuesFile: "CSV(表以外の値)", WholeFile: "長いため、ここには冒頭だけを表示しています。",
		Expired: "保存期間を過ぎたため、削除されています。", Failed: "今は読み出せません。少し待ってから、ページを読み込み直してください。", Preview: "冒頭", Empty: "(空)",
		Carried: "前回の結果を引き継ぎ", Late: "中止の後に完了", Crashes: "途切れた呼び出し", MadeAt: "できたもの",
		Costs: "AI モデルの利用", NoCosts: "まだ使っていません。", Model: "モデル", Calls: "回数", Input: "入力", Output: "出力", Cached: "キャッシュ", Cost: "費用", Unpriced: "料金が分からない呼び出し", Sum: "合計",
		Sent: "送った内容", ShowSent: "見る", NotKept: "記録なし", Nothing: "—",
		Log: "監査ログ", LogMore: "これより後の記録は、監査ログのページにあります。", LogAll: "監査ログで見る", Action: "操作", Resource: "対象", Details: "詳細",
		RunLink: "AWS の画面で実行を見る", RunHere: "この環境の実行は手元のエミュレーターで動いており、AWS の画面にはありません。",
		SentTitle: "AI モデルに送った内容", SentAbout: "依頼した人と管理者だけが見られます。個人情報は隠しています。最後の呼び出しの全文で、それより前の会話も含みます。",
		SentExpired: "保存期間を過ぎたため、削除されています。", SentLeft: "件は長いため表示していません。", Back: "依頼に戻る",
	},
	storyTexts{
		Untitled: "(untitled)", System: "Ringi", ThatChannel: "the channel of the request",
		Status: map[string]string{
			"received": "Received", "asked": "Waits for a decision", "parked": "Could not be drafted", "held": "On hold", "extracted": "In preparation", "running": "Running", "completed": "Completed",
			"failed": "Failed", "cancelled": "Cancelled", "answered": "Answered", "refused": "Not accepted",
		},
		Gate: map[string]string{
			"generating": "Being written", "pending_approval": "Waits for approval", "approved": "Approved", "rejected": "Rejected", "expired": "Expired", "cancelled": "Cancelled",
		},
		Step: map[string]string{
			"running": "Running", "completed": "Completed", "failed": "Failed", "unknown": "Outcome unknown", "waiting": "Waits for a check", "": "Not yet", "pending": "About to start", "cancelled": "Stopped",
		},
		Surface:  map[string]string{"slack": "Slack", "console": "console"},
		Made:     map[string]string{"TASK": "Reading the request", "ANSWER": "Reply", "PROMPT": "Policy", "PROCESS": "Steps", "EXECUTION": "Execution and summary", "": "Nothing usable"},
		Kind:     map[string]string{"prompt": "Policy", "process": "Steps", "step": "A step about to run"},
		Priority: map[task.Priority]string{task.Low: "Low", task.Medium: "Medium", task.High: "High", task.Urgent: "Urgent"},
		Act: map[aggregate.Act]string{
			aggregate.ActApprove: "✅ Approve", aggregate.ActReject: "❌ Reject", task.ActTakeAsReason: "Use as the reason of a rejection", task.ActTakeAsRequest: "Make it a new request",
			task.ActRetryGeneration: "🔄 Try again", task.ActRetryExecution: "🔄 Run again", task.ActCancelExecution: "⏹️ Stop", task.ActCancelTask: "Cancel the request",
		},
		Confirm: map[aggregate.Act]string{
			task.ActCancelExecution: "Stop the execution? This can't be undone.", task.ActCancelTask: "Cancel this request? This can't be undone.",
			task.ActTakeAsReason: "Reject the version that waits, for the reason in this message?",
		},
		ActAbout: map[aggregate.Act]string{
			task.ActCancelExecution: "Of a step whose call is under way only the outcome is recorded.", task.ActCancelTask: "To go on, it has to be asked for again.",
			task.ActRetryExecution: "Steps that are completed are not done again.",
		},
		Asked: "Requested by", By: "By", At: "Time", Urgency: "Priority", Message: "Message", OpenMessage: "Open in Slack", PrivateMessage: "direct message",
		Description: "Description", Answer: "Reply", EndedAt: "Ended", ParkedTitle: "It could not be drafted", HeldTitle: "Nobody may approve", WaitsUntil: "Goes on",
		ChoiceTitle: "What this message is meant to be", ChoiceOpen: "Nobody has chosen yet.", ChoiceReason: "It became the reason of a rejection.", ChoiceRequest: "It became a request.",
		ChoiceOver: "What waited there no longer does.", Beside: "The request that waited in the same thread",
		Waiting: "Waits for a decision", Settled: "No longer waits", DecideBy: "Until", Version: "Version",
		NotWhole: "Not all of the arguments can be shown on this page, so they can't be approved here. Please use “Read all” on the card in Slack.",
		Reason:   "Reason for rejecting", ReasonHint: "1 to 1,000 characters. The next version will be written with it in mind.", Acts: "What can be done", Typed: "The reason you had written",
		Policies: "Policy", Plans: "Steps", NoneYet: "None yet.", Because: "Why the version before was rejected", WhatChanged: "What changed", Remarks: "What became of the reasons",
		Approved: "Approved", AutoApproved: "Approved automatically", Rejected: "Rejected", Via: "Where", OnBehalf: "on behalf of", Checked: "checked before it runs", Writes: "writes", Reads: "reads",
		Effect: "What it does", Expected: "Expected",
		Runs: "Executions", NoRuns: "Nothing was executed yet.", Attempt: "attempt", Took: "Took", Waited: "of it waiting for people", Summary: "Summary", Error: "Why it failed", StoppedBy: "Stopped by", RetriedBy: "Run again by",
		Timeline: "Timeline", TheStep: "Step", Result: "Result", Arguments: "Arguments",
		MaskedNote: "Arguments with masked personal data", LeftOut: "Defaults for what is not given",
		MoreRows: "more rows are not shown.", MoreValues: "more values are not shown.", TableFile: "CSV (all rows)", ValuesFile: "CSV (values in no table)", WholeFile: "It is long; only its beginning is shown here.",
		Expired: "Deleted, since its retention is over.", Failed: "It can't be read now. Wait a little, then reload the page.", Preview: "Beginning", Empty: "(empty)",
		Carried: "carried over from the attempt before", Late: "completed after the stop", Crashes: "interrupted calls", MadeAt: "What it made",
		Costs: "Use of AI models", NoCosts: "None yet.", Model: "Model", Calls: "Calls", Input: "Input", Output: "Output", Cached: "Cached", Cost: "Cost", Unpriced: "calls without a known price", Sum: "Sum",
		Sent: "What was sent", ShowSent: "Show", NotKept: "not kept", Nothing: "—",
		Log: "Audit log", LogMore: "What came after is on the page of the audit log.", LogAll: "See it in the audit log", Action: "Action", Resource: "Resource", Details: "Details",
		RunLink: "See the run in the AWS console", RunHere: "This one runs in an emulator on this machine; it isn't in the AWS console.",
		SentTitle: "What the model was sent", SentAbout: "Only for the requester and administrators. Personal data is masked. It is the last call's request, which repeats those before it.",
		SentExpired: "Deleted, since its retention is over.", SentLeft: "parts are too long to be shown.", Back: "Back to the request",
	},
)

// statusBadge is the colour of a status, by what the reader has to do about it.
func statusBadge(status string) string {
	switch status {
	case "completed", string(aggregate.Approved):
		return "badge-good"
	case "failed", "parked", "rejected", "unknown":
		return "badge-bad"
	case "asked", "held", string(aggregate.PendingApproval), "waiting":
		return "badge-wait"
	case "running", "extracted", "received", "generating", "pending":
		return "badge-calm"
	}
	return ""
}
