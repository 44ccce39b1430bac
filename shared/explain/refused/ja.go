package refused

import (
	"ringi/shared/domain/aggregate"
	"ringi/shared/explain/errorclass"
)

func japanese() *words {
	const stale = "状態が変わりました。最新のカードを確認して、もう一度お試しください。"
	return &words{
		unsaved: "保存できませんでした。もう一度お試しください。",
		notes: map[errorclass.Class]string{
			errorclass.NotLatest:      "これは古いバージョンです(最新: {latest})。最新のカードから操作してください。",
			errorclass.NotAllowed:     "この操作は許可されていません。",
			errorclass.Field:          "入力を確認してください: {field} {limit}",
			errorclass.InFlight:       "呼び出し中のステップがあります。結果が分かってから、もう一度押してください。",
			errorclass.Uncovered:      "前回の書き込みの結果が不明です。カードの内容を確認してから、もう一度 [🔄 再実行] を押してください。",
			errorclass.Unconfirmed:    "保存できたか確認できませんでした。少し待ってもカードが変わらなければ、もう一度押してください。すでに保存されていても、二重にはなりません。",
			errorclass.NothingToRetry: "やり直すものがありません。最新のカードを確認してください。",
			errorclass.MaxAttempts:    "このタスクの実行は上限の {max} 回に達しました。続ける場合は、新しい依頼として送ってください。",
			errorclass.MaxRetries:     "この作成のやり直しは上限の {max} 回に達しました。続ける場合は、新しい依頼として送ってください。",
			errorclass.NotFound:       "対象が見つかりません。すでに無いか、このワークスペースのものではありません。",
			errorclass.Unverified:     "あなたの権限を Slack に確認できませんでした。少し待って、もう一度お試しください。",
			errorclass.MalformedForm:  "このフォームは古くなっています。閉じて、最新のカードのボタンからもう一度お試しください。",
			errorclass.Superseded:     stale,
			errorclass.Conflict:       stale,
			errorclass.Changed:        stale,
		},
		reason: "却下理由は 1〜{max} 文字で入力してください。",
		direct: "ダイレクトメッセージでの依頼なので、承認・却下できるのは本人だけです。",
		rules: map[aggregate.Rule]string{
			aggregate.RuleForeign:   "別のワークスペースの方は操作できません。",
			aggregate.RuleGuest:     "ゲストの方は承認・却下・再実行できません。",
			aggregate.RuleNotMember: "依頼があったチャンネルのメンバーだけが承認・却下できます。参加してから、もう一度お試しください。",
			aggregate.RuleUnlisted:  "ここのメンバーを Ringi が確認できないため、承認できる人がいません。チャンネルで依頼してください。",
			aggregate.RuleNotListed: "あなたは承認者に登録されていません。登録されている承認者に依頼してください。",
			aggregate.RuleNobody:    "承認者が 1 人も登録されていないため、誰も承認できません。管理者に登録を依頼してください。",
			aggregate.RuleSelf:      "自分の依頼は自分で承認できません。ほかの承認者に依頼してください。",
			aggregate.RuleAlone:     "別の案に替えると、あなたが出した案として扱われますが、それを承認できる人がほかにいないため、替えていません。ほかの人も承認できるように、管理者に、設定の「承認できる人」を見直すよう依頼してください。",
			aggregate.RuleNotParty:  "依頼した本人か承認者だけが操作できます。",
		},
		decided: map[state]string{
			approved:     "{who} が {when} に承認済みです。",
			autoApproved: "{when} に自動承認されています。",
			rejected:     "{who} が {when} に却下済みです。",
			picked:       "{who} が {when} に別の案に替えています。最新のカードを確認してください。",
			asReason:     "{who} が {when} に却下理由にしています。",
			asRequest:    "{who} が {when} に新しい依頼にしています。",
			cancelled:    "{who} が {when} にこのタスクをキャンセルしました。続けるには、もう一度依頼してください。",
			expired:      "このタスクは期限までに決定されず、{when} にキャンセルされました。続けるには、もう一度依頼してください。",
			failed:       "このタスクは {when} に失敗しました。{why}",
			isOver:       "このタスクは {when} に終了しています。{why}",
			otherwise:    "{who} が {when} に決定済みです。",
		},
		ownRequest:     "自分の依頼は自分で承認できません。",
		canDecide:      "👥 承認・却下できる人: {who}",
		may:            "👥 操作できる人: {who}",
		nobody:         "なし(承認者が登録されていません。管理者に登録を依頼してください)",
		nobodyElse:     "👥 承認できる人: 今の設定では、いません(依頼した {who} は、自分の依頼を承認できません)。管理者に、設定の「承認できる人」にほかの人を加えるか、「自分の依頼を自分で承認できる」を「はい」にするよう依頼してください。",
		members:        "{channel} のメンバー",
		membersOfIt:    "このチャンネルのメンバー",
		notRequester:   "(依頼した {who} は、自分の依頼を承認できません)",
		andOthers:      "ほか {n} 件",
		reasonNotTaken: "入力した却下理由は、反映されていません。",
		cancelAccepted: "タスクをキャンセルしました。呼び出し中のステップがあれば、その結果だけをカードに表示します。",
	}
}
