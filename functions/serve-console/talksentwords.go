package main

import "ringi/shared/words/language"

// talkSentTexts are the texts of the pages of what models were sent in a conversation.
type talkSentTexts struct {
	SentTitle, SentAbout, SentExpired, SentLeft, Back string
	ListAbout, At, Model, Sent, ShowSent, NotKept     string
	None                                              string
}

var talkSentWords = language.InEach(talkSentTexts{
	SentTitle: "AI モデルに送った内容", SentAbout: "管理者だけが見られます。最後の呼び出しの全文で、会話の履歴と、読み取ったファイルの内容も含みます。",
	SentExpired: "保存期間を過ぎたため、削除されています。", SentLeft: "件は長いため表示していません。", Back: "戻る",
	ListAbout: "この会話の回答ごとに、AI モデルに送った内容を確認できます。新しい順です。", At: "日時", Model: "モデル", Sent: "送った内容", ShowSent: "見る", NotKept: "記録なし", None: "AI モデルはまだ呼び出されていません。",
}, talkSentTexts{
	SentTitle: "What the model was sent", SentAbout: "Only for administrators. It is the last call’s request: the conversation so far, with what was read of files.",
	SentExpired: "Deleted, since its retention is over.", SentLeft: "parts are too long to be shown.", Back: "Back",
	ListAbout: "What the model was sent for each answer of this conversation, the newest first.", At: "When", Model: "Model", Sent: "What was sent", ShowSent: "Show", NotKept: "not kept", None: "No model has been called yet.",
})
