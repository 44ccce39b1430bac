package tenancy

import (
	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/words/language"
)

// Sections are the settings on the settings page, in order. To add a setting, add a field to Settings and a row here;
// the page, the file, the command and the audit log follow from these.
var Sections = []Section{
	{Key: "approval", Title: language.InEach("承認", "Approval"), Settings: []Setting{
		{Name: "prompt_approval_required", Kind: KindFlag, Default: true, Says: language.InEach(
			Words{Label: "方針に承認を求める", About: "「いいえ」にすると、方針は承認なしでステップ作りに進みます。"},
			Words{Label: "Ask for approval of policies", About: "With No, steps are made from a policy that nobody approved."})},
		{Name: "process_approval_required", Kind: KindFlag, Default: true, Says: language.InEach(
			Words{Label: "ステップに承認を求める", About: "「いいえ」にすると、ステップは承認なしで実行に進みます。書き込みを止めて確かめる設定は、「承認済みの書き込みをそのまま実行する」です。"},
			Words{Label: "Ask for approval of steps", About: "With No, steps are executed that nobody approved. Whether to stop before writes is decided by “Execute approved writes without asking again”."})},
		{Name: "auto_approve_tools", Kind: KindFlag, Default: true, Says: language.InEach(
			Words{Label: "承認済みの書き込みをそのまま実行する", About: "「いいえ」にすると、シートへの書き込みや DM の送信の直前に、毎回承認を求めます。"},
			Words{Label: "Execute approved writes without asking again", About: "With No, somebody is asked just before each write to a sheet and each direct message."})},
		{Name: "approvers.mode", Kind: KindChoice, Choices: []string{string(aggregate.ApproversChannel), string(aggregate.ApproversList)}, OnCards: true,
			Says: language.InEach(
				Words{Label: "承認できる人", About: "ゲストと社外の人は、どちらの場合も承認できません。", Choices: []string{"依頼があったチャンネルのメンバー", "選んだ人とグループ"}},
				Words{Label: "Who may approve", About: "In no case may guests or people of other companies.", Choices: []string{"Members of the channel of the request", "Chosen people and groups"}})},
		{Name: "approvers.users", Kind: KindPeople, Max: 200, Rule: RuleUserID, fits: like(&userForm), OnCards: true,
			Says: language.InEach(
				Words{Label: "承認者", About: "「選んだ人とグループ」のときに使われます。ゲスト、ボット、退職した人、社外の人は選べません。"},
				Words{Label: "Approvers", About: "Used with “Chosen people and groups”. Guests, bots, people who left and outsiders can't be chosen."})},
		{Name: "approvers.usergroups", Kind: KindGroups, Max: 50, Rule: RuleGroupID, fits: like(&groupForm), OnCards: true,
			Says: language.InEach(
				Words{Label: "承認者のグループ", About: "Slack のユーザーグループです。メンバーは承認のたびに Slack で確かめます。"},
				Words{Label: "Groups of approvers", About: "User groups of Slack. Slack is asked who is in them whenever somebody approves."})},
		{Name: "approval_copies", Kind: KindChoice, Choices: []string{CopiesListed, CopiesNone}, Says: language.InEach(
			Words{Label: "承認者への DM", About: "承認待ちになったとき、一覧にある承認者 (人・ユーザーグループ) にカードを DM でも送ります。20 人までです。", Choices: []string{"送る", "送らない"}},
			Words{Label: "Direct messages to approvers", About: "When something waits for approval, its card is also sent to the listed approvers (people and user groups), 20 at most.", Choices: []string{"Send", "Don't send"}})},
		{Name: "allow_self_approval", Kind: KindFlag, Default: true, OnCards: true, Says: language.InEach(
			Words{Label: "自分の依頼を自分で承認できる", About: "「いいえ」にすると、依頼した本人以外の承認が必要になります。承認者を指名していないときは、本人のほかに承認できる人がいないダイレクトメッセージでの依頼と、エージェントとの会話を受け付けません。"},
			Words{Label: "People may approve their own requests", About: "With No, somebody other than the requester has to approve. Unless approvers are named, requests by direct message and conversations with agents, which nobody else could approve, are then not taken."})},
		{Name: "approval_timeout_hours", Kind: KindWhole, Min: 1, Max: 8760 - 24, Default: 168, Says: language.InEach(
			Words{Label: "承認の期限", About: "これを過ぎると、依頼は期限切れで終わります。", Unit: "時間"},
			Words{Label: "Time to approve", About: "After it, the request expires.", Unit: "hours"})},
		{Name: "max_versions", Kind: KindWhole, Min: 1, Max: 50, Default: 5, Says: language.InEach(
			Words{Label: "作り直しの上限", About: "差し戻しなどで作り直せる回数です。超えると依頼は終わります。", Unit: "版", Logged: "バージョンの上限"},
			Words{Label: "Versions at most", About: "How often a policy or steps may be made anew, after rejections for example. After that the request ends.", Unit: "versions", Logged: "Most versions"})},
	}},
	{Key: "budget", Title: language.InEach("予算", "Budgets"), Settings: []Setting{
		{Name: "max_cost_usd", Kind: KindDollars, Limit: true, Says: language.InEach(
			Words{Label: "依頼 1 件の予算", About: "AI の利用料がここに達すると、その依頼は止まります。進行中の 1 回分だけ超えることがあります。", Unit: "米ドル"},
			Words{Label: "Budget of one request", About: "A request stops when its AI cost reaches this. The one call that is under way may go beyond it.", Unit: "US dollars"})},
		{Name: "max_cost_day_usd", Kind: KindDollars, Limit: true, Says: language.InEach(
			Words{Label: "1 日の予算 (ワークスペース全体)", About: "協定世界時の 1 日 (日本では朝 9 時から) の合計です。達すると、その日は新しい AI の利用が止まります。同時に進んでいる分だけ超えることがあります。", Unit: "米ドル", Logged: "1 日の予算(米ドル)"},
			Words{Label: "Budget of a day (whole workspace)", About: "The sum of a day in UTC. When it is reached, no AI call begins on that day any more. Calls that are under way at that moment may go beyond it.", Unit: "US dollars", Logged: "Budget of a day (US dollars)"})},
		{Name: "max_cost_month_usd", Kind: KindDollars, Limit: true, Says: language.InEach(
			Words{Label: "1 か月の予算 (ワークスペース全体)", About: "協定世界時の 1 か月の合計です。達すると、翌月まで新しい AI の利用が止まります。同時に進んでいる分だけ超えることがあります。", Unit: "米ドル", Logged: "1 か月の予算(米ドル)"},
			Words{Label: "Budget of a month (whole workspace)", About: "The sum of a calendar month in UTC. When it is reached, no AI call begins until the next month. Calls that are under way at that moment may go beyond it.", Unit: "US dollars", Logged: "Budget of a month (US dollars)"})},
		{Name: "prices", Kind: KindRows, Max: MaxPrices, Says: language.InEach(
			Words{Label: "モデルの料金", About: "Ringi が料金を知らないモデルや、自社で用意した接続先の料金を登録します。単位は、100 万トークンあたりの米ドルです。予算があるとき、料金の分からないモデルは使えません。",
				Hint: "モデルは「AI モデル」の欄と同じ名前、アドレスを持つエージェントは compatible:<ID>/<モデル> です。Ringi が知っているモデルなら、その料金の代わりになります。キャッシュの欄が空なら入力と同じです。すでにかかった費用と、始まっているコンテストの料金は変わりません。行を空にすると外れます。"},
			Words{Label: "Prices of models", About: "For models whose price Ringi doesn’t know, and for endpoints of your own, in US dollars for a million tokens. Where there is a budget, a model of unknown price can’t be used.",
				Hint: "Models have the names of the field “AI model”; an agent with an address is compatible:<ID>/<model>. A model that Ringi knows gets this price instead. Cached input without a price costs what input does. What was charged before and contests that have begun don’t change. A row that is emptied is removed."})},
	}},
	{Key: "limit", Title: language.InEach("依頼の数の上限", "Limits on requests"), Settings: []Setting{
		{Name: "max_open_tasks.person", Kind: KindWhole, Limit: true, Max: maxLimit, Default: 50, Says: language.InEach(
			Words{Label: "同時に進む依頼 (1 人)", Unit: "件", Logged: "同時に進む依頼(1 人)"},
			Words{Label: "Open requests (one person)", Unit: "requests", Logged: "Open requests (one person)"})},
		{Name: "max_open_tasks.tenant", Kind: KindWhole, Limit: true, Max: maxLimit, Default: 1000, Says: language.InEach(
			Words{Label: "同時に進む依頼 (全体)", Unit: "件", Logged: "同時に進む依頼(全体)"},
			Words{Label: "Open requests (all together)", Unit: "requests", Logged: "Open requests (all together)"})},
		{Name: "max_tasks_per_hour.person", Kind: KindWhole, Limit: true, Max: maxLimit, Default: 60, Says: language.InEach(
			Words{Label: "1 時間の依頼 (1 人)", Unit: "件", Logged: "1 時間の依頼(1 人)"},
			Words{Label: "Requests in an hour (one person)", Unit: "requests", Logged: "Requests in an hour (one person)"})},
		{Name: "max_tasks_per_hour.tenant", Kind: KindWhole, Limit: true, Max: maxLimit, Default: 600, Says: language.InEach(
			Words{Label: "1 時間の依頼 (全体)", Unit: "件", Logged: "1 時間の依頼(全体)"},
			Words{Label: "Requests in an hour (all together)", Unit: "requests", Logged: "Requests in an hour (all together)"})},
	}},
	{Key: "work", Title: language.InEach("実行", "Doing the work"), Settings: []Setting{
		{Name: "model", Kind: KindText, Rule: RuleModel, fits: isModel, Default: "claude-sonnet-4-6", Says: language.InEach(
			Words{Label: "AI モデル", About: "例: claude-sonnet-4-6、openai:gpt-5.4、bedrock:…。鍵が登録されているものだけが使えます。Ringi を設置した人が設置のときにモデルを決めている場合は、そちらが使われ、この欄は効きません。"},
			Words{Label: "AI model", About: "Such as claude-sonnet-4-6, openai:gpt-5.4 or bedrock:…. Only those work whose keys were registered. Where whoever set Ringi up chose a model for it, that one is used and this field has no effect."})},
		{Name: "executor", Kind: KindChoice, Choices: []string{ExecutorSteps, ExecutorManaged}, Says: language.InEach(
			Words{Label: "実行のしかた", About: "承認されたステップを何が実行するかです。次に始まる承認から変わります。", Choices: []string{"ステップを順に実行 (標準)", "Claude のセッションで実行"}},
			Words{Label: "How steps are executed", About: "By what approved steps are executed. It holds for approvals that begin later.", Choices: []string{"Step by step (standard)", "In a session of Claude"}})},
		{Name: "l4_timeout_seconds", Kind: KindWhole, Min: 30, Max: 86400, Default: 360, Says: language.InEach(
			Words{Label: "実行の制限時間", About: "これを過ぎると、実行は失敗として終わります。", Unit: "秒"},
			Words{Label: "Time to execute", About: "After it, an execution ends as failed.", Unit: "seconds"})},
		{Name: "retain_results_days", Kind: KindWhole, Min: 1, Max: 3650, Default: 400, Says: language.InEach(
			Words{Label: "結果の保存期間", About: "大きな結果は、この日数を過ぎると消えます。監査ログは消えません。これから保存する結果に使われます。", Unit: "日"},
			Words{Label: "Keep results for", About: "Large results are deleted after so many days; the audit log is not. It holds for results that are kept from now on.", Unit: "days"})},
		{Name: "mcp_servers", Kind: KindRows, Max: MaxMCPServers, Says: language.InEach(
			Words{Label: "MCP サーバー", About: "ツールを提供するサーバーです。", Hint: "行を空にすると、そのサーバーは外れます。接続とツールの許可は、それぞれのページで行います。"},
			Words{Label: "MCP servers", About: "Servers that offer tools.", Hint: "A server whose row you empty is removed. Connections and permissions of tools have pages of their own."})},
	}},
	{Key: "contest", Title: language.InEach("方針のコンテスト", "Contests of drafts"), Settings: []Setting{
		{Name: "draft_contest.enabled", Kind: KindFlag, Says: language.InEach(
			Words{Label: "方針をコンテストで下書きする", About: "複数の AI チームが同時に下書きし、採点で最もよかった案が承認に回ります。ほかの案もカードから選べます。1 回につき、おおむね「コンテスト 1 回の予算」までかかります。差し戻した版は「差し戻された案を作り直すもの」のとおりに作り直し、その分の予算がもう一度かかります。全体の費用は、「予算」で 1 日と 1 か月の上限を決めて抑えます。Ringi を設置した人がコンテストのファイルを置いている場合に使えます。"},
			Words{Label: "Draft policies by a contest", About: "Several teams of AI agents draft at the same time, and the draft with the best score goes to the approvers, who can take another one instead. Each contest costs up to about “Budget of one contest”. A version that is sent back is made anew as “A rejected draft is made anew by” says, which costs on top. What all of them may cost is bounded by the budgets of a day and a month. It works where whoever set Ringi up has put the contest’s files in place."})},
		{Name: "draft_contest.budget_usd", Kind: KindDollars, Default: 1.0, Says: language.InEach(
			Words{Label: "コンテスト 1 回の予算", About: "チームの数で等分します。使い切ったチームは、それまでの最もよい案で終わります。そのとき始まっていた呼び出しの分は超えます。依頼 1 件の予算の残りも上限になります。", Unit: "米ドル"},
			Words{Label: "Budget of one contest", About: "Shared equally by the teams. A team that has spent its part ends with its best draft so far. Calls that are under way then come on top. What is left of a request’s own budget is a limit too.", Unit: "US dollars"})},
		{Name: "draft_contest.rejected", Kind: KindChoice, Choices: []string{RejectedToTeam, RejectedToAll}, Says: language.InEach(
			Words{Label: "差し戻された案を作り直すもの", About: "チームが作り直す費用は、コンテスト 1 回の予算をチームの数で割った額までです。", Choices: []string{"その案を書いたチーム", "新しいコンテスト (すべてのチーム)"}},
			Words{Label: "A rejected draft is made anew by", About: "The team alone costs up to the budget of one contest, divided by the number of its teams.", Choices: []string{"The team that wrote it", "A whole new contest (all teams)"}})},
		{Name: "draft_contest.max_rounds", Kind: KindWhole, Min: 1, Max: 10, Default: 3, Says: language.InEach(
			Words{Label: "1 チームのラウンド", About: "案を書く回数です。2 回目からは採点を受けて書き直します。ファイルに書かれた回数のほうが少なければ、そちらになります。", Unit: "回まで"},
			Words{Label: "Rounds of each team", About: "How often a team writes, with the score of the time before. Fewer if the file says so.", Unit: "at most", Logged: "Rounds of each team"})},
		{Name: "draft_contest.seconds", Kind: KindWhole, Min: 10, Max: 3600, Default: 300, Says: language.InEach(
			Words{Label: "コンテストの制限時間", About: "過ぎると、それまでの案で終わります。", Unit: "秒"},
			Words{Label: "Time for a contest", About: "After it, it ends with the drafts so far.", Unit: "seconds"})},
		{Name: "draft_contest.file", Kind: KindText, Min: 1, Max: 200, Default: "configs/contest.toml", Says: language.InEach(
			Words{Label: "コンテストのファイル", About: "チームと採点のしかたを書いたファイルの場所です。例: configs/contest.toml"},
			Words{Label: "The contest’s file", About: "Where the file with the teams and the scoring is, such as configs/contest.toml", Logged: "The contest's file"})},
		{Name: "contest_search", Kind: KindFlag, Says: language.InEach(
			Words{Label: "Web 検索を許可する", About: "コンソールから始めるものも含め、コンテストの web-search 型のメンバーが、AI モデルの提供元の Web 検索を使えます (Anthropic と OpenAI)。検索の言葉には、依頼の内容や、メンバーが登録済みのツールで読んだ内容が含まれることがあり、検索先のサイトに伝わることもあります。検索 1,000 回あたり 10 米ドルがトークンの料金に加わり、すべての予算に数えます。"},
			Words{Label: "Let members search the web", About: "In all contests, those begun at this console too, members of type web-search may have their model’s vendor search the web (Anthropic and OpenAI). What they search for may contain parts of a request and of what members read with listed tools, and sites that the vendor opens may learn it. A thousand searches cost 10 US dollars on top of the tokens, and count in all budgets.", Logged: "Members of contests may search the web"})},
	}},
	{Key: "agent", Title: language.InEach("エージェントとの会話", "Talking with agents"), Settings: []Setting{
		{Name: "dm_default", Kind: KindChoice, Choices: []string{"task", "agent"}, Says: language.InEach(
			Words{Label: "DM で受け取った文", About: "DM に書かれたことを何として扱うかです。エージェントの ID で始まる DM (例: claude: …) は、いつも会話になります。", Choices: []string{"依頼", "会話 (既定のエージェントが答えます)"}},
			Words{Label: "A direct message is", About: "What something written to Ringi directly is taken for. What begins with an agent’s ID (such as claude: …) is always a conversation.", Choices: []string{"A request", "A conversation (the default agent answers)"}})},
		{Name: "agents", Kind: KindRows, Max: MaxAgents, Says: language.InEach(
			Words{Label: "エージェント",
				About: "会話の相手です。使える提供元、モデル、できること (code: ファイルの作成、shell: コマンドの実行、test: テストの実行、tools: ツールの呼び出し) を決めます。",
				Hint:  "Codex と Claude は、ここに書かなくても使えます。ID を codex か claude にすると、その内容に置き換わります。行を空にすると、そのエージェントは外れます。鍵そのものは書かないでください。"},
			Words{Label: "Agents", About: "Whom people can talk with: the provider, the model, and what they may propose " +
				"(code: write files, shell: run commands, test: run tests, tools: call tools).",
				Hint: "Codex and Claude are there without being listed. An entry with the ID codex or claude takes their place. " +
					"A row that is emptied is removed. Never enter a key itself."})},
		{Name: "auto_actions", Kind: KindRows, Max: MaxAutoActions, Says: language.InEach(
			Words{Label: "承認なしで始めてよいテスト", About: "空なら、エージェントの提案はすべて承認を待ちます。",
				Hint: `ここに合うテストだけが、承認なしで始まります。コマンドは 1 語ずつ比べます。* は、半角の英数字と _ . / : @ - の 1 文字以上です。空白を含む語は " " で囲みます。シェルのコマンドとファイルの書き込みは、いつも承認が必要です。場所は Slack のチャンネルの ID です。ソースから始まった会話では、ソースの名前も書きます。その規則は、ファイルがソースのままの間だけ使われます。エージェントが変えたファイルを、テストが設定として読むことがあるためです。`},
			Words{Label: "Tests that need no approval", About: "When empty, everything that an agent proposes waits " +
				"for approval.",
				Hint: `Only tests that match a row begin without approval. Commands are compared word by word, * stands for one or more of A-Z, a-z, 0-9 and _ . / : @ -, and a word with spaces stands in " ". Shell commands and writing files always need approval. The place is Slack’s id of the channel. For conversations that began from a source, name that, too: the row then holds while the files are the source’s, since a test may read a file that the agent changed as its configuration.`, Logged: "Tests that may begin without approval"})},
		{Name: "listed_reads", Kind: KindRows, Max: MaxListedReads, Says: language.InEach(
			Words{Label: "承認なしで読み取ってよいツール", About: "空なら、エージェントのツールの呼び出しはすべて承認を待ちます。結果は、そのエージェントの提供元に送られます。",
				Hint: "読み取るだけのツールを、エージェントと人ごとに並べます。値が選択肢・数・日付だけか、人が会話に書いたとおりの言葉のときだけ、承認なしで呼び出します。バージョンは「ツール」のページにあります。ツールが変わると、この行は効かなくなります。"},
			Words{Label: "Tools that may be read without approval",
				About: "When empty, every call of a tool that an agent proposes waits for approval. Results go to the " +
					"agent's vendor.", Hint: "Tools that only read, each for one agent and for people. A call goes without approval " +
					"only if its values are choices, numbers or dates, or stand word for word in what a person wrote in the " +
					"conversation. The page “Tools” shows versions. A row has no effect any more once its tool has changed.",
				Logged: "Tools that may be read without approval"})},
		{Name: "sources", Kind: KindRows, Max: agent.MaxSources, Says: language.InEach(
			Words{Label: "ソース (GitHub のリポジトリ)",
				About: "エージェントとの会話を、ここにあるリポジトリのファイルから始められます (例: claude@shop: …)。登録すると、そのエージェントの提供元がリポジトリのファイルを受け取ります。ファイルに書かれた秘密も含みます。社外と共有するチャンネルでは使えません。", Hint: "名前は半角の英小文字、数字、- です。ブランチは heads/main、タグは tags/v1 のように書きます。フォルダーが空ならリポジトリ全体です。人は Slack のメンバー ID を , で区切るか、everybody (全員) とします。CI は、あとでエージェントの変更をリポジトリに送るときに動かすかどうかです。skip は GitHub の Actions だけに伝わり、ほかの CI は動くことがあります。保存のときに GitHub に確かめ、リポジトリの番号を控えます。プルリクエストは、CI の設定 (.github など) とサブモジュールを変えられません。.gitattributes と CODEOWNERS は、「変更してよいもの」に書いたときだけ変えられます。行を空にすると外れます。"},
			Words{Label: "Sources (repositories of GitHub)", About: "Conversations with agents can begin with the files of " +
				"these repositories, as in claude@shop: …. Listing one means that the vendor of each agent gets the repository’s " +
				"files, secrets in them included. They can’t be used where people of other companies are.",
				Hint: "A name has a-z, 0-9 and -. Write a branch as heads/main and a tag as tags/v1. Without a folder it is the " +
					"whole repository. People are Slack member IDs with commas between, or everybody. CI says whether it is to run " +
					"when changes are pushed later; skip is heard by GitHub’s Actions alone, other CI may run. GitHub is asked on " +
					"saving, and the repository’s number is noted. Pull requests never change what configures CI (.github and the " +
					"like) or submodules, and .gitattributes and CODEOWNERS only where “May change” names them. A row that is " +
					"emptied is removed."})},
		{Name: "action_timeout_hours", Kind: KindWhole, Min: 1, Max: 8760 - 24, Default: 24, Says: language.InEach(
			Words{Label: "提案への返事の期限", About: "これを過ぎると、エージェントの提案は期限切れで取り消されます。", Unit: "時間"},
			Words{Label: "Time to decide on a proposal", About: "After it, what an agent proposed is cancelled as expired.", Unit: "hours", Logged: "Time to answer a proposal (hours)"})},
		{Name: "session_idle_days", Kind: KindWhole, Min: 1, Max: 365, Default: 14, Says: language.InEach(
			Words{Label: "会話を閉じるまで", About: "この日数メッセージがない会話は閉じます。続きは新しい会話で始めます。", Unit: "日"},
			Words{Label: "Close conversations after", About: "A conversation without a message for so many days is closed. It goes on in a new one.", Unit: "days"})},
		{Name: "ai_sessions.cache.enabled", Kind: KindFlag, Says: language.InEach(
			Words{Label: "閉じた会話を残す", About: "「いいえ」にすると、会話は閉じてまもなく消えます。監査ログは残ります。これから始まる会話に使われます。"},
			Words{Label: "Keep closed conversations", About: "With No, a conversation disappears soon after it is closed. The audit log stays. It holds for conversations that begin from now on."})},
		{Name: "max_session_cost_usd", Kind: KindDollars, Limit: true, Says: language.InEach(
			Words{Label: "会話 1 つの予算", About: "AI の利用料がここに達すると、エージェントはその会話で答えなくなります。進行中の 1 回分だけ超えることがあります。", Unit: "米ドル"},
			Words{Label: "Budget of one conversation", About: "When its AI cost reaches this, the agent answers no more in it. The one call that is under way may go beyond it.", Unit: "US dollars"})},
		{Name: "max_agents_cost_day_usd", Kind: KindDollars, Limit: true, Default: 20.0, Says: language.InEach(
			Words{Label: "エージェントの 1 日の予算 (ワークスペース全体)",
				About: "協定世界時の 1 日 (日本では朝 9 時から) に、すべてのエージェントが使える AI の利用料です。AI を呼び出す前に毎回確かめ、達するとその日は答えなくなります。進行中の呼び出しの分だけ超えることがあります。料金がわからないモデルは、いちばん高いモデルの料金で数えます。", Unit: "米ドル", Logged: "エージェントの 1 日の予算(米ドル)"},
			Words{Label: "Budget of a day for agents (whole workspace)",
				About: "What all agents together may cost on a day in UTC. It is looked at before each call of a model; when it " +
					"is reached, agents answer no more on that day. Calls that are under way at that moment may go beyond it. A " +
					"model whose price is not known counts as the dearest one does.", Unit: "US dollars",
				Logged: "Budget of a day for agents (US dollars)"})},
		{Name: "max_sources_per_day", Kind: KindWhole, Limit: true, Max: maxLimit, Default: 100, Says: language.InEach(
			Words{Label: "1 日のソースの取得 (ワークスペース全体)",
				About: "協定世界時の 1 日 (日本では朝 9 時から) に、会話のためにリポジトリのファイルを取得できる回数です。やり直しは数えません。達すると、その日に始まる会話はファイルなしで続き、そのことを伝えます。",
				Unit:  "回", Logged: "1 日のソースの取得"},
			Words{Label: "Fetches of sources in a day (whole workspace)",
				About: "How often on a day in UTC a repository’s files may be fetched for conversations. A fetch that is tried " +
					"again counts once. When it is reached, conversations that begin on that day go on without files, and say so.",
				Unit: "fetches", Logged: "Fetches of sources in a day"})},
		{Name: "max_messages_per_hour", Kind: KindWhole, Limit: true, Max: maxLimit, Default: 60, Says: language.InEach(
			Words{Label: "1 時間のメッセージ (1 人)", About: "これを超えたメッセージは残りますが、エージェントはすぐには答えません。", Unit: "件", Logged: "1 時間のメッセージ(1 人)"},
			Words{Label: "Messages in an hour (one person)", About: "Messages beyond it stay, but the agent doesn’t answer them at once.", Unit: "messages", Logged: "Messages in an hour (one person)"})},
	}},
	{Key: "general", Title: language.InEach("全般", "General"), Settings: []Setting{
		{Name: "name", Kind: KindText, Min: 1, Max: 80, Default: "HR AI Agent", Says: language.InEach(
			Words{Label: "名前", About: "カードなどに出るエージェントの名前です。"},
			Words{Label: "Name", About: "The agent's name on cards and elsewhere."})},
		{Name: "slug", Kind: KindText, Own: true, Rule: RuleSlug, fits: like(&slugForm), Default: "default",
			Says: language.InEach(
				Words{Label: "短い名前", About: "アドレスなどに使う名前です。ほかのワークスペースと同じものは使えません。"},
				Words{Label: "Short name", About: "Used in addresses. No two workspaces can have the same."})},
		{Name: "locale", Kind: KindChoice, Choices: language.All, OnCards: true, Says: language.InEach(
			Words{Label: "Slack での言語", About: "カードやメッセージの言語です。このコンソールの言語とは別です。", Choices: []string{"日本語", "English"}},
			Words{Label: "Language in Slack", About: "Of cards and messages. This console's language is apart from it.", Choices: []string{"日本語", "English"}})},
	}},
}

// unasked are settings without an entry on a page.
var unasked = []Setting{
	{Name: "self_approval_chosen", Kind: KindFlag, Own: true, Says: language.InEach(
		Words{Logged: "自分の依頼の承認を決めた"},
		Words{Logged: "Self-approval was decided on"})},
}
