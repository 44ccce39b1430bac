package agent

import "ringi/shared/words/language"

var called = language.InEach(
	map[ActionType]string{CodeGenerate: "ファイルの作成・変更", TestRun: "テストの実行", ShellCommand: "シェルコマンドの実行",
		ToolCall: "ツールの呼び出し"},
	map[ActionType]string{CodeGenerate: "Write files", TestRun: "Run tests", ShellCommand: "Run a shell command",
		ToolCall: "Call a tool"},
)

// Called returns the display name of each type of action.
func Called(locale string) map[ActionType]string { return called.In(locale) }
