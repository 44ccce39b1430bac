package card

import (
	"cmp"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/words/language"
)

// TeamEnd says how a team of a contest stopped.
type TeamEnd struct {
	Failed bool // it stopped before its first score, so it has no draft
	Exit   contest.ExitReason
	Reason aggregate.Reason
	Detail string // explains what went wrong; may be empty
}

// In returns the ending as one line of text. A detail replaces the general sentence.
func (e TeamEnd) In(locale string) string {
	w := endWords.In(locale)
	why := w.reasons[cmp.Or(e.Reason, contest.ReasonOf(e.Exit))]
	if e.Detail != "" && e.Exit == contest.PartialFailure {
		why = OneLine(e.Detail)
	}
	switch {
	case e.Failed:
		return or(why, w.reasons[contest.ReasonUnfinished])
	case e.Reason == contest.ReasonCancelled:
		return w.cancelled
	case e.Exit == contest.PartialFailure && why != "":
		return w.exits[e.Exit] + " " + why
	}
	return w.exits[e.Exit]
}

// short reports whether the team stopped early.
func (e TeamEnd) short() bool {
	return e.Exit == contest.TeamTimeout || e.Exit == contest.BudgetExhausted || e.Exit == contest.PartialFailure
}

// endTexts say why teams stopped. The reasons are also for teams that failed after their first draft.
type endTexts struct {
	exits   map[contest.ExitReason]string
	reasons map[aggregate.Reason]string
	// cancelled is for a team that had a draft when its contest was cancelled.
	cancelled string
}

var endWords = language.InEach(endTexts{
	exits: map[contest.ExitReason]string{
		contest.MaxRoundsReached: "決められた回数のラウンドを終えました。", contest.NoImprovementExpected: "続けても良くならないと判定されました。", contest.TeamTimeout: "持ち時間が終わったため、それまでの最良の案で終えました。",
		contest.BudgetExhausted: "予算を使い切ったため、それまでの最良の案で終えました。", contest.PartialFailure: "途中で失敗したため、それまでの最良の案で終えました。",
	},
	reasons: map[aggregate.Reason]string{
		contest.ReasonCancelled: "コンテストが中止されました。", contest.ReasonUnfinished: "実行が途中で終わりました。", contest.ReasonNeverBegan: "始める前にコンテストが終わりました。",
		contest.ReasonLeader: "リーダーの AI が答えませんでした。", contest.ReasonEvaluator: "採点する AI が答えませんでした。", contest.ReasonTimeout: "最初の採点の前に持ち時間が終わりました。",
		contest.ReasonBudget: "最初の採点の前に予算を使い切りました。", contest.ReasonWrite: "結果を保存できませんでした。", contest.ReasonRunFailed: "システムの不具合で中断しました。",
	},
	cancelled: "コンテストが中止されたため、それまでの最良の案で終えました。",
}, endTexts{
	exits: map[contest.ExitReason]string{
		contest.MaxRoundsReached: "It played all of its rounds.", contest.NoImprovementExpected: "No improvement was expected.", contest.TeamTimeout: "Its time was over, so it ended with its best draft so far.",
		contest.BudgetExhausted: "Its budget was spent, so it ended with its best draft so far.", contest.PartialFailure: "It failed later on, and ended with its best draft so far.",
	},
	reasons: map[aggregate.Reason]string{
		contest.ReasonCancelled: "The contest was cancelled.", contest.ReasonUnfinished: "Its run broke off.", contest.ReasonNeverBegan: "The contest ended before it began.",
		contest.ReasonLeader: "Its leader’s AI did not answer.", contest.ReasonEvaluator: "The AI that scores did not answer.", contest.ReasonTimeout: "Its time was over before its first score.",
		contest.ReasonBudget: "Its budget was spent before its first score.", contest.ReasonWrite: "What it came to could not be saved.", contest.ReasonRunFailed: "It was broken off by a fault of the system.",
	},
	cancelled: "The contest was cancelled, so it ended with its best draft so far.",
})
