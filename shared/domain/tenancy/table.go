package tenancy

import (
	"ringi/shared/domain/aggregate"
	"ringi/shared/words/language"
)

// Sections are the settings on the settings page, in order. To add a setting, add a field to Settings and a row here;
// the page, the file, the command and the audit log follow from these.
var Sections = []Section{
	{Key: "approval", Title: language.InEach("承認", "Approval"), Settings: []Setting{
		{Name: "prompt_approval_required", Kind: KindFlag, Default: true, Says: language.InEach(
			Words{Label: "実行方針の承認を求める", About: "切ると、方針は承認なしで進みます。"},
			Words{Label: "Require approval of policies", About: "If off, policies go ahead without approval."})},
		{Name: "process_approval_required", Kind: KindFlag, Default: true, Says: language.InEach(
			Words{Label: "実行ステップの承認を求める", About: "切ると、ステップは承認なしで動きます。"},
			Words{Label: "Require approval of steps", About: "If off, steps run without approval."})},
		{Name: "auto_approve_tools", Kind: KindFlag, Default: true, Says: language.InEach(
			Words{Label: "承認済みの書き込みをそのまま実行する", About: "切ると、シートや DM への書き込みのたびに、もう一度承認を求めます。"},
			Words{Label: "Run approved writes without asking again", About: "If off, Ringi asks again before each write."})},
		{Name: "approvers.mode", Kind: KindChoice, Choices: []string{string(aggregate.ApproversChannel), string(
			aggregate.ApproversList)}, OnCards: true,
			Says: language.InEach(
				Words{Label: "承認できる人", About: "ゲストと社外の人は、どちらの場合も承認できません。", Choices: []string{"依頼があったチャンネルのメンバー", "選んだ人とグループ"}},
				Words{Label: "Who may approve", About: "Guests and external people can never approve.",
					Choices: []string{"Members of the request’s channel", "Selected people and groups"}})},
		{Name: "approvers.users", Kind: KindPeople, Max: 200, Code: "user_id", fits: like(&aggregate.UserForm), OnCards: true,
			Says: language.InEach(
				Words{Label: "承認者", About: "「選んだ人とグループ」のときに使います。"},
				Words{Label: "Approvers", About: "Used with “Selected people and groups”."})},
		{Name: "approvers.usergroups", Kind: KindGroups, Max: 50, Code: "group_id", fits: like(&aggregate.GroupForm),
			OnCards: true, Says: language.InEach(
				Words{Label: "承認者のグループ", About: "Slack のユーザーグループです。承認のたびに Slack で確認します。"},
				Words{Label: "Approver groups", About: "Slack user groups, checked in Slack at each approval."})},
		{Name: "allow_self_approval", Kind: KindFlag, Default: true, OnCards: true, Says: language.InEach(
			Words{Label: "自分の依頼を自分で承認できる", About: "1 人でも進められますが、証跡としては弱くなります。切ると、承認者を指名するまで、DM での依頼とエージェントとの会話を断ります。"},
			Words{Label: "People may approve their own requests", About: "One person can get work done alone, but approvals " +
				"carry less weight in an audit. If off, Ringi declines direct-message requests and conversations with agents " +
				"until you name approvers."})},
		{Name: "approval_timeout_hours", Kind: KindWhole, Min: 1, Max: 8760 - 24, Default: 168, Says: language.InEach(
			Words{Label: "承認の期限", About: "過ぎると、依頼は期限切れで終了します。", Unit: "時間"},
			Words{Label: "Approval time limit", About: "Requests expire after this time.", Unit: "hours"})},
		{Name: "fiscal_year_month", Kind: KindWhole, Min: 1, Max: 12, Default: FiscalYearBegins, Says: language.InEach(
			Words{Label: "番号の年度が始まる月", About: "決裁番号は、年度ごとに 1 から始まります。", Unit: "月"},
			Words{Label: "Fiscal year of numbers begins in month",
				About: "Numbers of decisions start at 1 in each fiscal year."})},
		{Name: "matters", Kind: KindRows, Max: MaxMatters, Says: language.InEach(
			Words{Label: "決裁の区分", About: "「決裁を求める」フォームで選ぶ区分です。回覧ルールの種別「区分」にこの名前を書くと、その区分の決裁だけに当てはまります。空なら、支出、契約、人事、規程、その他です。",
				Hint: "名前は 1〜40 文字です。"},
			Words{Label: "Matters for decisions",
				About: "What people choose from in the form “Ask for a decision”. Rules tell them apart by the kind “区分”. " +
					"If empty: Spending, Contract, People, Regulation, Other.",
				Hint: "Names have 1–40 characters."})},
		{Name: "max_versions", Kind: KindWhole, Min: 1, Max: 50, Default: 5, Says: language.InEach(
			Words{Label: "バージョンの上限", About: "作り直しも数えます。超えると依頼は終わります。", Unit: "個"},
			Words{Label: "Maximum versions", About: "Counts redrafts, for example after a rejection. The request then ends.",
				Unit: "versions"})},
		{Name: "remind_at", Kind: KindText, Code: "clock", fits: isClockOrNone, Default: "09:30", Says: language.InEach(
			Words{Label: "承認待ちをお知らせする時刻", About: "名前を挙げて承認を求められている人に、承認待ちの一覧を営業日ごとに 1 通の DM で送ります。" +
				"チャンネルのだれでも承認できるものは、そのチャンネルに 1 通だけ送ります。この時刻 (日本時間、例: 09:30) までの 4 時間に届いたものは翌営業日に回します。空なら送りません。"},
			Words{Label: "Remind approvers at", About: "Each working day, people who are asked by name get one direct message " +
				"that lists what waits for them; a channel whose members may all approve gets one. Enter a time in Japan, " +
				"such as 09:30. What came in the 4 hours before is left " +
				"to the next working day. If empty, nobody is reminded."})},
	}},
	{Key: "budget", Title: language.InEach("予算", "Budgets"), Settings: []Setting{
		{Name: "max_cost_usd", Kind: KindDollars, Limit: true, Says: language.InEach(
			Words{Label: "依頼 1 件の予算", About: "AI の利用料がこの額に達すると、依頼は止まります。会話 1 つも、この額までです。進行中の呼び出しの分は超えることがあります。", Unit: "米ドル"},
			Words{Label: "Budget per request", About: "A request stops when its AI cost reaches this amount, " +
				"and an agent stops answering in a conversation that does. The call in progress can exceed it.",
				Unit: "US dollars"})},
		{Name: "max_cost_day_usd", Kind: KindDollars, Limit: true, Says: language.InEach(
			Words{Label: "1 日の予算 (ワークスペース全体)",
				About: "毎日午前 9 時 (日本時間) に 0 に戻ります。上限に達すると、それまで新しい AI の呼び出しが止まります。進行中の呼び出しの分は超えることがあります。", Unit: "米ドル"},
			Words{Label: "Daily budget (workspace)", About: "Starts again each day at 0:00 UTC (9:00 in Japan). " +
				"Once reached, no new AI calls start until then. Calls in progress can exceed it.", Unit: "US dollars"})},
		{Name: "prices", Kind: KindRows, Max: MaxPrices, Says: language.InEach(
			Words{Label: "モデルの料金",
				About: "Ringi が料金を知らないモデルや、自社で用意した接続先の料金を登録します。単位は、100 万トークンあたりの米ドルです。予算があるとき、料金の分からないモデルは使えません。",
				Hint: "モデルには「AI モデル」の欄と同じ名前を入力します。アドレスを登録したエージェントでは compatible:<ID>/<モデル> です。Ringi が知っているモデルなら、その料金の代わりになります。" +
					"すでにかかった費用と、始まっているコンテストの料金は変わりません。"},
			Words{Label: "Model prices", About: "For your own endpoints and models Ringi has no price for, in US dollars per " +
				"million tokens. With a budget, models without a price can’t be used.", Hint: "Use the same names as in “AI " +
				"model”; for an agent with an address, use compatible:<ID>/<model>. A price here overrides Ringi’s own. " +
				"Past costs and contests already running don’t change."})},
	}},
	{Key: "limit", Title: language.InEach("依頼の数の上限", "Request limits"), Settings: []Setting{
		{Name: "max_open_tasks", Kind: KindWhole, Limit: true, Max: maxLimit, Default: 50, Says: language.InEach(
			Words{Label: "同時に進む依頼 (1 人)", Unit: "件"},
			Words{Label: "Open requests (per person)", Unit: "requests"})},
		{Name: "max_tasks_per_hour", Kind: KindWhole, Limit: true, Max: maxLimit, Default: 60, Says: language.InEach(
			Words{Label: "1 時間の依頼 (1 人)", Unit: "件"},
			Words{Label: "Requests per hour (per person)", Unit: "requests"})},
	}},
	{Key: "work", Title: language.InEach("実行と AI", "Running and AI"), Settings: []Setting{
		{Name: "model", Kind: KindText, Code: "model", fits: isModel, Default: "claude-sonnet-4-6", Says: language.InEach(
			Words{Label: "AI モデル",
				About: "例: claude-sonnet-4-6、openai:gpt-5.4、bedrock:…。使うには、モデルの API キーの登録が必要です。導入時にモデルが決められている場合は、そのモデルを使います。"},
			Words{Label: "AI model", About: "For example, claude-sonnet-4-6, openai:gpt-5.4 or bedrock:…. The model’s key " +
				"must be registered. If a model was set when Ringi was installed, that one is used instead."})},
		{Name: "executor", Kind: KindChoice, Choices: []string{ExecutorSteps, ExecutorManaged}, Says: language.InEach(
			Words{Label: "実行方法", About: "承認されたステップの実行方法です。次に始まる承認から適用されます。",
				Choices: []string{"ステップを順に実行 (標準)", "Claude のセッションで実行"}},
			Words{Label: "Execution method", About: "What runs approved steps. Applies to approvals that start later.",
				Choices: []string{"Step by step (standard)", "In a Claude session"}})},
		{Name: "l4_timeout_seconds", Kind: KindWhole, Min: 30, Max: 86400, Default: 360, Says: language.InEach(
			Words{Label: "実行の制限時間", About: "過ぎると、実行は失敗として終わります。", Unit: "秒"},
			Words{Label: "Execution time limit", About: "Executions fail after this time.", Unit: "seconds"})},
		{Name: "retain_results_days", Kind: KindWhole, Min: 1, Max: 3650, Default: 400, Says: language.InEach(
			Words{Label: "結果の保存期間", About: "大きな結果は、この日数を過ぎると消えます。監査ログは消えません。これから保存する結果に適用されます。", Unit: "日"},
			Words{Label: "Keep results for",
				About: "Large results are deleted after this time; the audit log is not. Applies to results saved from now on.",
				Unit:  "days"})},
		{Name: "mcp_servers", Kind: KindRows, Max: MaxMCPServers, Says: language.InEach(
			Words{Label: "MCP サーバー", About: "ツールを提供するサーバーです。", Hint: "接続は「連携」、許可は「ツール」のページで管理します。"},
			Words{Label: "MCP servers", About: "Servers that provide tools.",
				Hint: "Manage connections under Integrations and permissions under Tools."})},
	}},
	{Key: "contest", Title: language.InEach("方針のコンテスト", "Draft contests"), Settings: []Setting{
		{Name: "draft_contest.enabled", Kind: KindFlag, Says: language.InEach(
			Words{Label: "方針をコンテストで下書きする", About: "依頼ごとに複数の AI チームが下書きし、最高点の案を承認に回します。ほかの案は依頼のページで選べます。" +
				"費用は依頼 1 件につき、下の「コンテスト 1 回の予算」くらいまでです。切ると、1 つのモデルが下書きします。"},
			Words{Label: "Draft policies in a contest", About: "For each request, several AI teams draft. " +
				"The best-scoring draft goes to the approvers, who can choose another one on the request’s page. " +
				"Each request then costs up to about “Budget per contest” below. If off, one model drafts."})},
		{Name: "draft_contest.budget_usd", Kind: KindDollars, Default: 1.0, Says: language.InEach(
			Words{Label: "コンテスト 1 回の予算", About: "0 より大きく 1,000,000 米ドルまで。全チームで等分し、使い切ったチームはそれまでの最良の案で終わります。" +
				"進行中の呼び出しの分は超えることがあります。依頼、1 日の予算の残りのほうが少なければ、そこで止まります。", Unit: "米ドル"},
			Words{Label: "Budget per contest", About: "More than 0, up to 1,000,000 US dollars. " +
				"All teams share it equally; a team that spends its share ends with its best draft so far. " +
				"Calls in progress can exceed it. If less is left of the budget per request or day, the contest stops " +
				"there.", Unit: "US dollars"})},
		{Name: "draft_contest.max_rounds", Kind: KindWhole, Min: 1, Max: 10, Default: 3, Says: language.InEach(
			Words{Label: "1 チームが書く回数の上限",
				About: "2 回目からは、前回の採点を踏まえて書き直します。多いほど案はよくなりますが、時間と費用がかかります。コンテストのファイルの上限のほうが少なければ、そちらを使います。", Unit: "回"},
			Words{Label: "Maximum drafts per team", About: "From the second on, a team rewrites with its last score in view. " +
				"More make better drafts, and take more time and money. A lower limit in the contest file applies.",
				Unit: "drafts"})},
		{Name: "draft_contest.seconds", Kind: KindWhole, Min: 10, Max: 3600, Default: 300, Says: language.InEach(
			Words{Label: "コンテストの制限時間", About: "過ぎると、それまでの案の最高点を承認に回します。その間、依頼した人は待ちます。", Unit: "秒"},
			Words{Label: "Contest time limit",
				About: "After it, the best draft so far goes to the approvers. The requester waits that long at most.",
				Unit:  "seconds"})},
		{Name: "draft_contest.file", Kind: KindText, Min: 1, Max: 200, Default: "configs/contest.toml", Says: language.InEach(
			Words{Label: "コンテストのファイル",
				About: "チームと採点方法を定めたファイルの場所です (200 文字まで)。ファイルは Ringi の導入担当者が用意します。ないあいだ、方針はコンテストなしで作られます。"},
			Words{Label: "Contest file", About: "Path of the file with teams and scoring (up to 200 characters). " +
				"Whoever installed Ringi provides it; until then policies are drafted without a contest."})},
		{Name: "contest_search", Kind: KindFlag, Says: language.InEach(
			Words{Label: "Web 検索を許可する", About: "入れると、検索担当のメンバー (ファイルの web-search) が、Anthropic の Web 検索を使います " +
				"(Anthropic のモデルのメンバーだけ)。検索語には依頼の内容やツールで読んだ内容が含まれ、検索先のサイトに伝わることがあります。" +
				"費用は検索 1,000 回あたり 10 米ドルとトークンの分で、すべての予算に含まれます。"},
			Words{Label: "Allow web search", About: "If on, members who search (web-search in the file) use Anthropic’s web " +
				"search if their model is Anthropic’s. Search terms may include parts of the request and of what members " +
				"read with allowed tools, and can reach the sites visited. " +
				"1,000 searches cost 10 US dollars plus tokens, and count toward all budgets."})},
	}},
	{Key: "agent", Title: language.InEach("エージェント", "Agents"), Settings: []Setting{
		{Name: "agents", Kind: KindRows, Max: MaxAgents, Says: language.InEach(
			Words{Label: "エージェント", About: "会話の相手です。Codex と Claude は、ここに書かなくても使えます。",
				Hint: "capabilities: code はファイルの作成、shell はコマンド、" +
					"test はテスト、tools はツールの呼び出し。\nid を codex か claude にすると、その内容に置き換わります。\nauthRef は API キーの名前です。キーそのものは入力しないでください。"},
			Words{Label: "Agents", About: "Agents people can talk to. Codex and Claude are there without a row.",
				Hint: "capabilities: code writes files, shell runs commands, test runs tests, tools calls tools.\n" +
					"The id codex or claude replaces that agent.\nauthRef is the name of a key. Never enter a key itself."})},
		{Name: "auto_actions", Kind: KindRows, Max: MaxAutoActions, Says: language.InEach(
			Words{Label: "承認なしで始めてよいテスト", About: "空なら、エージェントの提案はすべて承認を待ちます。", Hint: "コマンドは 1 語ずつ、そのまま比べます。\n" +
				"シェルのコマンドとファイルの書き込みは、いつも承認が必要です。\n" +
				"ソースから始まった会話では、ソースの名前も書きます。ファイルがソースから変わっていない間だけ使われます (changed が true なら、変わった後も)。"},
			Words{Label: "Tests that run without approval", About: "If empty, everything an agent proposes needs approval.",
				Hint: "Commands are compared word by word, as they are.\n" +
					"Shell commands and file writes always need approval.\n" +
					"For conversations from a source, also enter its name. The rule applies only while the files match the " +
					"source, or also later if changed is true."})},
		{Name: "listed_reads", Kind: KindRows, Max: MaxListedReads, Says: language.InEach(
			Words{Label: "エージェントが読み取ってよいツール", About: "空なら、エージェントはツールで何も読み取れません。結果は、そのエージェントの提供元に送られます。",
				Hint: "承認を待たずに呼び出します。呼び出せるのは、値が選択肢・数・日付か、人が会話に書いた言葉そのもののときだけです。\nバージョンは「ツール」のページにあります。ツールが変わると、無効になります。"},
			Words{Label: "Tools that agents may read with",
				About: "If empty, agents read with no tool. Results go to the agent’s vendor.",
				Hint: "They are called without approval, and only if their values are choices, numbers or dates, or were written " +
					"word for word by " +
					"a person in the conversation.\nFind versions on the Tools page. One stops working when its tool changes."})},
		{Name: "sources", Kind: KindRows, Max: MaxSources, Says: language.InEach(
			Words{Label: "ソース (GitHub のリポジトリ)",
				About: "会話を、ここにあるリポジトリのファイルから始められます (例: claude@shop: …)。リポジトリのファイルが、そのエージェントの提供元に渡ります。書かれた秘密の情報も含みます。",
				Hint: "名前は半角の英小文字、数字、- です。ブランチは heads/main、タグは tags/v1 のように書きます。\npath がなければ、リポジトリ全体です。\n" +
					"people は Slack のメンバー ID か everybody です。\nci は、エージェントの変更を送るときに動かす (run) かどうか (skip) です。" +
					"skip は GitHub の Actions だけに伝わります。\nプルリクエストは、CI の設定 (.github など) とサブモジュールを変えられません。\n社外と共有するチャンネルでは使えません。"},
			Words{Label: "Sources (GitHub repositories)", About: "Conversations can start with the files of these " +
				"repositories, as in claude@shop: …. The agent’s vendor receives the files, including any secrets in them.",
				Hint: "Names use lowercase letters, digits and hyphens. Write a branch as heads/main and a tag as tags/v1.\n" +
					"Without path it is the whole repository.\npeople are Slack member IDs, or everybody.\n" +
					"ci is run or skip, when changes are pushed; skip affects GitHub Actions only.\n" +
					"Pull requests can’t change CI configuration (such as .github) or submodules.\n" +
					"Not available in channels shared with other companies."})},
		{Name: "ai_sessions.cache.enabled", Kind: KindFlag, Says: language.InEach(
			Words{Label: "終了した会話を残す", About: "オフにすると、会話は終了後まもなく削除されます。監査ログは残ります。これから始まる会話に適用されます。"},
			Words{Label: "Keep ended conversations", About: "If off, conversations are deleted soon after they end. " +
				"The audit log remains. Applies to conversations started from now on."})},
	}},
	{Key: "general", Title: language.InEach("全般", "General"), Settings: []Setting{
		{Name: "name", Kind: KindText, Min: 1, Max: 80, Default: "HR AI Agent", Says: language.InEach(
			Words{Label: "名前", About: "カードなどに表示されるエージェントの名前です。"},
			Words{Label: "Name", About: "The agent’s name, for example on cards."})},
		{Name: "locale", Kind: KindChoice, Choices: language.All, OnCards: true, Says: language.InEach(
			Words{Label: "Slack での言語", About: "カードは依頼と同じ言語です。この設定は、依頼の文から言語を判断できないカードと、会話に使われます。このコンソールの言語とは別です。",
				Choices: []string{"日本語", "English"}},
			Words{Label: "Language in Slack", About: "Cards use their request’s language. " +
				"This setting is for conversations, and for requests whose language isn’t clear, such as a link. " +
				"The console’s language is separate.", Choices: []string{"日本語", "English"}})},
	}},
}
