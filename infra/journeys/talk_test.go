package journeys

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringi/infra/journeys/desk"
	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/task"
)

func TestAQuestionGetsAPlainReply(t *testing.T) {
	for locale, want := range map[string][2]string{"ja": {"使い方を教えて", "Ringi には「今月の勤怠をまとめて」"}, "en": {"What can you do?", "Ask Ringi for work in plain words"}} {
		t.Run(locale, func(t *testing.T) {
			s := start(t)
			desk.Settings(t, s, func(x *task.Settings) { x.Locale = locale })
			d := desk.Ask(t, s, workspace.Sato, want[0])
			a := d.Until("it is answered", func(a *task.Aggregate) bool { return a.Head.Ended != nil && a.Head.ShownRev == a.Head.Rev })
			said := d.Cards("CARD#task")
			if len(said) != 1 || !strings.Contains(said[0].Text, want[1]) || len(said[0].Attachments) != 0 {
				t.Errorf("replied %+v", said)
			}
			if a.Task != nil || len(a.Cards) != 1 || a.Head.Ended.As != task.TaskAnswered {
				t.Errorf("%+v", a.Head)
			}
			if diff := cmp.Diff([]string{"request.answered by system"}, d.Audit()); diff != "" {
				t.Error("audit log:", diff)
			}
			d.RunsEnd()
		})
	}
}
