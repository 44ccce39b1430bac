package main

import (
	"strings"

	"ringi/shared/domain/tenancy"
	"ringi/shared/words/language"
)

// integrationTexts are the texts of the pages about connections.
type integrationTexts struct {
	Title, Lead, Never, Deployments, Unnamed                                         string
	States                                                                           map[tenancy.IntegrationStatus]string
	Reasons                                                                          map[tenancy.IntegrationReason]string
	Names, Abouts                                                                    map[string]string
	Server, ServerAbout                                                              string
	Address, Since, By, App, Log                                                     string
	Connect, Again, Disconnect, Cancel, Back                                         string
	ClientTitle, ClientLead, ClientChange, Callback, ClientID, ClientSecret, Save    string
	ClientOptional, TokenTitle, TokenLead, Token                                     string
	Registering                                                                      map[string][]string
	GoTitle, GoLead, GoButton, GoCompany, GoHost, GoIssuer, GoCompare                string
	DisconnectTitle, DisconnectLead, DisconnectVendor, DisconnectYes                 string
	Stops                                                                            map[string][]string
	SlackAgain, MoreTitle, MoreLead, MoreNote                                        string
	NotConnected, Unchanged                                                          string
	Faults                                                                           map[string]string
	InstalledTitle, InstalledLead, InstalledAdmin, InstalledNext, InstalledElsewhere string
	NoServers                                                                        string
}

// of is an integration that nothing is known of yet.
func (t integrationTexts) of(provider, address string) integration {
	x := integration{
		Provider: provider, Name: t.Names[provider], About: t.Abouts[provider], Address: address,
		IsServer: isServer(provider), IsSlack: provider == tenancy.SlackProvider, Steps: t.Registering[provider],
	}
	if x.IsServer {
		x.Name, x.About = t.Server+" "+strings.TrimPrefix(provider, tenancy.ServerProvider), t.ServerAbout
	}
	return x
}

// state is a status in words, and what it looks like.
func (t integrationTexts) state(s tenancy.IntegrationStatus) (text, badge string) {
	badges := map[tenancy.IntegrationStatus]string{tenancy.Connected: "badge badge-good", tenancy.Broken: "badge badge-bad", tenancy.Disconnected: "badge"}
	return t.States[s], badges[s]
}

// stops is what doesn't work any more without an integration.
func (t integrationTexts) stops(provider string) []string {
	if isServer(provider) {
		return t.Stops["mcp"]
	}
	return t.Stops[provider]
}

var integrationWords = language.InEach(integrationsJa, integrationsEn)

var integrationsJa = integrationTexts{
	Title: "連携", Lead: "Ringi が作業に使うサービスとの接続です。接続と解除は監査ログに残ります。", Never: "未接続",
	Deployments: "Ringi を設置したときの Slack アプリで動いています。", Unnamed: "この MCP サーバーは設定にもうありません。使わないなら接続を解除してください。",
	States: map[tenancy.IntegrationStatus]string{tenancy.Connected: "接続中", tenancy.Disconnected: "解除済み", tenancy.Broken: "要再接続"},
	Reasons: map[tenancy.IntegrationReason]string{
		tenancy.CredentialRefused:   "サービス側で接続が無効になりました。もう一度接続してください。",
		tenancy.CredentialLost:      "接続の更新中に通信が途切れ、新しい鍵を受け取れませんでした。もう一度接続してください。",
		tenancy.CredentialElsewhere: "設定のアドレスが変わったため、今の鍵は使われません。もう一度接続してください。",
		tenancy.AppUninstalled:      "Slack アプリが削除されたため、接続を終了しました。アプリを入れ直してから、もう一度接続してください。",
		tenancy.TokensRevoked:       "Slack でアプリの許可が取り消されました。アプリを入れ直してください。",
	},
	Names:  map[string]string{"freee": "freee 人事労務", "google": "Google スプレッドシート", "slack": "Slack"},
	Abouts: map[string]string{"freee": "従業員、部署、勤怠を読みます。", "google": "集計した表をスプレッドシートに書き込みます。", "slack": "カードを投稿し、ダイレクトメッセージを送ります。"},
	Server: "MCP サーバー", ServerAbout: "設定で登録したサーバーのツールを使います。",
	Address: "アドレス", Since: "接続した日時", By: "接続した人", App: "登録済みのアプリ", Log: "接続の記録を見る",
	Connect: "接続する", Again: "接続し直す", Disconnect: "接続を解除", Cancel: "やめる", Back: "連携に戻る",
	ClientTitle: "アプリの登録", ClientLead: "接続する前に、このワークスペース用のアプリをサービス側で作り、次の値を貼り付けてください。秘密の値は暗号化して保存し、画面には二度と表示しません。",
	ClientChange: "アプリの登録を変える", Callback: "コールバック URL(サービス側に登録する値)", ClientID: "クライアント ID", ClientSecret: "クライアントシークレット", Save: "保存",
	ClientOptional: "自動で登録できないサーバーのときだけ必要です。シークレットがなければ空のままにします。",
	TokenTitle:     "トークンを貼り付けて接続", TokenLead: "サーバーの管理者からアクセストークンを受け取っているときは、ここに貼り付けます。このアドレスにだけ送られます。", Token: "アクセストークン",
	Registering: map[string][]string{
		"freee":  {"freee アプリストアの「アプリ管理」で新しいアプリを作ります(種類はプライベートで構いません)。", "「コールバック URL」に下の値を登録します。", "権限は freee 人事労務の「従業員」「部署」「勤怠」の参照だけを選びます。", "「基本設定」に表示される Client ID と Client Secret を下に貼り付けます。"},
		"google": {"Google Cloud コンソールで Google Sheets API を有効にし、「OAuth 同意画面」を社内向けで作ります。", "「認証情報」で「OAuth クライアント ID」(種類は「ウェブ アプリケーション」)を作ります。", "「承認済みのリダイレクト URI」に下の値を登録します。", "表示されるクライアント ID とクライアント シークレットを下に貼り付けます。"},
	},
	GoTitle: "サービスの画面へ進む", GoLead: "次の画面で、Ringi のアクセスを許可してください。10 分以内に、このブラウザーで行ってください。", GoButton: "許可の画面へ進む",
	GoHost: "移動先", GoIssuer: "認可サーバー", GoCompare: "移動先に心当たりがないときは、進まずにやめてください。",
	GoCompany:       "freee では、Ringi に使わせる事業所を選びます。",
	DisconnectTitle: "接続を解除しますか?", DisconnectLead: "解除すると、次のことができなくなります。", DisconnectVendor: "Ringi の鍵を削除し、サービス側にも無効にするよう伝えます。あとからまた接続できます。", DisconnectYes: "接続を解除する",
	Stops: map[string][]string{
		"freee":  {"従業員、部署、勤怠を読むステップは失敗します。", "実行中の依頼も、次に freee を使うところで止まります。"},
		"google": {"スプレッドシートに書き込むステップは失敗します。", "書き込み済みの表は残ります。"},
		"slack":  {"カードの投稿と更新、承認の受け付け、ダイレクトメッセージのすべてが止まります。", "このコンソールにもサインインできなくなります。", "元に戻すには、Slack でアプリを入れ直します。"},
		"mcp":    {"このサーバーのツールを使うステップは失敗します。", "ツールの許可はそのまま残ります。"},
	},
	SlackAgain: "Slack にアプリを入れ直す", MoreTitle: "ほかのワークスペースで使う",
	MoreLead:     "次のアドレスを、そのワークスペースの管理者に伝えてください。依頼、設定、接続、監査ログはワークスペースごとに分かれ、互いに見えません。入れた人が最初の管理者になります。",
	MoreNote:     "Ringi を設置した人が、Slack のシークレットの install でそのワークスペースの ID を許可し、Slack のアプリ設定で配布(Manage Distribution)を有効にしておく必要があります。Enterprise Grid の組織全体へのインストールには対応していません。",
	NotConnected: "接続できませんでした", Unchanged: "何も変わっていません。",
	Faults: map[string]string{
		"stale":        "10 分を過ぎたか、別のブラウザーや別の人が始めたか、すでに使われたリンクです。連携のページからやり直してください。",
		"denied":       "サービスの画面で許可されませんでした。許可する権限があるか確かめて、やり直してください。",
		"refused":      "サービスが接続を受け付けませんでした。アプリの登録(ID、シークレット、コールバック URL)を確かめて、やり直してください。",
		"silent":       "サービスから使える返事がありませんでした。少し待ってから、やり直してください。",
		"no-refresh":   "サービスが、接続を保つための鍵を渡しませんでした。サービス側で Ringi のアクセスを一度取り消してから、やり直してください。",
		"no-client":    "アプリがまだ登録されていません。連携のページで登録してから接続してください。",
		"by-token":     "このサーバーは、許可の画面がどこにあるかを公開していません。アクセストークンを貼り付けて接続してください。",
		"unfit":        "このサーバーの許可の画面は、安全に使える条件(https、PKCE など)を満たしていません。サーバーの管理者に確かめてください。",
		"mixed-up":     "別のサービスからの返事でした。連携のページからやり直してください。",
		"client":       "クライアント ID とシークレットを、そのまま貼り付けてください。",
		"token":        "トークンを 1 行で貼り付けてください。16 KiB まで入ります。",
		"put-away":     "このワークスペースの管理者が Ringi との接続を解除しています。もう一度接続できるのは Ringi の管理者だけです。受け取った鍵は返しました。",
		"not-named":    "このワークスペースへのインストールは許可されていません。受け取った鍵は返しました。Ringi を設置した人に、Slack のシークレットの install へワークスペースの ID を加えてもらってから、やり直してください。",
		"organization": "組織全体(Enterprise Grid)へのインストールには対応していません。鍵は返しました。使うワークスペースを 1 つ選んで入れてください。",
	},
	InstalledTitle: "インストールしました", InstalledLead: "で Ringi が使えます。", InstalledAdmin: "はじめて入れたワークスペースでは、あなたが最初の管理者です。サインインして、承認者などの設定を確かめてください。", InstalledNext: "コンソールにサインイン",
	InstalledElsewhere: "Slack で Ringi をチャンネルに招待し、話しかけると始まります。",
	NoServers:          "MCP サーバーは設定のページで登録します。",
}
