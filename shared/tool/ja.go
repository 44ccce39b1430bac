package tool

var japaneseProviders = map[Provider]string{Freee: "freee人事労務", Google: "Google スプレッドシート", Slack: "Slack"}

var japanese = map[Problem]string{
	ProblemNotConnected: "%s に接続されていません。管理者に接続を依頼してください。",
	ProblemUnauthorized: "%s の認証が切れています。管理者に接続し直してもらってから再実行してください。",
	ProblemForbidden:    "%s に拒否されました(403)。権限が足りないか、短時間に呼び出しが集中しました。権限を確認し、10 分ほど置いて再実行してください。",
	ProblemNotFound:     "%s に対象が見つかりませんでした(404)。ID と共有設定を確認してください。",
	ProblemRateLimited:  "%s の利用回数の上限に達しました。しばらく置いて再実行してください。",
	ProblemRejected:     "%s に受け付けられませんでした: %s",
	ProblemDown:         "%s でエラーが起きています(%v)。しばらく置いて再実行してください。",
	ProblemTimeout:      "%s から時間内に応答がありませんでした。",
	ProblemUnreachable:  "%s に接続できませんでした。",
	ProblemLost:         "%s との通信が途中で切れました。",
	ProblemBadAnswer:    "%s の応答を読み取れませんでした。",
	ProblemBadArguments: "%s の引数が正しくありません: %s",
	ProblemBadData:      "勤怠データに %d 件の問題が見つかりました。最初の問題: %s",
	ProblemNoRecipient:  "送信先 %s が Slack に見つかりませんでした。",
	ProblemNoCompany:    "%s に利用できる事業所がありません。",
	ProblemTokenLost:    "%s の認証の更新が途中で途切れ、接続が失われました。管理者に接続し直してもらってから再実行してください。",
	ProblemUninstalled:  "Slack からアプリが削除されたため、%s との接続は解除されています。管理者にアプリの再インストールと接続を依頼してください。",
	ProblemRevoked:      "%s のトークンが無効にされました。管理者にアプリの再インストールと接続を依頼してください。",
	ProblemLocked:       "%s の認証情報を開けませんでした。AWS を管理する人に、鍵 (KMS) とテーブルの権限と状態を確認してもらってから再実行してください。",
	ProblemChanged:      "%s のツール %s は、管理者が許可した後に変更または削除されたため、実行しませんでした。管理者が確認して許可し直してから、もう一度依頼してください。",
	ProblemAddress:      "%s の接続先アドレスは利用できません。https の公開アドレスだけを利用できます。管理者に修正を依頼してください。",
	ProblemNotListed:    "%s の制約 %s により、%v は利用できません。許可されているのは %s だけです。",
	ProblemTooMany:      "%s の制約 %s により、一度に扱えるのは %d 行までです(今回は %d 行)。",
	ProblemUnbound:      "%s の制約の設定が正しくないため、呼び出せません(%s)。",
	ProblemTooLarge:     "%s の結果が上限(%s)を超えました。範囲を狭めて、もう一度依頼してください。",
	ProblemNoDepartment: "%s に部門「%s」がありません。部門の名前かコードを確認してください。",
	ProblemSheetFull:    "%sのセルが %d 個になり、上限の %d 個を超えるため、書き込みませんでした。使わないシートを削除するか、別のスプレッドシートを指定してください。",
	ProblemInternal:     "%s の実行中に内部エラーが起きました。",
}
