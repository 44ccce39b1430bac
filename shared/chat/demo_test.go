package chat

import (
	"strings"
	"testing"

	"ringi/shared/model"
)

// What people agreed on is asked for, without the word by which the demo hands it over: no model needs to understand that.
func TestTheDemoHandsOverWhatWasSaid(t *testing.T) {
	turn := func(role model.Role, text string) Said {
		if role == model.User {
			text = fenced([]entry{{From: "佐藤", Text: text}})
		}
		return Said{Role: role, Parts: []Part{{Text: text}}}
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
		var said []Said
		for i, text := range test.said {
			if i > 0 {
				said = append(said, turn(model.Assistant, "はい"))
			}
			said = append(said, turn(model.User, text))
		}
		if got := demoRequest(said); got != test.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// What came of an action is told in the language of whoever talks, whatever the workspace's is.
func TestTheDemoTellsAResultInThePersonsLanguage(t *testing.T) {
	for spoken, want := range map[string]string{
		"run the tests": "I am a demo. I got the result:\n操作 #1 が完了しました。",
		"テストして":         "デモのエージェントです。結果を受け取りました。\n操作 #1 が完了しました。",
	} {
		said := []Said{
			{Role: model.User, Parts: []Part{{Text: fenced([]entry{{From: "Alex", Text: spoken}})}}},
			{Role: model.Assistant, Parts: []Part{{Text: "…"}}},
			{Role: model.User, Parts: []Part{{Text: fenced([]entry{{System: "操作 #1 が完了しました。"}})}}},
		}
		if got := demoAnswer(Request{Said: said}).Text; got != want {
			t.Errorf("%s: %q", spoken, got)
		}
	}
}

// What it may not propose beside an action that waits, it says; it doesn't claim not to know its own phrase.
func TestTheDemoSaysThatAnotherActionWaits(t *testing.T) {
	said := []Said{
		{Role: model.User, Parts: []Part{{Text: fenced([]entry{{From: "佐藤", Text: "コマンド: ls"}})}}},
		{Role: model.Assistant, Parts: []Part{{Text: "…"}}},
		{Role: model.User, Parts: []Part{{Result: &Result{Failed: true, Text: fencedProblems([]string{oneAtATime})}}}},
	}
	if got := demoAnswer(Request{Said: said}).Text; !strings.Contains(got, "次の操作を提案できません") {
		t.Error(got)
	}
}
