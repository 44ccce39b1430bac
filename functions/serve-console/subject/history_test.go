package subject

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
)

// A person reads first what came of the newest attempt, and only that.
func TestTheOutcomeIsThatOfTheNewestAttempt(t *testing.T) {
	made := []Run{{Step: Step{Name: "シート"}, Address: "https://example.com/1"}, {Step: Step{Name: "DM"}}}
	of := func(all ...Attempt) *Attempt { return History{Attempts: all}.Outcome() }
	got := of(Attempt{Version: 2, Number: 3, Summary: "まとめ", Steps: made}, Attempt{Version: 2, Number: 2, Error: "失敗"})
	expect.That(t, got.Summary == "まとめ" && got.Error == "" && got.Name() == "run-2-3" && len(got.Made()) == 1 &&
		got.Made()[0].Step.Name == "シート", "%+v", got)
	expect.That(t, of() == nil && of(Attempt{Version: 1, Number: 1, Steps: make([]Run, 1)}, Attempt{Summary: "前回"}) == nil,
		"nothing has come of it yet")
}

// reader returns a Reader in Japanese on 1 April 2026 that names people by their ids.
func reader() Reader {
	by := web.Reader{Locale: "ja", Person: func(id string) string { return "<" + id + ">" }}
	return Reader{Reader: by, Now: time.Date(2026, 4, 1, 9, 0, 0, 0, time.UTC)}
}

func TestStepsThatArePutToPeopleAgainAreWhole(t *testing.T) {
	plan := Version{Key: "plan", Steps: make([]Step, mostSteps), Sum: &web.Sum{}}
	h := History{Plans: []Version{plan, plan}, Attempts: []Attempt{{Steps: make([]Run, mostSteps)}}}
	h.Gate = &Gate{Kind: task.CardProcess}
	h.lighten("")
	expect.That(t, h.Plans[0].Sum != nil && !h.Plans[0].Folded && h.Plans[1].Folded, "%+v", h.Plans)
}

func TestATaskIsToldWhereverItStands(t *testing.T) {
	at := time.Date(2026, 4, 1, 8, 0, 0, 0, time.UTC)
	head := func(change func(*task.Head)) *task.Aggregate {
		a := &task.Aggregate{Head: task.Head{TaskID: "01T", Head: aggregate.Head{TenantID: "01X", Requester: "U1"}},
			Request: &task.Request{User: "U1", Text: "一行目\n二行目", CreatedAt: at}}
		change(&a.Head)
		return a
	}
	for status, a := range map[task.Status]*task.Aggregate{
		"drafting": head(func(*task.Head) {}),
		"not_drafted": head(func(h *task.Head) {
			h.Parked = &task.Parked{Layer: task.L1, Sentence: task.ReasonModelUnavailable}
		}),
		"cancelled": head(func(h *task.Head) {
			h.Ended = &task.Ended{As: task.TaskCancelled, By: "U1", At: at, Reason: task.ReasonByPerson}
		}),
		"refused": head(func(h *task.Head) { h.Ended = &task.Ended{As: task.TaskRefused, At: at, Reason: task.ReasonGuest} }),
		"answered": head(func(h *task.Head) {
			h.Ended = &task.Ended{As: task.TaskAnswered, At: at, Reason: task.ReasonHelp}
		}),
		"failed": head(func(h *task.Head) {
			h.Ended = &task.Ended{As: task.TaskFailed, At: at, Reason: task.ReasonRunFailed}
		}),
		"done": head(func(h *task.Head) { h.Ended = &task.Ended{As: task.TaskCompleted, At: at, Reason: task.ReasonDone} }),
	} {
		a.Head.Noted = status
		s := reader().History(Source{Task: a})
		expect.That(t, s.Status == status && s.Title == "一行目" && s.Message.By == "<U1>" &&
			(s.Ending == "") == (a.Head.Ended == nil) && (s.Parked == "") == (a.Head.Parked == nil) &&
			s.Moves == (a.Head.Ended == nil), "%s: %+v", status, s)
	}
	held := head(func(h *task.Head) { h.Parked = &task.Parked{Layer: task.L3, Sentence: task.ReasonNobodyApproves} })
	s := reader().History(Source{Task: held})
	expect.That(t, s.Held, "held: %+v", s)
	denied := head(func(h *task.Head) {
		h.Noted, h.Ended = task.StatusCancelled, &task.Ended{As: task.TaskCancelled, At: at, Reason: task.ReasonDenied}
	})
	expect.Is(t, reader().History(Source{Task: denied}).Status, "denied") // nobody withdrew it
	rejected := head(func(h *task.Head) { h.Noted = task.StatusWaits })
	expect.Is(t, reader().History(Source{Task: rejected}).Status, task.StatusDrafting) // nothing waits
	s = reader().History(Source{Task: &task.Aggregate{}})
	expect.That(t, len(s.Attempts) == 0, "of no rows: %+v", s)
}

// A request ended while a version was generated: the page must not say that it is still being generated or was drafted.
func TestNothingIsBeingWrittenForARequestThatEnded(t *testing.T) {
	at := time.Date(2026, 4, 1, 8, 0, 0, 0, time.UTC)
	for _, x := range []task.Contest{{ExecutionID: "e"}, {ExecutionID: "e", EndedAt: &at}} {
		a := &task.Aggregate{
			Head: task.Head{TaskID: "01T", Head: aggregate.Head{TenantID: "01X", Requester: "U1"},
				Ended: &task.Ended{As: task.TaskCancelled, By: "U1", At: at, Reason: task.ReasonByPerson}},
			Request:   &task.Request{User: "U1", Text: "依頼", CreatedAt: at},
			Prompts:   []*task.Prompt{{Version: 1, Contest: &x, Gate: aggregate.Gate{Status: aggregate.Generating}}},
			Processes: []*task.Process{{Version: 1, Gate: aggregate.Gate{Status: aggregate.Generating}}},
		}
		s := reader().History(Source{Task: a})
		v, d := s.Policies[0], s.Policies[0].Drafted
		expect.That(t, v.Status == aggregate.Cancelled && s.Plans[0].Status == aggregate.Cancelled && d.Over &&
			d.Alone == "", "%+v %+v", v, d)
	}
}

// A version whose drafting failed, or which the rules refuse, isn't being drafted.
func TestAVersionThatWasNotDraftedSaysSo(t *testing.T) {
	a := &task.Aggregate{
		Head: task.Head{TaskID: "01T", Head: aggregate.Head{TenantID: "01X", Requester: "U1"},
			Parked: &task.Parked{Layer: task.L2}},
		Request: &task.Request{User: "U1", Text: "依頼"},
		Prompts: []*task.Prompt{{Version: 1, Gate: aggregate.Gate{Status: aggregate.Generating}}},
	}
	expect.Is(t, reader().History(Source{Task: a}).Policies[0].Status, notDrafted)
	a.Head.Parked, a.Head.Ended = nil, &task.Ended{As: task.TaskRefused, Reason: task.ReasonRuleRefuses}
	expect.Is(t, reader().History(Source{Task: a}).Policies[0].Status, refused)
}

// Mentions have names wherever people or models write them, up to a maximum.
func TestPeopleWhoAreMentionedHaveTheirNames(t *testing.T) {
	r := Reader{Reader: web.Reader{Locale: "ja", Person: func(id string) string {
		return map[string]string{"U1SUZUKI": "鈴木 一郎", "U1FALSE": "<@U1SUZUKI>"}[id]
	}}}
	told := r.History(Source{Task: &task.Aggregate{
		Request: &task.Request{Text: "結果を <@U1SUZUKI> さんに"}, Task: &task.Task{Description: "<@U1SUZUKI> へ"},
		Prompts: []*task.Prompt{
			{Content: "<@U1FALSE> に送る", Gate: aggregate.Gate{Verdict: aggregate.Verdict{RejectionReason: "<@U1SUZUKI> に"}}},
			{Content: "<@U1SUZUKI> に送る"},
		},
	}})
	const name = "@鈴木 一郎"
	expect.Same(t, "結果を "+name+" さんに", told.Message.Text)
	expect.Same(t, name+" へ", told.Description)
	expect.Same(t, name+" に送る", told.Policies[0].Text)
	expect.Same(t, name+" に", told.Policies[0].Because)
	expect.Same(t, "@<@U1SUZUKI> に送る", told.Policies[1].Text)

	var crowd []string
	for i := range task.MaxMentioned + 1 {
		crowd = append(crowd, fmt.Sprintf("<@U2CROWD%d>", i))
	}
	expect.Same(t, 1, strings.Count(r.prose(strings.Join(crowd, " ")), "<@"))
}

// A browser reorders numbers after right-to-left text: אלפא, 100, 900 would read as 900, 100. So each planned value is
// drawn in an element of its own, and a person by name and id.
func TestAValueFromRightToLeftTurnsNothingBesideIt(t *testing.T) {
	r := web.Reader{Locale: "ja", Person: func(string) string { return "יעל" }}
	step := task.Step{Tool: "bank.pay", ToolInput: `{"amounts":["אלפא",100,900]}`}
	var planned []string
	for _, p := range r.Effect(explain.EffectOf("ja", step, nil, nil)).Rest[0].Value {
		if p.Planned {
			planned = append(planned, p.Text)
		}
	}
	expect.Same(t, []string{"אלפא", "100", "900"}, planned)
	line := []explain.Piece{{Kind: explain.Person, Text: "U1"}}
	who := r.Line(line)[0]
	expect.That(t, who.Planned && who.Text == "יעל" && who.ID == "U1", "a person is %+v", who)
	r.Settled = true // and in what was done, by name
	who = r.Line(line)[0]
	expect.That(t, who.Planned && who.Text == "יעל" && who.ID == "", "a person is %+v", who)
}

// Exported for the tests of the pages.
const (
	WaitingOfPage = waitingOfPage
	MaxSearch     = maxSearch
	RowsOfPage    = rowsOfPage
)
