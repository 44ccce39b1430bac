package reason

import (
	"ringi/shared/aggregate"
	"ringi/shared/task"
)

func japanese() words {
	return words{
		detail: "({detail})", seconds: "({detail}秒)", spent: "(費用 ${spent}、上限 ${limit})", atMost: "(上限 {n} 件)", people: "({n} 人、上限 {limit} 人)", step: "ステップ {step}",
		sentences: map[aggregate.Reason]string{
			task.ReasonDone:             "タスクは完了しました。",
			task.ReasonByPerson:         "タスクはキャンセルされました。続けるには、もう一度依頼してください。",
			task.ReasonMaxVersions:      "却下が上限に達したため、タスクをキャンセルしました。条件を変えて、もう一度依頼してください。",
			task.ReasonExpired:          "期限までに決定されなかったため、タスクをキャンセルしました。続けるには、もう一度依頼してください。",
			task.ReasonStepRejected:     "ステップが却下されたため、実行を中止しました。完了したステップはそのままです。",
			task.ReasonCostLimit:        "費用が上限に達したため、止めました{detail}。管理者に上限 (max_cost_usd) を上げてもらってから、[🔄 再実行] を押してください。ボタンがなければ、もう一度依頼してください。",
			task.ReasonUnsupported:      "タスクは作成していません。Ringi には、従業員一覧、勤怠の集計、残業時間の確認、スプレッドシートへの書き込み、Slack の DM での連絡と、このワークスペースに追加されたツールで行える業務を依頼できます。",
			task.ReasonGreeting:         "HR AI Agent です。業務を依頼してください。",
			task.ReasonThreadHint:       "スレッドへの返信は、依頼として受け付けていません。承認を待っている内容を変えるには、カードの [❌ 却下] を押して理由を書くか、このスレッドで Ringi にメンションして書いてください。新しい依頼は、スレッドの外に新しいメッセージとして書いてください。承認・却下・キャンセルは、カードから行えます。",
			task.ReasonBecameReason:     "このメッセージは、同じスレッドで承認を待っていたバージョンの却下理由になりました。",
			task.ReasonHelp:             "Ringi には「今月の勤怠をまとめて」「先月の残業時間を確認して」「従業員一覧を取得して」のように業務を依頼してください。実行方針と実行ステップを承認してから実行します。",
			task.ReasonGuest:            "ゲストの方からの依頼は受け付けていません。ワークスペースのメンバーに依頼してもらってください。",
			task.ReasonStranger:         "別のワークスペースの方からの依頼は受け付けていません。このワークスペースのメンバーに依頼してもらってください。",
			task.ReasonWorkspace:        "このワークスペースには Ringi が設定されていないため、依頼を受け付けられません。設定は Ringi の管理者に相談してください。",
			task.ReasonOpenPerson:       "あなたの進行中のタスクが上限に達しています{detail}。進行中のタスクを承認・却下・キャンセルして終わらせてから、もう一度依頼してください。上限 (max_open_tasks) は管理者が変更できます。",
			task.ReasonOpenTenant:       "このワークスペースの進行中のタスクが上限に達しています{detail}。ほかのタスクが終わってから、もう一度依頼してください。上限 (max_open_tasks) は管理者が変更できます。",
			task.ReasonHourPerson:       "あなたがこの 1 時間に依頼できる件数の上限に達しています{detail}。下の時刻を過ぎてから、もう一度依頼してください。上限 (max_tasks_per_hour) は管理者が変更できます。",
			task.ReasonHourTenant:       "このワークスペースでこの 1 時間に依頼できる件数の上限に達しています{detail}。下の時刻を過ぎてから、もう一度依頼してください。上限 (max_tasks_per_hour) は管理者が変更できます。",
			task.ReasonAsked:            "このスレッドに書かれたあなたの前のメッセージを、却下理由にするか新しい依頼にするか、まだ選ばれていません。そのカードのボタンで選んでから、もう一度書いてください。",
			task.ReasonModelUnavailable: "AI モデルに接続できませんでした{detail}。少し待って [🔄 再試行] を押してください。",
			task.ReasonModelRefused:     "AI モデルがこの依頼への回答を断りました{detail}。内容を変えて、もう一度依頼してください。",
			task.ReasonModelBadOutput:   "AI モデルの回答を読み取れませんでした{detail}。[🔄 再試行] を押すか、より具体的に依頼し直してください。",
			task.ReasonModelCutOff:      "AI モデルの回答が長すぎて途中で切れました{detail}。依頼を小さく分けて、もう一度依頼してください。",
			task.ReasonModelBadRequest:  "AI モデルの提供元がこの内容を受け付けませんでした{detail}。依頼を短くするか、管理者に別のモデルの設定を依頼してから [🔄 再試行] を押してください。",
			task.ReasonModelKey:         "AI モデルの API キーが登録されていないか、正しくありません{detail}。Ringi を運用している方に、モデル用シークレットへのキーの登録を依頼してから [🔄 再試行] を押してください。",
			task.ReasonModelForbidden:   "このモデルを使う権限がありません{detail}。Ringi を運用している方に、提供元でのモデルの利用許可を確認してもらってから [🔄 再試行] を押してください。",
			task.ReasonModelNoCredit:    "AI モデルの提供元の残高または利用枠がありません{detail}。契約を管理している方に確認してもらってから [🔄 再試行] を押してください。",
			task.ReasonModelMisplaced:   "AI モデルの接続先に接続できません{detail}。接続先は公開された https のアドレスに限られます。Ringi を運用している方に、モデル用シークレットの接続先の確認を依頼してください。",
			task.ReasonModelUnknown:     "設定されている AI モデルが使えません{detail}。管理者に設定の確認を依頼してから [🔄 再試行] を押してください。",
			task.ReasonModelUnpriced:    "タスクの費用に上限 (max_cost_usd) がありますが、このモデルの料金が分からないため、呼び出しませんでした{detail}。管理者に別のモデルを選ぶか上限を 0 にしてもらってから、[🔄 再試行] を押してください。",
			task.ReasonModelDemo:        "デモ用のモデルが、頼まれたとおりに失敗しました{detail}。[🔄 再試行] を押すと続きます。",
			task.ReasonTooManyPeople:    "AI モデルの書いた実行方針が、挙げられる人数の上限を超えています{detail}。知らせる相手を減らすか、依頼を分けて、もう一度依頼してください。",
			task.ReasonPlanNever:        "依頼のうち、できないことがあるため、実行ステップを作りませんでした{detail}。再試行しても変わりません。できる範囲でもう一度依頼し、このタスクはメニュー「⋯」から取り消してください。",
			task.ReasonPlanLacks:        "依頼のうち、できないことがあるため、実行ステップを作りませんでした{detail}。管理者が許可した後に [🔄 再試行] を押すか、できる範囲でもう一度依頼してください。",
			task.ReasonRunFailed:        "Ringi の内部で問題が起きました{detail}。下のボタンでもう一度お試しください。続く場合は管理者に連絡してください。",
			task.ReasonToolValue:        "承認された内容のままでは実行できません{detail}。再実行しても同じ結果になるため、正しい内容でもう一度依頼してください。",
			task.ReasonToolFailed:       "ツールの呼び出しに失敗しました{detail}。接続先の状態を確認してから [🔄 再実行] を押してください。完了したステップはやり直しません。",
			task.ReasonToolUnknown:      "書き込みの結果が分かりません{detail}。書き込み先を確認してから [🔄 再実行] を押してください。押すと、結果不明のステップをもう一度呼び出します。",
			task.ReasonToolNotAllowed:   "このワークスペースでは許可されていないツールです{detail}。管理者が許可してから [🔄 再実行] を押してください。",
			task.ReasonToolConstraint:   "管理者が決めたツールの制約に合わないため、呼び出しませんでした{detail}。制約の中でできるようにもう一度依頼するか、管理者に制約を見直してもらってから [🔄 再実行] を押してください。",
			task.ReasonToolChanged:      "承認の後にツールが変わったため、実行しませんでした{detail}。もう一度依頼して、新しいステップを承認してください。",
			task.ReasonBadArguments:     "前のステップの結果から引数を決められませんでした{detail}。内容を確認して、もう一度依頼してください。",
			task.ReasonResultExpired:    "前のステップの結果が保存期間を過ぎて削除されているため、続きを実行できません{detail}。もう一度依頼してください。",
			task.ReasonStepsChanged:     "承認された内容と実行する内容が一致しないため、実行しませんでした{detail}。もう一度依頼して、承認し直してください。",
			task.ReasonTimeout:          "制限時間を超えました{detail}。[🔄 再実行] を押すと、完了したステップの続きから実行します。",
			task.ReasonInterruptedRead:  "読み取りの途中で処理が途切れました{detail}。[🔄 再実行] を押してください。",
			task.ReasonSessionModel:     "Claude Managed Agents での実行には Anthropic のモデルが必要です{detail}。管理者にモデルを claude-… にするか、ステップの実行を Ringi にしてもらってから、もう一度依頼してください。",
			task.ReasonSessionEnded:     "Claude のセッションが途中で終わりました{detail}。[🔄 再実行] を押すと、完了したステップの続きから実行します。",
			task.ReasonStepsNotDone:     "Claude が、承認されたステップを残したまま終わりました{detail}。[🔄 再実行] を押すと、完了したステップの続きから実行します。",
		},
	}
}
