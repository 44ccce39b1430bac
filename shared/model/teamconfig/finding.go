package teamconfig

import (
	"errors"
	"fmt"
	"strings"

	"ringi/shared/domain/agent"
	"ringi/shared/explain"
	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

// Finding is a mistake in a file.
type Finding struct {
	File    string `json:"file"`  // relative to the workspace
	Field   string `json:"field"` // relative to the file that was asked for: members[0].model; empty: the file as a whole
	Message string `json:"message"`
	Err     error  `json:"-"` // why a file can't be read; nil: it was
}

// maxSaid bounds a finding's text, in characters, because rows and answers hold findings and a name may be very long.
const maxSaid = 1000

// String returns the file, the field and the mistake as one line.
func (f Finding) String() string {
	s := f.File
	if f.Field != "" {
		s += ": " + f.Field
	}
	return legible.Clip(legible.OneLine(s+": "+f.Message), maxSaid)
}

// Texts returns the texts of the first most mistakes, and then how many more there are. It returns
// explain.ErrUnavailable if a file can't be read now, which is no mistake in it.
func Texts(found []Finding, most int, locale string) (all []string, err error) {
	for _, f := range found {
		if errors.Is(f.Err, explain.ErrUnavailable) {
			return nil, fmt.Errorf("read %.200s: %w", f.File, f.Err)
		}
		all = append(all, f.String())
	}
	if n := len(all) - most; n > 0 {
		all = append(all[:most], say(locale, "and %d more", n))
	}
	return all, nil
}

// refuse records a mistake.
func (t table) refuse(field, format string, a ...any) {
	t.found = append(t.found, Finding{File: t.file, Field: strings.TrimSuffix(t.path+field, "."),
		Message: say(t.locale, format, a...)})
}

// written returns a text as a file would write it, short enough for a message.
func written(s string) string {
	if agent.LikeKey(strings.TrimSpace(s)) {
		return "what looks like a key"
	}
	return fmt.Sprintf("%q", legible.Beginning(s, maxShown))
}

// maxShown is how much of a value a message quotes, in characters.
const maxShown = 80

const outside = "must be a relative path inside the workspace"

// say writes a message in a language. What has no translation stays English.
func say(locale, format string, a ...any) string {
	if in, ok := translated.In(locale).Find(format); ok {
		format = in
	}
	return fmt.Sprintf(format, a...)
}

// translated are messages in another language, with the same values in the same order.
var translated = language.InEach(language.Said[string]{
	{"and %d more", "ほか %d 件"},
	{outside, "設定ファイルのフォルダー内の相対パスにしてください"},
	{"there is no such file in the workspace", "このファイルはありません"},
	{"can't be read: %v", "読み取れません: %v"},
	{"must be at most %d bytes", "%d バイトまでです"},
	{"is one too many: a contest's files must be at most %d bytes in total, each counted every time it is named",
		"コンテスト全体のファイルが %d バイトを超えます (何度も名前が挙がるファイルは、その回数だけ数えます)"},
	{"must be %s (line %d)", "%sにしてください (%d 行目)"},
	{"a string", "文字列"}, {"a whole number", "整数"}, {"a number", "数値"}, {"a list of strings", "文字列の配列"},
	{"a table", "テーブル"},
	{"is not TOML: %v", "TOML として読み取れません: %v"},
	{"isn't a known field here", "ここでは使えない項目です"},
	{"is required: this file has a table [%s]", "必須です。このファイルにはテーブル [%s] が必要です"},
	{"is required", "必須です"},
	{"must be 1 to %d teams: [[orchestrator.teams]] with config",
		"チームは 1〜%d 個です。[[orchestrator.teams]] に config を書いてください"},
	{"must be 1 to %d metrics: [[metrics]] with name", "指標は 1〜%d 個です。[[metrics]] に name を書いてください"},
	{"isn't a metric Ringi knows: use ClarityCoherence, Coverage or Relevance, or define your own with system_instruction",
		"Ringi が知らない指標です。ClarityCoherence、Coverage、Relevance のいずれか、または system_instruction を付けた独自の指標にしてください"},
	{"must all have a weight, or none: %d of %d have one", "重みは、すべての指標に付けるか、どれにも付けないでください (今は %d/%d)"},
	{"must have weights that sum to 1 within %v, but these sum to %.7g", "重みの合計は 1 (誤差 %v 以内) にしてください。今は %.7g です"},
	{"system_prompt cannot be empty string. Use None for default prompt or provide valid text.",
		"空にできません。標準のものを使うときは項目ごと消してください"},
	{"Too many members: %d > %d. Adjust max_concurrent_members or reduce member count.",
		"メンバーが多すぎます (%d > %d)。max_concurrent_members を変えるか、メンバーを減らしてください"},
	{"is not a field of a member's own file", "メンバー自身のファイルには書けない項目です"},
	{"must be plain, web-search or code-exec, got %s", "plain、web-search、code-exec のいずれかにしてください、実際の値: %s"},
	{"tool_description cannot be empty", "空にできません"},
	{"must be 1 to 64 letters, digits, _ or -, as model vendors require; it is %s, taken from agent_name unless " +
		"tool_name is set",
		"AI モデルの提供元に合わせて、英数字、_、- の 1〜64 文字にしてください。今は %s です (tool_name がなければ agent_name から決まります)"},
	{"must be %v or more, got %v", "%v 以上にしてください、実際の値: %v"},
	{"must be %v to %v, got %v", "%v〜%v にしてください、実際の値: %v"},
	{"must be at most %d characters, got %s", "%d 文字までです、実際の値: %s"},
	{"isn't a model name: use <provider>:<model> with one of %s, or a name that starts with claude-, gpt-, gemini-, or " +
		"o1, o3 and so on, got %s",
		"モデルの名前ではありません。<提供元>:<モデル> (提供元は %s)、または claude-、gpt-、o1、o3 など、gemini- で始まる名前にしてください、実際の値: %s"},
	{"isn't a model name", "モデルの名前ではありません"},
	{"Duplicate %s detected: %s", "%s が重複しています: %s"},
	{"is not set, and the default, %s, %s", "設定がなく、標準の %s は%s"},
	{"%s, got %s", "%s、実際の値: %s"},
	{"can't be called: the model secret can't be read", "呼び出せません (モデル用シークレットを読み取れません)"},
	{"can't be called: the model secret has no address for %s", "呼び出せません (モデル用シークレットに %s の接続先がありません)"},
	{"can't be called: the model secret has no key for %s", "呼び出せません (モデル用シークレットに %s の API キーがありません)"},
	{"has no known price, which a contest's budget needs: enter its price in the settings or choose another model",
		"料金が分からないため、コンテストの予算を守れません。設定で料金を入力するか、別のモデルにしてください"},
}, nil)

// Named is the place where a file names a model, or leaves it out.
type Named struct {
	File, Field, Model string
	Set                bool // otherwise the model is the default
}

// Refused returns a finding about the model.
func (n Named) Refused(locale, why string) Finding {
	if n.Set {
		return Finding{File: n.File, Field: n.Field, Message: say(locale, "%s, got %s", why, written(n.Model))}
	}
	return Finding{File: n.File, Field: n.Field,
		Message: say(locale, "is not set, and the default, %s, %s", n.Model, why)}
}
