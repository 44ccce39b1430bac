package main

import "ringi/shared/words/language"

// contestSentTexts are the texts of the pages of what models were sent in a contest.
type contestSentTexts struct {
	SentTitle, SentAbout, SentExpired, SentLeft, Back        string
	ListAbout, At, Round, Agent, Model, Cost, Sent, ShowSent string
	NotKept, Failed, None, Older                             string
	Agents                                                   map[string]string
}

var contestSentWords = language.InEach(contestSentTexts{
	SentTitle: "AI モデルに送った内容", SentAbout: "管理者だけが見られます。AI モデルに送った全文です。", SentExpired: "保存期間を過ぎたため、削除されています。", SentLeft: "件は長いため表示していません。", Back: "戻る",
	ListAbout: "このチームのために AI モデルに送った内容を、新しい順に並べています。管理者だけが見られます。", At: "日時", Round: "ラウンド", Agent: "役割", Model: "モデル", Cost: "費用", Sent: "送った内容", ShowSent: "見る",
	NotKept: "記録なし", Failed: "失敗", None: "AI モデルはまだ呼び出されていません。", Older: "これより前の呼び出しは表示していません。件数:",
	Agents: map[string]string{"leader": "リーダー", "member": "メンバー", "evaluator": "採点", "judge": "続けるかの判定"},
}, contestSentTexts{
	SentTitle: "What the model was sent", SentAbout: "Only for administrators. It is the whole request.", SentExpired: "Deleted, since its retention is over.", SentLeft: "parts are too long to be shown.", Back: "Back",
	ListAbout: "What models were sent for this team, the newest first. Only for administrators.", At: "When", Round: "Round", Agent: "Role", Model: "Model", Cost: "Cost", Sent: "What was sent", ShowSent: "Show",
	NotKept: "not kept", Failed: "failed", None: "No model has been called yet.", Older: "Earlier calls are not shown:",
	Agents: map[string]string{"leader": "Leader", "member": "Member", "evaluator": "Scores", "judge": "Is another round worth it"},
})
