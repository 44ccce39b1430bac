package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"ringi/shared/decide"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/model/demo"
	"ringi/shared/model/modeltest"
	"ringi/shared/runtime/expect"
	"ringi/shared/tool"
)

// editing returns a task whose steps were given back, and what makes its asker's edit of the first step's arguments.
func editing(t *testing.T, server *pipelinetest.Server) (w *pipelinetest.World, edit func(input string)) {
	t.Helper()
	w = server.World(t)
	w.Planned(tenancy.DefaultSettings(), pipelinetest.Step(1, "list_employees", aggregate.Read,
		`{"department":null,"status":"active"}`), pipelinetest.Step(2, "send_slack_dm", aggregate.Write,
		`{"recipient":"`+pipelinetest.Requester+`","text":"x","details":[]}`))
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return decide.GiveBack("直してください")(a, a.Process().ID, pipelinetest.Approver(), pipelinetest.Policy(), w.Now())
	})
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: pipelinetest.Requester, Team: pipelinetest.Approver().Team}
	return w, func(input string) {
		t.Helper()
		w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
			row := a.Returned()
			steps := slices.Clone(a.StepsWith(row.Asks().ID))
			steps[0].ToolInput, steps[0].ToolVersion = aggregate.JSON(input), "old"
			return a.Edit(row.Asks().ID, task.Edit{Steps: steps}, by, pipelinetest.Policy(), w.Now())
		})
	}
}

// What an asker wrote is compared with its tools and asked about, without a model. What doesn't fit comes back to them
// with the field and its limit, and what they wrote; so it does if the run comes twice.
func TestAnAskersEditIsComparedWithItsTools(t *testing.T) {
	server, g := pipelinetest.Start(t), &modeltest.Demo{}
	w, edit := editing(t, server)
	edit(`{"department":null,"status":"retired"}`)
	for range 2 {
		next := handle(t, w, g)
		expect.That(t, next.State == task.StateFinish && next.Outcome == "returned", "%+v", next)
	}
	p := w.Load().Process()
	expect.Same(t, []task.Misfit{{Order: 1, Field: 1, Why: task.MisfitChoice, Limit: "active, all"}}, p.Misfits)
	expect.That(t, p.Version == 2 && strings.Contains(string(p.Steps[0].ToolInput), "retired"), "%+v", p)

	edit(`{"department":null,"status":"all"}`)
	for range 2 {
		next := handle(t, w, g)
		expect.That(t, next.State == task.StateAwaitProcessApproval && next.Gate == task.ProcessKey(2), "%+v", next)
	}
	p = w.Load().Process()
	spec, _ := expect.Value(tool.Builtin())(t).Lookup("list_employees")
	expect.That(t, g.Calls == 0 && p.Misfits == nil && p.Steps[0].ToolVersion == spec.Version() && p.EditedBy != "" &&
		p.Status == aggregate.PendingApproval && p.Steps[0].ToolInput == `{"department":null,"status":"all"}`, "%+v", p)
}

// The steps of a policy that its asker edited are those of the text that was stamped. What of it can't be planned is
// said, and nothing else takes its place.
func TestThePolicyIsPlannedAsItsAskerEditedIt(t *testing.T) {
	server := pipelinetest.Start(t)
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: pipelinetest.Requester, Team: pipelinetest.Approver().Team}
	const was, at = "「今日は休みます」", "1793458790.000200"
	edited := func(is string) (*pipelinetest.World, aggregate.Next) {
		w := server.World(t)
		w.Receive(task.Request{User: pipelinetest.Requester, Channel: "C0HR", ChannelType: "channel", MessageTS: at,
			ThreadTS: at, Text: "<@" + pipelinetest.Requester + "> に" + was + "と送って"})
		w.Extracted()
		drafted, _, err := model.Draft(t.Context(), demo.Layers{}, model.DraftInput{Request: w.Load().Request.Text,
			Locale: "ja", Now: w.Now(), Try: 1})
		expect.NoError(t, err)
		text := strings.Replace(drafted, was, is, 1)
		for _, step := range []task.Decision{
			func(a *task.Aggregate) (aggregate.Change, error) { return a.BeginPrompt(a.Head.Run, w.Now()) },
			func(a *task.Aggregate) (aggregate.Change, error) {
				return a.FinishPrompt(a.Head.Run, drafted, tenancy.DefaultSettings(), w.Now())
			},
			func(a *task.Aggregate) (aggregate.Change, error) {
				return decide.GiveBack("直して")(a, a.Prompt().ID, pipelinetest.Approver(), pipelinetest.Policy(), w.Now())
			},
			func(a *task.Aggregate) (aggregate.Change, error) {
				return a.Edit(a.Prompt().ID, task.Edit{Content: text}, by, pipelinetest.Policy(), w.Now())
			},
			func(a *task.Aggregate) (aggregate.Change, error) {
				return a.FinishPrompt(a.Head.Run, text, tenancy.DefaultSettings(), w.Now())
			},
		} {
			w.Decide(step)
		}
		w.Approve()
		return w, handle(t, w, &modeltest.Demo{})
	}
	w, next := edited("「明日は休みます」")
	expect.Must(t, next.State == task.StateAwaitProcessApproval, "%+v", next)
	expect.Has(t, string(w.Load().Process().Steps[0].ToolInput), "明日は休みます")
	w, _ = edited(was + " (夕方に)")
	a := w.Load()
	expect.That(t, len(a.Process().Steps) == 0, "%+v", a.Process())
	all := string(expect.Value(json.Marshal(a))(t))
	expect.Has(t, all, "(夕方に)」は、実行ステップに反映できません")
}

// What an administrator forbade since, or bound, is not asked about.
func TestAnAskersEditIsBoundByPermissions(t *testing.T) {
	server, g := pipelinetest.Start(t), &modeltest.Demo{}
	for name, c := range map[string]struct {
		allowed     bool
		constraints aggregate.JSON
		why         task.MisfitWhy
	}{
		"forbidden": {false, "{}", task.MisfitTool},
		"bound":     {true, `{"departments":["人事部"]}`, task.MisfitLimit},
	} {
		w, edit := editing(t, server)
		p := tenancy.ToolPermission{TenantID: w.Ref.Tenant, ToolName: "list_employees", Allowed: c.allowed,
			Constraints: aggregate.JSON(c.constraints)}
		expect.Value(w.Store.SaveToolPermission(t.Context(), p, aggregate.System(), w.Now(), tenancy.OnlyDepartments))(t)
		edit(`{"department":"営業部","status":"active"}`)
		handle(t, w, g)
		is := w.Load().Process()
		expect.That(t, len(is.Misfits) == 1 && is.Misfits[0].Why == c.why && is.Misfits[0].Order == 1, "%s: %+v", name,
			is.Misfits)
	}
}
