package main

import (
	"strings"
	"testing"

	"ringi/infra/local/vendors"
	"ringi/infra/local/vendors/models"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

func (m *sessionWorld) denied(n int, why task.Denial) {
	m.T.Helper()
	got := m.session().Answers
	expect.That(m.T, len(got) >= n && got[n-1].Error && strings.Contains(got[n-1].Text, string(why)),
		"answer %d of %+v is not a denial for %s", n, got, why)
}

func testResolved(t *testing.T, m *sessionWorld) {
	rows := func(n string) string {
		return `{"spreadsheet_id":"` + vendors.Sheet + `","sheet":"名簿","columns":[{"key":"n","title":"人数"}],"rows":[{"n":` + n + `}]}`
	}
	m.does(asks(listing, string(m.read(1).ToolInput)), asks(writing, rows("41")), asks(writing, rows("42")), ends)
	m.approved(m.read(1), m.step(2, writing, aggregate.Write, rows(`{"$ref":"step-1.result.count"}`)))
	m.run()
	m.denied(2, task.DeniedArguments)
	m.ends(task.ExecutionCompleted, "", task.StepCompleted, task.StepCompleted)
	m.written(1)
}

func testOtherTool(t *testing.T, m *sessionWorld) {
	m.does(asks("send_slack_dm", `{"recipient":"x","text":"y"}`), asks(writing, string(m.lone(1).ToolInput)), ends)
	m.approved(m.lone(1))
	m.run()
	m.denied(1, task.DeniedTool)
	m.ends(task.ExecutionCompleted, "", task.StepCompleted)
	m.written(1)
}

func testOtherArguments(t *testing.T, m *sessionWorld) {
	m.does(asks(writing, strings.Replace(string(m.lone(1).ToolInput), `"a"`, `"b"`, 1)), ends)
	m.approved(m.lone(1))
	m.run()
	m.denied(1, task.DeniedArguments)
	e := m.ends(task.ExecutionFailed, task.ReasonStepsNotDone)
	expect.Is(t, e.ErrorDetail, "1", "left undone")
	m.written(0)
}

func testTwice(t *testing.T, m *sessionWorld) {
	input := string(m.lone(1).ToolInput)
	m.does(asks(writing, input), asks(writing, input), models.Act{Asks: []models.Ask{{Tool: writing, Input: input},
		{Tool: writing, Input: input}}}, ends)
	m.approved(m.lone(1))
	m.run()
	for n := 2; n <= 4; n++ {
		m.denied(n, task.DeniedDone)
	}
	m.ends(task.ExecutionCompleted, "", task.StepCompleted)
	m.written(1)
}

func testTooEarly(t *testing.T, m *sessionWorld) {
	m.does(asks(writing, string(m.lone(2).ToolInput)), ends)
	m.approved(m.read(1), m.lone(2))
	m.run()
	m.denied(1, task.DeniedOrder)
	m.ends(task.ExecutionFailed, task.ReasonStepsNotDone)
	m.written(0)
}

func testOwnArguments(t *testing.T, m *sessionWorld) {
	stamped := `{"department":"営業部","status":"active"}`
	m.does(asks(listing, `{"status":"all","department":null}`), asks(listing, stamped), ends)
	m.approved(m.step(1, listing, aggregate.Read, stamped))
	m.run()
	m.denied(1, task.DeniedArguments)
	m.ends(task.ExecutionCompleted, "", task.StepCompleted)
	expect.Is(t, m.vendors.Calls(listing), 1, "listed (times)")
	expect.Has(t, string(m.Load().Steps[0].Arguments.JSON), "営業部", "called with")
}

func testBuiltOn(t *testing.T, m *sessionWorld) {
	m.does(asks(listing, `{"status":"all","department":null}`), ends)
	m.approved(m.read(1), m.write(2))
	m.run()
	m.denied(1, task.DeniedArguments)
	m.ends(task.ExecutionFailed, task.ReasonStepsNotDone)
	expect.Is(t, m.vendors.Calls(listing), 0, "listed (times)")
}

func testAtOnce(t *testing.T, m *sessionWorld) {
	m.does(models.Act{Asks: []models.Ask{{Tool: writing, Input: string(m.write(2).ToolInput)},
		{Tool: listing, Input: string(m.read(1).ToolInput)}}}, ends)
	m.approved(m.read(1), m.write(2))
	m.run()
	m.ends(task.ExecutionCompleted, "", task.StepCompleted, task.StepCompleted)
	m.written(1)
}

func testNames(t *testing.T, _ *sessionWorld) {
	steps := []task.Step{{Tool: "rooms.book"}, {Tool: "rooms_book"}, {Tool: "rooms.book"}}
	want := map[string]string{"rooms.book": "rooms_book", "rooms_book": "rooms_book_2"}
	expect.Same(t, want, namesOf(steps))
}

func TestASessionCallsAServersTools(t *testing.T) {
	meeting := newMeeting(t, pipelinetest.Start(t))
	m := sessionWorldIn(t, meeting.world)
	m.does(asks("rooms_list_rooms", `{"date":"2026-04-02","start":"10:00","end":"11:00"}`), asks("rooms_list_rooms", `{`+at+`}`),
		asks("rooms_book_room", `{"room_id":"fuji","title":"定例",`+at+`}`), ends)
	m.approved(meeting.planned(1, "rooms.list_rooms", `{`+at+`}`), meeting.book(2))
	m.run()
	m.denied(1, task.DeniedArguments)
	m.ends(task.ExecutionCompleted, "", task.StepCompleted, task.StepCompleted)
	expect.Is(t, len(meeting.rooms.Bookings()), 1, "bookings")
}

func TestEveryDenialSaysWhatToDo(t *testing.T) {
	for _, d := range task.Denials {
		expect.That(t, denials[d] != "", "nothing is said of %s", d)
	}
	expect.Is(t, len(denials), len(task.Denials), "sentences for denials")
}
