package agent

import "ringi/shared/words/language"

var called = language.InEach(
	map[ActionType]string{CodeGenerate: "ファイルの作成・変更", TestRun: "テストの実行", ShellCommand: "シェルコマンドの実行"},
	map[ActionType]string{CodeGenerate: "Write files", TestRun: "Run tests", ShellCommand: "Run a shell command"},
)

// Called returns the display name of each type of action.
func Called(locale string) map[ActionType]string { return called.In(locale) }
