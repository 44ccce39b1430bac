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
		{"run the tests", "操作 #1 が完了しました。", "I am a demo. I got the result."},
		{"run the tests", "Action #1 is done.", "I am a demo. I got the result.\nAction #1 is done."},
		{"テストして", "操作 #1 が完了しました。", "デモのエージェントです。結果を受け取りました。\n操作 #1 が完了しました。"},
		{"テストして", "Action #1 is done.", "デモのエージェントです。結果を受け取りました。"},
	} {
		said := []model.Message{
			{Role: model.User, Parts: []model.Part{{Text: fenced([]entry{{From: "Alex", Text: test.spoken}})}}},
			{Role: model.Assistant, Parts: []model.Part{{Text: "…"}}},
			{Role: model.User, Parts: []model.Part{{Text: fenced([]entry{{System: test.told}})}}},
		}
		expect.Is(t, demoAnswer(model.Request{Messages: said}).Text, test.want, "%s, %s", test.spoken, test.told)
	}
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
		if _, _, reads := demoRead(text); reads && !demoRun().MatchString(text) {
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
