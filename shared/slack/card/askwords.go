package card

import "ringi/shared/words/language"

// askWords are the texts of what people ask for without writing a message to Ringi: commands, shortcuts, and the Home
// tab.
type askWords struct {
	Title, Submit, Close, Text, TextPlaceholder string
	TextOfMessage, TextGoesOn, TextCut          string
	At, AtPlaceholder, AtHint                   string
	Asked, Open                                 string
	Notes                                       map[AskNote]string

	Locale, Untitled                                                    string
	CopiesLeft, CopyFrom, OutcomeText                                   string
	HomeWaiting, HomeNothing, HomeRest, HomeHidden, HomeMore            string
	HomeWaitingMore, HomeWaitingSome, HomeNoneOf, HomeHiddenMore        string // where not all that waits was looked at
	HomeMine, HomeNoneMine, HomeHow, HomeFrom                           string
	ConversationFrom, ConversationLine, HomeConversations, WhatAction   string
	StateOpen, StateBroken                                              string
	WaitsLine, WaitsUntil, ListID                                       string
	WhatPrompt, WhatProcess, WhatStep                                   string
	StateCompleted, StateFailed, StateCancelled, StateParked, StateHeld string
	StateWaits, StateRunning, StatePrepared                             string
}

func askWordsOf(locale string) *askWords {
	return language.InEach(askJapanese, askEnglish).In(locale)()
}

func askJapanese() *askWords {
	return &askWords{
		Title: "稟議を依頼", Submit: "依頼する", Close: "やめる", Text: "依頼の内容", TextPlaceholder: "例: 今月の勤怠をまとめて、#人事 に送って",
		TextOfMessage: "メッセージに見えている内容です。あなたの依頼として、このまま送られます。書き直すこともできます。", TextGoesOn: "続き", TextCut: "メッセージが長いため、ここまでを依頼にします。",
		At: "カードを出すチャンネル", AtPlaceholder: "チャンネルを選ぶ", AtHint: "選ばないときは、Ringi とのダイレクトメッセージに出します。Ringi が参加しているチャンネルを選べます。",
		Asked: "📝 {who} さんの依頼です。\n{text}", Open: "開く",
		Notes: map[AskNote]string{
			NoteAccepted:    "✅ 依頼を受け付けました。カードはスレッドに出ます。",
			NoteElsewhere:   "✅ 依頼を受け付けました。ここには Ringi が投稿できないため、カードは Ringi とのダイレクトメッセージに出ます。",
			NoteRepeated:    "この依頼は、もう受け付けています。",
			NoteBegun:       "同じ依頼を先に送っていますが、受け付けられたかどうか、まだ分かりません。しばらくしてもカードが出ないときは、新しく依頼し直してください。",
			NoteEmpty:       "このメッセージには文章がないため、依頼にできません。",
			NoteOwn:         "Ringi が出したメッセージは依頼にできません。依頼したい内容が書かれたメッセージを選んでください。",
			NoteStranger:    "ゲストの方や別のワークスペースの方は依頼できません。何も投稿していません。",
			NoteUnreachable: "このチャンネルには Ringi が投稿できません。先に Ringi をチャンネルに招待するか、別のチャンネルを選んでください。",
			NoteUnsure:      "Slack から返事がなく、受け付けられたか分かりません。投稿されていなければ、少し待ってからもう一度依頼してください。",
			NoteFailed:      "依頼を受け付けられませんでした。少し待ってから、もう一度依頼してください。",
			NoteTooLong:     "依頼は {max} 文字までです。短くしてください。",
			NoteCancelled:   "⏹️ キャンセルしました。",
			NoteNoSuchTask:  "その ID の依頼は見つかりません。ID は `/ringi list` で確かめられます。",
			NoteForeign:     "このワークスペースでは Ringi を使えません。管理者に、Ringi をこのワークスペースに接続してもらってください。",
			NoteOrgInstall:  "Ringi は組織 (Enterprise Grid) 全体へのインストールに対応していません。使うワークスペースごとにインストールしてください。",
			NoteHelp: "*Ringi の使い方*\n• `/ringi 今月の勤怠をまとめて` … 依頼する\n• `/ringi list` … 自分の依頼と、自分の承認を待っているものを見る\n" +
				"• `/ringi cancel ID` … 依頼をキャンセルする (ID は `/ringi list` に出ます)\n• `/ringi help` … この説明を見る\n" +
				"メッセージのメニューの「この依頼を稟議に」や、チャンネルで Ringi にメンションしても依頼できます。",
			NoteUnknown: "そのコマンドはありません。",
		},
		Locale: "ja", Untitled: "(題名なし)",
		CopiesLeft: "ほか {n} 人の承認者には DM を送っていません", CopyFrom: "*{title}* · 依頼: {who}", OutcomeText: "{state}: {title}",
		HomeWaiting: "あなたの承認待ち ({n} 件)", HomeNothing: "あなたの承認を待っているものはありません。",
		HomeWaitingMore: "あなたの承認待ち ({n} 件以上)", HomeWaitingSome: "あなたの承認待ち", HomeHiddenMore: "ほか {n} 件以上",
		HomeNoneOf: "ワークスペースの承認待ちが多いため、古いものから {n} 件だけを調べました。その中に、あなたの承認を待っているものはありません。",
		HomeRest:   "次のものは、ここに全文を表示できないため、カードを開いて承認してください。",
		HomeHidden: "ほか {n} 件", HomeMore: "ワークスペースの承認待ちが多いため、古いものから {n} 件だけを調べました。",
		HomeMine: "あなたの依頼", HomeNoneMine: "まだ依頼はありません。",
		HomeHow:          "依頼するには、チャンネルで Ringi にメンションするか、「メッセージ」タブに書くか、`/ringi` に続けて書いてください。",
		HomeFrom:         "*{title}* · 依頼: {who}",
		ConversationFrom: "*{title}* · 会話: {who} と {agent}", ConversationLine: "*{title}* — {agent} · {state}", HomeConversations: "エージェントとの会話",
		WhatAction: "操作 #{n} の確認", StateOpen: "💬 会話中", StateBroken: "⚠️ エージェントを利用できません",
		WaitsLine: "*{title}* — {what} · 依頼: {who}", WaitsUntil: " · 期限: {when}", ListID: " · ID `{task}`",
		WhatPrompt: "実行方針 v{version}", WhatProcess: "実行ステップ v{version}", WhatStep: "実行前の確認",
		StateCompleted: "✅ 完了", StateFailed: "❌ 失敗", StateCancelled: "⏹️ 終了 (キャンセル・期限切れ)", StateParked: "⚠️ 生成に失敗 (カードから再試行できます)", StateHeld: "⏳ 承認できる人がいないため保留 (カードから、もう一度確認できます)",
		StateWaits: "🔵 承認待ち", StateRunning: "🚀 実行中", StatePrepared: "✍️ 準備中",
	}
}

func askEnglish() *askWords {
	return &askWords{
		Title: "Ask for approval", Submit: "Send request", Close: "Close", Text: "What do you need?", TextPlaceholder: "e.g. Summarize this month's attendance and send it to #hr",
		TextOfMessage: "What people see of the message. It is sent as your request, as it stands here; you may change it.", TextGoesOn: "Continued", TextCut: "The message is long: the request ends here.",
		At: "Channel for the cards", AtPlaceholder: "Choose a channel", AtHint: "Leave it empty to get the cards in your direct messages with Ringi. Choose a channel that Ringi is a member of.",
		Asked: "📝 A request of {who}.\n{text}", Open: "Open",
		Notes: map[AskNote]string{
			NoteAccepted:    "✅ Your request was received. Its cards appear in the thread.",
			NoteElsewhere:   "✅ Your request was received. Ringi can't post here, so the cards appear in your direct messages with Ringi.",
			NoteRepeated:    "This was received as a request before.",
			NoteBegun:       "You sent the same request before, and it is not known yet whether it was received. If no card appears in a while, start a new request.",
			NoteEmpty:       "This message has no text, so it can't become a request.",
			NoteOwn:         "A message of Ringi's own can't become a request. Choose the message that says what you need.",
			NoteStranger:    "Guests and people of other workspaces can't ask for anything. Nothing was posted.",
			NoteUnreachable: "Ringi can't post in this channel. Invite Ringi first, or choose another channel.",
			NoteUnsure:      "Slack did not answer, so it is not known whether your request was received. If nothing was posted, wait a moment and ask again.",
			NoteFailed:      "Your request could not be received. Wait a moment and ask again.",
			NoteTooLong:     "A request has at most {max} characters. Please shorten it.",
			NoteCancelled:   "⏹️ Cancelled.",
			NoteNoSuchTask:  "There is no request with that ID. `/ringi list` shows the IDs of yours.",
			NoteForeign:     "Ringi can't be used in this workspace. Ask an administrator to connect Ringi to it.",
			NoteOrgInstall:  "Ringi can't be installed for a whole organization (Enterprise Grid). Install it in each workspace that is to use it.",
			NoteHelp: "*How to use Ringi*\n• `/ringi Summarize this month's attendance` … ask for something\n• `/ringi list` … see your requests, and what waits for your approval\n" +
				"• `/ringi cancel ID` … cancel a request (`/ringi list` shows the IDs)\n• `/ringi help` … see this text\n" +
				"“Ask Ringi” in a message's menu, or mentioning Ringi in a channel, makes a request too.",
			NoteUnknown: "There is no such command.",
		},
		Locale: "en", Untitled: "(untitled)",
		CopiesLeft: "{n} more approvers got no direct message", CopyFrom: "*{title}* · asked by {who}", OutcomeText: "{state}: {title}",
		HomeWaiting: "Waiting for your approval ({n})", HomeNothing: "Nothing waits for your approval.",
		HomeWaitingMore: "Waiting for your approval ({n} or more)", HomeWaitingSome: "Waiting for your approval", HomeHiddenMore: "{n} or more besides",
		HomeNoneOf: "Much waits in this workspace: only the {n} oldest entries were looked at, and none of them waits for your approval.",
		HomeRest:   "These can't be shown in full here. Open their cards to approve them.",
		HomeHidden: "{n} more", HomeMore: "Much waits in this workspace: only the {n} oldest entries were looked at.",
		HomeMine: "Your requests", HomeNoneMine: "You have not asked for anything yet.",
		HomeHow:          "To ask for something, mention Ringi in a channel, write in the Messages tab, or type it behind `/ringi`.",
		HomeFrom:         "*{title}* · asked by {who}",
		ConversationFrom: "*{title}* · a conversation of {who} with {agent}", ConversationLine: "*{title}* — {agent} · {state}", HomeConversations: "Your conversations with agents",
		WhatAction: "Check action #{n}", StateOpen: "💬 Open", StateBroken: "⚠️ The agent can't be used now",
		WaitsLine: "*{title}* — {what} · asked by {who}", WaitsUntil: " · until {when}", ListID: " · ID `{task}`",
		WhatPrompt: "Policy v{version}", WhatProcess: "Steps v{version}", WhatStep: "Check before a step runs",
		StateCompleted: "✅ Completed", StateFailed: "❌ Failed", StateCancelled: "⏹️ Ended (cancelled or expired)", StateParked: "⚠️ Generation failed (its card offers to try again)", StateHeld: "⏳ On hold: nobody may approve (its card offers to check again)",
		StateWaits: "🔵 Waiting for approval", StateRunning: "🚀 Running", StatePrepared: "✍️ Being prepared",
	}
}
