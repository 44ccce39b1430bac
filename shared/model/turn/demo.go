package turn

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/modelname"
	"ringi/shared/model"
	"ringi/shared/words/language"
	"ringi/shared/words/lazy"
)

// Demo is an agent without a model. It says so, and proposes an action for each of a few fixed phrases.
type Demo struct{}

var (
	demoRun      = lazy.Regexp{Text: `(?is)(?:コマンド|実行|run|command)\s*[:：]\s*(.+)`}
	demoNext     = lazy.Regexp{Text: `(?i)\n\s*(?:コマンド|command)\s*[:：]`} // between the commands of a plan
	demoTest     = lazy.Regexp{Text: `(?i)テスト(?:を|して|実行)|run the tests?`}
	demoNumbered = lazy.Regexp{Text: `#[0-9]+`} // in what is told of an action that has a card
	demoRingi    = lazy.Regexp{Text: `(?is)(?:(?:これ|この内容|上の内容)[はを]?、?)?稟議に(?:します|して(?:ください)?)[。、.!\s]*|(?:please )?make (?:this|it) a request[.:!\s]*`}
)

// demoFiles are a program and its test, so that the tests can be run next. Where they were proposed before, %AGAIN% is a
// comment, so that there is a change to approve.
const demoFiles = `{"files":[{"path":"hello.js","content":"exports.hello = (name) => ` + "`Hello, ${name}`" + `;\n%AGAIN%"},{"path":"hello.test.js","content":"const test = require('node:test');\nconst assert = require('node:assert');\nconst { hello } = require('./hello.js');\n\ntest('it greets', () => assert.strictEqual(hello('Ringi'), 'Hello, Ringi'));\n"}],"edits":[],"delete":[],"summary":%SUMMARY%}`

// Say answers the last statement of a person.
func (Demo) Say(ctx context.Context, r model.Request, onText func(string)) (model.Response, error) {
	if body, err := json.Marshal(r); err == nil {
		model.Sent(ctx, body)
	}
	out := demoAnswer(r)
	out.Stop, out.Answered = model.StopEnd, modelname.Demo
	out.Usage = model.Usage{Provider: modelname.Demo, Model: modelname.Demo, Calls: 1}
	for _, end := range []int{len(out.Text) / 2, len(out.Text)} {
		onText(strings.ToValidUTF8(out.Text[:end], ""))
	}
	return out, nil
}

func demoAnswer(r model.Request) model.Response {
	if len(r.Messages) == 0 {
		return model.Response{}
	}
	last, result := lastSaid(r.Messages[len(r.Messages)-1])
	spoken := lastSpoken(r.Messages) // Ringi's messages are in the workspace's language, which may not be the person's
	if m := demoRun.Get().FindStringSubmatch(spoken); m != nil {
		spoken = strings.TrimSuffix(spoken, m[1]) // a command is in no language
	}
	ja := language.Of(spoken, "ja") == "ja"
	in := func(jaText, enText string) string {
		if ja {
			return jaText
		}
		return enText
	}
	call := func(name, says string, input string) model.Response {
		for _, t := range r.Tools {
			if t.Name == name {
				return model.Response{Text: says, Calls: []model.Call{{ID: "call_demo", Name: name, Input: json.RawMessage(input)}}}
			}
		}
		return model.Response{Text: in("デモのエージェントです。ここでは、その操作はできません。", "I'm a demo agent. That can't be done here.")}
	}
	if told, ok := demoTold(r.Messages[len(r.Messages)-1], in); ok {
		return model.Response{Text: told}
	}
	if told, ok := demoUnpushable(r.Messages[len(r.Messages)-1], in); ok {
		return model.Response{Text: told}
	}
	if demoWaits(r.Messages[len(r.Messages)-1]) {
		return model.Response{Text: in("デモのエージェントです。ほかの操作が承認か実行を待っている間は、次の操作を提案できません。終わってから、もう一度書いてください。",
			"Another action is waiting or running, so I can't propose the next one yet. Write again once it's decided.")}
	}
	name, input, reads := demoRead(last.Text)
	wanted, calls := demoCall(last.Text, in("入社した人を調べます", "Looks up who joined"))
	file, content, named := demoNamed(last.Text, ja)
	switch m := demoRun.Get().FindStringSubmatch(last.Text); {
	case last.Text == "" && result != "":
		return demoGot(r.Messages, result, ja, in)
	case m != nil:
		return call(string(agent.ShellCommand), in("デモのエージェントです。書かれたとおりのコマンドを提案します。",
			"Demo agent: I propose this command, as you wrote it."),
			demoCommands(m[1], in("頼まれたコマンドを実行します", "Runs the requested command")))
	case demoTest.Get().MatchString(last.Text):
		return call(string(agent.TestRun), in("デモのエージェントです。テストの実行を提案します。", "Demo agent: I propose running the tests."),
			`{"argv":["node","--test"],"timeout_seconds":120,"summary":`+quoted(in("作業フォルダーのテストを実行します",
				"Runs the tests in the work folder"))+`}`)
	case named:
		return call(string(agent.CodeGenerate), in("デモのエージェントです。"+file+" を提案します。",
			"Demo agent: I propose "+file+"."), demoWrites(file, content, in(file+" を書きます", "Writes "+file), r.Messages))
	case demoFile.Get().MatchString(last.Text):
		return call(string(agent.CodeGenerate), in("デモのエージェントです。見本のファイルを 2 つ提案します。",
			"Demo agent: I propose two sample files."),
			strings.NewReplacer("%SUMMARY%", quoted(in("見本のプログラムとテストを書きます", "Writes a sample program and its test")),
				"%AGAIN%", demoAgain(r.Messages)).Replace(demoFiles))
	case demoPull.Get().MatchString(last.Text):
		return demoPulls(r.Tools, in)
	case calls:
		return call(string(agent.ToolCall), in("デモのエージェントです。従業員の一覧の読み取りを提案します。",
			"Demo agent: I propose reading the list of employees."), wanted)
	case reads:
		return call(name, "", input)
	case demoRingi.Get().MatchString(last.Text):
		return call(handOver, in("デモのエージェントです。この内容を依頼にします。", "Demo agent: I'm making this a request."),
			`{"request":`+quoted(demoRequest(r.Messages))+`}`)
	}
	return demoLost(in)
}

// demoLost names the phrases to which the demo reacts.
func demoLost(in func(ja, en string) string) model.Response {
	return model.Response{Text: in(
		"デモのエージェントです。言葉を理解したり、考えたりすることはできません。次の言い方にだけ反応します: 「ファイルを作って」「notes.md を作って」「ファイルを見せて」「hello.js を読んで」「Ringi を検索」「テストして」「コマンド: ls」「プルリクエストを開いて」「10 月の入社は?」「これは稟議にします」。本物のエージェントを使うには、管理者がモデルの API キーを登録します。",
		"I'm a demo agent: I can't understand language or think, and react only to these phrases: “make a file”, “make a file notes.md”, “list the files”, “read hello.js”, “search for Ringi”, “run the tests”, “command: ls”, “open a pull request”, “who joined in October?”, “make this a request”. To use a real agent, an administrator adds a model's key.")}
}

// demoGot answers after a result.
func demoGot(said []model.Message, result string, ja bool, in func(ja, en string) string) model.Response {
	if counted, ok := demoCounted(result, lastSpoken(said), in); ok {
		return model.Response{Text: counted}
	}
	if did, ok := demoDid(result, in); ok {
		return model.Response{Text: did}
	}
	// in the other language the person reads the result only on the card; what was refused at once has none
	first, _, _ := strings.Cut(result, "\n")
	if (language.Of(first, "ja") == "ja") == ja || !demoNumbered.Get().MatchString(first) {
		return model.Response{Text: in("結果を受け取りました。", "The result is in.") + "\n" + first}
	}
	return model.Response{Text: in("結果を受け取りました。操作のカードをご覧ください。", "The result is in: see the action's card.")}
}

// demoWaits reports whether the agent was refused because another action is open.
func demoWaits(m model.Message) bool {
	return slices.ContainsFunc(m.Parts, func(p model.Part) bool {
		return p.Result != nil && p.Result.Failed && strings.Contains(p.Result.Text, oneAtATime)
	})
}

// demoCommands proposes a script, or several that were each written after a line's “command:”.
func demoCommands(text, summary string) string {
	var all []string
	for _, script := range demoNext.Get().Split(text, -1) {
		all = append(all, `{"script":`+quoted(strings.TrimSpace(script))+`,"timeout_seconds":60`)
	}
	if len(all) == 1 {
		return all[0] + `,"summary":` + quoted(summary) + `}`
	}
	return `{"commands":[` + strings.Join(all, "},") + `}],"summary":` + quoted(summary) + `}`
}

// demoAgain is a line that files proposed before don't have, as a part of a JSON text.
func demoAgain(said []model.Message) string {
	if times := demoTimes(said); times > 0 {
		return fmt.Sprintf(`// %d\n`, times+1)
	}
	return ""
}

// demoTimes counts the proposals of files before.
func demoTimes(said []model.Message) (times int) {
	for _, m := range said {
		for _, p := range m.Parts {
			if p.Call != nil && p.Call.Name == string(agent.CodeGenerate) {
				times++
			}
		}
	}
	return times
}

// demoRequest is the text of a request: the words next to the phrase that asks for it, or else earlier words.
func demoRequest(said []model.Message) string {
	first := ""
	for i := len(said) - 1; i >= 0; i-- {
		if said[i].Role != model.User {
			continue
		}
		last, _ := lastSaid(said[i])
		if text := strings.TrimSpace(demoRingi.Get().ReplaceAllString(last.Text, "")); text != "" {
			return text
		}
		if first == "" {
			first = last.Text
		}
	}
	return first
}

// lastSpoken is the last statement of a person in any turn.
func lastSpoken(said []model.Message) string {
	for i := len(said) - 1; i >= 0; i-- {
		if said[i].Role != model.User {
			continue
		}
		if last, _ := lastSaid(said[i]); last.Text != "" {
			return last.Text
		}
	}
	return ""
}

// lastSaid returns the last statement of a person in a turn, and the last text from the system: a call's result, if there
// is one, as other texts may follow it.
func lastSaid(turn model.Message) (last entry, system string) {
	result := false
	for _, p := range turn.Parts {
		text := p.Text
		if p.Result != nil {
			text = p.Result.Text
		}
		_, text, _ = strings.Cut(text, "<messages>\n")
		text, _, _ = strings.Cut(text, "\n</messages>")
		var list []entry
		if json.Unmarshal([]byte(text), &list) != nil {
			continue
		}
		for i, e := range list {
			switch told := e.System + e.Quoted; {
			case told != "" && i > 0 && list[i-1].System+list[i-1].Quoted != "": // it goes on
				system += told
			case told != "" && (p.Result != nil || !result):
				system, result = told, p.Result != nil
			case e.From != "" && e.File == "":
				last = e
			}
		}
	}
	return last, system
}

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(b)
}
