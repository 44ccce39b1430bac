package task

import (
	"testing"
	"time"

	"ringi/shared/runtime/expect"
)

// A request is like an earlier one of the same title, by the same person or in the same channel.
func TestWhichRequestsAreAlike(t *testing.T) {
	s := begin(t)
	a := s.load()
	earlier := Task{ID: "00OTHER", Title: "備品の ＵＳＢ-Ｃ ｹｰﾌﾞﾙを購入", Source: SourceChannel, SlackChannel: "C0OTHER",
		CreatedAt: a.Head.CreatedAt.Add(-time.Hour)}
	const title = "備品のusb-cケーブルを、購入"
	asker := a.Head.Requester
	for name, tt := range map[string]struct {
		change    func(t *Task)
		requester string
		title     string
		want      bool
	}{
		"the same asker's":           {func(*Task) {}, asker, title, true},
		"another's elsewhere":        {func(*Task) {}, suzuki, title, false},
		"another's in the channel":   {func(t *Task) { t.SlackChannel = a.Request.Channel }, "", title, true},
		"the asker's direct message": {func(t *Task) { t.Source = SourceAgentContainer }, asker, title, false},
		"itself":                     {func(t *Task) { t.ID = a.Head.TaskID }, asker, title, false},
		"another title":              {func(*Task) {}, asker, title + "2", false},
		"no letters":                 {func(t *Task) { t.Title = "!" }, asker, "?", false},
		"of 31 days ago":             {func(t *Task) { t.CreatedAt = t.CreatedAt.Add(-AlikeFor) }, asker, title, false},
		"made later":                 {func(t *Task) { t.ID = a.Head.TaskID + "0" }, asker, title, false},
	} {
		x := earlier
		tt.change(&x)
		expect.Is(t, x.IsLike(a, tt.title, tt.requester), tt.want, name)
	}
	c := expect.Value(a.Extracted(a.Head.Run, Extract{Title: title, Alike: &Alike{TaskID: "01OTHER"}}, s.now))(t)
	expect.Is(t, c.Made.(*Task).Alike.TaskID, "01OTHER")
}
