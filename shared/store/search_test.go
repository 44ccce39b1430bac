package store_test

import (
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

// extracted makes a task of a person's message.
func extracted(t *testing.T, s *store.TaskStore, team, user, title string, n int) aggregate.Ref {
	t.Helper()
	now := at().Add(time.Duration(n) * time.Second)
	ts := time.Duration(n)
	r := task.Request{TeamID: team, Channel: "C0CHANNEL", ChannelType: "channel", User: user, Text: title, Source: task.SourceChannel}
	r.MessageTS = "17700000" + string(rune('0'+ts/10)) + string(rune('0'+ts%10)) + ".000100"
	r.ThreadTS = r.MessageTS
	c, ref, err := task.Receive(aggregate.TenantID(team), r, now)
	expect.NoError(t, err)
	expect.NoError(t, s.Create(t.Context(), c))
	expect.Value(s.Decide(t.Context(), ref, func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Accept(a.Head.Run, aggregate.Actor{Type: aggregate.ActorUser, ID: user, Team: team}, tenancy.DefaultSettings(), now)
	}))(t)
	expect.Value(s.Decide(t.Context(), ref, func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Extracted(a.Head.Run, task.Extract{Title: title, Description: title, Priority: task.Medium, TaskType: task.TypeStandard}, now)
	}))(t)
	return ref
}

func TestAListSaysWhoAskedAndKeepsWhatIsWanted(t *testing.T) {
	s, _ := storetest.Start(t).Store(t)
	first := extracted(t, s, "T0TEAM", "U0ONE", "first", 1)
	extracted(t, s, "T0TEAM", "U0TWO", "second", 2)
	third := extracted(t, s, "T0TEAM", "U0ONE", "third", 3)
	extracted(t, s, "T0OTHER", "U0ONE", "another tenant's", 4)
	list := func(f task.Filter, most int, keep func(store.ListedTask) bool) (titles []string, next string) {
		p := expect.Value(s.Search(t.Context(), first.Tenant, f, "", 10, most, keep))(t)
		for _, x := range p.Items {
			titles = append(titles, x.Requester()+" "+x.Title)
		}
		return titles, p.Next
	}
	for name, c := range map[string]struct {
		filter task.Filter
		keep   func(store.ListedTask) bool
		want   []string
	}{
		"all":    {task.Filter{}, nil, []string{"U0ONE third", "U0TWO second", "U0ONE first"}},
		"by one": {task.Filter{Requester: "U0TWO"}, nil, []string{"U0TWO second"}},
		"some": {task.Filter{}, func(x store.ListedTask) bool { return x.Title == "first" },
			[]string{"U0ONE first"}},
		"some of one's": {task.Filter{Requester: "U0TWO"}, func(x store.ListedTask) bool { return x.Title == "first" }, nil},
		"since a time":  {task.Filter{From: at().Add(2 * time.Second)}, nil, []string{"U0ONE third", "U0TWO second"}},
		"nobody's":      {task.Filter{Requester: "U0#"}, nil, nil},
	} {
		got, next := list(c.filter, 0, c.keep)
		if expect.Same(t, c.want, got); next != "" {
			t.Errorf("%s: there is a next page", name)
		}
	}
	if got, next := list(task.Filter{}, 2, func(x store.ListedTask) bool { return x.Title == "first" }); len(got) != 0 ||
		next == "" {
		t.Errorf("of the two newest: %q, next %q", got, next)
	}
	titles := expect.Value(s.Titled(t.Context(), first.Tenant, first.ID, third.ID, "01NONE", "#"))(t)
	if len(titles) != 2 || titles[third.ID].Title != "third" || titles[third.ID].Requester() != "U0ONE" {
		t.Errorf("%+v", titles)
	}
	others := expect.Value(s.Titled(t.Context(), "01OTHER", first.ID))(t)
	expect.That(t, len(others) == 0, "another tenant's are read: %+v", others)
	requests := expect.Value(s.Requests(t.Context(), first.Tenant, first.ID))(t)
	expect.That(t, requests[first.ID].Text == "first" && requests[first.ID].User == "U0ONE", "%+v", requests)
}
