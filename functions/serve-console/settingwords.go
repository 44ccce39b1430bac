package main

import (
	"fmt"
	"strings"

	"ringi/functions/serve-console/settingsyaml"
	"ringi/shared/domain/agent"
	"ringi/shared/domain/tenancy"
	"ringi/shared/slack/people"
	"ringi/shared/words/language"
)

// settingText says what a setting is for.
type settingText struct {
	Label, About, Unit string
	Options            map[string]string // by value
}

type settingsTexts struct {
	Title, Lead, Save, Search, SearchUsers, SearchGroups, Found, More, NoneFound, NobodyChosen, Unlisted, Cut string
	Problems, MoreProblems, Conflict, ConflictBoth, Their, NoSlack, Unlimited                                 string
	FurtherDay                                                                                                string            // what bounds a further workspace
	MoreRows                                                                                                  map[string]string // by the name of the list
	Columns                                                                                                   map[string]string // <list>.<column>, and <list>.<column>=<value>
	Choose, ChooseLead, ChooseLink                                                                            string
	History, HistoryNone, HistoryAll, When, Who, What, Was, Is, Earlier, Client                               string
	File, FileLead, Export, Import, ImportLead, ImportFile, ImportText, ImportShow                            string
	ImportTitle, ImportSame, ImportSave, ImportBack, Line, About                                              string
	Yes, No, Nothing                                                                                          string
	Members                                                                                                   string // %d
	AdminsLead, AdminsAdd, AdminsRemove, AdminsChanged, AdminsLast, AdminsUnfit, AdminsNot, AdminsLink        string
	Silent                                                                                                    string
	Spent                                                                                                     string // today, this month
	ModelUsed, ModelUnused, ModelDemo                                                                         string // the model asked last, and when
	Sections                                                                                                  map[string]string
	Fields                                                                                                    map[string]settingText
	Rules                                                                                                     map[tenancy.Rule]string
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
	text, ok := t.Fields[base]
	if !ok {
		return field
	}
	var n int
	if _, err := fmt.Sscanf(at, "%d]", &n); err == nil {
		return fmt.Sprintf("%s (%d)", text.Label, n+1)
	}
	return text.Label
}

// value is one of a few values as people read it, else itself.
func (t settingsTexts) value(field, is string) string {
	if says, ok := t.Fields[field].Options[is]; ok {
		return says
	}
	return is
}

var settingsWords = language.InEach(settingsJA, settingsEN)

var settingsJA = settingsTexts{
	Title: "設定", Lead: "誰が承認できるか(「承認できる人」と「自分の依頼を自分で承認できる」)は、保存するとすぐに、すでに承認を待っているものにも使われます。ほかの設定は、次に作られる方針とステップ、次に始まる承認から使われます。", Save: "保存", Search: "探す",
	SearchUsers: "名前で人を探す", SearchGroups: "名前でグループを探す", Found: "見つかった候補", More: "ほかにもいます。名前をもっと詳しく入れてください。",
	NoneFound: "見つかりません。", NobodyChosen: "まだ選ばれていません。", Unlisted: "このワークスペースの一覧にありません",
	Cut:      "人数が多いため、最初の 5,000 人だけを名前で探せます。ほかの人は Slack のメンバー ID で探してください。",
	Problems: "保存していません。直すところがあります:", MoreProblems: "ほかに %s か所あります。", Conflict: "保存していません。開いている間に、ほかの管理者が設定を保存しました。あなたが触っていない項目は、新しい値に置き換えました。内容を確かめて、もう一度保存してください。",
	ConflictBoth: "次の項目は両方が変えました。あなたの入力を残しています:", Their: "今の値", NoSlack: "Slack の応答がないため、名前を表示できません。承認者はあとで変えてください。",
	Unlimited: "0 は上限なし", FurtherDay: "0 でも、それより多くても、1 日 $%s まで (Ringi を設置した人が決めた上限。料金の分からないモデルは使えません)",
	MoreRows: map[string]string{
		"mcp_servers":  "行を空にすると、そのサーバーは外れます。接続とツールの許可は、それぞれのページで行います。",
		"agents":       "Codex と Claude は、ここに書かなくても使えます。ID を codex か claude にすると、その内容に置き換わります。行を空にすると、そのエージェントは外れます。鍵そのものは書かないでください。",
		"auto_actions": "ここに合うテストだけが、承認なしで始まります。コマンドは 1 語ずつ比べます。* は、半角の英数字と _ . / : @ - の 1 文字以上です。空白を含む語は \" \" で囲みます。シェルのコマンドとファイルの書き込みは、いつも承認が必要です。作業フォルダーの名前は、会話のページにあります。",
	},
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
	Sections: map[string]string{"approval": "承認", "budget": "予算", "limit": "依頼の数の上限", "work": "実行", "contest": "方針のコンテスト", "agent": "エージェントとの会話", "general": "全般"},
	Fields: map[string]settingText{
		"name":                      {Label: "名前", About: "カードなどに出るエージェントの名前です。"},
		"slug":                      {Label: "短い名前", About: "アドレスなどに使う名前です。ほかのワークスペースと同じものは使えません。"},
		"locale":                    {Label: "Slack での言語", About: "カードやメッセージの言語です。このコンソールの言語とは別です。", Options: map[string]string{"ja": "日本語", "en": "English"}},
		"approval_copies":           {Label: "承認者への DM", About: "承認待ちになったとき、一覧にある承認者 (人・ユーザーグループ) にカードを DM でも送ります。20 人までです。", Options: map[string]string{"listed": "送る", "none": "送らない"}},
		"dm_default":                {Label: "DM で受け取った文", About: "DM に書かれたことを何として扱うかです。エージェントの ID で始まる DM (例: claude: …) は、いつも会話になります。", Options: map[string]string{"task": "依頼", "agent": "会話 (既定のエージェントが答えます)"}},
		"prompt_approval_required":  {Label: "方針に承認を求める", About: "「いいえ」にすると、方針は承認なしでステップ作りに進みます。"},
		"process_approval_required": {Label: "ステップに承認を求める", About: "「いいえ」にすると、ステップは承認なしで実行に進みます。書き込みを止めて確かめる設定は、下の項目です。"},
		"auto_approve_tools":        {Label: "承認済みの書き込みをそのまま実行する", About: "「いいえ」にすると、シートへの書き込みや DM の送信の直前に、毎回承認を求めます。"},
		"approvers.mode": {Label: "承認できる人", About: "ゲストと社外の人は、どちらの場合も承認できません。",
			Options: map[string]string{"channel": "依頼があったチャンネルのメンバー", "list": "下で選んだ人とグループ"}},
		"approvers.users":        {Label: "承認者", About: "「下で選んだ人とグループ」のときに使われます。ゲスト、ボット、退職した人、社外の人は選べません。"},
		"approvers.usergroups":   {Label: "承認者のグループ", About: "Slack のユーザーグループです。メンバーは承認のたびに Slack で確かめます。"},
		"allow_self_approval":    {Label: "自分の依頼を自分で承認できる", About: "「いいえ」にすると、依頼した本人以外の承認が必要になります。承認者を指名していないときは、本人のほかに承認できる人がいないダイレクトメッセージでの依頼と、エージェントとの会話を受け付けません。"},
		"approval_timeout_hours": {Label: "承認の期限", About: "これを過ぎると、依頼は期限切れで終わります。", Unit: "時間"},
		"max_versions":           {Label: "作り直しの上限", About: "差し戻しなどで作り直せる回数です。超えると依頼は終わります。", Unit: "版"},
		"max_cost_usd":           {Label: "依頼 1 件の予算", About: "AI の利用料がここに達すると、その依頼は止まります。進行中の 1 回分だけ超えることがあります。", Unit: "米ドル"},
		"max_cost_day_usd":       {Label: "1 日の予算 (ワークスペース全体)", About: "協定世界時の 1 日 (日本では朝 9 時から) の合計です。達すると、その日は新しい AI の利用が止まります。同時に進んでいる分だけ超えることがあります。", Unit: "米ドル"},
		"max_cost_month_usd":     {Label: "1 か月の予算 (ワークスペース全体)", About: "協定世界時の 1 か月の合計です。達すると、翌月まで新しい AI の利用が止まります。同時に進んでいる分だけ超えることがあります。", Unit: "米ドル"},
		"max_open_tasks.person":  {Label: "同時に進む依頼 (1 人)", Unit: "件"}, "max_open_tasks.tenant": {Label: "同時に進む依頼 (全体)", Unit: "件"},
		"max_tasks_per_hour.person": {Label: "1 時間の依頼 (1 人)", Unit: "件"}, "max_tasks_per_hour.tenant": {Label: "1 時間の依頼 (全体)", Unit: "件"},
		"model":                     {Label: "AI モデル", About: "例: claude-sonnet-4-6、openai:gpt-5.4、bedrock:…。鍵が登録されているものだけが使えます。Ringi を設置した人が設置のときにモデルを決めている場合は、そちらが使われ、この欄は効きません。"},
		"executor":                  {Label: "実行のしかた", About: "承認されたステップを何が実行するかです。次に始まる承認から変わります。", Options: map[string]string{"steps": "ステップを順に実行 (標準)", "managed": "Claude のセッションで実行"}},
		"l4_timeout_seconds":        {Label: "実行の制限時間", About: "これを過ぎると、実行は失敗として終わります。", Unit: "秒"},
		"retain_results_days":       {Label: "結果の保存期間", About: "大きな結果は、この日数を過ぎると消えます。監査ログは消えません。これから保存する結果に使われます。", Unit: "日"},
		"mcp_servers":               {Label: "MCP サーバー", About: "ツールを提供するサーバーです。"},
		"agents":                    {Label: "エージェント", About: "会話の相手です。使える提供元、モデル、できること (code: ファイルの作成、shell: コマンドの実行、test: テストの実行) を決めます。"},
		"auto_actions":              {Label: "承認なしで始めてよいテスト", About: "空なら、エージェントの提案はすべて承認を待ちます。"},
		"action_timeout_hours":      {Label: "提案への返事の期限", About: "これを過ぎると、エージェントの提案は期限切れで取り消されます。", Unit: "時間"},
		"session_idle_days":         {Label: "会話を閉じるまで", About: "この日数メッセージがない会話は閉じます。続きは新しい会話で始めます。", Unit: "日"},
		"ai_sessions.cache.enabled": {Label: "閉じた会話を残す", About: "「いいえ」にすると、会話は閉じてまもなく消えます。監査ログは残ります。これから始まる会話に使われます。"},
		"max_session_cost_usd":      {Label: "会話 1 つの予算", About: "AI の利用料がここに達すると、エージェントはその会話で答えなくなります。進行中の 1 回分だけ超えることがあります。", Unit: "米ドル"},
		"max_messages_per_hour":     {Label: "1 時間のメッセージ (1 人)", About: "これを超えたメッセージは残りますが、エージェントはすぐには答えません。", Unit: "件"},
		"draft_contest.enabled":     {Label: "方針をコンテストで下書きする", About: "複数の AI チームが同時に下書きし、採点で最もよかった案が承認に回ります。ほかの案もカードから選べます。1 回につき、おおむね下の予算までかかります。差し戻した版は、コンテストを最初からやり直すため、その分の予算がもう一度かかります。全体の費用は、上の「予算」で 1 日と 1 か月の上限を決めて抑えます。Ringi を設置した人がコンテストのファイルを置いている場合に使えます。"},
		"draft_contest.budget_usd":  {Label: "コンテスト 1 回の予算", About: "チームの数で等分します。使い切ったチームは、それまでの最もよい案で終わります。そのとき始まっていた呼び出しの分は超えます。依頼 1 件の予算の残りも上限になります。", Unit: "米ドル"},
		"draft_contest.max_rounds":  {Label: "1 チームのラウンド", About: "案を書く回数です。2 回目からは採点を受けて書き直します。ファイルに書かれた回数のほうが少なければ、そちらになります。", Unit: "回まで"},
		"draft_contest.seconds":     {Label: "コンテストの制限時間", About: "過ぎると、それまでの案で終わります。", Unit: "秒"},
		"draft_contest.file":        {Label: "コンテストのファイル", About: "チームと採点のしかたを書いたファイルの場所です。例: configs/contest.toml"},
		"admins":                    {Label: "管理者"},
	},
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
		settingsyaml.RuleFlag: "true か false にしてください。", settingsyaml.RuleWhole: "整数にしてください。", settingsyaml.RuleNumber: "数にしてください。", settingsyaml.RuleText: "文字にしてください。",
		settingsyaml.RuleList: "「- 値」の並びにしてください。", settingsyaml.RuleFields: "「名前: 値」の並びにしてください。",
	},
}
