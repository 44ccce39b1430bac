package task

import (
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

func TestApplyIsWhatTheTableHoldsAfterTheCommit(t *testing.T) {
	for name, tell := range tales() {
		s := tell(t)
		for rev := 1; rev < s.head.Rev; rev++ {
			before := s.at(rev)
			for kind, d := range s.decisions(rev) {
				c, err := d(before, before.Head.ChangedAt.Add(time.Second))
				if err != nil || c.Empty() {
					continue
				}
				tb := &table{t: t, head: before.Head, rows: s.images[rev-1].rows}
				if err := tb.commit(before.Head, c); err != nil {
					t.Fatalf("%s, rev %d, %s: %v", name, rev, kind, err)
				}
				c.ID = tb.head.LastChange
				if diff := cmp.Diff(tb.load(), before.Apply(c)); diff != "" {
					t.Fatalf("%s, rev %d, %s (-table +applied):\n%s", name, rev, kind, diff)
				}
			}
			expect.Must(t, reflect.DeepEqual(before, s.at(rev)), "%s, rev %d: a decision changed the rows it read", name, rev)
		}
	}
}

// Rows are written in the data model's order, sorted by the commit that last wrote each row.
func TestTheRowsOfARunAreWrittenInTheDataModelsOrder(t *testing.T) {
	s := tales()["the happy path"](t)
	type write struct{ row, status string }
	listed := []write{
		{"CARD#task", ""}, {"TASK", "extracted"},
		{"PROMPT#0001", "generating"}, {"CARD#prompt#0001", ""}, {"PROMPT#0001", "pending_approval"}, {"PROMPT#0001", "approved"},
		{"PROCESS#0001", "generating"}, {"CARD#process#0001", ""}, {"PROCESS#0001", "pending_approval"}, {"PROCESS#0001", "approved"},
		{"TASK", "running"}, {"EXECUTION#0001#001", "pending"}, {"CARD#execution", ""}, {"EXECUTION#0001#001", "running"},
		{"EXECUTION#0001#001", "completed"}, {"TASK", "completed"},
	}
	var got []write
	for rev := 1; rev <= s.head.Rev; rev++ {
		var now []write
		for key, r := range s.images[rev-1].rows {
			if rev > 1 && s.images[rev-2].rows[key] == r {
				continue
			}
			switch r := r.(type) {
			case *Task:
				now = append(now, write{key, string(r.Status)})
			case *Prompt, *Process:
				status, _, _ := gateOf(r)
				now = append(now, write{key, string(status)})
			case *Execution:
				if was, _ := s.images[max(rev-2, 0)].rows[key].(*Execution); was == nil || was.Status != r.Status {
					now = append(now, write{key, string(r.Status)})
				}
			case *aggregate.Card:
				now = append(now, write{key, ""})
			}
		}
		slices.SortFunc(now, func(a, b write) int { return slices.Index(listed, a) - slices.Index(listed, b) })
		got = append(got, now...)
	}
	expect.Same(t, listed, got, cmp.AllowUnexported(write{}))
	var actions []aggregate.Action
	for _, entry := range s.audit {
		actions = append(actions, entry.Action)
	}
	expect.Same(t, []aggregate.Action{AuditTaskCreated, AuditPromptApproved, AuditProcessApproved, AuditExecutionStarted, AuditExecutionCompleted}, actions)
}

func TestTimesWithinATaskGoOnWhateverTheClocksSay(t *testing.T) {
	s := waitingPrompt(t)
	last := s.head.ChangedAt
	s.now = last.Add(-time.Hour) // on a machine whose clock is behind
	s.do(s.approvePrompt)
	if want := last.Add(time.Millisecond); !s.head.ChangedAt.Equal(want) || !s.load().Prompt().ApprovedAt.Equal(want) {
		t.Errorf("changed at %v after %v", s.head.ChangedAt, last)
	}
}

func TestRowsAreFoundWhateverOrderTheyCameIn(t *testing.T) {
	s := tales()["step gates"](t)
	whole := s.load()
	for range 5 { // the order of a map is random
		a := &Aggregate{Head: whole.Head}
		for _, r := range whole.Rows() {
			a.Add(r)
		}
		diff := cmp.Diff(whole, a)
		expect.Must(t, diff == "", "%v", diff)
	}
	if whole.Execution().Attempt != 2 || len(whole.StepsOf(whole.Executions[0])) != 2 || whole.GateOf(whole.Executions[0], 2) != whole.Gates[0] {
		t.Errorf("executions %d, steps %d", len(whole.Executions), len(whole.Steps))
	}
	expect.Is(t, whole.ProcessOf(whole.Execution()), whole.Process(), "process")
	if none := (&Aggregate{}); none.Prompt() != nil || none.Process() != nil || none.Execution() != nil || none.Card("CARD#task") != nil || len(none.Rows()) != 0 {
		t.Error("an empty aggregate has rows")
	}
}

func TestErrorsSayWhatAReaderNeeds(t *testing.T) {
	for want, err := range map[string]error{
		`already approved by "U1" at 2026-04-18T05:30:00Z`: aggregate.ErrDecided{Status: "approved", By: "U1", At: dawn},
		"version 2 is newer":     aggregate.ErrNotLatest{Latest: 2},
		"not allowed: guest":     aggregate.ErrNotAllowed{Rule: aggregate.RuleGuest},
		"execution_timeout: 360": StopError{ReasonTimeout, "360"},
		"task: failed cannot become cancelled: " + aggregate.ErrConflict.Error():   errMove("task", TaskFailed, TaskCancelled),
		"rejection_reason must have 1 to 1000 characters, not 0":                   func() error { _, err := aggregate.CheckReason(""); return err }(),
		"steps must be 1 to 60, not 0":                                             checkSteps(nil),
		"ts \"x\" is not a Slack timestamp like 1713450000.000100":                 func() error { _, err := aggregate.ParseTS("x"); return err }(),
		"max_versions must be between 1 and 50":                                    func() error { s := tenancy.DefaultSettings(); s.MaxVersions = 0; return s.Validate() }(),
		"slug must be 1 to 63 of a-z, 0-9 and -, beginning with a letter or digit": func() error { s := tenancy.DefaultSettings(); s.Slug = "-"; return s.Validate() }(),
	} {
		expect.That(t, err != nil && err.Error() == want, "%v, want %s", err, want)
	}
	if !errors.Is(errMove("task", TaskFailed, TaskCancelled), aggregate.ErrConflict) {
		t.Error("a move that rows at odds ask for is no conflict")
	}
}

// A reason in which nobody can see a character is empty, whatever invisible characters it has.
func TestAReasonThatNobodyCanSeeIsEmpty(t *testing.T) {
	for reason, want := range map[string]string{
		"": "", " \n\t　": "", "\u200b\u200d\u2060": "", "\ufe0f\ufe0e": "", "\u3164\uffa0": "", "\u2800": "", "\u00ad": "",
		"\U000e0041\U000e007f": "", "\u0301\u20e3": "", "\u202e\u2066": "", "\ufeff": "", "\ue000": "",
		" 宛先が違う\n": "宛先が違う", "👍🏽": "👍🏽", "❤\ufe0f": "❤\ufe0f", "。": "。", "a\u200b": "a\u200b",
	} {
		got, err := aggregate.CheckReason(reason)
		expect.That(t, got == want && (err != nil) == (want == ""), "%q is taken as %q, %v", reason, got, err)
	}
}
