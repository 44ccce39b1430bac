package main

import (
	"fmt"
	"slices"
	"strings"

	"ringi/functions/serve-console/settingsyaml"
	"ringi/shared/domain/agent"
	"ringi/shared/domain/tenancy"
	"ringi/shared/slack/people"
	"ringi/shared/words/language"
)

type settingsTexts struct {
	locale                                                                                                     string
	Title, Lead, Save, Search, SearchUsers, SearchGroups, Found, More, NoneFound, NobodyChosen, Unlisted, Cut  string
	Problems, MoreProblems, Conflict, ConflictBoth, Their, NoSlack, Unlimited                                  string
	FurtherDay                                                                                                 string            // what bounds a further workspace
	Columns                                                                                                    map[string]string // <list>.<column>, and <list>.<column>=<value>
	Choose, ChooseLead, ChooseLink                                                                             string
	History, HistoryNone, HistoryAll, When, Who, What, Was, Is, Earlier, Client                                string
	File, FileLead, Export, Import, ImportLead, ImportFile, ImportText, ImportShow                             string
	ImportTitle, ImportSame, ImportSave, ImportBack, Line, About                                               string
	Yes, No, Nothing                                                                                           string
	Members                                                                                                    string // %d
	Admins, AdminsLead, AdminsAdd, AdminsRemove, AdminsChanged, AdminsLast, AdminsUnfit, AdminsNot, AdminsLink string
	Silent                                                                                                     string
	Spent                                                                                                      string // today, this month
	ModelUsed, ModelUnused, ModelDemo                                                                          string // the model asked last, and when
	Rules                                                                                                      map[tenancy.Rule]string
}

// problem is what is wrong with a field in the reader's words.
func (t settingsTexts) problem(p tenancy.Problem) string {
	says, ok := t.Rules[p.Rule]
	if !ok {
		return string(p.Rule)
	}
	var words []string
	for _, w := range p.Words {
		words = append(words, t.value(p.Field, w))
	}
	return strings.NewReplacer("{min}", count(int64(p.Min)), "{max}", count(int64(p.Max)), "{words}", strings.Join(words, " / ")).Replace(says)
}

// label is the name of a field for people; one within a list has its number behind it.
func (t settingsTexts) label(field string) string {
	if provider, ok := strings.CutPrefix(field, "clients."); ok {
		return fmt.Sprintf("%s (%s)", t.Client, provider)
	}
	base, at, _ := strings.Cut(field, "[")
	x, ok := tenancy.SettingNamed(base)
	switch {
	case field == "admins":
		return t.Admins
	case !ok || !x.Asked():
		return field
	}
	label := x.Says.In(t.locale).Label
	var n int
	if _, err := fmt.Sscanf(at, "%d]", &n); err == nil {
		return fmt.Sprintf("%s (%d)", label, n+1)
	}
	return label
}

// value is one of a few values as people read it, else itself.
func (t settingsTexts) value(field, is string) string {
	x, _ := tenancy.SettingNamed(field)
	if i := slices.Index(x.Choices, is); i >= 0 {
		return x.Says.In(t.locale).Choices[i]
	}
	return is
}

var settingsWords = language.InEach(settingsJA, settingsEN)

var settingsJA = settingsTexts{
	locale: "ja", Admins: "管理者",
	Title: "設定", Lead: "誰が承認できるか(「承認できる人」と「自分の依頼を自分で承認できる」)は、保存するとすぐに、すでに承認を待っているものにも使われます。ほかの設定は、次に作られる方針とステップ、次に始まる承認から使われます。", Save: "保存", Search: "探す",
	SearchUsers: "名前で人を探す", SearchGroups: "名前でグループを探す", Found: "見つかった候補", More: "ほかにもいます。名前をもっと詳しく入れてください。",
	NoneFound: "見つかりません。", NobodyChosen: "まだ選ばれていません。", Unlisted: "このワークスペースの一覧にありません",
	Cut:      "人数が多いため、最初の 5,000 人だけを名前で探せます。ほかの人は Slack のメンバー ID で探してください。",
	Problems: "保存していません。直すところがあります:", MoreProblems: "ほかに %s か所あります。", Conflict: "保存していません。開いている間に、ほかの管理者が設定を保存しました。あなたが触っていない項目は、新しい値に置き換えました。内容を確かめて、もう一度保存してください。",
	ConflictBoth: "次の項目は両方が変えました。あなたの入力を残しています:", Their: "今の値", NoSlack: "Slack の応答がないため、名前を表示できません。承認者はあとで変えてください。",
	Unlimited: "0 は上限なし", FurtherDay: "0 でも、それより多くても、1 日 $%s まで (Ringi を設置した人が決めた上限。料金の分からないモデルは使えません)",
	Columns: map[string]string{
		"mcp_servers.name": "名前", "mcp_servers.url": "アドレス",
		"agents.id": "ID", "agents.label": "表示名", "agents.provider": "提供元", "agents.model": "モデル", "agents.endpoint": "アドレス", "agents.capabilities": "できること",
		"agents.auth_ref": "鍵の名前", "agents.is_default": "既定にする", "agents.metadata": "表示名", "agents.entry": "行",
		"agents.provider=openai": "OpenAI", "agents.provider=anthropic": "Anthropic", "agents.provider=http": "HTTP (社外のアドレス)", "agents.provider=local": "ローカル (許可されたアドレス)",
		"auto_actions.argv": "テストのコマンド", "auto_actions.workspace": "作業フォルダー",
	},
	Choose: "自分の依頼を自分で承認できるかを決めてください", ChooseLead: "まだ誰も決めていません。今は「できる」になっています。", ChooseLink: "説明を読んで決める",
	Client: "アプリの登録", History: "変更の履歴", HistoryNone: "まだ変更はありません。", HistoryAll: "すべての履歴", When: "日時", Who: "変えた人", What: "項目", Was: "前", Is: "後", Earlier: "値は記録されていません",
	File: "ファイルへの書き出しと読み込み", FileLead: "検証用のワークスペースの設定を、本番に写すときなどに使います。", Export: "YAML で書き出す", Import: "YAML を読み込む",
	ImportLead: "読み込むと、まず今の設定との違いを表示します。確かめてから保存できます。ファイルにない項目は変わりません。", ImportFile: "ファイル", ImportText: "またはここに貼り付け", ImportShow: "違いを見る",
	ImportTitle: "読み込む設定の確認", ImportSame: "今の設定と同じです。保存するものはありません。", ImportSave: "この内容で保存", ImportBack: "設定に戻る", Line: "%d 行目",
	About: "%s の設定。slug はワークスペースごとに違うため、含まれません。", Yes: "はい", No: "いいえ", Nothing: "(なし)", Members: "%d 人",
	AdminsLead: "設定、連携、ツール、監査ログ、集計のページを開ける人です。", AdminsAdd: "管理者にする", AdminsRemove: "管理者から外す", AdminsLink: "管理者を変える", AdminsNot: "管理者にできません",
	AdminsChanged: "何も変わっていません。ほかの管理者が先に変えました。確かめて、もう一度お試しください。", AdminsLast: "何も変わっていません。管理者は 1 人以上必要です。", AdminsUnfit: "何も変わっていません。%s は管理者にできません。ワークスペースの正式なメンバーだけがなれます。",
	Silent: "保存していません。Slack の応答がないため、承認者を確かめられません。入力は残しています。少し待ってから、もう一度お試しください。", Spent: "これまでの費用: 今日 $%s · 今月 $%s (コンソールで始めたコンテストは、終わるまで予算の全額を含みます)",
	ModelUsed: "最後に実際に使われたモデル: %s(%s)", ModelUnused: "まだ依頼がないため、実際に使われるモデルは、最初の依頼のあとにここに出ます。", ModelDemo: "demo(動作を確かめるための、決まった型で答えるもの)",
	Rules: map[tenancy.Rule]string{
		tenancy.RuleBetween: "{min} から {max} までにしてください。", tenancy.RuleLength: "{min} 文字から {max} 文字までにしてください。", tenancy.RuleCount: "選べるのは {max} 件までです。",
		tenancy.RuleOneOf: "次のどれかにしてください: {words}", tenancy.RuleSlug: "半角の英小文字、数字、ハイフンで 63 文字までにしてください。最初は英小文字か数字です。",
		tenancy.RuleSlugTaken: "ほかのワークスペースが使っています。", tenancy.RuleSlugLater: "最初の依頼を受けてから変えられます。",
		tenancy.RuleModel:  "この名前のモデルはありません。claude-、gpt-、gemini- などで始まる名前か、anthropic:、openai:、bedrock:、compatible: を付けた名前にしてください。",
		tenancy.RuleUserID: "Slack のメンバー ID (U… または W…) ではありません。", tenancy.RuleGroupID: "Slack のユーザーグループの ID (S…) ではありません。",
		tenancy.RuleServerName: "半角の英小文字、数字、ハイフンで 32 文字までにしてください。", tenancy.RuleTaken: "同じ名前のサーバーがあります。",
		tenancy.RuleAddress: "https://example.com/mcp のようなアドレスを、500 文字までで入れてください。", tenancy.RuleAddressOnly: "アドレスに、利用者名、パスワード、? や # の後の部分を含めないでください。秘密の値は連携のページで登録します。",
		tenancy.RuleHTTPS: "https:// で始まるアドレスにしてください。", tenancy.RuleAbove: "0 より大きくしてください。", tenancy.RuleFile: "/ や .. を使わず、置き場所の中の位置を書いてください。",
		people.RuleBot: "ボットは承認者にできません。", people.RuleGone: "退職などで無効になったアカウントです。承認者にできません。", people.RuleGuest: "ゲストは承認者にできません。",
		people.RuleOutsider: "このワークスペースのメンバーではありません。承認者にできません。", people.RuleNoGroup: "このワークスペースにないか、無効になったグループです。",
		tenancy.Rule(agent.RuleRequired): "必ず入れてください。", tenancy.Rule(agent.RuleID): "半角の英小文字、数字、- と _ で 32 文字までにしてください。最初は英小文字か数字です。", tenancy.Rule(agent.RuleTaken): "同じ ID の行があります。",
		tenancy.Rule(agent.RuleUnread): "値の形が違います。", tenancy.Rule(agent.RuleProvider): "openai、anthropic、http、local のどれかにしてください。", tenancy.Rule(agent.RuleAbility): "code、shell、test から選んでください。",
		tenancy.Rule(agent.RuleModel): "モデルの名前は、半角の英数字と . _ : / @ + - で 150 文字までです。", tenancy.Rule(agent.RuleEndpoint): "https://example.com/v1 のようなアドレスを、500 文字までで入れてください。利用者名、パスワード、? や # の後の部分は含められません。",
		tenancy.Rule(agent.RuleSecure): "https:// で始まるアドレスか、この環境で許可されたアドレスにしてください。", tenancy.Rule(agent.RuleElsewhere): "この環境で許可されていないアドレスです。", tenancy.Rule(agent.RuleNoPlace): "アドレスを入れられるのは、提供元が HTTP かローカルのときだけです。",
		tenancy.Rule(agent.RuleAuthRef): "鍵の名前を、半角の英数字と . _ - で 64 文字までで入れてください。鍵そのものは入れないでください。", tenancy.Rule(agent.RuleMetadata): "表示名などの情報は 20 個まで、それぞれ 500 文字までです。",
		tenancy.Rule(agent.RuleAutoType): "承認なしにできるのは test_run (テスト) だけです。", tenancy.Rule(agent.RuleAutoArgv): "コマンドは 1 語から 32 語、1 語は 200 文字までで、最初の語に * は使えません。",
		tenancy.Rule(agent.RuleAutoStar):   "* は、次のコマンドに渡す名前にだけ使えます: " + agent.OpenCommands() + "。ほかのコマンドは、* を使わずに全部の語を入れてください。* にコードや別のプログラムが入ると、だれにも承認されずに動いてしまうためです。",
		tenancy.Rule(agent.RuleAutoOption): "* と一緒に使えるオプションは、-run、-k、-Dtest のように、テストを選ぶものか表示を変えるものだけです。オプションの名前に * は使えません。",
		tenancy.Rule(agent.RuleAutoShell):  "シェルや、ほかのプログラムを起動するコマンドは承認なしにできません。", tenancy.Rule(agent.RuleAutoWorkspace): "作業フォルダーの名前を 200 文字までで入れてください。",
		settingsyaml.RuleSyntax: "YAML として読めません。", settingsyaml.RuleLarge: "ファイルが大きすぎます ({max} バイトまで)。", settingsyaml.RuleUnknown: "この名前の設定はありません。", settingsyaml.RuleTwice: "同じ設定が 2 回あります。",
		settingsyaml.RuleAlias: "& や * で始まる書き方は使えません。", settingsyaml.RuleOwn: "ワークスペースごとの設定なので、ファイルからは変えられません。この行を消してください。",
		tenancy.RuleFlag: "true か false にしてください。", tenancy.RuleWhole: "整数にしてください。", tenancy.RuleNumber: "数にしてください。", tenancy.RuleText: "文字にしてください。",
		tenancy.RuleList: "「- 値」の並びにしてください。", settingsyaml.RuleFields: "「名前: 値」の並びにしてください。",
	},
}
