package explain

import (
	"strings"

	"ringi/shared/words/language"
)

// words are the texts of one language. {name} is a placeholder for a value.
type lineWords struct {
	open, shut, nothing, unread    string
	missing, more                  string
	inside                         *strings.Replacer // escapes texts between open and shut
	result, resultAt, resultCalled string
	sheet, atMost, exactly, rows   string
	columns, message, server       string
	byDefault                      string
	months, range_, and            string // of values that differ from call to call
	asked, automatic, step, steps  string
	aSheet, aMessage, noWrites     string // see Writes
}

func lineWordsOf(locale string) *lineWords { return language.InEach(&japanese, &english).In(locale) }

// between separates the items of a line.
const between = " · "

// ownSigns are escaped by a backslash when a value contains them, because lines use them.
var ownSigns = []string{`\`, `\\`, "\r", `\r`}

// In Japanese, quotation marks within others are 『』.
var japanese = lineWords{
	inside: strings.NewReplacer(append([]string{"「", "『", "」", "』", "『", `\『`, "』", `\』`, "｢", `\｢`, "｣", `\｣`, "﹁", `\﹁`,
		"﹂", `\﹂`}, ownSigns...)...),
	missing: "(指定なし)", more: "引数 ",
	open: "「", shut: "」", nothing: "(なし)", unread: "引数を読み取れません: ",
	result: "{step}の結果", resultAt: "{step}の結果 ({path})",
	resultCalled: "{step}の{heading}",
	sheet:        "スプレッドシート{spreadsheet}のタブ{tab}に{rows}を書き込み (A1 から上書き。表の下と右にあるものは残ります)", atMost: "最大 {n} 行", exactly: "{n} 行",
	rows: " · 行: {rows}", columns: " · 列: {columns}",
	message: "{recipient} へ DM: {text}", server: "{server} の {tool}", byDefault: " (既定)",
	step: "ステップ{n}", steps: "ステップ{n}", months: "{from}〜{to} の {n} か月", range_: "{from}〜{to}", and: "、",
	asked: "依頼: {who} · 承認: {by}", automatic: "自動承認",
	aSheet: "シート", aMessage: "メッセージ", noWrites: "なし",
}

var english = lineWords{
	inside:  strings.NewReplacer(append([]string{"“", `\“`, "”", `\”`, "„", `\„`, "‟", `\‟`, `"`, `\"`}, ownSigns...)...),
	missing: "(not given)", more: "argument ",
	open: "“", shut: "”", nothing: "(none)", unread: "Couldn't read the arguments: ",
	result: "the result of {step}", resultAt: "the result of {step} ({path})",
	resultCalled: "the {heading} from {step}",
	sheet:        "Write {rows} to the tab {tab} of the spreadsheet {spreadsheet}, overwriting from A1; cells below and to the right are kept", atMost: "up to {n} rows", exactly: "{n} rows",
	rows: " · rows: {rows}", columns: " · columns: {columns}",
	message: "DM to {recipient}: {text}", server: "{tool} on {server}", byDefault: " (default)",
	step: "step {n}", steps: "steps {n}", months: "{from} to {to} ({n} months)", range_: "{from} to {to}", and: ", ",
	asked: "Requested by {who} · approved by {by}", automatic: "nobody (automatic)",
	aSheet: "Sheet", aMessage: "Message", noWrites: "None",
}

//go:noinline
func fillLine(text string, pairs ...any) string { return language.Fill(text, pairs...) }

// Sent is the line below a message that a step sends: who asked for it, and who stamped it.
func Sent(locale, who, by string) string {
	return fillLine(lineWordsOf(locale).asked, "who", who, "by", by)
}

// Automatic stands for whoever stamped if nobody was asked to.
func Automatic(locale string) string { return lineWordsOf(locale).automatic }
