package main

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/decide"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
	"ringi/shared/slack/slackapi/slacktest"
)

func TestMinutes(t *testing.T) {
	inWorlds(t, map[string]func(*testing.T, *world){
		"are recorded once, with a stamp":           testMinutes,
		"of what wasn't carried end it":             testMinutesNotCarried,
		"of whom they name Slack is asked at last":  testMinutesRefusedFirst,
		"without a rule, nor is Slack asked of any": testMinutesWithoutARule,
	})
}

// meeting returns the values of the form by which minutes are recorded.
func meeting(held, carried, said, why string, present ...string) map[string]any {
	values := reason(why)
	for field, v := range map[string]map[string]any{
		card.HeldBlock:      {"type": "datepicker", "selected_date": held},
		card.PresentBlock:   {"type": "multi_users_select", "selected_users": present},
		card.CarriedBlock:   {"type": "radio_buttons", "selected_option": map[string]any{"value": carried}},
		card.MinutesBlock:   {"type": "plain_text_input", "value": said},
		card.ReferenceBlock: {"type": "plain_text_input", "value": nil},
	} {
		values[field] = map[string]any{field: v}
	}
	return values
}

// board is a stage of two people with minutes.
func board() circulation.Stage {
	is := pipelinetest.Desk("取締役会", 2, webapi.Tanaka, webapi.Suzuki)
	is.Minutes = true
	return is
}

func testMinutes(t *testing.T, w *world) {
	p := w.along(2, board())
	today := w.h.Now().In(tenancy.Zone()).Format(time.DateOnly)
	w.stamps(webapi.Suzuki, p.ID, "/1")
	w.told(w.post(at(w.click(webapi.Tanaka, "approve_process", p.ID), w.Ref.ID+"/1")), webapi.Tanaka, "会議の議事録が必要です")
	w.told(w.post(at(w.click(webapi.Suzuki, "minutes_process", p.ID), w.Ref.ID+"/1")), webapi.Suzuki, "引き戻してから")
	form := w.opens(webapi.Tanaka, card.Minutes, p.ID, "/1")
	for name, c := range map[string]struct {
		values map[string]any
		field  string
	}{
		"no day":          {meeting("", "yes", "議事", "", webapi.Suzuki), card.HeldBlock},
		"a day to come":   {meeting("2099-01-01", "yes", "議事", "", webapi.Suzuki), card.HeldBlock},
		"before it":       {meeting("2020-01-01", "yes", "議事", "", webapi.Suzuki), card.HeldBlock},
		"nobody there":    {meeting(today, "yes", "議事", ""), card.PresentBlock},
		"a guest there":   {meeting(today, "yes", "議事", "", webapi.Suzuki, webapi.Guest), card.PresentBlock},
		"a stranger":      {meeting(today, "yes", "議事", "", "U0NOBODY"), card.PresentBlock},
		"nothing said":    {meeting(today, "yes", " ", "", webapi.Suzuki), card.MinutesBlock},
		"no reason for a": {meeting(today, "no", "議事", " ", webapi.Suzuki), card.ReasonBlock},
	} {
		var answer struct{ Errors map[string]string }
		expect.NoError(t, json.Unmarshal([]byte(w.sendView(webapi.Tanaka, form, c.values).Body), &answer))
		expect.That(t, answer.Errors[c.field] != "", "%s: %v", name, answer.Errors)
	}
	expect.Is(t, len(w.acts()), 1, "acts")
	values := meeting(today, "yes", "全員が賛成した", "", webapi.Suzuki, webapi.Tanaka)
	for range 2 {
		w.quiet(w.sendView(webapi.Tanaka, form, values), webapi.Tanaka)
	}
	act := w.acts()[1]
	expect.That(t, len(w.acts()) == 2 && act.Kind == circulation.Stamp && act.Meeting.Carried && act.Text == "" &&
		act.Meeting.Held == today && len(act.Meeting.Present) == 2 && act.Meeting.Minutes == "全員が賛成した", "%+v", act)
	expect.Is(t, w.Load().Process().Status, aggregate.Approved)
}

func testMinutesNotCarried(t *testing.T, w *world) {
	p := w.along(2, board())
	today := w.h.Now().In(tenancy.Zone()).Format(time.DateOnly)
	form := w.opens(webapi.Tanaka, card.Minutes, p.ID, "/1")
	old := form
	for range 2 {
		w.quiet(w.sendView(webapi.Tanaka, form, meeting(today, "no", "意見が割れた", "資金が足りない", webapi.Suzuki)), webapi.Tanaka)
	}
	a := w.Load()
	expect.That(t, a.Head.Ended != nil && a.Head.Ended.Reason == task.ReasonDenied &&
		a.Process().RejectionReason == "資金が足りない" && len(w.acts()) == 1 && !w.acts()[0].Meeting.Carried, "%+v", w.acts())
	w.stays(w.sendView(webapi.Suzuki, old, meeting(today, "yes", "議事", "", webapi.Suzuki)), "")
	expect.Is(t, len(w.acts()), 1, "acts")
}

// asking is a Slack that notes of whom it is asked.
type asking struct {
	people.Directory
	about chan string
}

func (a asking) User(ctx context.Context, id string) (slackapi.User, error) {
	a.about <- id
	return a.Directory.User(ctx, id)
}

// asksOfAlex reports whether Slack is asked about Alex, who was present, while something is done.
func (w *world) asksOfAlex(do func()) bool {
	was, about := w.h.People.Slack, make(chan string, 100)
	w.h.People.Slack = asking{was, about}
	defer func() { w.h.People.Slack = was }()
	do()
	close(about)
	for user := range about {
		if user == webapi.Alex {
			return true
		}
	}
	return false
}

func testMinutesRefusedFirst(t *testing.T, w *world) {
	p := w.along(2, board())
	today := w.h.Now().In(tenancy.Zone()).Format(time.DateOnly)
	form := w.opens(webapi.Tanaka, card.Minutes, p.ID, "/1")
	send := func(user string, values map[string]any) func() {
		return func() { w.sendView(user, form, values) }
	}
	good := meeting(today, "yes", "全員が賛成した", "", webapi.Alex)
	for _, x := range []struct {
		name  string
		user  string
		said  map[string]any
		asked bool
		acts  int
	}{
		{"a stranger", webapi.Stranger, good, false, 0},
		{"who is not on the route", webapi.Sato, good, false, 0},
		{"minutes that lack words", webapi.Tanaka, meeting(today, "yes", " ", "", webapi.Alex), false, 0},
		{"good minutes", webapi.Tanaka, good, true, 1},
		{"the same once more", webapi.Tanaka, good, false, 1},
		{"other minutes of who has recorded", webapi.Tanaka, meeting(today, "yes", "別", "", webapi.Alex), false, 1},
	} {
		expect.Is(t, w.asksOfAlex(send(x.user, x.said)), x.asked, x.name)
		expect.Is(t, len(w.acts()), x.acts, x.name)
	}
	w.stamps(webapi.Suzuki, p.ID, "/1")
	expect.That(t, !w.asksOfAlex(send(webapi.Suzuki, good)), "of a gate that is over")
}

func testMinutesWithoutARule(t *testing.T, w *world) {
	p := w.planned()
	x := card.RouteAct{Kind: card.Minutes, Review: card.Review{Type: task.CardProcess, ID: p.ID, TaskID: w.Ref.ID,
		Hash: w.Load().AskedHash(p.ID), Stage: 1}, Meeting: &circulation.Meeting{
		Held: w.h.Now().In(tenancy.Zone()).Format(time.DateOnly), Present: []string{webapi.Alex}, Carried: true, Minutes: "議事"}}
	for _, user := range []string{webapi.Stranger, webapi.Suzuki} {
		asks := w.asksOfAlex(func() {
			v := w.h.maker().RouteAct(t.Context(), decide.Click{Ref: w.Ref, ID: p.ID, Stage: 1,
				Want: people.Want{User: user, Team: slacktest.Team}}, x)
			expect.That(t, v.Err != nil, "recorded")
		})
		expect.That(t, !asks, "%s", user)
	}
}
