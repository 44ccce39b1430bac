package main

import "ringi/shared/words/language"

type insightsTexts struct {
	About, LastDays, Ranges, From, To, Show, BadRange, Missing, Empty, EmptyHint      string
	Numbers, Tasks, Half, HalfAbout, Most, MostAbout, Rate, RateAbout                 string
	Again, AgainAbout, Runs, RunsAbout, Tokens, Cost                                  string
	UpTo, Longer, Seconds, Minutes, Hours, Days                                       string
	Waits, WaitChart, Took, Decisions, NoWaits                                        string
	Verdicts, Gate, Approved, Rejected, Expired                                       string
	Tools, Tool, Completed, Failed, Unknown, FailureRate, NoTools                     string
	ByDay, TokenChart, CostChart, Day, Input, Output, Cached, Unpriced, UnpricedAbout string
	Gates                                                                             map[string]string
}

var insightsWords = language.InEach(
	insightsTexts{
		About: "選んだ期間の数です。日付は日本時間で、今日の数は 1 分ほど遅れて新しくなります。", LastDays: "最近 %d 日", Ranges: "期間", From: "この日から", To: "この日まで", Show: "表示",
		BadRange: "期間は、はじめの日から終わりの日まで、%d 日までで選んでください。", Missing: "まだ数え終わっていない日があります。ページを読み込み直すと続きを数えます。残りの日数:",
		Empty: "この期間に数えるものはありません。", EmptyHint: "依頼が承認され、実行されると、ここに数が出ます。",
		Numbers: "まとめ", Tasks: "受け付けた依頼", Half: "判断までの時間(半分)", HalfAbout: "判断の半分は、この時間までに済みました。", Most: "判断までの時間(9 割)", MostAbout: "判断の 9 割は、この時間までに済みました。",
		Rate: "承認の割合", RateAbout: "承認 %d 件、却下 %d 件", Again: "依頼あたりの作り直し", AgainAbout: "却下による作り直し %d 件。ほかに失敗後の再試行 %d 件",
		Runs: "完了した実行", RunsAbout: "ほかに失敗 %d 件、取り消し %d 件", Tokens: "トークン", Cost: "費用",
		UpTo: "%sまで", Longer: "30 日より長い", Seconds: "%d 秒", Minutes: "%d 分", Hours: "%d 時間", Days: "%d 日",
		Waits: "判断までの時間", WaitChart: "判断までの時間ごとの件数", Took: "かかった時間", Decisions: "判断", NoWaits: "この期間に、人の判断はありません。",
		Verdicts: "承認と却下", Gate: "判断したもの", Approved: "承認", Rejected: "却下", Expired: "期限切れ",
		Tools: "ツールごとの失敗", Tool: "ツール", Completed: "完了", Failed: "失敗", Unknown: "結果不明", FailureRate: "失敗の割合", NoTools: "この期間に、ツールの呼び出しはありません。",
		ByDay: "日ごとのトークンと費用", TokenChart: "日ごとのトークン", CostChart: "日ごとの費用", Day: "日付", Input: "入力", Output: "出力", Cached: "キャッシュ", Unpriced: "料金不明の呼び出し", UnpricedAbout: "料金の分からない呼び出しは、費用に入っていません。",
		Gates: map[string]string{"prompt": "実行方針", "process": "実行ステップ", "step": "実行前の確認"},
	},
	insightsTexts{
		About: "Numbers of the days you choose. Days are Japan's; today's numbers are about a minute old.", LastDays: "Last %d days", Ranges: "Days", From: "From this day", To: "To this day", Show: "Show",
		BadRange: "Choose a first day and a last day behind it, at most %d days in all.", Missing: "Some days are not counted yet. Reload the page to go on. Days left:",
		Empty: "There is nothing to count in these days.", EmptyHint: "Numbers appear here once requests are approved and executed.",
		Numbers: "In short", Tasks: "Requests", Half: "Time to decide (half)", HalfAbout: "Half of all decisions were made within this time.", Most: "Time to decide (9 of 10)", MostAbout: "Nine of ten decisions were made within this time.",
		Rate: "Approval rate", RateAbout: "%d approved, %d rejected", Again: "Made anew per request", AgainAbout: "%d made anew after a rejection; besides, %d tried again after a failure",
		Runs: "Executions completed", RunsAbout: "besides, %d failed and %d cancelled", Tokens: "Tokens", Cost: "Cost",
		UpTo: "up to %s", Longer: "longer than 30 days", Seconds: "%d s", Minutes: "%d min", Hours: "%d h", Days: "%d days",
		Waits: "Time to decide", WaitChart: "Decisions by the time that they took", Took: "Took", Decisions: "Decisions", NoWaits: "Nobody decided anything in these days.",
		Verdicts: "Approved and rejected", Gate: "What was decided on", Approved: "Approved", Rejected: "Rejected", Expired: "Expired",
		Tools: "Failures by tool", Tool: "Tool", Completed: "Completed", Failed: "Failed", Unknown: "Outcome unknown", FailureRate: "Failure rate", NoTools: "No tool was called in these days.",
		ByDay: "Tokens and cost by day", TokenChart: "Tokens by day", CostChart: "Cost by day", Day: "Day", Input: "Input", Output: "Output", Cached: "Cached", Unpriced: "Calls of unknown price", UnpricedAbout: "Calls whose price is not known are not in the cost.",
		Gates: map[string]string{"prompt": "Policy", "process": "Steps", "step": "Check before a step"},
	},
)
