package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/model/turn"
	"ringi/shared/runtime/expect"
)

// others is a turn of others: entries as the agent is shown them.
func others(entries ...map[string]any) model.Message {
	return model.Words(model.User, "<messages>\n"+string(encoded(entries))+"\n</messages>")
}

func statement(text string) map[string]any {
	return map[string]any{"from": "佐藤", "id": "U1", "text": text}
}

var itself = model.Words(model.Assistant, "…")

// everything are the tools of a conversation.
var everything = []model.Tool{{Name: string(tenancy.ShellCommand)}, {Name: string(tenancy.TestRun)},
	{Name: string(tenancy.CodeGenerate)},
	{Name: "offer_request"}, {Name: string(tenancy.ToolCall),
		Schema: []byte(`{"enum":["list_employees","open_pull_request"]}`)}, {Name: "read_file"},
	{Name: "list_files"}, {Name: "search"}}

// answered is the demo's answer to turns, with the input of its call.
func answered(t *testing.T, said ...model.Message) (text, input string) {
	t.Helper()
	out := expect.Value(Agent{}.Say(t.Context(), model.Request{Tools: everything, Messages: said}))(t)
	if len(out.Calls) > 0 {
		input = out.Calls[0].Name + " " + string(out.Calls[0].Input)
	}
	return out.Text, input
}

// The demo offers the words on which people agreed, without the phrase that asks for it.
func TestTheDemoOffersWhatWasSaid(t *testing.T) {
	for name, test := range map[string]struct {
		said []string
		want string
	}{
		"in one message":        {[]string{"今月の勤怠をまとめて。これは稟議にします。"}, "今月の勤怠をまとめて。"},
		"of what was said":      {[]string{"備品を買う", "これは稟議にします"}, "備品を買う"},
		"in English":            {[]string{"Sum up the hours", "Please make this a request."}, "Sum up the hours"},
		"nothing but this word": {[]string{"稟議にします"}, "稟議にします"},
	} {
		var said []model.Message
		for _, text := range test.said {
			said = append(said, others(statement(text)), itself)
		}
		_, input := answered(t, said[:len(said)-1]...)
		expect.Is(t, input, fmt.Sprintf(`offer_request {"request":%s}`, encoded(test.want)), name)
	}
}

// The demo reports an action's end in the language of the person in the conversation, even if the workspace's differs.
func TestTheDemoTellsAResultInThePersonsLanguage(t *testing.T) {
	for _, test := range []struct{ spoken, told, want string }{
		{"run the tests", "操作 #1 が完了しました。\n終了コード: 0\n出力は全部で 2 行です。すべてを、行番号付きで示します:\n1: ok\n2: # pass 1",
			"Done.\n```\nok\n# pass 1\n```"},
		{"コマンド: python3 -m unittest", "操作 #1 は失敗しました。\n終了コード: 1\n" + "出力は全部で 3 行です。すべての行を、行番号付きで示します:\n" +
			"1: Ran 1 test in 0.005s\n2: \n3: FAILED (failures=1)",
			"失敗しました。\n```\nRan 1 test in 0.005s\n\nFAILED (failures=1)\n```"},
		{"run the tests", "Action #1 is done.", "Done."},
		{"コマンド: python3 -m unittest", "操作 #1 を実行しました。終了コードは 1 です。\nすべてを、行番号付きで示します:\n1: FAILED (failures=1)",
			"結果を受け取りました。\n操作 #1 を実行しました。終了コードは 1 です。\n```\nFAILED (failures=1)\n```"},
		{"テストして", "操作 #1 が完了しました。\n終了コード: 0", "完了しました。"},
		{"テストして", "Action #1 failed.\nExit code: 1\nIts output, each after its number:\n1: \n2: FAILED",
			"失敗しました。\n```\nFAILED\n```"},
		{"run the tests", "操作 #1 は却下されました。理由: 不要", "This is how it ended.\n操作 #1 は却下されました。理由: 不要"},
		{"run the tests", "この操作は提案できません。", "This is how it ended.\nこの操作は提案できません。"},
		{"command: ls", "Action #1 is done.\nExit code: 0\nIts output has 2 lines. All of them, each after its number:\n1: " +
			"a.py\n2: ```b", "Done.\n```\na.py\n` ` `b\n```"},
		{"ファイルを作って", "操作 #1 が完了しました。\n変更されたファイル: 2 件、+9 行 −0 行", "完了しました。"},
		{"make a file", "Action #1 is done.\nFiles changed: 1, +9 −0 lines", "Done."},
		{"open a pull request", "Action #2 is done.\nDraft pull request: http://x/pull/1",
			"Done."},
		{"list the employees", "Action #1 is done.\n" + `{"count":3,"employees":[{"display_name":"A"}]}`, "Done. 3 in all."},
		{"従業員の一覧", "操作 #1 が完了しました。\n" + `{"count":3,"employees":[{"display_name":"A"}]}`, "完了しました。3 件です。"},
	} {
		told, output, has := strings.Cut(test.told, "\n1:")
		entries := []map[string]any{{"system": told}}
		if has { // as others' words
			entries = append(entries, map[string]any{"quoted": "1:" + output})
		}
		text, _ := answered(t, others(statement(test.spoken)), itself, others(entries...))
		expect.Is(t, text, test.want, "%s, %s", test.spoken, test.told)
	}
	result := others(map[string]any{"system": "操作 #1 が完了しました。\n終了コード: 0"})
	result.Parts = []model.Part{{Result: &model.Result{Text: result.Parts[0].Text}},
		others(map[string]any{"system": "The files have changed since you read some of what stands above."}).Parts[0]}
	text, _ := answered(t, others(statement("ファイルを作って")), itself, result)
	expect.Is(t, text, "完了しました。", "what else a turn says hides the result")
	text, _ = answered(t, others(statement("テストして")), itself,
		others(map[string]any{"system": "操作 #1 は却下されました。理由: "}, map[string]any{"quoted": "今日は不要です"}))
	expect.Has(t, text, "理由: 今日は不要です")
}

// In a conversation with the sample repository, which is in Python, its tests are run as its README says.
func TestTheDemoRunsTheTestsOfItsRepository(t *testing.T) {
	from := others(map[string]any{"system": "It starts with these files:\ngithub.com/ringi-demo/shop@ba5ffd8"})
	for _, c := range []struct {
		history []model.Message
		want    string
	}{{nil, `["node","--test"]`}, {[]model.Message{from}, `["python3","-m","unittest"]`}} {
		_, input := answered(t, append(c.history, others(statement("run the tests")))...)
		expect.Has(t, input, c.want)
	}
}

// Whoever asks what it can do is told, in the words of the suggested prompts, too. Each phrase that it names works.
func TestTheDemoSaysWhatItCanDo(t *testing.T) {
	for text, want := range map[string]string{"What can you do?": "I'm a demo agent", "何ができるか教えて": "AI モデルのないデモのエージェントです",
		"what is life": "I didn't understand that. I'm a demo agent"} {
		said, input := answered(t, others(statement(text)))
		expect.That(t, strings.HasPrefix(said, want) && strings.Contains(said, "notes.md") && input == "", "%s: %s", text,
			said)
		named := regexp.MustCompile(`「(.*?)」|“(.*?)”`).FindAllStringSubmatch(said, -1)
		expect.Is(t, len(named), 10, said)
		for _, m := range named {
			said, input := answered(t, others(statement(m[1]+m[2])))
			expect.That(t, input != "", "%s: %s", m[0], said)
		}
	}
}

// A file gets the name that a message gives it, and content that can be read and run.
func TestTheDemoMakesTheFileThatIsNamed(t *testing.T) {
	for text, want := range map[string][2]string{
		"make a file notes.md": {"notes.md", "# notes\n\n- Purpose: "}, "notes.md を作って": {"notes.md", "# notes\n\n- 目的: "},
		"create a file called src/tools.py": {"src/tools.py", "# tools\n\n- Purpose: "},
		"「メモ.txt」というファイルを作って":               {"メモ.txt", "# メモ"}, "make a file run.sh": {"run.sh", "# run"},
		"make a file a/../b.md": {"", ""}, "make a file ../x.md": {"", ""}, "make a file": {"hello.js", ""},
		"read hello.js": {"", ""}, "hello.js を読んで": {"", ""},
	} {
		_, input := answered(t, others(statement(text)))
		var got struct{ Files []files.File }
		_, data, _ := strings.Cut(input, " ")
		_ = json.Unmarshal([]byte(data), &got) // nothing is proposed
		if got.Files == nil {
			expect.Is(t, want[0], "", text)
			continue
		}
		expect.That(t, got.Files[0].Path == want[0] && strings.HasPrefix(got.Files[0].Content, want[1]) &&
			files.CheckPath(want[0]) == nil, "%s: %+v", text, got)
	}
	said := others(statement("make a file notes.md"))
	text, first := answered(t, said)
	expect.Is(t, text, "Demo agent: I propose notes.md.")
	_, again := answered(t, said, model.Message{Role: model.Assistant,
		Parts: []model.Part{{Call: &model.Call{Name: string(tenancy.CodeGenerate)}}}}, said)
	expect.That(t, first != again, "the second proposal would change nothing")
}

// What the words beside a phrase deny, narrow, delay or ask is not proposed.
func TestTheAgentProposesOnlyWhatIsWanted(t *testing.T) {
	for _, text := range []string{"プルリクはまだ出さないで", "No pull request yet, please", "従業員の一覧は不要です", "ファイル一覧はもういいです",
		"従業員の一覧をください。退職者は除いて", "make a file notes.md but don't write anything in it yet", "これ、稟議にしますか？", "これは稟議にしません",
		"今月の勤怠。稟議にしないで", "Should I make this a request?", "Don't make this a request", "make this a request later",
		"プルリクは出さないで、テストして", "テストしていいですか", "テストするな", "ファイルを作成するな", "Did you run the tests?", "従業員の一覧は営業だけで",
		"list the employees except interns", "open a pull request when the tests pass", "don't open a pull request",
		"never run the tests", "ファイルを作って、と言われました", "従業員の一覧って見られる？", "I wonder whether to run the tests",
		"従業員一覧の取得をやめて", "従業員の一覧を営業のみで", "これを稟議にします、よろしいですか？"} {
		said, input := answered(t, others(statement(text)))
		expect.Is(t, input, "", "%s → %s", text, said)
	}
	for _, text := range []string{"<@U0BOT> ファイルを作って", "もう一度ファイルを作って", "やっぱりファイルを作って", ".ringi/in/a.xlsx.txt を読んで",
		"<@U0BOT> run: ls", "<@U0BOT> これは稟議にします。", "すみませんが、テストして", "Could you please run the tests?",
		"今月の勤怠、DMは不要。これは稟議にします", "No DM, and overtime for October. Please make it a request"} {
		said, input := answered(t, others(statement(text)))
		expect.That(t, input != "" && !strings.Contains(said, "\n"), "%s → %s", text, said)
	}
}

// The demo reads what people ask for in plain words, and says what it found.
func TestTheDemoReadsFiles(t *testing.T) {
	tree, err := (&files.Tree{}).Apply([]files.File{{Path: "hello.js", Content: "Hello, Ringi\n"}})
	expect.NoError(t, err)
	for text, want := range map[string]string{
		"ファイルを見せて": "hello.js  13 B", "list the files": "hello.js  13 B", "Show me the files!": "hello.js  13 B",
		"search for Ringi": "hello.js:1: Hello, Ringi", "「Ringi」を検索して": "hello.js:1: Hello, Ringi",
		"hello.js を読んで": "1: Hello, Ringi", "read hello.js": "1: Hello, Ringi",
		"search for Nobody": "there is no such file or text", "README.mdを見せて": "見つかりませんでした",
	} {
		asked := turn.Turn{Agent: tenancy.BuiltInAgents()[0],
			History: []turn.Message{{Sender: conversation.FromUser, Name: "佐藤", Text: text}}, Locale: "ja",
			Files: &turn.Files{Version: "v", Open: func(context.Context) (*files.Tree, error) { return tree, nil }}}
		reply, err := turn.Answer(t.Context(), Agent{}, asked)
		expect.NoError(t, err)
		expect.Has(t, reply.Text, want, text)
		expect.Is(t, len(reply.Rounds), 1, text)
	}
	for _, text := range []string{"ファイルを作って", "make a file", "コマンド: cat a.txt", "run the tests", "こんにちは。",
		"This is a. b"} {
		_, input := answered(t, others(statement(text)))
		expect.That(t, !strings.HasPrefix(input, "read_file") && !strings.HasPrefix(input, "list_") &&
			!strings.HasPrefix(input, "search"), "%q: %s", text, input)
	}
}

// The demo proposes a pull request where one can be, and otherwise says what it needs; it asks for the employees. It
// doesn't take a refusal for words that it can't understand.
func TestTheDemoCallsTools(t *testing.T) {
	for _, said := range []string{"プルリクエストを開いて", "please open a pull request"} {
		bare := model.Request{Tools: []model.Tool{{Name: string(tenancy.ToolCall)}},
			Messages: []model.Message{others(statement(said))}}
		out := expect.Value(Agent{}.Say(t.Context(), bare))(t)
		expect.That(t, out.Calls == nil && strings.Contains(out.Text, "claude@shop"), "it proposes what isn't offered: %s",
			out.Text)
		_, input := answered(t, others(statement(said)))
		var call struct{ Tool, Arguments, Summary string }
		var pull struct{ Title, Body string }
		expect.NoError(t, json.Unmarshal([]byte(strings.TrimPrefix(input, "tool_call ")), &call))
		expect.NoError(t, json.Unmarshal([]byte(call.Arguments), &pull))
		expect.That(t, call.Summary != "" && conversation.CheckPull(pull.Title, pull.Body) == nil, "%+v", pull)
	}
	for why, says := range map[string]string{
		"another action waits for a decision or is under way, and there is one at a time: tell the people": "次の操作を提案できません",
		"nothing has changed since the commit": "何も変わっていない", "too many files: people can save the files": "保存できます",
		"the script is too long": "その操作はできません",
	} {
		text, _ := answered(t, others(statement("コマンド: ls")), itself, model.Message{Role: model.User,
			Parts: []model.Part{{Result: &model.Result{Failed: true, Text: string(encoded([]string{why}))}}}})
		expect.Has(t, text, says)
	}
	for text, calls := range map[string]bool{"従業員一覧を取得して": true, "List all employees": true, "ファイルを作って": false,
		"従業員一覧は稟議にして": false} {
		_, input := answered(t, others(statement(text)))
		expect.Is(t, strings.Contains(input, `{\"department\":null,\"status\":\"all\"}`), calls, "%s: %s", text, input)
	}
}
