package ringitest

import (
	"cmp"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"ringi/shared/decide"
	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
)

// Team is the workspace of tasks, and of Slack.
const Team = "T0RINGI"

// Requester is the person who asked for the task.
const Requester = "U0SATO"

// Approver is a person who may stamp.
func Approver() aggregate.Actor {
	return aggregate.Actor{Type: aggregate.ActorUser, ID: "U0SUZUKI", Team: Team, Member: true}
}

// Policy lets every member of the channel decide.
func Policy() aggregate.Policy {
	return aggregate.Policy{Team: Team, Mode: aggregate.ApproversChannel, AllowSelf: true}
}

// Text is the message's text, which must not appear in logs and errors.
const Text = "今月の勤怠をまとめて"

// Story is one task in a store, which the tests advance as the pipeline and people do.
type Story struct {
	T     testing.TB
	Ref   aggregate.Ref
	Store *store.TaskStore // without FaultyTransport
	By    aggregate.Actor  // stamps and cancels
	Last  bool             // the first layer's result is what the task may cost, so that no policy begins with it
	clock atomic.Int64
}

// StartClock sets the clock to the current time. From then on only Later advances it.
func (w *Story) StartClock() { w.clock.Store(time.Now().UnixMilli()) }

// Now returns the story's time, which does not advance by itself.
func (w *Story) Now() time.Time { return time.UnixMilli(w.clock.Load()).UTC() }

// Later advances the clock.
func (w *Story) Later(d time.Duration) { w.clock.Add(d.Milliseconds()) }

// Receive receives a message in By's workspace and continues with its task.
func (w *Story) Receive(r task.Request) {
	w.T.Helper()
	r.TeamID, r.Text, r.Source, r.EventID = w.By.Team, cmp.Or(r.Text, Text), task.SourceChannel, cmp.Or(r.EventID, "Ev1")
	c, ref, err := task.Receive(aggregate.TenantID(r.TeamID), r, w.Now())
	expect.NoError(w.T, err)
	expect.NoError(w.T, w.Store.Create(w.T.Context(), c))
	w.Ref = ref
}

// receiveIn receives a message in a thread. An empty thread means that the message starts one.
func (w *World) receiveIn(thread string) {
	w.T.Helper()
	ts := fmt.Sprintf("%d.000100", w.Now().Unix())
	w.Receive(task.Request{User: Requester, Channel: "C0HR", ChannelType: "channel", MessageTS: ts,
		ThreadTS: cmp.Or(thread, ts)})
}

// Another adds a task to the same table and returns its world.
func (w *World) Another() *World { return w.another("") }

// Reply adds a task that is requested in this task's thread.
func (w *World) Reply() *World { return w.another(w.Load().Request.ThreadTS) }

func (w *World) another(thread string) *World {
	w.T.Helper()
	n := &World{
		Story: Story{T: w.T, Store: w.Store,
			By: w.By}, Transport: w.Transport, Config: w.Config, Machine: w.Machine, QueueURL: w.QueueURL, Bucket: w.Bucket,
		plain: w.plain, tokens: w.tokens, table: w.table,
	}
	n.clock.Store(w.clock.Add(1000))
	n.receiveIn(thread)
	return n
}

// Decide commits a decision.
func (w *Story) Decide(f task.Decision) *task.Aggregate {
	w.T.Helper()
	return expect.Value(w.Store.Decide(w.T.Context(), w.Ref, f))(w.T)
}

func (w *Story) Load() *task.Aggregate {
	w.T.Helper()
	return expect.Value(w.Store.Load(w.T.Context(), w.Ref))(w.T)
}

// In returns a state's input for the head's run.
func (w *Story) In() pipeline.Input {
	w.T.Helper()
	return pipeline.Input{Tenant: w.Ref.Tenant, Task: w.Ref.ID, Run: w.Load().Head.Run}
}

// Wait saves a token of the head's run at the waiting gate.
func (w *Story) Wait(token string) {
	w.T.Helper()
	a := w.Load()
	open, waits := a.OpenGate()
	expect.Must(w.T, waits, "no gate waits")
	expect.NoError(w.T, w.Store.PutWait(w.T.Context(), w.Ref, aggregate.Wait{Gate: open.Key, Token: token,
		Run: a.Head.Run, Entered: w.Now(), DeleteAfter: w.Now().Add(pipeline.LongestRun).Unix()}))
}

// Restart supersedes the head's run.
func (w *Story) Restart() {
	w.T.Helper()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.RestartRun(a.Head.Run, w.Now()) })
}

// Extracted advances the task to the second layer.
func (w *Story) Extracted() *task.Aggregate {
	w.T.Helper()
	return w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Extracted(a.Head.Run, task.Extract{Title: "勤怠集計", Description: "今月", Priority: task.Medium,
			TaskType: task.TypeStandard, Last: w.Last}, w.Now())
	})
}

// Prompted advances the task until its prompt waits for approval under these settings.
func (w *Story) Prompted(s tenancy.Settings) *task.Aggregate {
	w.T.Helper()
	w.Extracted()
	return w.Draft(s)
}

// Draft generates the next prompt.
func (w *Story) Draft(s tenancy.Settings) *task.Aggregate {
	w.T.Helper()
	s.Rev = w.settingsRev()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.BeginPrompt(a.Head.Run, w.Now()) })
	return w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.FinishPrompt(a.Head.Run, task.Drafted{Content: "方針"}, s, w.Now())
	})
}

// settingsRev returns the revision of the tenant's settings, under which the next gate opens.
func (w *Story) settingsRev() int {
	w.T.Helper()
	s := expect.Value(w.Store.Settings(w.T.Context(), w.Ref.Tenant))(w.T)
	return s.Rev
}

// Settings changes the tenant's settings and returns the saved ones.
func (w *Story) Settings(change func(*tenancy.Settings)) tenancy.Settings {
	w.T.Helper()
	s := expect.Value(w.Store.Settings(w.T.Context(), w.Ref.Tenant))(w.T)
	change(&s)
	s = expect.Value(w.Store.SaveSettings(w.T.Context(), w.Ref.Tenant, s, w.By, w.Now()))(w.T)
	return s
}

// Planned advances the task until its process waits for approval.
func (w *Story) Planned(s tenancy.Settings, steps ...task.Step) *task.Aggregate {
	w.T.Helper()
	w.Prompted(s)
	w.Approve()
	s.Rev = w.settingsRev()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.FinishProcess(a.Head.Run, steps, "", s, w.Now())
	})
	return w.LookedUp(s)
}

// LookedUp opens the gate of steps that send a message to others, as resume-task does once it knows them.
func (w *Story) LookedUp(s tenancy.Settings) *task.Aggregate {
	return w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Open(a.Head.Run, a.Process().Key(), nil, s, w.Now())
	})
}

// PlannedOnRoute advances the task until its process waits along the opening's route.
func (w *Story) PlannedOnRoute(s tenancy.Settings, o aggregate.Opening, steps ...task.Step) *task.Aggregate {
	w.T.Helper()
	w.Prompted(s)
	w.Approve()
	return w.FinishedOnRoute(s, o, steps, "")
}

// FinishedOnRoute makes the steps that are being made wait along the opening's route.
func (w *Story) FinishedOnRoute(s tenancy.Settings, o aggregate.Opening, steps []task.Step,
	remarks string) *task.Aggregate {
	w.T.Helper()
	s.Rev = w.settingsRev()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		ruled := s
		ruled.RulesRev = 1
		return a.FinishProcess(a.Head.Run, steps, remarks, ruled, w.Now())
	})
	return w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Open(a.Head.Run, a.Process().Key(), &o, s, w.Now())
	})
}

// Approved advances the task to an execution that has not begun.
func (w *Story) Approved(s tenancy.Settings, steps ...task.Step) *task.Aggregate {
	w.T.Helper()
	w.Planned(s, steps...)
	return w.Approve()
}

// Approve stamps the waiting gate, as the system if it asks nobody.
func (w *Story) Approve() *task.Aggregate {
	w.T.Helper()
	return w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		open, waits := a.OpenGate()
		switch {
		case !waits:
			return aggregate.Change{}, aggregate.ErrNotFound
		case !open.Terms.ApprovalRequired:
			return a.ApproveUnasked(open.ID, w.Now())
		}
		return decide.Approve(a, open.ID, w.By, Policy(), w.Now())
	})
}

func (w *Story) Cancel() *task.Aggregate {
	w.T.Helper()
	by := w.By
	by.Admin = true // along a route, too
	return w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.End(by, Policy(), w.Now()) })
}

// Step returns a step of a plan.
func Step(order int, tool string, access aggregate.Access, input string) task.Step {
	return task.Step{
		StepID: fmt.Sprintf("step-%d", order), Order: order, Title: tool, Tool: tool, ToolInput: aggregate.JSON(input),
		Description: "手順", ExpectedOutput: "結果", Access: access, ToolVersion: "1",
	}
}

// Claim claims a step of the newest attempt for an invocation, for a minute.
func (w *Story) Claim(invocation string) *task.Aggregate {
	w.T.Helper()
	return w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		step := a.NextStep(a.Execution())
		return a.ClaimStep(a.Head.Run, task.Call{
			Order: step.Order, Arguments: aggregate.Blob{JSON: "{}", Bytes: 2}, Tool: task.ToolRef{Name: step.Tool},
			Claim: aggregate.Claim{Invocation: invocation, LeaseUntil: w.Now().Add(time.Minute)},
		}, w.Now())
	})
}

func (w *Story) Begin() *task.Aggregate {
	w.T.Helper()
	return w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.StartExecution(a.Head.Run, task.Series{}, w.Now())
	})
}

// Along returns an opening along these stages, for what the askers ask.
func Along(askers []string, stages ...circulation.Stage) aggregate.Opening {
	o := aggregate.Opening{
		Rule:  circulation.Rule{ID: "01KS000000000000000000000A", Name: "すべて", Revision: 1},
		Route: circulation.Route{Form: circulation.Form, Stages: stages},
	}
	for _, user := range askers {
		o.Askers = append(o.Askers, circulation.Person{User: user})
	}
	return o
}

// Acted returns a gate with an act of this hand, and with the verdict if it is the last one.
func Acted(t expect.T, g aggregate.Gate, at time.Time, kind circulation.Kind, stage int, hand string,
	more ...func(*circulation.Act)) aggregate.Gate {
	t.Helper()
	who := circulation.Person{User: hand}
	act := circulation.Act{Form: circulation.Form, Kind: kind, Hand: who, Principal: who, At: at, Stage: stage,
		Hash: g.AskedSum, Surface: "slack"}
	if act.Ends() {
		act.Text = "宛名が違います"
	}
	for _, change := range more {
		change(&act)
	}
	g = expect.Value(g.Acted(act))(t)
	switch {
	case g.ApprovedAt != nil:
		g.Status = aggregate.Approved
	case g.RejectedAt != nil:
		g.Status = aggregate.Rejected
	}
	return g
}

// Desk returns a stage that needs stamps of some of these people.
func Desk(name string, need int, users ...string) circulation.Stage {
	s := circulation.Stage{Name: name, Mode: circulation.ModePeople, Need: need}
	for _, user := range users {
		s.People = append(s.People, circulation.Person{User: user, Via: "named by the rule"})
	}
	return s
}

// RefuseCommits makes DynamoDB refuse all writes that change a task's head, until ClearFaults.
func (w *World) RefuseCommits() {
	w.Transport.add(&fault{call: "TransactWriteItems", times: 1 << 30, holds: movesHead, says: Refused})
}

// PaidAlone checks that err stops the state machine's retries, and that only the cost of the model calls was saved: as
// one usage without a result, and in the day's sum.
func (w *World) PaidAlone(err error) {
	w.T.Helper()
	expect.That(w.T, err != nil && pipeline.Name(err) == pipeline.Internal, "the state machine is told %q: %v",
		pipeline.Name(err), err)
	a := w.Load()
	if n := len(a.Uses); n != 1 || a.Uses[0].Made != "" || a.Spent() != a.Uses[0].Cost {
		w.T.Fatalf("%d usages, of which a task knows that it spent %s: %+v", n, a.Spent(), a.Uses)
	}
	sums, err := w.Store.Spent(w.T.Context(), w.Ref.Tenant, w.Now())
	expect.That(w.T, err == nil && sums.Day == a.Spent() && sums.Month == a.Spent(),
		"day and month have %+v, the task %s (%v)", sums, a.Spent(), err)
}

// Form is a form that asks for a decision.
var Form = task.Matter{Kind: "支出", Title: "複合機の入れ替え", Amount: "1200000", Description: "故障が続くため。"}

// ReceiveForm receives a request for a decision.
func (w *Story) ReceiveForm() {
	w.T.Helper()
	const ts = "1793458790.000100"
	w.Receive(task.Request{User: Requester, Channel: "C0HR", ChannelType: "channel", Text: "決裁を求めます", Matter: &Form,
		MessageTS: ts, ThreadTS: ts})
}

// FormGivenBack brings a form to Alex, who returns it.
func (w *Story) FormGivenBack() {
	w.T.Helper()
	w.FormGoesOn()
	s := w.Settings(func(*tenancy.Settings) {})
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.FinishProcess(a.Head.Run, a.Matter().Steps(s.Locale, "v1"), "", s, w.Now())
	})
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return decide.Reject("安いものを")(a, a.Process().ID, Approver(), s.Policy(a.Request.TeamID), w.Now())
	})
}

// FormRefilled has the requester fill in again the form that was returned, and FormGoesOn settles its text.
func (w *Story) FormRefilled(m task.Matter, files ...aggregate.SharedFile) {
	w.T.Helper()
	s := w.Settings(func(*tenancy.Settings) {})
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		by := aggregate.Actor{Type: aggregate.ActorUser, ID: a.Head.Requester, Team: a.Request.TeamID}
		e := task.Refill{Content: "決裁: " + m.Title, Matter: &m, Files: files}
		return a.Refill(a.Returned().Asks().ID, e, by, s.Policy(a.Request.TeamID), w.Now())
	})
}

func (w *Story) FormGoesOn() {
	w.T.Helper()
	s := w.Settings(func(*tenancy.Settings) {})
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		text := a.Request.Text
		if p := a.Refilled(); p != nil {
			text = p.Content
		}
		return a.FinishPrompt(a.Head.Run, task.Drafted{Content: text}, s, w.Now())
	})
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.ApproveUnasked(a.Prompt().ID, w.Now()) })
}

// Stamp stamps the gate under a rule that waits, at its present stage.
func (w *Story) Stamp(user string) *task.Aggregate {
	w.T.Helper()
	return w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		open, _ := a.OpenGate()
		g := a.Asked(open.ID).Gate
		by := aggregate.Actor{Type: aggregate.ActorUser, ID: user, Team: w.By.Team, Member: true}
		who := circulation.Person{User: user}
		act := circulation.Act{Kind: circulation.Stamp, Hand: who, Principal: who,
			Stage: circulation.Walk(g.Circulating()).Present, Hash: g.AskedSum}
		return a.Act(open.ID, act, by, Policy(), w.Now())
	})
}

// Reject sends back the gate that waits.
func (w *Story) Reject(reason string) *task.Aggregate {
	w.T.Helper()
	return w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		open, _ := a.OpenGate()
		return decide.Reject(reason)(a, open.ID, w.By, Policy(), w.Now())
	})
}

// Spend charges the task.
func (w *Story) Spend(id string, dollars float64) {
	w.T.Helper()
	w.Decide(task.Charge(aggregate.Usage{ID: id, Calls: 1, Cost: aggregate.USD(dollars)}, w.Now(),
		func(*task.Aggregate) (aggregate.Change, error) { return aggregate.Change{}, nil }))
}
