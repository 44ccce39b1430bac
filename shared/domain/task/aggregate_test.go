package task

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/oklog/ulid/v2"

	"ringi/shared/domain/aggregate"
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
				err = tb.commit(before.Head, c)
				expect.Must(t, err == nil, "%s, rev %d, %s: %v", name, rev, kind, err)
				c.ID = tb.head.LastChange
				diff := cmp.Diff(tb.load(), before.Apply(c))
				expect.Must(t, diff == "", "%s, rev %d, %s (-table +applied):\n%s", name, rev, kind, diff)
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
		{"PROMPT#0001", "generating"}, {"CARD#prompt#0001", ""}, {"PROMPT#0001", "pending_approval"}, {"PROMPT#0001",
			"approved"},
		{"PROCESS#0001", "generating"}, {"CARD#process#0001", ""}, {"PROCESS#0001", "pending_approval"}, {"PROCESS#0001",
			"approved"},
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
	expect.Same(t, []aggregate.Action{AuditTaskCreated, AuditPromptApproved, AuditProcessApproved, AuditExecutionStarted,
		AuditExecutionCompleted}, actions)
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
	expect.That(t, whole.Execution().Attempt == 2 && len(whole.StepsOf(whole.Executions[0])) == 2 &&
		whole.GateOf(whole.Executions[0],
			2) == whole.Gates[0], "executions %d, steps %d", len(whole.Executions), len(whole.Steps))
	expect.Is(t, whole.ProcessOf(whole.Execution()), whole.Process(), "process")
	none := (&Aggregate{})
	expect.That(t, none.Prompt() == nil && none.Process() == nil && none.Execution() == nil &&
		none.Card("CARD#task") == nil && len(none.Rows()) == 0, "an empty aggregate has rows")
}

func TestEveryDeliveryOfAMessageMakesOneTask(t *testing.T) {
	id := func(team, channel, ts string) string {
		t.Helper()
		return expect.Value(ID(team, channel, ts))(t)
	}
	ts := "1776490200.000100"
	one := id(team, "C_HR", ts)
	expect.Is(t, id(team, "C_HR", ts), one, "delivered again")
	others := map[string]string{
		"another channel":             id(team, "C_IT", ts),
		"another workspace":           id("T_OTHER", "C_HR", ts),
		"a microsecond later":         id(team, "C_HR", "1776490200.000101"),
		"a second later":              id(team, "C_HR", "1776490201.000100"),
		"a border moved":              id(team+"C", "_HR", ts),
		"the tenant's":                aggregate.TenantID(team),
		"a tenant of the same letter": aggregate.TenantID(team + "C_HR" + ts),
	}
	seen := map[string]string{one: "the message"}
	for name, other := range others {
		expect.Is(t, seen[other], "", "%s has the id of", name)
		seen[other] = name
		expect.That(t, aggregate.ValidID(other), "%s: %q is no id", name, other)
	}
	at := ulid.Time(ulid.MustParse(one).Time())
	expect.That(t, at.Equal(time.Date(2026, 4, 18, 5, 30, 0, 0, time.UTC)), "made at %v", at)

	mention, direct := request(), request()
	direct.EventID, direct.Source, direct.Text = "Ev2", SourceAgentContainer, "別の本文"
	a, ref, err := Receive(aggregate.TenantID(team), mention, dawn)
	expect.NoError(t, err)
	_, again, err := Receive(aggregate.TenantID(team), direct, dawn.Add(time.Hour))
	expect.That(t, err == nil && ref == again && ref.ID == one, "%+v, then %+v, %v", ref, again, err)
	expect.That(t, create(t, a).commit(Head{Head: aggregate.Head{Run: 1}}, a) != nil, "the same message commits twice")
}

func TestATimestampThatIsNotSlacksIsRefused(t *testing.T) {
	for _, ts := range []string{
		"", ".", "1776490200", "1776490200.", ".000100", "1776490200.0001", "1776490200.0001000", "-1.000100",
		"+1776490200.000100",
		"01776490200.000100", "1776490200.+00100", "1776490200.-00100", "1776490200.00010x", "1_776490200.000100",
		"1776490200.0_0100",
		"1776490200.000100\n", " 1776490200.000100", "0x69e31318.000100", "1e9.000100", "253402300800.000000",
		"99999999999999999999.000100",
		"9223372036854775807.000000", "１７７６４９０２００.000100", "1776490200.0００", "1776490200.000100.1", strings.Repeat("9",
			4000) + ".000100",
	} {
		if got, err := ID(team, "C_HR", ts); err == nil || got != "" {
			t.Errorf("%.40q makes %s", ts, got)
		} else if len(err.Error()) > 200 {
			t.Errorf("%.40q: the error has %d bytes", ts, len(err.Error()))
		}
		r := request()
		if r.MessageTS = ts; ts != "" {
			_, _, err := Receive("tenant", r, dawn)
			expect.That(t, err != nil, "%.40q is received", ts)
		}
	}
	for ts, want := range map[string]time.Time{
		"0.000000":            time.Unix(0, 0),
		"1776490200.000999":   time.Unix(1776490200, 0),
		"1776490200.999999":   time.Unix(1776490200, 999e6),
		"253402300799.999999": time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC),
	} {
		got, err := aggregate.ParseTS(ts)
		expect.That(t, err == nil && got.Equal(want), "%s: %v, %v, want %v", ts, got, err, want)
	}
}

func FuzzParseTS(f *testing.F) {
	for _, ts := range []string{"1776490200.000100", "0.000000", "-1.000000", "253402300799.999999", "1.１２"} {
		f.Add(ts)
	}
	f.Fuzz(func(t *testing.T, ts string) {
		at, err := aggregate.ParseTS(ts)
		if err != nil {
			return
		}
		expect.That(t, len(ts) >= 8 && len(ts) <= 19 && at.Year() <= 9999 && !at.Before(time.Unix(0, 0)), "%q is %v", ts, at)
		id, err := ID(team, "C", ts)
		expect.That(t, err == nil && aggregate.ValidID(id), "%q makes %q, %v", ts, id, err)
	})
}

func TestIDsAreCheckedStrictly(t *testing.T) {
	for id, want := range map[string]bool{
		aggregate.NewID(): true, aggregate.TenantID("T1"): true, "": false, "01JS": false, strings.Repeat("0", 27): false,
		"0000000000000000000000000U": false, "8ZZZZZZZZZZZZZZZZZZZZZZZZZ": false, "TASK#01JS00000000000000000": false,
	} {
		expect.Is(t, aggregate.ValidID(id), want, "%q", id)
	}
	expect.That(t, aggregate.NewID() != aggregate.NewID(), "two new ids are one")
}

func TestARefusedPersonChangesNothingWhereverTheyClick(t *testing.T) {
	outsider := person("U_OUTSIDER")
	for _, from := range []func(testing.TB) *story{waitingPrompt, waitingProcess, waitingStep} {
		for _, press := range buttons {
			s := from(t)
			open, _ := s.load().OpenGate()
			s.refused(s.on(open.ID, press, outsider), aggregate.ErrNotAllowed{Rule: aggregate.RuleNotListed})
		}
	}
	failed := told(running, func(s *story) { s.do(s.claim, s.finish(failed), s.fail) })
	parked := told(begin, func(s *story) { s.do(s.park) })
	for name, tt := range map[string]struct {
		from   func(testing.TB) *story
		decide func(s *story) decision
	}{
		"cancel":           {waitingPrompt, func(s *story) decision { return s.ends(outsider) }},
		"cancel execution": {running, func(s *story) decision { return s.cancels(idOf(s.load().Execution()), outsider) }},
		"retry":            {failed, func(s *story) decision { return s.retries(idOf(s.load().Execution()), outsider) }},
		"retry generation": {parked, func(s *story) decision {
			return func(a *Aggregate, now time.Time) (aggregate.Change, error) {
				return a.RetryGeneration(outsider, s.policy, now)
			}
		}},
	} {
		t.Log(name)
		s := tt.from(t)
		s.refused(tt.decide(s), aggregate.ErrNotAllowed{Rule: aggregate.RuleNotParty})
	}
}

// A file is what its content says, whatever its name.
func TestAFileIsWhatItsContentSays(t *testing.T) {
	office := func(name string) string { return "PK\x03\x04..[Content_Types].xml.." + name }
	for content, want := range map[string]FileKind{
		"%PDF-1.7\n...": KindPDF, "\x89PNG\r\n\x1a\n...": KindPNG, "\xff\xd8\xff\xe0..": KindJPEG,
		"名前,金額\n田中,298000\n": KindText, "\x8c\xa9\x90\xcf\x8f\x91,\x8b\xe0\x8az\r\n\x93\x63\x92\x86,1\r\n": KindText,
		office("xl/workbook.xml"): KindXLSX, office("word/document.xml"): KindDOCX,
		office("word/document.xml..word/vbaProject.bin"): "", office("ppt/presentation.xml"): "",
		"PK\x03\x04readme.txt": "", "MZ\x90\x00\x03": "", "\x00\x01\x02": "", "": "", "text\x00more": "",
		"\xff\xfea\x00,\x00B0\n\x00":      "", // UTF-16, which nothing else reads either
		"<html><script>alert(1)</script>": KindText, " %PDF-": KindText,
	} {
		expect.Is(t, KindOf([]byte(content)), want, "%.30q", content)
	}
	expect.Is(t, KindText.MediaType(), "text/plain; charset=utf-8")
	expect.That(t, KindPDF.Previewed() && !KindText.Previewed() && !KindXLSX.Previewed(), "what browsers show")
}

// A file is saved under an ending of what it is: no text is opened as a program because somebody called it so.
func TestAFileIsSavedAsWhatItIs(t *testing.T) {
	for name, want := range map[string]string{"見積.csv": "見積.csv", "memo.TXT": "memo.TXT", "quote.hta": "quote.hta.txt",
		"a.bat": "a.bat.txt", "見積": "見積.txt", "x.pdf": "x.pdf.txt", "a.csv.js": "a.csv.js.txt", "run.bat.": "run.bat..txt"} {
		f := ReadFile{SharedFile: aggregate.SharedFile{Name: name}}
		f.Take([]byte("a,b\n"), 0)
		expect.Is(t, f.SavedAs(), want)
	}
	f := ReadFile{SharedFile: aggregate.SharedFile{Name: "book.xlsm"}}
	f.Take([]byte("PK\x03\x04[Content_Types].xml xl/workbook.xml xl/renamed.bin"), 0)
	expect.Is(t, f.SavedAs(), "book.xlsm.xlsx")
}

// withFile gives a request one file that was read.
func withFile(a *Aggregate, f ReadFile) {
	r := *a.Request
	r.Files = []aggregate.SharedFile{{ID: f.ID}}
	a.Request, a.Files = &r, &Files{Files: []ReadFile{f}}
}

func quotation() (f ReadFile) {
	f.ID, f.Name = "F1", "見積書.pdf"
	f.Take([]byte("%PDF-1.7"), 0)
	return f
}

// What people stamp names the very bytes of each file, with or without a rule.
func TestAStampIsOnTheFiles(t *testing.T) {
	s := waitingPrompt(t)
	a := s.load()
	bare := a.sum(a.Prompt())
	withFile(a, quotation())
	sums := map[string]bool{bare: true, a.sum(a.Prompt()): true}
	for _, change := range []func(f *ReadFile){
		func(f *ReadFile) { f.Name = "見積書2.pdf" }, func(f *ReadFile) { f.Bytes++ }, func(f *ReadFile) { f.Kind = KindPNG },
		func(f *ReadFile) { f.SHA256 = aggregate.HashOf("x") }, func(f *ReadFile) { f.Left = LeftType },
	} {
		f := quotation()
		change(&f)
		withFile(a, f)
		sum := a.sum(a.Prompt())
		expect.That(t, !sums[sum], "%+v has the stamp of another file", f)
		sums[sum] = true
	}
	_, _, about := a.onRoute(a.Prompt())
	expect.That(t, about["enclosed"] == aggregate.HashOf(a.Enclosed()), "the entry seals them: %v", about)
}

// What isn't attached is told from what is, and is had by nobody's hash.
func TestWhatIsNotAttachedIsTold(t *testing.T) {
	s := waitingPrompt(t)
	a := s.load()
	var other, gone ReadFile
	other.ID, gone.ID, gone.Why = "F2", "F3", "it is gone"
	other.Take([]byte("MZ\x00"), 1)
	r := *a.Request
	r.Files = []aggregate.SharedFile{{ID: "F1"}, {ID: "F2"}, {ID: "F3"}}
	a.Request, a.Files = &r, &Files{Files: []ReadFile{quotation(), other, gone}}
	attached, left := a.Attached()
	expect.That(t, len(attached) == 1 && len(left) == 2 && left[0].Left == LeftType, "%+v, %+v", attached, left)
	expect.That(t, a.AttachedAs(quotation().SHA256) != nil && a.AttachedAs(other.SHA256) == nil && a.AttachedAs("") == nil,
		"a file is found by its hash")
	var late ReadFile
	late.Take([]byte("%PDF-"), MaxAttached)
	expect.Is(t, late.Left, LeftMany)
}
