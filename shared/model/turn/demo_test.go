package turn

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/conversation"
	"ringi/shared/model"
	"ringi/shared/runtime/expect"
)

// The demo hands over the words on which people agreed, without the phrase that asks for it.
func TestTheDemoHandsOverWhatWasSaid(t *testing.T) {
	turn := func(role model.Role, text string) model.Message {
		if role == model.User {
			text = fenced([]entry{{From: "佐藤", Text: text}})
		}
		return model.Message{Role: role, Parts: []model.Part{{Text: text}}}
	}
	for name, test := range map[string]struct {
		said []string
		want string
	}{
		"in one message":        {[]string{"今月の勤怠をまとめて。これは稟議にします。"}, "今月の勤怠をまとめて。"},
		"the word first":        {[]string{"稟議にして、備品を買う"}, "備品を買う"},
		"of what was said":      {[]string{"備品を買う", "これは稟議にします"}, "備品を買う"},
		"in English":            {[]string{"Sum up the hours", "Please make this a request."}, "Sum up the hours"},
		"nothing but this word": {[]string{"稟議にします"}, "稟議にします"},
	} {
		var said []model.Message
		for i, text := range test.said {
			if i > 0 {
				said = append(said, turn(model.Assistant, "はい"))
			}
			said = append(said, turn(model.User, text))
		}
		expect.Is(t, demoRequest(said), test.want, "%s", name)
	}
}

// The demo reports an action's end in the language of the person in the conversation, even if the workspace's differs.
func TestTheDemoTellsAResultInThePersonsLanguage(t *testing.T) {
	for _, test := range []struct{ spoken, told, want string }{
		{"run the tests", "操作 #1 が完了しました。\n終了コード: 0\n出力は全部で 3 行です。すべてを、行番号に続けて示します:\n1: ok\n2: # pass 1\n3: # fail 0", "Done: exit code 0, 1 test passed."},
		{"run the tests", "Action #1 is done.", "Done."},
		{"テストして", "操作 #1 が完了しました。\n終了コード: 0", "完了しました: 終了コード 0。"},
		{"テストして", "Action #1 failed.\nExit code: 1\nIts output has 4 lines. All of them, each after its number:\n1: F\n2: Ran 3 tests in 0.001s\n3: \n4: FAILED (failures=1, errors=1)", "失敗しました: 終了コード 1、テスト 1 件成功、2 件失敗。"},
		{"run the tests", "操作 #1 は却下されました。理由: 不要", "The result is in: see the action's card."},
		{"run the tests", "この操作は提案できません。", "The result is in.\nこの操作は提案できません。"},
		{"command: ls", "Action #1 is done.\nExit code: 0\nIts output has 2 lines. All of them, each after its number:\n1: a.py\n2: ```b", "Done: exit code 0.\n```\na.py\n` ` `b\n```"},
		{"command: a", "Action #1 failed.\nCommand 1: exit code 0 · 0.1 s\nCommand 2: exit code 3 · 0.1 s\nCommand 3: not run", "Failed: 3 commands (exit codes 0, 3, –)."},
		{"ファイルを作って", "操作 #1 が完了しました。\n変更されたファイル: 2 件、+9 行 −0 行", "完了しました: ファイル 2 件を変更 (+9 行 −0 行)。"},
		{"make a file", "Action #1 is done.\nFiles changed: 1, +9 −0 lines", "Done: 1 file changed (+9 −0)."},
		{"open a pull request", "Action #2 is done.\nDraft pull request: http://x/pull/1", "Done: draft pull request http://x/pull/1."},
	} {
		said := []model.Message{
			{Role: model.User, Parts: []model.Part{{Text: fenced([]entry{{From: "Alex", Text: test.spoken}})}}},
			{Role: model.Assistant, Parts: []model.Part{{Text: "…"}}},
			{Role: model.User, Parts: []model.Part{{Text: fenced([]entry{{System: test.told}})}}},
		}
		expect.Is(t, demoAnswer(model.Request{Messages: said}).Text, test.want, "%s, %s", test.spoken, test.told)
	}
}

// What else a turn says of the files does not hide the result.
func TestTheDemoTellsTheResultBesideOtherNotes(t *testing.T) {
	said := []model.Message{
		{Role: model.User, Parts: []model.Part{{Text: fenced([]entry{{From: "佐藤", Text: "ファイルを作って"}})}}},
		{Role: model.Assistant, Parts: []model.Part{{Text: "…"}}},
		{Role: model.User, Parts: []model.Part{
			{Result: &model.Result{Text: fenced([]entry{{System: "操作 #1 が完了しました。\n終了コード: 0"}})}},
			{Text: fenced([]entry{{System: "The files have changed since you read some of what stands above."}})},
		}},
	}
	expect.Is(t, demoAnswer(model.Request{Messages: said}).Text, "完了しました: 終了コード 0。")
}

func TestTheDemoTellsTheReasonOfARejection(t *testing.T) {
	said := []model.Message{
		{Role: model.User, Parts: []model.Part{{Text: fenced([]entry{{From: "佐藤", Text: "テストして"}})}}},
		{Role: model.Assistant, Parts: []model.Part{{Text: "…"}}},
		{Role: model.User, Parts: []model.Part{{Text: fenced([]entry{{System: "操作 #1 は却下されました。理由: "}, {Quoted: "今日は不要です"}})}}},
	}
	expect.Has(t, demoAnswer(model.Request{Messages: said}).Text, "理由: 今日は不要です")
}

// People who write English get only English answers, whatever happens to an action, even beside Japanese names.
func TestTheDemoAnswersEnglishInEnglish(t *testing.T) {
	tools := []model.Tool{}
	for _, name := range []string{string(agent.ShellCommand), string(agent.TestRun), string(agent.CodeGenerate), handOver} {
		tools = append(tools, model.Tool{Name: name})
	}
	for _, text := range []string{"hello", "run: cat 勤怠.csv", "command: ls", "run the tests", "list the files",
		"Make a file for 営業部 in the folder", "Please make this a request.", "What do you know of 佐藤?"} {
		for name, more := range map[string]model.Request{
			"with tools": {Tools: tools}, "without": {},
			"beside an action that waits": {Messages: []model.Message{{Role: model.User, Parts: []model.Part{{Result: &model.Result{Failed: true, Text: fencedProblems([]string{oneAtATime})}}}}}},
			"with a result":               {Messages: []model.Message{{Role: model.User, Parts: []model.Part{{Text: fenced([]entry{{System: "操作 #1 は却下されました。理由: 不要"}})}}}}},
		} {
			more.Messages = append([]model.Message{{Role: model.User, Parts: []model.Part{{Text: fenced([]entry{{From: "アレックス", Text: text}})}}}}, more.Messages...)
			out := demoAnswer(more)
			said := out.Text
			for _, c := range out.Calls {
				said += string(c.Input)
			}
			said = strings.NewReplacer("営業部", "", "佐藤", "", "勤怠", "").Replace(said)
			if said == "" || strings.ContainsFunc(said, func(r rune) bool { return unicode.In(r, unicode.Hiragana, unicode.Katakana, unicode.Han) }) {
				t.Errorf("%s, %s: %q", text, name, said)
			}
		}
	}
}

// A file gets the name that a message gives it, and content that can be read and run.
func TestTheDemoMakesTheFileThatIsNamed(t *testing.T) {
	for text, want := range map[string][2]string{
		"make a file notes.md": {"notes.md", "# notes\n\n- Purpose: "}, "notes.md を作って": {"notes.md", "# notes\n\n- 目的: "},
		"create a file called src/tools.py": {"src/tools.py", "import sys\n\n\ndef hello"},
		"「メモ.txt」というファイルを作って: 会議は 3 時から":    {"メモ.txt", "会議は 3 時から\n"},
		"write a file a.json with “{}”":     {"a.json", "{}\n"}, "make a file run.sh:\necho hi\nls": {"run.sh", "echo hi\nls\n"},
		"make a file travel.md on how travel is requested": {"travel.md", "# How to request business travel\n\nPurpose: "},
		"remote.md を在宅勤務のルールで作って":                          {"", ""},
		"在宅勤務のルールの remote.md を作って":                         {"remote.md", "# 在宅勤務の運用ルール\n\n目的: "},
		"make a file ../x.md":                              {"", ""}, "make a file": {"", ""}, "read hello.js": {"", ""}, "hello.js を読んで": {"", ""},
	} {
		name, content, ok := demoNamed(text, !strings.Contains(text, "e a") && !strings.Contains(text, "read"))
		expect.That(t, name == want[0] && ok == (want[0] != "") && strings.HasPrefix(content, want[1]), "%s: %s, %q", text, name, content)
		expect.That(t, !ok || conversation.CheckPath(name) == nil, "%s: %s", text, name)
	}
	tools := []model.Tool{{Name: string(agent.CodeGenerate)}}
	asked := func(text string) model.Message {
		return model.Message{Role: model.User, Parts: []model.Part{{Text: fenced([]entry{{From: "佐藤", Text: text}})}}}
	}
	first := demoAnswer(model.Request{Tools: tools, Messages: []model.Message{asked("make a file notes.md")}})
	expect.Must(t, len(first.Calls) == 1 && first.Text == "Demo agent: I propose notes.md.", "%+v", first)
	again := demoAnswer(model.Request{Tools: tools, Messages: []model.Message{asked("make a file notes.md"),
		{Role: model.Assistant, Parts: []model.Part{{Call: &first.Calls[0]}}}, asked("make a file notes.md")}})
	expect.Must(t, len(again.Calls) == 1, "%+v", again)
	expect.That(t, string(first.Calls[0].Input) != string(again.Calls[0].Input), "the second proposal would change nothing")
}

// The demo reads what people ask for in plain words, and says what it found.
func TestTheDemoReadsFiles(t *testing.T) {
	tree, err := (&conversation.Tree{}).Apply([]conversation.File{{Path: "hello.js", Content: "Hello, Ringi\n"}})
	expect.NoError(t, err)
	for text, want := range map[string]string{
		"ファイルを見せて": "hello.js  13 B", "list the files": "hello.js  13 B", "Show me the files!": "hello.js  13 B",
		"search for Ringi": "hello.js:1: Hello, Ringi", "「Ringi」を検索して": "hello.js:1: Hello, Ringi",
		"hello.js を読んで": "1: Hello, Ringi", "read hello.js": "1: Hello, Ringi",
		"search for Nobody": "there is no such file or text", "README.mdを見せて": "見つかりませんでした",
	} {
		asked := Turn{Agent: agent.BuiltIn()[0], History: []Message{{Sender: FromUser, Name: "佐藤", Text: text}}, Locale: "ja",
			Files: &Files{Version: "v", Open: func(context.Context) (*conversation.Tree, error) { return tree, nil }}}
		reply, err := Answer(t.Context(), Demo{}, asked, nil)
		expect.NoError(t, err)
		expect.Has(t, reply.Text, want, text)
		expect.Is(t, len(reply.Rounds), 1, text)
	}
	for _, text := range []string{"ファイルを作って", "make a file", "コマンド: cat a.txt", "run the tests", "こんにちは。",
		"This is a. b"} {
		if _, _, reads := demoRead(text); reads && !demoRun.Get().MatchString(text) {
			t.Errorf("%q reads files", text)
		}
	}
}

// While an action waits, the demo says that it can't propose another one. It does not claim that it can't understand
// its own phrase.
func TestTheDemoSaysThatAnotherActionWaits(t *testing.T) {
	said := []model.Message{
		{Role: model.User, Parts: []model.Part{{Text: fenced([]entry{{From: "佐藤", Text: "コマンド: ls"}})}}},
		{Role: model.Assistant, Parts: []model.Part{{Text: "…"}}},
		{Role: model.User, Parts: []model.Part{{Result: &model.Result{Failed: true, Text: fencedProblems([]string{oneAtATime})}}}},
	}
	expect.Has(t, demoAnswer(model.Request{Messages: said}).Text, "次の操作を提案できません")
}

// The demo proposes a pull request where one can be, and otherwise says what it needs.
func TestTheDemoProposesAPullRequest(t *testing.T) {
	for _, said := range []string{"プルリクエストを開いて", "please open a pull request"} {
		r := model.Request{Messages: []model.Message{{Role: model.User,
			Parts: []model.Part{{Text: fenced([]entry{{From: "佐藤", Text: said}})}}}}}
		expect.That(t, demoAnswer(r).Calls == nil, "it proposes what isn't offered")
		r.Tools = []model.Tool{{Name: "tool_call", Schema: []byte(`{"enum":["open_pull_request"]}`)}}
		calls := demoAnswer(r).Calls
		expect.Must(t, len(calls) == 1, "%s: %v", said, calls)
		var input struct{ Tool, Arguments string }
		expect.NoError(t, json.Unmarshal(calls[0].Input, &input))
		var pull struct{ Title, Body string }
		expect.NoError(t, json.Unmarshal([]byte(input.Arguments), &pull))
		expect.That(t, conversation.CheckPull(pull.Title, pull.Body) == nil, "%+v", pull)
	}
}
