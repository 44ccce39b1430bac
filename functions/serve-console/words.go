package main

import "ringi/shared/words/language"

// layoutTexts are the texts of every page.
type layoutTexts struct {
	Lang, Console, Skip, Menu, OtherLanguage, OtherCode, SignOut, Admin                                                    string
	Tasks, Approvals, Agents, Contests, Audit, Insights, Settings, Integrations, Tools                                     string
	Stale, Zone, Stands, OpenNow                                                                                           string
	TasksAbout, ApprovalsAbout, AgentsAbout, ContestsAbout, AuditAbout, InsightsAbout, SettingsAbout, IntAbout, ToolsAbout string
}

var layoutWords = language.InEach(
	layoutTexts{
		Lang: "ja", Console: "稟議コンソール", Skip: "本文へ", Menu: "メニュー", OtherLanguage: "English", OtherCode: "en", SignOut: "サインアウト", Admin: "管理者",
		Tasks: "依頼", Approvals: "承認待ち", Agents: "エージェント", Contests: "コンテスト", Audit: "監査ログ", Insights: "集計", Settings: "設定", Integrations: "連携", Tools: "ツール",
		Zone:   "日時と日付は、すべて日本時間です。",
		Stands: "今の状態", OpenNow: "今の内容を開く",
		Stale:      "最新の状態を取得できません。ページを読み込み直してください。",
		TasksAbout: "依頼の状態を探して確かめます。", ApprovalsAbout: "判断を待っているものを、古い順に読みます。", AgentsAbout: "エージェントとの会話と、承認を待つ操作です。", ContestsAbout: "チームが競って作った案と、その採点です。", AuditAbout: "だれが、いつ、何をしたかの記録です。",
		InsightsAbout: "かかった時間、承認の割合、費用の推移です。", SettingsAbout: "承認者、予算、保存期間などを決めます。", IntAbout: "freee、Google、Slack、MCP サーバーとの接続です。", ToolsAbout: "使えるツールと、その制限です。",
	},
	layoutTexts{
		Lang: "en", Console: "Ringi console", Skip: "Skip to content", Menu: "Menu", OtherLanguage: "日本語", OtherCode: "ja", SignOut: "Sign out", Admin: "Administrator",
		Tasks: "Requests", Approvals: "Approvals", Agents: "Agents", Contests: "Contests", Audit: "Audit log", Insights: "Insights", Settings: "Settings", Integrations: "Integrations", Tools: "Tools",
		Zone:   "All times and dates are Japan's (UTC+9).",
		Stands: "Now", OpenNow: "Open it as it is now",
		Stale:      "The latest state can't be fetched. Please reload the page.",
		TasksAbout: "Find requests and see where they stand.", ApprovalsAbout: "What waits for a decision, oldest first.", AgentsAbout: "Conversations with agents, and what they want to do.", ContestsAbout: "Drafts that teams competed with, and their scores.", AuditAbout: "Who did what, and when.",
		InsightsAbout: "Times to decide, approval rates and cost.", SettingsAbout: "Approvers, budgets, retention and more.", IntAbout: "Connections to freee, Google, Slack and MCP servers.", ToolsAbout: "Which tools may be used, and within which limits.",
	},
)

// noticeWords are what a page says after something was done, by the key in its address.
var noticeWords = language.InEach(
	map[string]string{
		"saved":       "保存しました。",
		"act_approve": "承認しました。", "act_reject": "却下しました。", "act_take_as_reason": "却下理由にしました。", "act_take_as_request": "新しい依頼にしました。",
		"act_retry_generation": "もう一度作成します。", "act_check_approvers": "承認できる人がいるかを、もう一度確認します。", "act_retry_execution": "もう一度実行します。", "act_cancel_execution": "中止しました。", "act_cancel_task": "依頼を取り消しました。", "contest_cancelled": "コンテストを中止しました。", "contest_begun": "コンテストを始めました。",
		"act_pick_draft":    "この案に替えました。あらためて承認を待っています。",
		"act_cancel_action": "操作を取り消しました。", "act_close_session": "会話を終えました。", "act_reopen_session": "会話をもう一度始めました。続きは Slack のスレッドに書いてください。",
		"connected": "接続しました。", "disconnected": "接続を解除し、サービス側でも無効にしました。", "client-saved": "アプリの登録を保存しました。続けて接続してください。",
		"not-revoked": "接続を解除しました。サービス側で無効になったことは確かめられていません。サービスの画面で Ringi のアクセスを取り消してください。",
	},
	map[string]string{
		"saved":       "Saved.",
		"act_approve": "Approved.", "act_reject": "Rejected.", "act_take_as_reason": "It became the reason of a rejection.", "act_take_as_request": "It became a new request.",
		"act_retry_generation": "It is written once more.", "act_check_approvers": "Ringi checks again whether somebody may approve.", "act_retry_execution": "It is run once more.", "act_cancel_execution": "Stopped.", "act_cancel_task": "The request is cancelled.", "contest_cancelled": "The contest is cancelled.", "contest_begun": "The contest has begun.",
		"act_pick_draft":    "This draft took the other’s place, and now waits for approval.",
		"act_cancel_action": "The action was withdrawn.", "act_close_session": "The conversation is closed.", "act_reopen_session": "The conversation begins again. Go on in its thread in Slack.",
		"connected": "Connected.", "disconnected": "Disconnected, and made invalid at the service.", "client-saved": "The app was saved. Now connect.",
		"not-revoked": "Disconnected. The service did not confirm that its key is invalid: remove Ringi's access on its own pages.",
	},
)

// warnings are the notices after which something is left to do elsewhere.
var warnings = map[string]bool{"not-revoked": true}

type signInTexts struct{ Title, About, Button, Note string }

var signInWords = language.InEach(
	signInTexts{
		Title: "サインイン", About: "依頼の履歴、承認待ち、設定は、ワークスペースのメンバーだけが見られます。", Button: "Slack でサインイン",
		Note: "8 時間でサインアウトします。ゲストと、ほかの会社の人は入れません。",
	},
	signInTexts{
		Title: "Sign in", About: "Requests, approvals and settings are for members of your workspace.", Button: "Sign in with Slack",
		Note: "You are signed out after 8 hours. Guests and people of other companies can't enter.",
	},
)

// sentence is what an error page says: what is so, and what to do.
type sentence struct{ Title, Text string }

type faultTexts struct {
	NoPage, NotFound, AdminsOnly, SignedOut, BadForm, TooMany, StaleSignIn, Denied, NoClient, NoAdmin, NotOfUs, NewWorkspace, SignInRefused sentence
	NotAllowed, Conflict, BadInput, Unavailable, Internal, ExportsBusy                                                                      sentence
}

var faultWords = language.InEach(
	faultTexts{
		NoPage:        sentence{"ページがありません", "アドレスを確かめてください。"},
		NotFound:      sentence{"見つかりません", "削除されたか、あなたのワークスペースのものではありません。"},
		AdminsOnly:    sentence{"管理者だけのページです", "見る必要があるときは、管理者に頼んでください。"},
		SignedOut:     sentence{"サインアウトしています", "何も変わっていません。サインインして、もう一度お試しください。"},
		BadForm:       sentence{"このフォームは使えません", "何も変わっていません。前のページを読み込み直して、もう一度お試しください。"},
		TooMany:       sentence{"サインインの回数が多すぎます", "1 分ほど待ってから、もう一度お試しください。"},
		StaleSignIn:   sentence{"サインインをやり直してください", "10 分を過ぎたか、別のブラウザーで始めたか、すでに使われたリンクです。"},
		Denied:        sentence{"サインインしませんでした", "Slack で許可されなかったため、サインインしていません。"},
		NoClient:      sentence{"サインインの準備ができていません", "Slack アプリの client_id と client_secret がまだ登録されていません。Ringi を設置した人に伝えてください。"},
		NoAdmin:       sentence{"最初の管理者が決まっていません", "Slack で Ringi に一度依頼すると入れるようになります。依頼する前に入るには、Ringi を設置した人に、最初の管理者 (tenant_admin) を登録してもらってください。"},
		NotOfUs:       sentence{"この Slack アカウントでは入れません", "Ringi を使っているワークスペースの正式なメンバーだけが入れます。ゲストは入れません。"},
		NewWorkspace:  sentence{"このワークスペースでは使えません", "Ringi がインストールされているワークスペースの人だけが入れます。管理者に、Ringi をインストールしてもらってください。"},
		SignInRefused: sentence{"サインインできませんでした", "Slack が確認を返しませんでした。もう一度お試しください。"},
		NotAllowed:    sentence{"許可されていません", "あなたにはこの操作ができません。何も変わっていません。"},
		Conflict:      sentence{"ほかの人が先に変えました", "何も変わっていません。前のページを読み込み直すと、今の状態が見えます。"},
		BadInput:      sentence{"受け付けられない内容です", "入力した内容かアドレスに誤りがあります。"},
		Unavailable:   sentence{"今は応答がありません", "Slack などの応答がありません。少し待ってから、もう一度お試しください。"},
		ExportsBusy:   sentence{"書き出しが混み合っています", "ワークスペースで 3 件の書き出しが進んでいます。終わってから、もう一度お試しください。"},
		Internal:      sentence{"うまくいきませんでした", "もう一度お試しください。続くときは、時刻を添えて管理者に伝えてください。"},
	},
	faultTexts{
		NoPage:        sentence{"There is no such page", "Please check the address."},
		NotFound:      sentence{"Not found", "It was deleted, or does not belong to your workspace."},
		AdminsOnly:    sentence{"This page is for administrators", "If you need it, ask one of yours."},
		SignedOut:     sentence{"You are signed out", "Nothing was changed. Sign in and try again."},
		BadForm:       sentence{"This form can't be used", "Nothing was changed. Reload the page before and try again."},
		TooMany:       sentence{"Too many sign-ins", "Wait for a minute, then try again."},
		StaleSignIn:   sentence{"Please sign in again", "The link is older than 10 minutes, was begun in another browser, or was used before."},
		Denied:        sentence{"You did not sign in", "It was not allowed on Slack's page, so nobody was signed in."},
		NoClient:      sentence{"Signing in is not set up", "The Slack app's client_id and client_secret are not there yet. Tell whoever installed Ringi."},
		NoAdmin:       sentence{"The first administrator is not known yet", "The console opens once somebody has asked Ringi for something in Slack. To enter before that, have whoever installed Ringi register the first administrator (tenant_admin)."},
		NotOfUs:       sentence{"This Slack account can't enter", "Only full members of a workspace that uses Ringi can. Guests can't."},
		NewWorkspace:  sentence{"Not for this workspace", "Only people of workspaces in which Ringi is installed can enter. Ask an administrator to install it in yours."},
		SignInRefused: sentence{"You could not be signed in", "Slack did not confirm who you are. Please try again."},
		NotAllowed:    sentence{"Not allowed", "You can't do this. Nothing was changed."},
		Conflict:      sentence{"Somebody was faster", "Nothing was changed. Reload the page before to see how it stands."},
		BadInput:      sentence{"That can't be taken", "Something in the form or the address is not right."},
		Unavailable:   sentence{"No answer for now", "Slack or another service does not answer. Wait a little, then try again."},
		ExportsBusy:   sentence{"Other exports are under way", "Your workspace has 3 of them. Try again when one is done."},
		Internal:      sentence{"Something went wrong", "Please try again. If it stays so, tell an administrator, with the time."},
	},
)
