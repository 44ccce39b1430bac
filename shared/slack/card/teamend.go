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
		contest.MaxRoundsReached: "すべてのラウンドを終えました。", contest.NoImprovementExpected: "続けても改善は見込めないと判定されました。", contest.TeamTimeout: "制限時間に達したため、それまでの最良の案で終了しました。",
		contest.BudgetExhausted: "予算を使い切ったため、それまでの最良の案で終了しました。", contest.PartialFailure: "途中で失敗したため、それまでの最良の案で終了しました。",
	},
	reasons: map[aggregate.Reason]string{
		contest.ReasonCancelled: "コンテストが中止されました。", contest.ReasonUnfinished: "実行が中断しました。", contest.ReasonNeverBegan: "開始前にコンテストが終了しました。",
		contest.ReasonLeader: "リーダーの AI が応答しませんでした。", contest.ReasonEvaluator: "採点する AI が応答しませんでした。", contest.ReasonTimeout: "最初の採点の前に制限時間に達しました。",
		contest.ReasonBudget: "最初の採点の前に予算を使い切りました。", contest.ReasonWrite: "結果を保存できませんでした。", contest.ReasonRunFailed: "システムの不具合で中断しました。",
	},
	cancelled: "コンテストが中止されたため、それまでの最良の案で終了しました。",
}, endTexts{
	exits: map[contest.ExitReason]string{
		contest.MaxRoundsReached: "All rounds were played.", contest.NoImprovementExpected: "Further rounds weren’t expected to help.", contest.TeamTimeout: "Time ran out, so the best draft so far was kept.",
		contest.BudgetExhausted: "The budget ran out, so the best draft so far was kept.", contest.PartialFailure: "A later round failed, so the best draft so far was kept.",
	},
	reasons: map[aggregate.Reason]string{
		contest.ReasonCancelled: "The contest was cancelled.", contest.ReasonUnfinished: "The run was interrupted.", contest.ReasonNeverBegan: "The contest ended before this team started.",
		contest.ReasonLeader: "The leader’s AI didn’t answer.", contest.ReasonEvaluator: "The scoring AI didn’t answer.", contest.ReasonTimeout: "Time ran out before the first score.",
		contest.ReasonBudget: "The budget ran out before the first score.", contest.ReasonWrite: "The result couldn’t be saved.", contest.ReasonRunFailed: "A system fault interrupted it.",
	},
	cancelled: "The contest was cancelled, so the best draft so far was kept.",
})
