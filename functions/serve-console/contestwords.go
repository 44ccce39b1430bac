package main

import (
	"ringi/shared/domain/contest"
	"ringi/shared/words/language"
)

// contestTexts are the texts of the pages about contests.
type contestTexts struct {
	Locale                                                               string
	Title, About, Views, History, Board                                  string
	Prompt, Status, For, ForTask, Alone, Began, Took, Teams, Cost, Limit string
	Next, Previous, First, Pages, BadCursor                              string
	Empty, EmptyAbout, New                                               string
	BoardAbout, BoardEmpty, BoardOfThis, Rank, Team, Round, Score        string
	Best, At, Feedback, Tokens                                           string
	Statistics, TotalRounds, Average, BestScore, Input, Output           string
	AllTeams, OnlyTeam                                                   string
	Told                                                                 string
	Asked, Who, Rounds, RoundsOf, Budget, TimeOfTeam, Seconds, Deadline  string
	Winner, NoWinner, NoScoreYet, NothingYet, Standing, Ended            string
	Compare, CompareAbout, With, ShowCompare, FewToCompare               string
	Submission, NotKept, Members, Member, Kind, Answer, Failure, NoCalls string
	Calls, Times, And                                                    string
	Metrics, Metric, Comment, Judge, GoesOn, Stops, Sure, Same           string
	Cancel, CancelAbout, CancelSure, Ending, WithTask, ToContest         string
	Left, Right, Differences, Summary, Sent                              string
	Breaking, Broken, BrokenForGood                                      string
	Statuses                                                             map[string]string
	TeamStatuses                                                         map[contest.TeamStatus]string
	Kinds                                                                map[contest.AgentType]string
}

var contestsWords = language.InEach(
	contestTexts{
		Locale: "ja", Title: "コンテスト", About: "複数のチームが同じ依頼に案を出し、採点された記録を、新しい順に並べています。", Views: "表示する内容", History: "履歴", Board: "順位表",
		Prompt: "依頼", Status: "状態", For: "使いみち", ForTask: "稟議の方針の作成", Alone: "単独", Began: "始まり", Took: "かかった時間", Teams: "チーム", Cost: "費用", Limit: "上限",
		Next: "次のページ", Previous: "前のページ", First: "最初のページ", Pages: "ページ", BadCursor: "このページへのリンクは使えません。最初のページから開き直してください。",
		Empty: "まだコンテストがありません", EmptyAbout: "設定で「方針をコンテストで下書きする」を有効にすると、依頼ごとに開かれます。「新しいコンテスト」から 1 回だけ開くこともできます。", New: "新しいコンテスト",
		BoardAbout: "採点されたラウンドのうち、点数の高いものから %d 件までです。同じ点数なら、早いほうが上です。", BoardEmpty: "採点されたラウンドがまだありません", BoardOfThis: "順位表", Rank: "順位", Team: "チーム", Round: "ラウンド", Score: "点数",
		Best: "最良", At: "日時", Feedback: "講評", Tokens: "トークン",
		Statistics: "チームの成績", TotalRounds: "採点されたラウンド", Average: "平均点", BestScore: "最高点", Input: "入力トークン", Output: "出力トークン",
		AllTeams: "すべてのチーム", OnlyTeam: "このチームだけ",
		Asked: "依頼の文", Told: "AI に伝えた文", Who: "始めた人", Rounds: "ラウンド数", RoundsOf: "%d〜%d 回", Budget: "予算", TimeOfTeam: "1 チームの持ち時間", Seconds: "%d 秒", Deadline: "締め切り",
		Winner: "最良の案", NoWinner: "点数のついた案は 1 つもありませんでした。", NoScoreYet: "まだ採点されていません", NothingYet: "チームはまだ始まっていません。", Standing: "チームの様子", Ended: "終わった理由",
		Compare: "2 つの案を比べる", CompareAbout: "左の案から右の案へ、どの行が変わったかを示します。", With: "比べる案", ShowCompare: "比べる", FewToCompare: "比べられるのは、採点された案が 2 つ以上あるときです。",
		Submission: "提出した案", NotKept: "保存期間が過ぎたため、本文は残っていません。", Members: "メンバーへの依頼", Member: "メンバー", Kind: "種類", Answer: "答え", Failure: "失敗の理由", NoCalls: "リーダーは、だれにも頼みませんでした。",
		Calls: "呼び出したツール", Times: "%s %d 回", And: "、",
		Metrics: "採点", Metric: "観点", Comment: "コメント", Judge: "続けるかの判定", GoesOn: "続ける", Stops: "ここまで", Sure: "確信度", Same: "2 つの案は同じです。",
		Cancel: "コンテストを中止する", CancelAbout: "呼び出し中の AI が答えたところで止まります。それまでの案と、かかった費用は残ります。", CancelSure: "このコンテストを中止しますか。元に戻せません。", Ending: "中止しました。呼び出し中の AI の答えを待って終わります。",
		ToContest: "コンテストに戻る", WithTask: "このコンテストは、依頼を取り消すと一緒に終わります。",
		Left: "左", Right: "右", Differences: "違い", Summary: "結果", Sent: "AI モデルに送った内容",
		Breaking: "システムの不具合で中断しました。それまでの案をまとめています。", Broken: "システムの不具合で中断しました。それまでに採点された案と費用は残っています。",
		BrokenForGood: "システムの不具合で中断し、結果をまとめられませんでした。採点された案は下に残っています。Ringi の担当者に連絡してください。",
		Statuses: map[string]string{
			"running": "進行中", "cancelled": "中止", "abandoned": "中断", "completed": "完了", "partial_failure": "一部のチームが失敗", "failed": "すべてのチームが失敗", "closed": "終了",
		},
		TeamStatuses: map[contest.TeamStatus]string{contest.TeamRunning: "進行中", contest.TeamEnded: "終了", contest.TeamFailed: "失敗"},
		Kinds:        map[contest.AgentType]string{contest.Plain: "会話", contest.WebSearch: "検索", contest.CodeExec: "コード実行", contest.System: "システム"},
	},
	contestTexts{
		Locale: "en", Title: "Contests", About: "Several teams draft an answer to the same request, and are scored. Newest first.", Views: "What is shown", History: "History", Board: "Leader board",
		Prompt: "Request", Status: "Status", For: "For", ForTask: "A request’s policy", Alone: "Stands alone", Began: "Started", Took: "Took", Teams: "Teams", Cost: "Cost", Limit: "limit",
		Next: "Next page", Previous: "Previous page", First: "First page", Pages: "Pages", BadCursor: "This link to a page can't be used. Please start from the first page.",
		Empty: "No contests yet", EmptyAbout: "Turn on “Draft policies by a contest” in the settings, and each request has one. “New contest” begins a single one.", New: "New contest",
		BoardAbout: "The %d best of all scored rounds, the highest score first; of equal ones the earlier.", BoardEmpty: "No round was scored yet", BoardOfThis: "Leader board", Rank: "Rank", Team: "Team", Round: "Round", Score: "Score",
		Best: "Best", At: "At", Feedback: "Feedback", Tokens: "Tokens",
		Statistics: "How the team does", TotalRounds: "Scored rounds", Average: "Average score", BestScore: "Best score", Input: "Input tokens", Output: "Output tokens",
		AllTeams: "All teams", OnlyTeam: "This team only",
		Asked: "What was asked", Told: "What the AI was told", Who: "Started by", Rounds: "Rounds", RoundsOf: "%d to %d", Budget: "Budget", TimeOfTeam: "Time of a team", Seconds: "%d seconds", Deadline: "Ends by",
		Winner: "Best draft", NoWinner: "No draft was scored.", NoScoreYet: "not scored yet", NothingYet: "No team has begun yet.", Standing: "How the teams stand", Ended: "Why it ended",
		Compare: "Compare two drafts", CompareAbout: "Which lines changed from the draft on the left to the one on the right.", With: "Draft", ShowCompare: "Compare", FewToCompare: "There must be two scored drafts to compare.",
		Submission: "What was submitted", NotKept: "The text is gone: its retention is over.", Members: "What members were asked", Member: "Member", Kind: "Kind", Answer: "Answer", Failure: "Why it failed", NoCalls: "The leader asked nobody.",
		Calls: "Tools called", Times: "%s × %d", And: ", ",
		Metrics: "Scores", Metric: "Metric", Comment: "Comment", Judge: "Is another round worth it", GoesOn: "Yes", Stops: "No", Sure: "confidence", Same: "The two drafts are the same.",
		Cancel: "Cancel the contest", CancelAbout: "It stops when the AI calls under way have answered. The drafts so far stay, and so does what they cost.", CancelSure: "Cancel this contest? This can’t be undone.", Ending: "Cancelled. It ends when the AI calls under way have answered.",
		ToContest: "Back to the contest", WithTask: "This contest ends when its request is cancelled.",
		Left: "Left", Right: "Right", Differences: "Differences", Summary: "Outcome", Sent: "What models were sent",
		Breaking: "It was broken off by a fault of the system. What there is so far is being summed up.", Broken: "It was broken off by a fault of the system. The drafts that were scored stay, and so does what they cost.",
		BrokenForGood: "It was broken off by a fault of the system, and could not be summed up. The drafts that were scored are below. Please tell whoever looks after Ringi.",
		Statuses: map[string]string{
			"running": "Running", "cancelled": "Cancelled", "abandoned": "Broken off", "completed": "Completed", "partial_failure": "Some teams failed", "failed": "All teams failed", "closed": "Ended",
		},
		TeamStatuses: map[contest.TeamStatus]string{contest.TeamRunning: "Running", contest.TeamEnded: "Ended", contest.TeamFailed: "Failed"},
		Kinds:        map[contest.AgentType]string{contest.Plain: "Talk", contest.WebSearch: "Search", contest.CodeExec: "Code", contest.System: "System"},
	},
)
