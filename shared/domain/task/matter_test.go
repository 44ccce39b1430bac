package task

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

var pens = Matter{Kind: "支出", Title: "ペンの購入", Amount: "1200000", Description: "在庫がないため。"}

// byForm is a story that begins with a form, under settings by which nobody need approve anything.
func byForm(t testing.TB) *story {
	s := begin(t)
	r := request()
	r.Text, r.Matter, r.EventID = "決裁を求めます", &pens, ""
	c, _, err := Receive(aggregate.TenantID(team), r, dawn)
	expect.NoError(t, err)
	s.table, s.steps = create(t, c), pens.Steps("ja", "v1")
	s.settings.PromptApprovalRequired, s.settings.ProcessApprovalRequired = false, false
	s.settings.Executor, s.settings.AutoApproveTools = tenancy.ExecutorManaged, false
	return s
}

// decidedOn is such a story whose steps are approved.
func decidedOn(t testing.TB) *story {
	s := byForm(t)
	return s.do(s.extract, s.finishPrompt, s.approveAsSystem, s.finishProcess, s.approveProcess)
}

func (s *story) record(last int) decision {
	return s.claimAfter(s.startAs(Series{Year: 2026, Last: last}))
}

func TestAFormIsReadAsPeopleType(t *testing.T) {
	s := tenancy.Settings{Locale: "ja"}
	for typed, want := range map[string]rules.Decimal{
		"1,200,000": "1200000", "１２０万円": "1200000", "¥ 1,200,000": "1200000", "3億": "300000000", "1,000円": "1000", "": "",
		"0": "0", "０円": "0", "1,200,000 Yen": "1200000", "jpy 1200000": "1200000",
	} {
		of := pens
		of.Title, of.Amount = "  ペンの\n購入 ", rules.Decimal(typed)
		m, wrong := ReadMatter(of, s)
		expect.That(t, wrong == nil && m.Amount == want && m.Title == "ペンの 購入", "%q: %+v, %v", typed, m, wrong)
	}
	tests := map[string]func(m *Matter){
		"matter": func(m *Matter) { m.Kind = "宇宙" }, "title": func(m *Matter) { m.Title = strings.Repeat("字", 151) },
		"description": func(m *Matter) { m.Description = " \n" },
	}
	for _, amount := range []string{"-1", "0.00", "00", "abc", "1e9", "1234567890123456", "1.2万", "0.5", "$10,000",
		"€90,000", "1.200", "1 2 3", "円円5", "1,2億", "1,00万", "5億万", "1,50"} {
		tests["amount "+amount] = func(m *Matter) { m.Amount = rules.Decimal(amount) }
	}
	tests["description of many people"] = func(m *Matter) {
		for i := range MaxMentioned + 1 {
			m.Description += "<@U" + strings.Repeat("A", 2+i) + ">"
		}
	}
	for name, change := range tests {
		field, _, _ := strings.Cut(name, " ")
		of := pens
		change(&of)
		_, wrong := ReadMatter(of, s)
		expect.Same(t, []string{field}, wrong)
	}
}

// callOf is the call of a form as rules read it.
func callOf(t *testing.T, m Matter) rules.Call {
	t.Helper()
	s := m.Steps("ja", "v1")[0]
	expect.NoError(t, checkSteps([]Step{s}))
	expect.Is(t, len(s.Mark.Problems()), 0)
	return tenancy.Unsaved("t", s.Tool).Call(s.ToolVersion, s.Access, s.ToolInput, s.Mark)
}

// Rules see the tool, the amount and the matter of the plan as of any other.
func TestRulesReadAForm(t *testing.T) {
	of := func(m Matter) rules.Call { return callOf(t, m) }
	c := of(pens)
	expect.Is(t, c.Tool.Name, "record_decision")
	expect.Is(t, c.Amount, rules.Amount{Value: "1200000", Currency: "JPY"})
	free := pens
	free.Amount = "0"
	expect.Is(t, of(free).Amount, rules.Nothing())
	free.Amount = "" // nobody knows it, which is not that there is none
	expect.Is(t, of(free).Amount, rules.Unknown(rules.WhyMissing))
	expect.Same(t, map[string][]string{"区分": {"支出"}}, c.Labels)
}

// A decision is always people's, of the steps alone, and no model's session carries it out.
func TestAFormIsAskedAboutOnce(t *testing.T) {
	s := byForm(t)
	expect.That(t, s.load().WillAsk(s.settings), "nobody will be asked")
	s.settings.PromptApprovalRequired = true
	s.do(s.extract, s.finishPrompt)
	expect.That(t, !s.load().Prompt().Terms.ApprovalRequired, "people are asked about the policy, too")
	s.do(s.approveAsSystem, s.finishProcess)
	p := s.load().Process()
	expect.That(t, p.Terms.ApprovalRequired && p.Terms.Executor == tenancy.ExecutorSteps, "%+v", p.Terms)
}

func TestADecisionAndItsNumberAreOneCommit(t *testing.T) {
	s := decidedOn(t)
	_, ok := s.load().Unnumbered()
	expect.That(t, ok, "it needs no number")
	s.refused(s.claimAfter(s.start), ErrNumber)
	s.refused(s.record(MostNumbers), ErrNumbersGone)
	c := expect.Value(s.record(122)(s.load(), s.now))(t)
	expect.Must(t, len(c.Beside) == 1, "%+v", c.Beside)
	x := c.Beside[0].Row.(*Numbered)
	expect.That(t, x.String() == "2026-000123" && x.GateKey == ProcessKey(1) && x.TaskID == s.head.TaskID, "%+v", x)
	expect.Is(t, saying(t, c, AuditExecutionStarted)["number"], any("2026-000123"))

	s.do(s.record(122))
	a := s.load()
	row := a.StepOf(a.Execution(), 1)
	expect.That(t, row.Status == StepCompleted && row.Claim == nil && row.CompletedAt != nil &&
		row.Result.JSON == `{"number":"2026-000123"}` && a.Head.Glance.Number == "2026-000123", "%+v", row)
	s.nothing(s.record(123)) // again, with another number in hand
	s.do(s.complete)
	expect.Is(t, s.load().Task.Status, TaskCompleted)
}

// refills fills in the form that was given back, and finish brings it to people.
func (s *story) refills(m Matter) decision {
	return s.fills(Refill{Content: "決裁: " + m.Title, Matter: &m})
}

func (s *story) finishRefilled(a *Aggregate, now time.Time) (aggregate.Change, error) {
	return a.FinishPrompt(s.head.Run, Drafted{Content: a.Refilled().Content}, s.settings, now)
}

func (s *story) refilled(m Matter) *story {
	s.steps = m.Steps("ja", "v1")
	return s.do(s.refills(m), s.finishRefilled, s.approveAsSystem, s.finishProcess)
}

// waitingForm is a story by a form about which people are asked.
func waitingForm(t testing.TB) *story {
	s := byForm(t)
	return s.do(s.extract, s.finishPrompt, s.approveAsSystem, s.finishProcess)
}

var betterPens = Matter{Kind: "契約", Title: "良いペンの購入", Amount: "900000", Description: "安いため。"}

// A form that is sent back waits for whoever asked, under its number: no model makes another.
func TestAFormIsGivenBackToItsAsker(t *testing.T) {
	s := waitingForm(t)
	a := s.load()
	first := a.Process()
	expect.That(t, a.Follows(first.ID) == FollowsAsker && !a.GivenBack(first.ID), "%s", a.Follows(first.ID))
	s.do(s.giveBack(first.ID, suzuki))
	a = s.load()
	expect.That(t, a.Returned() == a.Process() && a.Head.Ended == nil && a.Head.Noted == StatusReturned &&
		a.Effects(s.now).Run == nil, "%+v", a.Head)
	expect.That(t, a.GivenBack(first.ID) && s.entry(AuditProcessRejected).ActorID == suzuki, "%+v", s.audit)
	s.nothing(s.beginProcess)
	s.do(s.cancel)
	expect.Is(t, s.head.Ended.Reason, ReasonByPerson)
}

// Whether the asker of a form that was given back is still there is looked up by a run of its own.
func TestWhoeverFillsAFormInAgainIsLookedUp(t *testing.T) {
	s := waitingForm(t)
	s.do(s.giveBack(s.load().Process().ID, suzuki))
	again := aggregate.At(s.now, (*Aggregate).LookAgain)
	looked := func(no *aggregate.Refusal) {
		t.Helper()
		run := s.head.Run
		s.do(func(a *Aggregate, _ time.Time) (aggregate.Change, error) { return again(a) })
		a := s.load()
		expect.Must(t, a.Next(s.now).State == StateResumeTask && a.Effects(s.now).Run != nil && s.head.Run == run+1 &&
			a.DueAt(s.now) != nil, "%+v", a.Head)
		s.do(func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.Looked(s.head.Run, a.LooksAgain(), nil, no, s.settings, now)
		})
	}
	looked(nil)
	expect.That(t, s.load().Returned() != nil && s.load().Next(s.now).State == StateFinish, "%+v", s.head)
	looked(&aggregate.Refusal{Why: ReasonAskerLeft, Detail: requester})
	expect.Is(t, s.head.Ended.Reason, ReasonAskerLeft)
}

// What is typed anew is the next version of the same request: its text, its steps, its title, and no stamp.
func TestAFormThatIsFilledInAgainIsTheNextVersion(t *testing.T) {
	s := waitingForm(t)
	first := s.load().Process().ID
	run := s.head.Run
	s.do(s.giveBack(first, suzuki), s.refills(betterPens))
	edit := func(m Matter, by string) decision {
		return func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.Refill(first, Refill{Content: "決裁: " + m.Title, Matter: &m}, person(by), s.policy, now)
		}
	}
	s.nothing(edit(betterPens, requester)) // a second click
	s.refused(edit(pens, requester), aggregate.ErrMoved)
	a := s.load()
	expect.Is(t, a.RefilledBefore(first), error(aggregate.ErrDecided{Status: DecidedRefilled, By: requester,
		At: a.Prompt().CreatedAt}))
	expect.That(t, a.Returned() == nil && s.head.Run == run+1 && s.head.Noted == StatusDrafting &&
		a.Next(s.now).State == StateDraftPrompt && a.Refilled() == a.Prompt(), "%+v", a.Next(s.now))
	user, version := a.RefilledBy(ProcessKey(1))
	expect.That(t, user == requester && version == 2, "%s, v%d", user, version)
	expect.Is(t, s.entry(AuditPromptEdited).ActorID, requester)

	s.steps = betterPens.Steps("ja", "v1")
	s.do(s.finishRefilled, s.approveAsSystem)
	a = s.load()
	expect.That(t, a.Returned() == nil && a.Process().Version == 2 && a.Process().PromptID == a.Prompt().ID &&
		!a.Prompt().Terms.ApprovalRequired, "%+v", a.Process())
	s.nothing(edit(betterPens, requester))
	s.do(s.finishProcess)
	a = s.load()
	p := a.Process()
	expect.That(t, p.Status == aggregate.PendingApproval && p.Acts == nil && a.EditorOf(p) == requester &&
		a.EditorOf(a.Processes[0]) == "", "%+v", p)
	expect.Same(t, []Matter{pens, betterPens, betterPens}, []Matter{*a.MatterOf(a.Processes[0]), *a.MatterOf(p),
		*a.Matter()})
	expect.That(t, a.Task.Title == betterPens.Title && a.Task.Description == betterPens.Description &&
		a.Head.Glance.Amount.Value == "900000", "%+v, %+v", a.Task, a.Head)
	s.refused(edit(pens, requester), aggregate.ErrNotLatest{Latest: 2})

	s.do(s.giveBack(p.ID, suzuki)).refilled(pens).do(s.approveProcess, s.record(122))
	a = s.load()
	expect.That(t, a.Process().Version == 3 && a.Process().ApprovedHash == Hash(pens.Steps("ja", "v1")) &&
		a.Head.Glance.Number == "2026-000123" && a.Matter().Title == pens.Title, "%+v", a.Head)
}

// The last version ends the request, as of any other one.
func TestTheLastFormIsNotGivenBack(t *testing.T) {
	s := byForm(t)
	s.settings.MaxVersions = 2
	s.do(s.extract, s.finishPrompt, s.approveAsSystem, s.finishProcess)
	s.do(s.giveBack(s.load().Process().ID, suzuki)).refilled(betterPens)
	last := s.load().Process().ID
	expect.Is(t, s.load().Follows(last), FollowsNoMore)
	s.do(s.giveBack(last, suzuki))
	expect.That(t, s.head.Ended.Reason == ReasonMaxVersions && !s.load().GivenBack(last), "%+v", s.head.Ended)
}

// filed is a file of a form, and what was read of it.
func filed(id, name, content string) ReadFile {
	f := ReadFile{SharedFile: aggregate.SharedFile{ID: id, Name: name}}
	f.Take([]byte(content), 0)
	return f
}

// What is filled in again may have other files: they are read first, and each version keeps those that it had.
func TestAFormThatIsFilledInAgainHasItsOwnFiles(t *testing.T) {
	s := byForm(t)
	r := *s.load().Request
	first, second := filed("F1", "見積書.pdf", "%PDF-1"), filed("F2", "図.png", "\x89PNG\r\n\x1a\n")
	r.Files = []aggregate.SharedFile{first.SharedFile, second.SharedFile}
	s.rows[r.Key()] = &r
	read := func(files ...ReadFile) decision {
		return func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.ReadFiles(s.head.Run, files, now)
		}
	}
	s.do(read(first, second), s.extract, s.finishPrompt, s.approveAsSystem, s.finishProcess)
	was := s.load()
	id, sum, enclosed := was.Process().ID, was.sum(was.Process()), was.Enclosed()
	s.do(s.giveBack(id, suzuki))

	added := filed("F3", "相見積書.pdf", "%PDF-2")
	e := Refill{Content: "決裁: " + pens.Title, Matter: &pens,
		Files: s.load().WithFiles(id, []string{"F2", "F9"}, []aggregate.SharedFile{added.SharedFile, second.SharedFile})}
	again := func(e Refill) decision {
		return func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.Refill(id, e, person(requester), s.policy, now)
		}
	}
	many := e
	many.Files = slices.Repeat(e.Files, MaxAttached)
	s.refused(again(many), aggregate.Problem{Field: "files", Code: "must be at most 10"})
	s.do(s.fills(e))
	s.nothing(again(e)) // a second click
	other := e
	other.Files = e.Files[:1]
	s.refused(again(other), aggregate.ErrMoved)
	a := s.load()
	expect.That(t, a.Unread() && len(a.Listed()) == 2 && a.Next(s.now).State == StateExtractTask, "%+v", a.Next(s.now))
	s.do(read(*a.ReadBefore("F2"), added))
	a = s.load()
	expect.That(t, !a.Unread() && a.Next(s.now).State == StateDraftPrompt &&
		len(a.Files.Files) == 3, "%+v, %+v", a.Next(s.now), a.Files.Files)
	s.steps = pens.Steps("ja", "v1")
	s.do(s.finishRefilled, s.approveAsSystem, s.finishProcess)

	a = s.load()
	before := a.Processes[0]
	names := func(version Gated) (out []string) {
		attached, _ := a.AttachedTo(version)
		for _, f := range attached {
			out = append(out, f.Name)
		}
		return out
	}
	expect.Same(t, [][]string{{"見積書.pdf", "図.png"}, {"図.png", "相見積書.pdf"}}, [][]string{names(before), names(a.Process())})
	expect.That(t, a.sum(before) == sum && a.enclosing(a.policyOf(before)) == enclosed &&
		strings.Contains(a.Enclosed(), added.SHA256) && !strings.Contains(a.Enclosed(), first.SHA256), "%s", a.Enclosed())
	expect.That(t, a.AttachedAs(first.SHA256) != nil && a.AttachedAs(added.SHA256) != nil,
		"a version's files can't be opened")

	s.do(s.giveBack(a.Process().ID, suzuki)).refilled(pens) // with none
	a = s.load()
	expect.That(t, a.Enclosed() == "" && a.sum(a.Processes[0]) == sum &&
		len(a.FilesOf(a.Processes[1].ID)) == 2, "%s", a.Enclosed())
}

// toBegin returns a task that may begin to run: Suzuki settled its steps by a rule with numbers.
func toBegin(t testing.TB) *story {
	s := waitingPrompt(t)
	numbered := along(desk(1, suzuki))
	numbered.Rule.Numbered = true
	s.do(s.approvePrompt, s.plan, s.opens(numbered))
	return s.do(s.does(circulation.Stamp, suzuki))
}

func (s *story) startAs(of Series) decision {
	return func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.StartExecution(s.head.Run, of, now)
	}
}

// saying returns what the entry of an action in a Change says.
func saying(t testing.TB, c aggregate.Change, action aggregate.Action) (d map[string]any) {
	t.Helper()
	for _, e := range c.Audit {
		if e.Action == action {
			expect.NoError(t, json.Unmarshal([]byte(e.Details), &d))
			return d
		}
	}
	t.Fatalf("no entry %s", action)
	return nil
}

func TestWhatANumberedRuleSettledBeginsWithTheNextNumber(t *testing.T) {
	s := toBegin(t)
	s.refused(s.start, ErrNumber)
	s.refused(s.startAs(Series{Year: 2026, Last: MostNumbers}), ErrNumbersGone)
	settled, ok := s.load().Unnumbered()
	expect.That(t, ok && settled.Equal(*s.load().Process().ApprovedAt), "%v, %v", settled, ok)

	c := expect.Value(s.startAs(Series{Year: 2026, Last: 122})(s.load(), s.now))(t)
	expect.That(t, len(c.Beside) == 1 && c.Beside[0].List == NumbersList && c.Beside[0].Of == "2026", "%+v", c.Beside)
	x := c.Beside[0].Row.(*Numbered)
	expect.That(t, x.Key() == "000123" && x.String() == "2026-000123" && x.TaskID == s.head.TaskID &&
		x.GateKey == ProcessKey(1), "%+v", x)
	expect.Fails(t, c.Beside[0].Err, ErrNumber)
	expect.Is(t, saying(t, c, AuditExecutionStarted)["number"], any("2026-000123"))

	s.do(s.startAs(Series{Year: 2026, Last: 122}))
	_, ok = s.load().Unnumbered()
	expect.That(t, !ok && s.load().NumberOf(1) == "2026-000123", "%+v", s.load().Execution())
	s.do(s.claim, s.finish(done))
}

func TestARetriedExecutionKeepsItsNumber(t *testing.T) {
	s := toBegin(t)
	s.do(s.startAs(Series{Year: 2026}), s.fail)
	c := expect.Value(s.retry(s.load(), s.now))(t)
	expect.Must(t, len(c.Beside) == 0, "%+v", c.Beside)
	s.do(s.retry)
	c = expect.Value(s.startAs(Series{Year: 2026, Last: 7})(s.load(), s.now))(t)
	expect.Must(t, len(c.Beside) == 0, "a second number: %+v", c.Beside)
	s.do(s.start) // which needs none
	expect.Is(t, s.load().Execution().Number, "2026-000001")
	c = expect.Value(s.fail(s.load(), s.now))(t)
	expect.Is(t, saying(t, c, AuditExecutionFailed)["number"], any("2026-000001"))
	c = expect.Value(s.cancelExecution(s.load(), s.now))(t)
	expect.Is(t, saying(t, c, AuditExecutionCancelled)["number"], any("2026-000001"))
}

func TestOnlyNumberedRulesGiveNumbers(t *testing.T) {
	plain, other := waitingProcess(t), onRoute(t)
	plain.do(plain.approveProcess)
	other.do(other.does(circulation.Stamp, suzuki), other.does(circulation.Stamp, tanaka))
	for name, s := range map[string]*story{"without a rule": plain, "another rule": other} {
		_, ok := s.load().Unnumbered()
		c := expect.Value(s.startAs(Series{Year: 2026, Last: 3})(s.load(), s.now))(t)
		_, has := saying(t, c, AuditExecutionStarted)["number"]
		expect.That(t, !ok && len(c.Beside) == 0 && !has, "%s: %+v", name, c.Beside)
	}
}

// No call of what a numbered rule settled is made as long as it has no number, whoever began it.
func TestNothingOfANumberedRuleRunsWithoutItsNumber(t *testing.T) {
	s := toBegin(t)
	s.do(s.startAs(Series{Year: 2026}))
	e := *s.load().Execution()
	e.Number = ""
	s.rows[e.Key()] = &e
	stops(t, s, s.claim, ReasonStepsChanged)
}

// People type a number as it is printed, with an input method on or off; other texts are requests.
func TestANumberIsReadInFullWidth(t *testing.T) {
	for _, text := range []string{"2026-000123", " 2026-000123 ", "２０２６－０００１２３", "２０２６ー０００１２３",
		"2026−000123", "2026‐000123"} {
		x, ok := ParseNumber(text)
		expect.That(t, ok && x.Year == 2026 && x.N == 123, "%q: %+v", text, x)
	}
	for _, text := range []string{"", "2026-123", "2026-000000", "2026-0000123", "2026-000123 を送って",
		"２０２６年の売上", "2026--00123", "総務部-2026-0012"} {
		_, ok := ParseNumber(text)
		expect.That(t, !ok, "%q is a number", text)
	}
}
