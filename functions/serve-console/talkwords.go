package main

import (
	"cmp"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/words/language"
)

// talkTexts are the texts of a conversation's page.
type talkTexts struct {
	Untitled, Ringi, System, ThatChannel, Made                                                        string
	OpenedBy, Agent, AgentGone, Where, Began, Active, Closed, Trouble, Open                           string
	Workspace, NoWorkspace, Kept, KeptNot, Forgotten                                                  string
	Cost, Limit, Calls, Input, Output, Cached, Unpriced, Tokens, Sent                                 string
	Acts, Reason, ReasonHint, Typed, NotWhole, Unapprovable, ShowWhole, Busy                          string
	Said, Older, Newest, Folded, Originals, Summary, Anew, Waits, Answering                           string
	NothingSaid, Unread, Bytes, About                                                                 string
	Actions, NoActions, Settled, ProposedBy, DecideBy, Files, Command, Script, Seconds, EmptyArgument string
	Approved, ByRule, Rejected, Cancelled, Via, Started, Completed, Took, Exit                        string
	Result, Failure, Unknown, UnknownAbout, Late, Output2, Dropped, ShowOutput                        string
	NoOutput, Running, ErrorLine, Element                                                             string
	Log, LogMore, LogAll, At, By, Action2, Resource, Details                                          string
	Was, WasBy                                                                                        string
	Action                                                                                            map[conversation.ActionStatus]string
	Act, Confirm, ActAbout                                                                            map[aggregate.Act]string
	Surface                                                                                           map[aggregate.Surface]string
	Why                                                                                               map[aggregate.Reason]string
	WhyUnread                                                                                         map[conversation.Cause]string
}

// unread says why nothing of an attachment was read.
func (t talkTexts) unread(why string) string {
	if why == "" {
		return ""
	}
	return t.WhyUnread[conversation.CauseOf(why)]
}

// decided says who was faster.
func (t talkTexts) decided(e aggregate.ErrDecided, who, when string) string {
	status := t.Action[conversation.ActionStatus(e.Status)]
	switch {
	case e.Status == string(aggregate.Rejected) || e.Reason == conversation.ReasonRejected:
		status = t.Rejected
	case e.Reason == conversation.ReasonExpired || e.Reason == task.ReasonExpired:
		status = t.Why[conversation.ReasonExpired]
	case e.Status == string(conversation.Closed):
		status = t.Closed
	}
	return strings.NewReplacer("{status}", cmp.Or(status, e.Status), "{who}", who, "{when}", when).Replace(t.Was)
}

var talkWords = language.InEach(talkJA, talkEN)

var talkJA = talkTexts{
	Untitled: "(無題)", Ringi: "Ringi", System: "Ringi", ThatChannel: "会話のあるチャンネル", Made: "この会話から作った依頼",
	OpenedBy: "始めた人", Agent: "エージェント", AgentGone: "このエージェントは、今の設定にはありません。", Where: "場所", Began: "始まり", Active: "最後の動き", Closed: "終了", Trouble: "応答できない理由", Open: "Slack で開く",
	Workspace: "作業フォルダー", NoWorkspace: "この会話専用", Kept: "この会話は、終わった後も残ります。", KeptNot: "この会話は、終わって 1 日ほどで見られなくなり、書かれてから 3 か月ほどで消えます。承認された操作と監査ログは残ります。", Forgotten: "この会話が消える日時",
	Cost: "費用", Limit: "上限", Calls: "AI モデルの呼び出し", Input: "入力", Output: "出力", Cached: "キャッシュ", Unpriced: "料金が分からない呼び出し", Tokens: "トークン", Sent: "AI モデルに送った内容",
	Acts: "この会話にできること", Reason: "却下の理由", ReasonHint: "1〜1,000 文字。エージェントに伝わります。", Typed: "入力していた理由",
	NotWhole: "内容のすべては、ここに表示されていません。", Unapprovable: "内容のすべてを表示できないため、ここでは承認できません。", ShowWhole: "全文を見る", Busy: "実行中か、まもなく始まる操作があります。先にその操作を取り消してください。",
	Said: "やりとり", Older: "前のメッセージ", Newest: "最新のメッセージに戻る", Folded: "要約された前のメッセージ", Originals: "元のメッセージを読む", Summary: "これより前の要約", Anew: "ここから新しい会話です。これより前のことを、エージェントは知りません。",
	Waits: "返答待ち", Answering: "返答していないメッセージ: %d 件", NothingSaid: "表示できるメッセージがありません。", Unread: "読んでいません", Bytes: "バイト", About: "操作",
	Actions: "操作", NoActions: "まだ提案はありません。", Settled: "判断は済んでいます", ProposedBy: "提案", DecideBy: "承認の期限", Files: "書き込むファイル", Command: "実行するコマンド (1 語ずつ)", Script: "実行するコマンド", EmptyArgument: "(空)", Seconds: "制限時間 %d 秒",
	Approved: "承認", ByRule: "規則による自動承認", Rejected: "却下", Cancelled: "取り消し", Via: "操作した場所", Started: "開始", Completed: "終了", Took: "かかった時間", Exit: "終了コード",
	Result: "結果", Failure: "失敗の理由", Unknown: "結果不明", UnknownAbout: "実行したものがどうなったか分かりません。二度は実行しません。作業フォルダーなどを確かめてください。", Late: "取り消した後に分かったこと",
	Output2: "出力", Dropped: "古い %d 行は残っていません。残るのは新しい 500 行です。", ShowOutput: "出力を見る", NoOutput: "出力はありません。", Running: "実行中です。出力は数秒ごとに新しくなります。", ErrorLine: "エラー出力", Element: "語",
	Log: "監査ログ", LogMore: "これより後の記録は、監査ログのページにあります。", LogAll: "監査ログで見る", At: "日時", By: "した人", Action2: "したこと", Resource: "対象", Details: "詳細",
	Was: "先に決まっています: {status} ({who}、{when})", WasBy: "決めた人",
	Action: map[conversation.ActionStatus]string{
		conversation.ActionPending: "承認待ち", conversation.ActionApproved: "承認済み・開始待ち", conversation.ActionExecuting: "実行中", conversation.ActionSucceeded: "完了", conversation.ActionFailed: "失敗", conversation.ActionCancelled: "取り消し",
	},
	Act:     map[aggregate.Act]string{aggregate.ActApprove: "✅ 承認", aggregate.ActReject: "❌ 却下", conversation.ActCancel: "⏹️ 操作を取り消す", conversation.ActClose: "会話を終える", conversation.ActReopen: "この会話をもう一度始める"},
	Confirm: map[aggregate.Act]string{conversation.ActCancel: "この操作を取り消しますか。元に戻せません。", conversation.ActClose: "この会話を終えますか。承認を待っている操作も取り消されます。"},
	ActAbout: map[aggregate.Act]string{
		aggregate.ActApprove: "上の内容が、そのまま実行されます。", conversation.ActCancel: "実行中なら止めます。それまでに変わったファイルは、作業フォルダーに反映されません。", conversation.ActClose: "続けるときは、Slack で新しく話しかけるか、ここからもう一度始めます。",
		conversation.ActReopen: "作業フォルダーはそのままです。前のやりとりを、エージェントは覚えていません。",
	},
	Surface: map[aggregate.Surface]string{aggregate.SurfaceSlack: "Slack", aggregate.SurfaceConsole: "コンソール"},
	Why: map[aggregate.Reason]string{
		conversation.ReasonClosed: "会話を終えたため", conversation.ReasonIdle: "しばらく動きがなかったため", conversation.ReasonRejected: "却下されたため", conversation.ReasonExpired: "期限切れ", conversation.ReasonWithdrawn: "取り消したため",
	},
	WhyUnread: map[conversation.Cause]string{
		conversation.TooLarge: "大きすぎるため読み取っていません (テキストは 64 KB、画像は 3 MB まで)。", conversation.OtherType: "読み取れるのはテキストと画像だけです。", conversation.TooMany: "新しいファイルを優先したため、読み取っていません。",
		conversation.Altered: "回答に使った後で変更されたため、読み取っていません。", conversation.Silent: "Slack から受け取れませんでした。次の回答のときに、もう一度読み取ります。", conversation.Unreadable: "読み取れませんでした。削除されたか、Slack の外にあるファイルの可能性があります。",
	},
}
