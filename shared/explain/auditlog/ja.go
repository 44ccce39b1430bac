package auditlog

import (
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
)

func japanese() Words {
	ends := map[string]string{"completed": "完了", "failed": "失敗", "unknown": "結果不明", "running": "実行中"}
	return Words{
		Columns: [columns]string{"日時(日本時間)", "だれが", "何をしたか", "操作の名前", "対象", "対象の ID", "依頼の ID", "詳細", "日時(UTC)", "記録の ID"},
		Ringi:   "Ringi",
		actions: map[aggregate.Action]string{
			task.AuditTaskCreated:                "依頼を受け付けた",
			task.AuditRequestAnswered:            "依頼にせず返信した",
			task.AuditRequestChosen:              "メッセージの扱いを選んだ",
			task.AuditTaskCancelled:              "依頼を取り消した",
			task.AuditTaskExpired:                "期限切れで終わった",
			task.AuditTaskRefused:                "依頼を受け付けなかった",
			task.AuditPromptApproved:             "実行方針を承認した",
			task.AuditPromptRejected:             "実行方針を却下した",
			task.AuditPromptPicked:               "実行方針を別の案に替えた",
			task.AuditProcessApproved:            "実行ステップを承認した",
			task.AuditProcessRejected:            "実行ステップを却下した",
			task.AuditStepApproved:               "ステップを確認して承認した",
			task.AuditStepRejected:               "ステップを確認して却下した",
			task.AuditExecutionStarted:           "実行を始めた",
			task.AuditExecutionCompleted:         "実行を終えた",
			task.AuditExecutionFailed:            "実行に失敗した",
			task.AuditExecutionCancelled:         "実行を取り消した",
			task.AuditExecutionRetried:           "実行をやり直した",
			task.AuditExecutionLate:              "ステップの結果が後から分かった",
			task.AuditGenerationFailed:           "案の作成に失敗した",
			task.AuditGenerationRetried:          "案の作成をやり直した",
			tenancy.AuditSettingsUpdated:         "設定を変えた",
			tenancy.AuditIntegrationConnected:    "連携をつないだ",
			tenancy.AuditIntegrationDisconnected: "連携を外した",
			tenancy.AuditIntegrationFailed:       "連携が使えなくなった",
			tenancy.AuditToolPermissionUpdated:   "ツールの許可を変えた",
			conversation.AuditOpened:             "エージェントとの会話を始めた",
			conversation.AuditClosed:             "会話を終えた",
			conversation.AuditReopened:           "会話をもう一度始めた",
			conversation.AuditFailing:            "エージェントが応答できなくなった",
			"session.handed_over":                "会話から依頼を作った",
			conversation.AuditProposed:           "エージェントの操作を提案した",
			conversation.AuditApproved:           "エージェントの操作を承認した",
			conversation.AuditRejected:           "エージェントの操作を却下した",
			conversation.AuditExpired:            "エージェントの操作が期限切れになった",
			conversation.AuditCancelled:          "エージェントの操作を取り消した",
			conversation.AuditStarted:            "エージェントの操作を始めた",
			conversation.AuditCompleted:          "エージェントの操作を終えた",
			conversation.AuditFailed:             "エージェントの操作に失敗した",
			conversation.AuditLate:               "エージェントの操作の結果が後から分かった",
			contest.AuditStarted:                 "コンテストを始めた",
			contest.AuditEnded:                   "コンテストを終えた",
			contest.AuditCancelled:               "コンテストを中止した",
			contest.AuditAbandoned:               "コンテストを打ち切った",
			ActionExported:                       "監査ログを書き出した",
		},
		resources: map[string]string{
			"task": "依頼", "prompt": "実行方針", "process": "実行ステップ", "execution": "実行", "tenant": "ワークスペース", "settings": "設定",
			"integration": "連携", "tool_permission": "ツールの許可", "export": "書き出し", "session": "会話", "action": "エージェントの操作", "contest": "コンテスト",
		},
		locale: "ja", held: "承認できる人がいないため、次の案の作成を保留した",
		values: map[string]map[string]string{
			"surface": {"slack": "Slack", "console": "コンソール"}, "form": {"csv": "CSV", "jsonl": "JSON Lines"},
			"status": ends, "was": ends,
			"requested_by": {"agent": "エージェント", "user": "人"}, "approved_by": {"user": "人が承認", "auto": "規則により自動"},
			"result": {"completed": "全チームが終了", "partial_failure": "一部のチームが失敗", "failed": "全チームが失敗"},
			"kind":   {"unsupported": "対応していない依頼", "help": "使い方の案内"},
			"as":     {"reason": "却下の理由", "request": "新しい依頼"},
			"layer":  {"L1": "依頼の読み取り", "L2": "実行方針", "L3": "実行ステップ", "L4": "実行"},
			"why":    {"contest_cancelled": "中止された", "contest_run_failed": "処理が続けて止まった"},
		},
		fields: map[string]string{
			"surface": "操作した場所", "version": "バージョン", "reason": "理由", "title": "件名", "requester": "依頼した人", "asked_at": "たずねた時刻", "hash": "内容の指紋", "arguments_hash": "引数の指紋",
			"step": "ステップ", "steps": "ステップの数", "attempt": "何回目", "layer": "段階", "hours": "期限(時間)", "team": "チーム", "picked": "代わりに選ばれたチーム", "score": "点数", "fields": "変わった項目",
			"changes": "変更", "writes": "書き込みの引数の指紋", "ends": "書き込みの結果", "reused": "前回までに済んだ書き込み", "handed_over": "エージェントが作った依頼", "picked_by": "選んだ人", "running": "実行中", "base_version": "始めたときのファイル", "from": "前", "to": "後", "was": "前", "is": "後", "before": "前", "after": "後", "tools": "ツールの呼び出し", "tool": "ツール", "provider": "連携先", "form": "形式", "rows": "件数", "bytes": "バイト数",
			"filter": "条件", "action": "操作", "actor": "だれが", "resource": "対象", "kind": "種類", "as": "扱い", "beside": "同じスレッドの依頼", "gate": "待っていたもの",
			"session_id": "セッション", "agent": "エージェント", "type": "操作の種類", "rule": "規則", "number": "番号", "requested_by": "提案した人", "approved_by": "承認のしかた", "by": "決めた人", "outcome": "結果", "error": "失敗の理由", "detail": "詳しく", "status": "状態", "task": "依頼", "asked_by": "頼んだ人", "limit": "上限", "cost": "費用", "completed": "完了", "failed": "失敗", "unknown": "結果不明", "allowed": "許可", "contests": "コンテストでの利用", "constraints": "制限", "pin": "確かめたツールの指紋",
			"teams": "チームの数", "max_rounds": "ラウンドの上限", "budget_usd": "予算(米ドル)", "for": "もとの依頼", "result": "結果", "why": "理由", "failed_teams": "失敗したチームの数", "best_team": "最高点のチーム", "best_score": "最高点",
			"approvers": "承認できる人", "max_open_tasks": "同時に進む依頼", "max_tasks_per_hour": "1 時間の依頼", "draft_contest": "方針のコンテスト",
			"ai_sessions": "閉じた会話を残す", "ai_sessions.cache": "閉じた会話を残す", "admins": "管理者",
		},
	}
}
