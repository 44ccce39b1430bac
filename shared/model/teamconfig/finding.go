package teamconfig

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"ringi/shared/domain/agent"
	"ringi/shared/explain"
	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

// Finding is a mistake in a file or, as a warning, a part of it without effect.
type Finding struct {
	File    string `json:"file"`  // relative to the workspace
	Field   string `json:"field"` // relative to the file that was asked for: members[0].model; empty: the file as a whole
	Value   string `json:"value"` // as it is written in the file, cut; empty: not set
	Message string `json:"message"`
	Warning bool   `json:"warning"`
	Err     error  `json:"-"` // why a file can't be read; nil: it was
}

// maxSaid bounds a finding's text, in characters, because rows and answers hold findings and a name may be very long.
const maxSaid = 1000

// String returns In English.
func (f Finding) String() string { return f.In(language.English) }

// In returns the file, the field, the mistake and the value as one text.
func (f Finding) In(locale string) string {
	s := f.File
	if f.Field != "" {
		s += ": " + f.Field
	}
	s += ": " + in(locale, f.Message)
	if f.Value != "" {
		s += words.In(locale).got + in(locale, f.Value)
	}
	return legible.Beginning(s, maxSaid)
}

// Valid reports whether all findings are only warnings.
func Valid(found []Finding) bool {
	return !slices.ContainsFunc(found, func(f Finding) bool { return !f.Warning })
}

// Texts returns the texts of mistakes and of warnings in a language: of each the first most, and then how many more. It
// returns explain.ErrUnavailable if a file can't be read now, which is no mistake in it.
func Texts(found []Finding, most int, locale string) (mistakes, warnings []string, err error) {
	for _, f := range found {
		switch {
		case errors.Is(f.Err, explain.ErrUnavailable):
			return nil, nil, fmt.Errorf("read %.200s: %w", f.File, f.Err)
		case f.Warning:
			warnings = append(warnings, f.In(locale))
		default:
			mistakes = append(mistakes, f.In(locale))
		}
	}
	bounded := func(all []string) []string {
		if n := len(all) - most; n > 0 {
			return append(all[:most], fmt.Sprintf(words.In(locale).more, n))
		}
		return all
	}
	return bounded(mistakes), bounded(warnings), nil
}

// written returns a value as a file would write it, short enough for a message.
func written(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		if agent.LikeKey(strings.TrimSpace(v)) {
			return "what looks like a key"
		}
		return fmt.Sprintf("%q", legible.Beginning(v, maxShown))
	case map[string]any:
		return "a table"
	case []any:
		return fmt.Sprintf("a list of %d", len(v))
	}
	return legible.Beginning(fmt.Sprint(v), maxShown)
}

// maxShown is how much of a value a message quotes, in characters.
const maxShown = 80

// repeated lists the names that occur more than once, each as often as it occurs. It returns an empty text if all names
// differ. The format is that of a Python list, which other tools parse.
func repeated(names []string) string {
	count := map[string]int{}
	for _, n := range names {
		count[n]++
	}
	var twice []string
	for _, n := range names {
		if count[n] > 1 {
			twice = append(twice, "'"+legible.Beginning(n, maxShown)+"'")
		}
	}
	if twice == nil {
		return ""
	}
	return "[" + strings.Join(twice, ", ") + "]"
}

// texts are a language's words of findings. messages are a message's format and its translation, whose verbs are in the
// same order; English has none, since messages are written in it.
type texts struct {
	got, more string // after a mistake, the value; after the last finding, how many more there are
	messages  [][2]string
}

var words = language.InEach(texts{got: "、実際の値: ", more: "ほか %d 件", messages: [][2]string{
	{"disagrees with %s: keep only one of them", "%s と内容が食い違っています。どちらか一方だけにしてください"},
	{"a contest needs a team: [[orchestrator.teams]] with config", "チームが必要です。[[orchestrator.teams]] に config を書いてください"},
	{"must be at most %d teams", "チームは %s 個までです"},
	{"Duplicate %s detected: %s", "%s が重複しています: %s"},
	{"an evaluator needs a metric: [[metrics]] with name", "評価の指標が必要です。[[metrics]] に name を書いてください"},
	{"must be at most %d metrics", "指標は %s 個までです"},
	{"can't be used: write a metric of your own as [[metrics]] with system_instruction",
		"使えません。独自の指標は [[metrics]] に system_instruction を付けて書いてください"},
	{"isn't a metric Ringi knows: use ClarityCoherence, Coverage or Relevance, or define your own with system_instruction",
		"Ringi が知らない指標です。ClarityCoherence、Coverage、Relevance のいずれか、または system_instruction を付けた独自の指標にしてください"},
	{"must all have a weight, or none: %d of %d have one", "重みは、すべての指標に付けるか、どれにも付けないでください (今は %s/%s)"},
	{"must have weights that sum to 1 within %v, but these sum to %.7g", "重みの合計は 1 (誤差 %s 以内) にしてください。今は %s です"},
	{"has no effect when %s is set", "%s があるため効果がありません"},
	{"is not a field of a member's own file", "メンバー自身のファイルには書けない項目です"},
	{"must be 1 to 64 letters, digits, _ or -, as model vendors require; it is %q, taken from agent_name unless " +
		"tool_name is set",
		"AI モデルの提供元に合わせて、英数字、_、- の 1〜64 文字にしてください。今は %s です (tool_name がなければ agent_name から決まります)"},
	{"can't be used: Ringi loads no code from a workspace. Use type plain, web-search or code-exec",
		"使えません。Ringi はフォルダーに置かれたコードを読み込みません。type は plain、web-search、code-exec のいずれかにしてください"},
	{"can't be played: Ringi has no fixed steps. Write a [team] with these executors as members",
		"使えません。Ringi は、決まった順のステップを実行しません。executors をメンバーとする [team] を書いてください"},
	{"can't be used: Ringi has no such agents. Use plain, web-search or code-exec",
		"使えません。plain、web-search、code-exec のいずれかにしてください"},
	{"must be plain, web-search or code-exec", "plain、web-search、code-exec のいずれかにしてください"},
	{"tool_description cannot be empty", "空にできません"},
	{"is required: %s's file has a table [%s]", "必須です。%s のファイルにはテーブル [%s] が必要です"},
	{"is required: the server asks for a token (401)", "必須です。サーバーがトークンを求めています (401)"},
	{"is required", "必須です"},
	{"must not be empty", "空にできません"},
	{"must be a number", "数値にしてください"},
	{"must be a whole number", "整数にしてください"},
	{"must be %d or more", "%s 以上にしてください"},
	{"must be %d to %d", "%s〜%s にしてください"},
	{"is called as %s: the model answers, but without xAI's own tools", "%s として呼び出します。xAI 独自のツールは使えません"},
	{"has the unknown prefix %q; Ringi knows %s, %s and %s", "接頭辞 %s は使えません。使えるのは %s、%s、%s です"},
	{"isn't a model name: use <provider>:<model>, or a name that starts with claude-, gpt-, gemini-, or o1, o3 and so on",
		"モデルの名前ではありません。<提供元>:<モデル>、または claude-、gpt-、o1、o3 など、gemini- で始まる名前にしてください"},
	{"isn't a model name", "モデルの名前ではありません"},
	{"has no effect: %s", "効果がありません (%s)"},
	{"isn't a known field here", "ここでは使えない項目です"},
	{"Too many members: %d > %d. Adjust max_concurrent_members or reduce member count.",
		"メンバーが多すぎます (%s > %s)。max_concurrent_members を変えるか、メンバーを減らしてください"},
	{"must be at most %d characters", "%s 文字までです"},
	{"system_prompt cannot be empty string. Use None for default prompt or provide valid text.",
		"空にできません。標準のものを使うときは項目ごと消してください"},
	{"isn't a configuration file: it must have [team], [orchestrator], [agent] or [prompt_builder], " +
		"or [[metrics]] for an evaluator",
		"設定ファイルではありません。[team]、[orchestrator]、[agent]、[prompt_builder] のいずれかで始めるか、評価者なら [[metrics]] を書いてください"},
	{"there is no such file in the workspace: file does not exist", "このファイルはありません"},
	{"must be a relative path inside the workspace", "設定ファイルのフォルダー内の相対パスにしてください"},
	{"can't be opened: %s", "開けません: %s"},
	{"can't be read: %s", "読み取れません: %s"},
	{"must be at most %d bytes", "%s バイトまでです"},
	{"is one too many: a contest's files must be at most %d bytes in total, each counted every time it is named",
		"コンテスト全体のファイルが %s バイトを超えます (何度も名前が挙がるファイルは、その回数だけ数えます)"},
	{"is not TOML: line %d, column %d: %s", "TOML として読み取れません (%s 行目、%s 文字目: %s)"},
	{"is not TOML: %s", "TOML として読み取れません: %s"},
	{"is not set, and the default, %s, %s", "設定がなく、標準の %s は%s"},
	{"can't be called: %s", "呼び出せません (%s)"},
	{"has no known price, which a contest's budget needs: enter its price in the settings or choose another model",
		"料金が分からないため、コンテストの予算を守れません。設定で料金を入力するか、別のモデルにしてください"},
	{"the model secret can't be read", "モデル用シークレットを読み取れません"},
	{"the model secret has no address for %s", "モデル用シークレットに %s の接続先がありません"},
	{"the model secret has no key for %s", "モデル用シークレットに %s の API キーがありません"},
	{"%s can use only the listed tools: %s.", "%s が使えるのは登録されたツールだけです: %s"},
	{"%s can't read anything: %s, and %s. Its team is told.", "%s は何も読み取れません: %s、%s。チームにもそう伝えます"},
	{"%s can't read anything: %s. Its team is told.", "%s は何も読み取れません: %s。チームにもそう伝えます"},
	{"contests have no reading tools, and the settings don't allow web search", "コンテストで使える読み取りツールがなく、Web 検索も設定で許可されていません"},
	{"contests have no reading tools", "コンテストで使える読み取りツールがありません"},
	{"%s has no vendor web search that can be used", "%s の提供元の Web 検索は使えません"},
	{"must be %s to %s", "%s〜%s にしてください"},
	{"must be %s", "%sにしてください"},
	{"a list of tables: %s", "テーブルの配列 (%s)"},
	{"a list of strings", "文字列の配列"}, {"a table", "テーブル"}, {"a string", "文字列"}, {"a list of %d",
		"%s 個の配列"}, {"what looks like a key", "API キーらしい文字列"},
	{"a contest", "コンテスト"}, {"a team", "チーム"}, {"a member", "メンバー"},
	{"Ringi writes the prompts itself", "プロンプトは Ringi が組み立てます"}, {"the name %s", "名前が使えません: %s"},
	{"all teams work at once", "全チームが同時に進みます"}, {"a call has its own retries", "再試行は呼び出しごとに決まります"},
	{"each call has its own timeout, and each team has timeout_per_team_seconds",
		"制限時間は呼び出しごとと、チームの timeout_per_team_seconds で決まります"},
	{"an environment variable says where the workspace is", "設定ファイルのフォルダーは環境変数で決まります"},
	{"a team plays up to max_rounds", "チームは max_rounds までラウンドを続けます"},
	{"it is kept for other programs", "ほかのプログラムのために残しています"},
	{"max_retries and timeout_seconds control retries", "再試行は max_retries と timeout_seconds で決まります"},
	{"a call has the fields that are named here, whatever its model's vendor",
		"呼び出しの設定には、ベンダーによらず temperature、max_tokens、top_p などを使います"},
	{"write system_instruction", "system_instruction に書いてください"},
	{"the workspace's administrator sets up tools", "ツールの設定はワークスペースの管理者が決めます"},
}}, texts{got: ", got ", more: "and %d more"})

// pattern is a message's format as an expression, and its translation.
type pattern struct {
	said *regexp.Regexp
	in   string
}

var verbs = regexp.MustCompile(`%[.0-9]*[a-z]`)

// patterns compiles a language's messages once.
var patterns = sync.OnceValue(func() map[string][]pattern {
	all := map[string][]pattern{}
	for _, locale := range language.All {
		for _, m := range words.In(locale).messages {
			said := "^(?s:" + strings.Join(quoted(verbs.Split(m[0], -1)), "(.+)") + ")$"
			all[locale] = append(all[locale], pattern{regexp.MustCompile(said), m[1]})
		}
	}
	return all
})

func quoted(parts []string) []string {
	for i, p := range parts {
		parts[i] = regexp.QuoteMeta(p)
	}
	return parts
}

// in returns a message, and what it quotes of others, in a language. What has no translation stays English.
func in(locale, message string) string {
	for _, p := range patterns()[locale] {
		found := p.said.FindStringSubmatch(message)
		if found == nil {
			continue
		}
		var parts []any
		for _, part := range found[1:] {
			parts = append(parts, in(locale, part))
		}
		return fmt.Sprintf(p.in, parts...)
	}
	return message
}
