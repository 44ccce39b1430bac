package chat

import (
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
