package turn

import (
	"encoding/json"
	"fmt"
	"strings"

	"ringi/shared/domain/conversation"
	"ringi/shared/model"
	"ringi/shared/words/lazy"
)

var (
	demoList = lazy.Regexp{Text: `(?i)ファイル(?:の?一覧)?を?(?:見せて|見たい|一覧|リスト)|ファイルの?一覧|(?:list|show)(?: me)?(?: all| the)*(?: of)?(?: the)? files`}
	demoFind = lazy.Regexp{Text: `(?i)search (?:the files )?for\s+[“"'「]?([^”"'」\n]{1,200})|[「“"']?([^」”"'\s、。]{1,200})[」”"']?\s*を(?:検索|探して)`}
	demoOpen = lazy.Regexp{Text: `(?i)(?:read|open|show(?: me)?)\s+[「“"']?([^\s」”"'、。]*\.[^\s」”"'、。]+)|[「“"']?([^\s」”"'、。]*\.[^\s」”"'、。]+?)[」”"']?\s*を(?:読|開|見せ)`}
)

// demoRead returns the read that a person asks for in plain words.
func demoRead(text string) (name, input string, ok bool) {
	first := func(m []string) string { return strings.TrimRight(strings.TrimSpace(m[1]+m[2]), ".?!") }
	if demoList.Get().MatchString(text) {
		return listFiles, `{"path":""}`, true
	}
	if m := demoFind.Get().FindStringSubmatch(text); m != nil && first(m) != "" {
		return search, `{"path":"","text":` + quoted(first(m)) + `}`, true
	}
	if m := demoOpen.Get().FindStringSubmatch(text); m != nil && first(m) != "" {
		return readFile, `{"path":` + quoted(first(m)) + `,"from":1,"to":0}`, true
	}
	return "", "", false
}

// demoTold returns what the demo says of what it has just read; it reports false if it read nothing.
func demoTold(last model.Message, in func(ja, en string) string) (string, bool) {
	var out []string
	for _, p := range last.Parts {
		var x shown
		if p.Result == nil || !strings.HasPrefix(p.Result.CallID, roundID) ||
			json.Unmarshal([]byte(p.Result.Text), &x) != nil {
			continue
		}
		if len(x.Files)+len(x.Found) == 0 && x.Text == "" {
			out = append(out, in("デモのエージェントです。見つかりませんでした。ファイルがないか、名前が違います。",
				"I found nothing: there is no such file or text."))
			continue
		}
		out = append(out, in("デモのエージェントです。ファイルを読みました。", "I read the files."), "```")
		for _, f := range x.Files {
			out = append(out, fmt.Sprintf("%s  %s B", f.Path, conversation.Grouped(f.Bytes)))
		}
		for _, h := range x.Found {
			out = append(out, fmt.Sprintf("%s:%d: %s", h.Path, h.Line, h.Text))
		}
		if x.Text != "" {
			out = append(out, x.File, x.Text)
		}
		if out = append(out, "```"); x.NotShown != "" {
			out = append(out, in("ほかにもあります。", "There is more."))
		}
	}
	return strings.Join(out, "\n"), out != nil
}
