package main

import (
	"fmt"

	"ringi/shared/words/language"
)

// draftTexts are the texts of drafts that teams competed with, on the pages of a task.
type draftTexts struct {
	Contest, Others, Title, Round, ToContest, Back, Gone string
	GoesOn, PickedBy, Replaced                           string
	Pick, Picks, Over, NotWhole, Differences, Feedback   string
	points, failed                                       string
}

var draftWords = language.InEach(
	draftTexts{
		Contest: "コンテスト", Others: "他の案", Title: "他の案", Round: "ラウンド", ToContest: "コンテストを見る", Back: "依頼に戻る", Gone: "保存期間が過ぎたため、本文は残っていません。",
		GoesOn: "複数のチームが下書きを競っています。採点が終わると、最もよい案がここに表示されます。", PickedBy: "この案に替えた人", Replaced: "別の案に変更",
		Pick: "この案に替える", Picks: "替えると、今の案は差し戻しになり、この案があらためて承認待ちになります。", Over: "この版は、もう承認を待っていません。読むだけです。",
		NotWhole: "長すぎるか、名指しする人が多すぎて、承認のカードに収まりません。読むだけです。", Differences: "今の案との違い", Feedback: "採点した AI の講評 (100 点満点)",
		points: "%.2f 点", failed: "ほかに %d チームが失敗しました。",
	},
	draftTexts{
		Contest: "Contest", Others: "Other drafts", Title: "Other drafts", Round: "Round", ToContest: "See the contest", Back: "Back to the request", Gone: "The text is gone: its retention is over.",
		GoesOn: "Several teams compete to draft it. The best draft is shown here when all are scored.", PickedBy: "Put in place of another by", Replaced: "Replaced by another draft",
		Pick: "Take this one", Picks: "The present draft is sent back then, and this one waits for approval instead.", Over: "This version waits for nobody any more. The draft is shown for reading only.",
		NotWhole: "It is too long, or names too many people, for the card that is approved. It is shown for reading only.", Differences: "How it differs from the present draft", Feedback: "What the AI that scores said of it (out of 100)",
		points: "%.2f points", failed: "%d more teams failed.",
	},
)

// Points is a score for people.
func (t draftTexts) Points(score float64) string { return fmt.Sprintf(t.points, score) }

// FailedTeams says how many teams have no draft.
func (t draftTexts) FailedTeams(n int) string { return fmt.Sprintf(t.failed, n) }
