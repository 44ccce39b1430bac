package line

import (
	"strings"

	"ringi/shared/words/language"
)

// words are the texts of one language. {name} is a placeholder for a value.
type words struct {
	open, shut, between, nothing, unread string
	missing, more                        string
	inside                               *strings.Replacer // escapes texts between open and shut
	result, resultAt                     string
	sheet, atMost, exactly, rows         string
	columns, message, server             string
	byDefault                            string
	aSheet, aMessage, noWrites           string // see Writes
}

func wordsOf(locale string) *words { return language.InEach(&japanese, &english).In(locale) }

// ownSigns are escaped by a backslash when a value contains them, because lines use them.
var ownSigns = []string{`\`, `\\`, "\r", `\r`}

// In Japanese, quotation marks within others are 『』.
var japanese = words{
	inside: strings.NewReplacer(append([]string{"「", "『", "」", "』", "『", `\『`, "』", `\』`, "｢", `\｢`, "｣", `\｣`, "﹁", `\﹁`,
		"﹂", `\﹂`}, ownSigns...)...),
	missing: "(指定なし)", more: "引数 ",
	open: "「", shut: "」", between: " · ", nothing: "(なし)", unread: "引数を読み取れません: ",
	result: "ステップ{step}の結果", resultAt: "ステップ{step}の結果 ({path})",
	sheet: "スプレッドシート{spreadsheet}のタブ{tab}に{rows}を書き込み(A1 から上書き。表の下と右にあるものは残ります)", atMost: "最大 {n} 行", exactly: "{n} 行",
	rows: " · 行: {rows}", columns: " · 列: {columns}",
	message: "{recipient} へ DM: {text}", server: "{server} の {tool}", byDefault: " (既定)",
	aSheet: "シート", aMessage: "メッセージ", noWrites: "なし",
}

var english = words{
	inside:  strings.NewReplacer(append([]string{"“", `\“`, "”", `\”`, "„", `\„`, "‟", `\‟`, `"`, `\"`}, ownSigns...)...),
	missing: "(not given)", more: "argument ",
	open: "“", shut: "”", between: " · ", nothing: "(none)", unread: "The arguments can't be read: ",
	result: "the result of step {step}", resultAt: "the result of step {step} ({path})",
	sheet: "Write {rows} to the tab {tab} of the spreadsheet {spreadsheet}, from A1 over what is there; what stands below or beside the table stays", atMost: "up to {n} rows", exactly: "{n} rows",
	rows: " · rows: {rows}", columns: " · columns: {columns}",
	message: "DM to {recipient}: {text}", server: "{tool} of {server}", byDefault: " (by default)",
	aSheet: "Sheet", aMessage: "Message", noWrites: "None",
}
