package agent

import "ringi/shared/words/language"

var called = language.InEach(
	map[ActionType]string{CodeGenerate: "ファイルの作成・変更", TestRun: "テストの実行", ShellCommand: "シェルコマンドの実行"},
	map[ActionType]string{CodeGenerate: "Write files", TestRun: "Run tests", ShellCommand: "Run a shell command"},
)

// Called is what people read for each type of action, the same on every surface.
func Called(locale string) map[ActionType]string { return called.In(locale) }
