package turn

import (
	"encoding/json"
	"slices"
	"strings"

	"ringi/shared/domain/agent"
	"ringi/shared/model"
	"ringi/shared/words/lazy"
)

var demoPull = lazy.Regexp{Text: `(?i)プルリク|pull request`}

// demoPulls proposes a pull request of all that has changed, or says what that needs.
func demoPulls(tools []model.Tool, in func(ja, en string) string) model.Response {
	if !slices.ContainsFunc(tools, func(t model.Tool) bool {
		return t.Name == string(agent.ToolCall) && strings.Contains(string(t.Schema), `"open_pull_request"`)
	}) {
		return model.Response{Text: in("デモのエージェントです。ここではプルリクエストを開けません。リポジトリのブランチから始めた会話 (例: claude@shop: …) で開けます。",
			"I can't open a pull request here: start the conversation from a branch of a repository, as in "+
				"claude@shop: ….")}
	}
	arguments := `{"title":` + quoted(in("デモのエージェントの変更", "Changes by the demo agent")) +
		`,"body":` + quoted(in("会話の中で承認された変更です。", "What people approved in the conversation.")) + `}`
	input := `{"tool":"open_pull_request","arguments":` + quoted(arguments) + `,"summary":` +
		quoted(in("変更したファイルのプルリクエストを下書きで開きます", "Opens a draft pull request with the changed files")) + `}`
	return model.Response{Text: in("デモのエージェントです。変更したファイルのプルリクエストを提案します。",
		"Demo agent: I propose a pull request with the changed files."),
		Calls: []model.Call{{ID: "call_demo", Name: string(agent.ToolCall), Input: json.RawMessage(input)}}}
}

// demoUnpushable says why a pull request that the demo proposed can't be one.
func demoUnpushable(last model.Message, in func(ja, en string) string) (text string, ok bool) {
	for _, p := range last.Parts {
		switch {
		case p.Result == nil || !p.Result.Failed:
		case strings.Contains(p.Result.Text, "nothing has changed since the commit"):
			return in("デモのエージェントです。最初のコミットから何も変わっていないため、プルリクエストを開けません。",
				"Nothing has changed since the commit, so there is no pull request to open."), true
		case strings.Contains(p.Result.Text, "people can save a patch"):
			return in("デモのエージェントです。この変更はプルリクエストにできません。会話のページから、パッチとして保存できます。",
				"These changes can't become a pull request. Save them as a patch on the conversation's page."), true
		}
	}
	return "", false
}
