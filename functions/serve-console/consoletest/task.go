package consoletest

import (
	"fmt"
	"maps"
	"net/url"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

func Message(order int, text string) task.Step {
	return pipelinetest.Step(order, "send_slack_dm", aggregate.Write,
		fmt.Sprintf(`{"recipient":%q,"text":%q,"details":[]}`, webapi.Tanaka, text))
}

// AskForSteps approves the policy and brings these steps to their approval.
func (w *World) AskForSteps(steps ...task.Step) {
	w.T.Helper()
	w.Approve()
	w.plan(steps)
}

// plan brings these steps to their approval.
func (w *World) plan(steps []task.Step) {
	w.T.Helper()
	s := expect.Value(w.Store.Settings(w.T.Context(), w.Tenant.ID))(w.T)
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.BeginProcess(a.Head.Run, w.Now()) })
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.FinishProcess(a.Head.Run, steps, "", s, w.Now())
	})
}

// Payloads are texts that run as scripts in a page that doesn't escape them, or escapes them for the wrong context.
var Payloads = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `'><svg/onload=alert(1)>`,
	`</title><script>alert(1)</script>`, `</textarea><script>alert(1)</script>`,
	`javascript:alert(1)`, `<iframe srcdoc="<script>alert(1)</script>">`, `<a href="javascript:alert(1)">x</a>`,
	`{{.}}`, `${alert(1)}`, `<!--<script>`, `" autofocus onfocus=alert(1) x="`,
	`<math><mtext></table><mglyph><style><!--</style><img src onerror=alert(1)>`,
	"\u202e<b onmouseover=alert(1)>\u2066x",
}

// Harmless fails if a page has an element or attribute that none of Ringi's templates has.
func Harmless(t *testing.T, path string, got Answer) {
	t.Helper()
	_, main, _ := strings.Cut(got.Body, "<main")
	for _, bad := range []string{"<script", "<img", "<svg", "<iframe", "<style", "<math", "<b ", "href=\"javascript", " onerror=", " onload=", " onfocus=", "\u202e", "<!--"} {
		for rest := main; ; {
			i := strings.Index(rest, bad)
			if i < 0 {
				break
			}
			if before := rest[:i]; bad[0] != ' ' || strings.LastIndex(before, "<") > strings.LastIndex(before, ">") && strings.Count(before[strings.LastIndex(before, "<"):], `"`)%2 == 0 {
				t.Errorf("%s has %q at %.80q", path, bad, rest[i:])
			}
			rest = rest[i+1:]
		}
	}
}

func (w *World) TaskPage() string { return "/console/tasks/" + w.Ref.ID }

func (w *World) AnyMember() aggregate.Policy {
	return aggregate.Policy{Team: w.By.Team, Mode: aggregate.ApproversChannel, AllowSelf: true}
}

// Act returns the form of an act that the task offers now.
func (w *World) Act(name aggregate.Act, reason string) url.Values {
	w.T.Helper()
	for _, x := range w.Load().Offers() {
		if x.Act == name {
			return url.Values{"act": {string(x.Act)}, "id": {x.ID}, "kind": {string(x.Kind)}, "hash": {x.Hash}, "reason": {reason}}
		}
	}
	w.T.Fatalf("%s is not offered", name)
	return nil
}

func (w *World) Steps(steps ...task.Step) {
	w.T.Helper()
	w.Ask()
	w.Planned(tenancy.DefaultSettings(), steps...)
}

// Ran calls the next step's tool with these arguments; the tool returns this result.
func (w *World) Ran(arguments, result aggregate.Blob) {
	w.T.Helper()
	a := w.Load()
	order, hash := a.NextStep(a.Execution()).Order, ""
	if g := a.GateOf(a.Execution(), order); g != nil {
		hash = g.ArgumentsHash
	}
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.ClaimStep(a.Head.Run, task.Call{
			Order: order, Arguments: arguments, ArgumentsHash: hash, Tool: task.ToolRef{Name: a.NextStep(a.Execution()).Tool},
			Claim: task.Claim{Invocation: "i", LeaseUntil: w.Now().Add(time.Minute)},
		}, w.Now())
	})
	w.Later(2500 * time.Millisecond)
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		e := a.Execution()
		return a.FinishStep(task.StepKey(e.ProcessVersion, e.Attempt, order), "i", task.Outcome{Status: task.StepCompleted, Result: &result}, w.Now())
	})
}

func Inline(text string) aggregate.Blob {
	return aggregate.Blob{JSON: aggregate.JSON(text), Bytes: len(text)}
}

func With(form url.Values, name, value string) url.Values {
	out := maps.Clone(form)
	out.Set(name, value)
	return out
}
