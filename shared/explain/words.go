package explain

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/words/language"
)

// lineWords are the texts of one language. {name} is a placeholder for a value.
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

// NoToken returns the error of a call without a token: why there is none and what people can do.
func NoToken(p Provider, err error) *CallError {
	var known *CallError
	if errors.As(err, &known) {
		return known
	}
	e := &CallError{Outcome: CallFailed, Problem: ProblemLocked, Args: []any{p}, Err: err}
	ended := tenancy.ErrNotConnected{}
	switch {
	case errors.As(err, &ended):
		e.Problem = ending(ended.Reason)
	case errors.Is(err, aggregate.ErrNotFound):
		e.Problem = ProblemNotConnected
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		e.Problem = ProblemTimeout
	}
	return e
}

// ending returns the problem that explains why a provider is no longer connected.
func ending(why tenancy.IntegrationReason) Problem {
	switch why {
	case tenancy.CredentialRefused:
		return ProblemUnauthorized
	case tenancy.CredentialLost:
		return ProblemTokenLost
	case tenancy.AppUninstalled:
		return ProblemUninstalled
	case tenancy.TokensRevoked:
		return ProblemRevoked
	case tenancy.CredentialElsewhere:
		return ProblemElsewhere
	}
	return ProblemNotConnected
}

//go:embed texts
var texts embed.FS

// callWords are the texts of one language.
type callWords struct {
	Providers map[Provider]string
	Problems  map[Problem]string
}

var callWordsOf = language.Catalog[callWords]{Files: &texts, Folder: "texts/failedcall"}

// FailedCall tells people in their language what went wrong and what they can do.
func FailedCall(locale string, p Problem, args ...any) string {
	w := callWordsOf.In(locale)
	text, ok := w.Problems[p]
	if !ok {
		return string(p)
	}
	named := make([]any, len(args))
	for i, a := range args {
		named[i] = a
		if provider, ok := a.(Provider); ok {
			named[i] = provider.name(w.Providers)
		}
	}
	return fmt.Sprintf(text, named...)
}

// Clock formats a time, rounded up to the minute. In Japanese it is in Japan's time zone.
func Clock(locale string, t time.Time) string {
	t = t.Add(time.Minute - time.Nanosecond).Truncate(time.Minute)
	return language.InEach(
		t.In(tenancy.Zone()).Format("1月2日 15:04 (日本時間)"),
		t.UTC().Format("15:04 UTC on January 2"),
	).In(locale)
}

// Provider is a vendor's name as in integrations.
type Provider string

const (
	Freee  Provider = "freee"
	Google Provider = "google"
	Slack  Provider = "slack"
	GitHub Provider = "github"
)

func (p Provider) name(names map[Provider]string) string {
	if name, ok := names[p]; ok {
		return name
	}
	if server, ok := strings.CutPrefix(string(p), "mcp:"); ok {
		return server + " (MCP)"
	}
	return string(p)
}
