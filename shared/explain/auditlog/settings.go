package auditlog

import "maps"

// withSettings are names of fields, and those of settings behind them, in the language of that number.
func withSettings(fields map[string]string, language int) map[string]string {
	all := map[string]string{}
	for name, in := range settingNames {
		all[name] = in[language]
	}
	maps.Copy(all, fields)
	return all
}

// settingNames are the settings as an entry of their change names them, by what their page calls them: Japanese and English.
var settingNames = map[string][2]string{
	"name": {"名前", "Name"}, "slug": {"短い名前", "Short name"}, "locale": {"Slack での言語", "Language in Slack"},
	"approval_copies": {"承認者への DM", "Direct messages to approvers"}, "dm_default": {"DM で受け取った文", "A direct message is"},
	"prompt_approval_required": {"方針に承認を求める", "Ask for approval of policies"}, "process_approval_required": {"ステップに承認を求める", "Ask for approval of steps"},
	"auto_approve_tools": {"承認済みの書き込みをそのまま実行する", "Execute approved writes without asking again"},
	"approvers":          {"承認できる人", "Who may approve"}, "approvers.mode": {"承認できる人", "Who may approve"},
	"approvers.users": {"承認者", "Approvers"}, "approvers.usergroups": {"承認者のグループ", "Groups of approvers"},
	"allow_self_approval": {"自分の依頼を自分で承認できる", "People may approve their own requests"}, "self_approval_chosen": {"自分の依頼の承認を決めた", "Self-approval was decided on"},
	"approval_timeout_hours": {"承認の期限(時間)", "Time to approve (hours)"}, "max_versions": {"作り直しの上限", "Versions at most"},
	"max_cost_usd": {"依頼 1 件の予算(米ドル)", "Budget of one request (US dollars)"}, "max_cost_day_usd": {"1 日の予算(米ドル)", "Budget of a day (US dollars)"},
	"max_cost_month_usd": {"1 か月の予算(米ドル)", "Budget of a month (US dollars)"},
	"max_open_tasks":     {"同時に進む依頼", "Open requests"}, "max_open_tasks.person": {"同時に進む依頼(1 人)", "Open requests (one person)"},
	"max_open_tasks.tenant": {"同時に進む依頼(全体)", "Open requests (all together)"},
	"max_tasks_per_hour":    {"1 時間の依頼", "Requests in an hour"}, "max_tasks_per_hour.person": {"1 時間の依頼(1 人)", "Requests in an hour (one person)"},
	"max_tasks_per_hour.tenant": {"1 時間の依頼(全体)", "Requests in an hour (all together)"},
	"model":                     {"AI モデル", "AI model"}, "executor": {"実行のしかた", "How steps are executed"}, "l4_timeout_seconds": {"実行の制限時間(秒)", "Time to execute (seconds)"},
	"retain_results_days": {"結果の保存期間(日)", "Keep results for (days)"}, "mcp_servers": {"MCP サーバー", "MCP servers"}, "admins": {"管理者", "Administrators"},
	"agents": {"エージェント", "Agents"}, "auto_actions": {"承認なしで始めてよいテスト", "Tests that may begin without approval"},
	"action_timeout_hours": {"提案への返事の期限(時間)", "Time to answer a proposal (hours)"}, "session_idle_days": {"会話を閉じるまで(日)", "Close conversations after (days)"},
	"draft_contest": {"方針のコンテスト", "Contests of drafts"}, "draft_contest.enabled": {"方針をコンテストで下書きする", "Draft policies by a contest"}, "draft_contest.file": {"コンテストのファイル", "The contest's file"},
	"draft_contest.max_rounds": {"1 チームのラウンド(回まで)", "Rounds of each team"}, "draft_contest.budget_usd": {"コンテスト 1 回の予算(米ドル)", "Budget of one contest (US dollars)"}, "draft_contest.seconds": {"コンテストの制限時間(秒)", "Time for a contest (seconds)"},
	"ai_sessions": {"閉じた会話を残す", "Keep closed conversations"}, "ai_sessions.cache": {"閉じた会話を残す", "Keep closed conversations"},
	"ai_sessions.cache.enabled": {"閉じた会話を残す", "Keep closed conversations"},
	"max_session_cost_usd":      {"会話 1 つの予算(米ドル)", "Budget of one conversation (US dollars)"}, "max_messages_per_hour": {"1 時間のメッセージ(1 人)", "Messages in an hour (one person)"},
}
