package card

import (
	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/words/language"
)

// conversationWords are the texts of conversations with agents.
type conversationWords struct {
	Action, Asks, AsksText, Header          string
	Running, Done, Failed, Unknown          string
	IsApproved                              string
	Types                                   map[conversation.ActionType]string
	Effect                                  map[conversation.ActionType]string // what an approval brings about
	Type, Limit, About, Script, Argv, Files string
	Shortened, Output, Lines, Dropped       string
	Cancel                                  string
	ConfirmTitle, ConfirmText, ConfirmYes   string
	ConfirmNo                               string // not the word of the button that asks
	ByRule, Since, Took, Ended, Exit        string
	CheckUnknown, Stopping, Expired         string
	CancelledBy, CancelledClosed            string
	LateDone, LateFailed                    string
	System, Closed, ClosedBy, ClosedIdle    string
	Begin, Reopened                         string
	RejectTitle, RejectText, RejectSubmit   string
	RejectPlaceholder                       string
	EndTitle, EndText, EndYes               string
	InFlight, TooLate                       string // told to whoever clicks too late
	TooLateCancelled, TooLateExpired        string
	Reasons                                 map[aggregate.Reason]string
	Otherwise                               string // a reason that has no sentence
}

func conversationWordsOf(locale string) *conversationWords {
	return language.InEach(conversationJapanese, conversationEnglish).In(locale)()
}

// reason says why something was not done, and what people can do now.
func (w *conversationWords) reason(r aggregate.Reason, detail string) string {
	text := or(w.Reasons[r], w.Otherwise)
	if detail != "" {
		text += " (" + detail + ")"
	}
	return text
}

// ActionReason says why an action came to nothing, on any surface.
func ActionReason(locale string, r aggregate.Reason, detail string) string {
	return conversationWordsOf(locale).reason(r, detail)
}

func conversationJapanese() *conversationWords {
	return &conversationWords{
		Action: "🛠️ 操作", Asks: "🛠️ 操作 #{n} の確認", AsksText: "操作 #{n} の確認をお願いします", Header: "🛠️ 操作 #{n}",
		Running: "🚀 操作 #{n} を実行中", Done: "✅ 操作 #{n} 完了", Failed: "❌ 操作 #{n} 失敗", Unknown: "❓ 操作 #{n} 結果不明",
		IsApproved: "(承認済み)",
		Types:      agent.Called("ja"),
		Effect: map[conversation.ActionType]string{
			conversation.CodeGenerate: "承認すると、この会話の作業フォルダーに、上のファイルをこのとおりに書き込みます。",
			conversation.TestRun:      "承認すると、この会話の作業フォルダーで、上のプログラムをこのとおりの引数で 1 回だけ実行します。",
			conversation.ShellCommand: "承認すると、この会話の作業フォルダーで、上のスクリプトをこのとおりに 1 回だけ実行します。",
		},
		Type: "*種類:* {type}", Limit: "*制限時間:* {seconds} 秒", About: "*{agent} の説明:* {text}",
		Script: "*スクリプト*", Argv: "*プログラムと引数*", Files: "*ファイル* ({n} 件)",
		Shortened: "長いため、ここには一部だけを表示しています。全文は管理画面で確認できます", Output: "*出力*", Lines: "(全 {n} 行の最後)", Dropped: " · 古い {n} 行は残っていません",
		Cancel: "⏹️ キャンセル", ConfirmTitle: "操作を取り消しますか?", ConfirmText: "実行中の処理はその場で止まり、途中までの変更は作業フォルダーに残りません。", ConfirmYes: "取り消す", ConfirmNo: "実行を続ける",
		ByRule: "✅ ルール「{rule}」により自動承認 · {when}", Since: "開始: {when}", Took: "⏱️ 実行時間: {elapsed}秒 · 終了: {when}", Ended: "終了: {when}", Exit: "終了コード: {code}",
		CheckUnknown: "実行の途中で連絡が途切れ、最後まで実行されたか分かりません。もう一度実行されることはありません。作業フォルダーは実行前のままです。必要なら、エージェントに結果の確認を頼んでください。",
		Stopping:     "処理を止めています。", Expired: "⌛ 期限までに承認されませんでした · {when}",
		CancelledBy: "⏹️ {who} により取り消されました · {when}", CancelledClosed: "⏹️ 会話の終了に伴い取り消されました · {when}",
		LateDone: "取り消したときには処理が終わっていました。作業フォルダーは実行前のままです。", LateFailed: "処理は途中で終わりました。作業フォルダーは実行前のままです。",
		System: "[システム]", Closed: "この会話は終了しています。続けるには、新しく始めてください。作業フォルダーのファイルはそのまま使えます。",
		ClosedBy: "{who} が終了しました · {when}", ClosedIdle: "{days} 日間会話がなかったため終了しました · {when}", Begin: "🔄 新しく始める", Reopened: "会話を再開しました。",
		EndTitle: "会話の終了", EndText: "この会話を終了しますか?承認を待っている操作は取り消されます。作業フォルダーのファイルは残り、あとから同じスレッドで新しく始められます。", EndYes: "終了する",
		RejectTitle: "却下理由", RejectText: "この操作を却下する理由を入力してください。理由はエージェントに伝わります。", RejectSubmit: "却下する", RejectPlaceholder: "例: 本番のデータには触らないでください",
		Reasons: map[aggregate.Reason]string{
			conversation.ReasonUnknown: "実行の結果が分かりません。", conversation.ReasonInterrupted: "処理が途中で途切れ、何も書き込まれませんでした。もう一度エージェントに頼んでください。",
			conversation.ReasonNotBegun:  "実行する環境を用意できなかったため、何も実行していません。時間をおいて、もう一度エージェントに頼んでください。",
			conversation.ReasonRunFailed: "Ringi の内部で問題が起き、回答できませんでした。もう一度書いてください。続く場合は管理者に連絡してください。",
			conversation.ReasonExit:      "プログラムがエラーで終わりました。", conversation.ReasonTimeout: "制限時間を超えたため、止めました。", conversation.ReasonStopped: "回答を止めました。続けるには、もう一度書いてください。",
			"sandbox_off": "この環境ではコマンドを実行できない設定です。", "workspace_refused": "作業フォルダーに書き込めない内容でした。", "payload_changed": "承認された内容と一致しないため、実行しませんでした。", "payload_unread": "内容を読み取れないため、実行しませんでした。", "missing_command": "実行しようとしたプログラムが、この環境にはありません。", "signal": "プログラムが途中で強制終了しました。",
		},
		InFlight: "操作を実行中のため、終了できません。先に操作をキャンセルしてください。", TooLate: "この操作はすでに終わっています · {when}",
		TooLateCancelled: "この操作は {who} がすでに取り消しています · {when}", TooLateExpired: "この操作は期限までに承認されず、取り消されました · {when}",
		Otherwise: "処理できませんでした。もう一度書いてください。続く場合は管理者に連絡してください。",
	}
}

func conversationEnglish() *conversationWords {
	return &conversationWords{
		Action: "🛠️ Action", Asks: "🛠️ Check action #{n}", AsksText: "Please check action #{n}", Header: "🛠️ Action #{n}",
		Running: "🚀 Running action #{n}", Done: "✅ Action #{n} done", Failed: "❌ Action #{n} failed", Unknown: "❓ Action #{n}: outcome unknown",
		IsApproved: " (approved)",
		Types:      agent.Called("en"),
		Effect: map[conversation.ActionType]string{
			conversation.CodeGenerate: "If approved, the files above are written, exactly so, into this conversation's folder.",
			conversation.TestRun:      "If approved, the program above is run once, with exactly these arguments, in this conversation's folder.",
			conversation.ShellCommand: "If approved, the script above is run once, exactly so, in this conversation's folder.",
		},
		Type: "*Kind:* {type}", Limit: "*Time limit:* {seconds} s", About: "*What {agent} says:* {text}",
		Script: "*Script*", Argv: "*Program and arguments*", Files: "*Files* ({n})",
		Shortened: "This is long: only part of it is shown here. All of it is in the console", Output: "*Output*", Lines: "(the last of {n} lines)", Dropped: " · the oldest {n} are gone",
		Cancel: "⏹️ Cancel", ConfirmTitle: "Cancel the action?", ConfirmText: "What is running stops at once. Changes made so far do not stay in the folder.", ConfirmYes: "Cancel it", ConfirmNo: "Keep running",
		ByRule: "✅ Approved by rule “{rule}” · {when}", Since: "Started: {when}", Took: "⏱️ Took {elapsed} s · ended {when}", Ended: "Ended: {when}", Exit: "Exit code: {code}",
		CheckUnknown: "Contact was lost while it ran, so nobody knows whether it ran to its end. It will not be run again. The folder is as it was before. If it matters, ask the agent to check.",
		Stopping:     "It is being stopped.", Expired: "⌛ Nobody approved it in time · {when}",
		CancelledBy: "⏹️ Cancelled by {who} · {when}", CancelledClosed: "⏹️ Cancelled because the conversation ended · {when}",
		LateDone: "It had finished when it was cancelled. The folder is as it was before.", LateFailed: "It ended on the way. The folder is as it was before.",
		System: "[System]", Closed: "This conversation has ended. To go on, begin anew. The files in its folder are still there.",
		ClosedBy: "Ended by {who} · {when}", ClosedIdle: "Ended because nothing was said for {days} days · {when}", Begin: "🔄 Begin anew", Reopened: "The conversation goes on.",
		EndTitle: "End the conversation", EndText: "End this conversation? An action that waits for approval is cancelled. The files in its folder stay, and you can begin anew in the same thread.", EndYes: "End it",
		RejectTitle: "Reason", RejectText: "Why do you reject this action? The agent is told.", RejectSubmit: "Reject", RejectPlaceholder: "For example: don't touch production data",
		Reasons: map[aggregate.Reason]string{
			conversation.ReasonUnknown: "Its outcome is not known.", conversation.ReasonInterrupted: "It was interrupted and nothing was written. Please ask the agent again.",
			conversation.ReasonNotBegun:  "No place to run it could be had, so nothing was run. Please ask the agent again in a while.",
			conversation.ReasonRunFailed: "Something went wrong inside Ringi, so there is no answer. Please write again; if it persists, tell an administrator.",
			conversation.ReasonExit:      "The program ended with an error.", conversation.ReasonTimeout: "It took too long and was stopped.", conversation.ReasonStopped: "The answer was stopped. Write again to go on.",
			"sandbox_off": "Commands can't be run in this installation.", "workspace_refused": "These files can't be written into the folder.", "payload_changed": "It is not what was approved, so it was not run.", "payload_unread": "It can't be read, so it was not run.", "missing_command": "The program isn't installed here.", "signal": "The program was killed on the way.",
		},
		InFlight: "An action is running, so the conversation can't end now. Cancel the action first.", TooLate: "This action has ended already · {when}",
		TooLateCancelled: "{who} cancelled this action already · {when}", TooLateExpired: "Nobody approved this action in time, so it was cancelled · {when}",
		Otherwise: "It could not be done. Please write again; if it persists, tell an administrator.",
	}
}
