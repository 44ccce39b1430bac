package main

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"ringi/infra/local/ringitest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/model"
	"ringi/shared/runtime/expect"
	"ringi/shared/tool"
)

func TestExecute(t *testing.T) {
	each(t, map[string]func(*testing.T, *world){
		"approved steps are called in order, once":                 testCompletes,
		"a step that a person must see waits with its arguments":   testGate,
		"a step that nobody may approve stops, until somebody may": testGateOfNobody,
		"a tool that is not allowed is not called":                 testNotAllowed,
		"an execution whose time is up fails":                      testTimeUp,
		"a run that is not the head's calls nothing":               testSuperseded,
		"no call begins without time for it":                       testNoTime,
		"work that is done does not fail for want of words":        testNoWords,
		"a step that needs an expired result says so":              testExpiredResult,
	})
}

func testCompletes(t *testing.T, w *world) {
	w.approved(w.read(1), w.write(2))
	expect.Is(t, w.run().State, task.StateFinish)
	e := w.ends(task.ExecutionCompleted, "", task.StepCompleted, task.StepCompleted)
	expect.That(t, e.Summary != "", "summary %q", e.Summary)
	expect.That(t, len(e.Results) == 2 && e.Results[0].Result.S3Key != "",
		"the list of employees is not in the bucket: %+v", e.Results)
	w.written(1)
	expect.Is(t, len(w.vendors.Rows("ringi-demo-sheet", "名簿")), 43, "rows in the sheet, want a title and 42")
}

func testGate(t *testing.T, w *world) {
	step := w.write(2)
	step.RequiresHumanCheck = true
	w.approved(w.read(1), step)
	for range 2 {
		next := w.run()
		expect.Must(t, next.State == task.StateAwaitStepApproval && next.Gate == task.GateKey(1, 1, 2), "%+v", next)
	}
	w.written(0)
	stamped := map[string][]string{}
	w.tools.before = func(c tool.Call) { stamped[c.Tool] = append([]string{c.Asked}, c.Stamped...) }
	if g := w.Load().Gates[0]; strings.Contains(string(g.Arguments.JSON), "$ref") {
		t.Errorf("the arguments are not resolved: %+v", g.Arguments)
	}
	w.Approve()
	w.run()
	w.ends(task.ExecutionCompleted, "", task.StepCompleted, task.StepCompleted)
	w.written(1)
	a := w.Load()
	expect.Same(t, []string{a.Head.Requester, a.Gates[0].ApprovedBy}, stamped[writing])
	expect.That(t, stamped[writing][0] != "" && stamped[writing][1] != "", "the call knows nobody: %v", stamped)
}

// The settings changed after the steps were approved. While Slack can't be asked who is listed, the gate opens.
func testGateOfNobody(t *testing.T, w *world) {
	step := w.write(2)
	step.RequiresHumanCheck = true
	w.approved(w.read(1), step)
	w.Settings(func(s *tenancy.Settings) {
		s.AllowSelfApproval, s.Approvers = false, tenancy.Approvers{Mode: aggregate.ApproversList,
			Users: []string{ringitest.Requester}, Usergroups: []string{}}
	})
	w.run()
	e := w.ends(task.ExecutionFailed, task.ReasonNobodyApproves, task.StepCompleted)
	text := explain.Ended("ja", e.Error, "", explain.RetryRun)
	expect.That(t, strings.Contains(text, "管理者に、設定の") && len(w.Load().Gates) == 0, "%d gates, and it says %s",
		len(w.Load().Gates), text)
	w.h.Approvable = func(context.Context, aggregate.Ref, aggregate.Origin, tenancy.Settings, string) error {
		return explain.ErrUnverified
	}
	w.retry(e)
	expect.Is(t, w.run().State, task.StateAwaitStepApproval)
	w.written(0)
}

func testNotAllowed(t *testing.T, w *world) {
	w.approved(w.lone(1))
	w.tools.before = func(tool.Call) { t.Error("it was called") }
	w.forbid(writing)
	expect.Is(t, w.run().State, task.StateFail)
	w.ends(task.ExecutionFailed, task.ReasonToolNotAllowed)
}

func testTimeUp(t *testing.T, w *world) {
	s := tenancy.DefaultSettings()
	s.L4TimeoutSeconds = 45
	w.Approved(s, w.read(1), w.lone(2))
	w.h.Tools = &slow{Tools: w.h.Tools, w: w, takes: 50 * time.Second}
	w.run()
	w.ends(task.ExecutionFailed, task.ReasonTimeout, task.StepCompleted)
	w.written(0)
}

func testSuperseded(t *testing.T, w *world) {
	w.approved(w.lone(1))
	in := w.In()
	w.Restart()
	expect.Fails(t, expect.Err(w.h.Handle(t.Context(), in)), aggregate.ErrSuperseded)
	w.written(0)
}

func testNoTime(t *testing.T, w *world) {
	w.approved(w.lone(1))
	next, err := w.try(minTurn - time.Second)
	expect.That(t, err == nil && next.State == task.StateExecuteProcess, "%+v, %v, want to come round again", next, err)
	w.ends(task.ExecutionRunning, "")
	w.written(0)
}

type broken struct{}

func (broken) Say(context.Context, model.Request) (model.Response, error) { panic(ringitest.Text) }

func testNoWords(t *testing.T, w *world) {
	for name, open := range map[string]func(string) (model.Wire, error){
		"no such model":      func(string) (model.Wire, error) { return nil, &model.Error{Kind: model.UnknownModel} },
		"a model that fails": func(string) (model.Wire, error) { return broken{}, nil },
	} {
		w := w.another()
		w.h.Open = open
		w.approved(w.read(1))
		w.run()
		expect.Has(t, w.ends(task.ExecutionCompleted, "", task.StepCompleted).Summary, listing, "%s: summary", name)
	}
}

// testExpiredResult: between the read and the write, the read's result expires and is deleted.
func testExpiredResult(t *testing.T, w *world) {
	step := w.write(2)
	step.RequiresHumanCheck = true
	w.approved(w.read(1), step)
	w.run()
	e := w.Load().Execution()
	result := w.Load().StepOf(e, 1).Result
	expect.Value(w.S3().DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: &w.Bucket, Key: &result.S3Key}))(t)
	w.Approve()
	w.run()
	w.ends(task.ExecutionFailed, task.ReasonResultExpired, task.StepCompleted)
	w.written(0)
}

// settledForm brings a form to its execution, which no model and no session may carry out.
func settledForm(t *testing.T) *world {
	w := newWorld(t)
	w.h.Open = func(string) (model.Wire, error) { t.Error("a model is asked"); return nil, nil }
	w.ReceiveForm()
	spec, _ := w.h.Catalog.Lookup(tenancy.DecideTool)
	s := tenancy.DefaultSettings()
	s.Executor, s.AutoApproveTools, s.MaxCostUSD = tenancy.ExecutorManaged, false, 0.01
	w.Approved(s, ringitest.Form.Steps("ja", spec.Version())...)
	return w
}

// recorded checks that the decision has the only number, as its result.
func (w *world) recorded() {
	w.T.Helper()
	e := w.ends(task.ExecutionCompleted, "", task.StepCompleted)
	numbers, of := w.given()
	expect.Same(w.T, []int{1}, numbers)
	row := w.Load().StepOf(e, 1)
	expect.That(w.T, of[0].TaskID == w.Ref.ID && row.Result != nil &&
		string(row.Result.JSON) == `{"number":"`+of[0].String()+`"}` && row.Claim == nil, "%+v", row)
	for _, told := range []string{of[0].String(), "「" + ringitest.Form.Title + "」"} {
		expect.Has(w.T, e.Summary, told, "the end, as the asker's message and the page show it")
	}
}

// Whatever call to the table is lost, or its answer, the decision has one number when the function was called again.
func TestADecisionIsRecordedOnceWhateverIsLost(t *testing.T) {
	for _, lost := range []string{"nothing", "calls", "answers"} {
		for times := range 2 {
			t.Run(fmt.Sprintf("%s %d times", lost, times+1), func(t *testing.T) {
				w := settledForm(t)
				switch lost {
				case "calls":
					w.Transport.DropCalls("TransactWriteItems", times+1)
				case "answers":
					w.Transport.DropAnswers("TransactWriteItems", times+1)
				}
				for range 2 * (times + 1) {
					if w.Load().Head.Ended == nil {
						_, _ = w.try(functionTime) // the state machine calls it again
					}
				}
				w.recorded()
			})
		}
	}
}

func TestADecisionHasNoNumberBeforeItIsRecorded(t *testing.T) {
	w := settledForm(t)
	expect.Value(w.try(minTurn - time.Second))(t)
	numbers, _ := w.given()
	expect.That(t, len(numbers) == 0 && w.Load().Execution().Status == task.ExecutionPending, "%v", numbers)
	w.run()
	w.recorded()
}
