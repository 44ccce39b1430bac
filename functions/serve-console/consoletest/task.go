package consoletest

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/ringitest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/slack/card"
	"ringi/shared/store/storetest"
	"ringi/shared/words/language"
)

func Message(order int, text string) task.Step {
	return ringitest.Step(order, "send_slack_dm", aggregate.Write,
		fmt.Sprintf(`{"details":[],"recipient":%q,"text":%q}`, webapi.Tanaka, text))
}

// AskForSteps approves the policy and brings these steps to their approval.
func (w *World) AskForSteps(steps ...task.Step) {
	w.T.Helper()
	w.Approve()
	w.Plan(steps)
}

// Redrafted sends the policy back for a reason, and drafts the next one.
func (w *World) Redrafted(reason string) {
	w.T.Helper()
	w.Reject(reason)
	w.Draft(tenancy.DefaultSettings())
}

// Plan brings these steps to their approval.
func (w *World) Plan(steps []task.Step) {
	w.T.Helper()
	s := w.SettingsNow()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.BeginProcess(a.Head.Run, w.Now()) })
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.FinishProcess(a.Head.Run, steps, "", s, w.Now())
	})
	w.LookedUp(s)
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
	for _, bad := range []string{"<script", "<img", "<svg", "<iframe", "<style", "<math", "<b ", "href=\"javascript",
		" onerror=", " onload=", " onfocus=", "\u202e", "<!--"} {
		for rest := main; ; {
			i := strings.Index(rest, bad)
			if i < 0 {
				break
			}
			if before := rest[:i]; bad[0] != ' ' || strings.LastIndex(before, "<") > strings.LastIndex(before, ">") &&
				strings.Count(before[strings.LastIndex(before, "<"):], `"`)%2 == 0 {
				t.Errorf("%s has %q at %.80q", path, bad, rest[i:])
			}
			rest = rest[i+1:]
		}
	}
}

func (w *World) TaskPage() string { return "/console/tasks/" + w.Ref.ID }

// Act returns the form of an act that the task offers now.
func (w *World) Act(name aggregate.Act, reason string) url.Values {
	w.T.Helper()
	for _, x := range w.Load().Offers() {
		if x.Act == name {
			return url.Values{"act": {string(x.Act)}, "id": {x.ID}, "kind": {string(x.Kind)}, "hash": {x.Hash},
				"reason": {reason}}
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
		return a.ClaimStep(a.Head.Run, task.Call{Order: order, Arguments: arguments, ArgumentsHash: hash,
			Tool:  task.ToolRef{Name: a.NextStep(a.Execution()).Tool},
			Claim: aggregate.Claim{Invocation: "i", LeaseUntil: w.Now().Add(time.Minute)}}, w.Now())
	})
	w.Later(2500 * time.Millisecond)
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		e := a.Execution()
		return a.FinishStep(task.StepKey(e.ProcessVersion, e.Attempt, order), "i",
			task.Outcome{Status: task.StepCompleted, Result: &result}, w.Now())
	})
}

// Checks asks people about a step that was about to run with these arguments.
func (w *World) Checks(order int, arguments aggregate.Blob) {
	w.T.Helper()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.OpenStepGate(a.Head.Run, order, arguments, "hash", nil, w.Now())
	})
}

// Completed ends the execution with a summary.
func (w *World) Completed(summary string) {
	w.T.Helper()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.CompleteExecution(a.Head.Run, summary, w.Now())
	})
}

// Inline is a value that is kept in its row.
var Inline = ringitest.InRow[string]

func With(form url.Values, name, value string) url.Values {
	out := maps.Clone(form)
	out.Set(name, value)
	return out
}

// Desk is a stage that needs this many stamps of these people.
var Desk = ringitest.Desk

// Opened receives a request of Sato's and brings its steps to people along these stages.
func (w *World) Opened(stages ...circulation.Stage) {
	w.T.Helper()
	w.Ask()
	w.PlannedOnRoute(tenancy.DefaultSettings(), Along(stages...), Message(1, "締切は金曜です"))
}

// Along is the opening of what Sato asks along these stages.
func Along(stages ...circulation.Stage) aggregate.Opening {
	return ringitest.Along([]string{webapi.Sato}, stages...)
}

// ThreeStages ask Suzuki, then two of three, then Alex.
func ThreeStages() []circulation.Stage {
	return []circulation.Stage{Desk("課長", 1, webapi.Suzuki), Desk("経理", 2, webapi.Tanaka, webapi.Alex, "U0TAKADA"),
		Desk("部長", 1, webapi.Alex)}
}

// Acts posts an act's form as the task's page has it now, with a reason.
func (b *Browser) Acts(act aggregate.Act, reason string) Answer {
	b.World.T.Helper()
	return b.ActsAt(b.World.TaskPage(), act, reason)
}

// ActsAt posts an act's form as a page has it now, with a reason.
func (b *Browser) ActsAt(page string, act aggregate.Act, reason string) Answer {
	b.World.T.Helper()
	b.World.Later(time.Second)
	return b.Post(page+"/act", b.Get(page).FormOf(b.World.T, act, reason))
}

// Did is ActsAt where the act is done.
func (b *Browser) Did(page string, act aggregate.Act, reason string) {
	b.World.T.Helper()
	b.ActsAt(page, act, reason).Leads(b.World.T, page+"?done=act_"+string(act))
}

// FormOf returns the form of an act as the page has it: with all that its form or button sends, and a reason.
func (a Answer) FormOf(t testing.TB, act aggregate.Act, reason string) url.Values {
	t.Helper()
	for _, form := range regexp.MustCompile(`(?s)<form method="post".*?</form>`).FindAllString(a.Body, -1) {
		if strings.Contains(form, fmt.Sprintf(`name="act" value="%s"`, act)) {
			return With(Answer{Body: form}.Hidden("act", string(act)), "reason", reason)
		}
	}
	t.Fatalf("no form of %s: %v", act, a)
	return nil
}

// MatterAsked has Sato ask for a decision, and people are asked about it.
func (w *World) MatterAsked() { w.MatterAskedWith(nil) }

// MatterAskedWith is MatterAsked with files, by their names.
func (w *World) MatterAskedWith(files map[string][]byte) {
	m := task.Matter{Kind: "契約", Title: "倉庫の賃貸", Amount: "3600000", Description: "在庫が\n増えたため。"}
	text, s := card.MatterText(language.Detect(m.Title, ""), m), w.SettingsNow()
	ts := w.Slack.Say(w.T, webapi.Sato, webapi.HR, text)
	r := task.Request{User: webapi.Sato, Channel: webapi.HR, ChannelType: "channel", MessageTS: ts, ThreadTS: ts,
		Text: text, Matter: &m}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		r.Files = append(r.Files, aggregate.SharedFile{ID: "F" + strconv.Itoa(len(r.Files)), Name: name,
			Bytes: int64(len(files[name])), User: webapi.Sato})
	}
	w.Receive(r)
	if len(files) > 0 {
		w.filesRead(files)
	}
	w.Later(time.Second)
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Extracted(1, task.Extract{Title: m.Title, Description: m.Description, Priority: task.Medium,
			TaskType: task.TypeStandard}, w.Now())
	})
	w.FormGoesOn()
	w.Later(time.Second)
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.FinishProcess(a.Head.Run, a.Matter().Steps(s.Locale, "v1"), "", s, w.Now())
	})
}

// filesRead keeps the files of a form, by their names, and notes what they are.
func (w *World) filesRead(files map[string][]byte) {
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		var read []task.ReadFile
		for i, f := range a.Listed() {
			x := task.ReadFile{SharedFile: f}
			x.Take(files[f.Name], i)
			w.Results[storetest.FileKey(w.Ref, x.SHA256)] = aggregate.JSON(files[f.Name])
			read = append(read, x)
		}
		return a.ReadFiles(a.Head.Run, read, w.Now())
	})
}

// MatterRecorded records a decision that people approved, as the first of its fiscal year, which it returns.
func (w *World) MatterRecorded() (year int) {
	w.Later(time.Second)
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		settled, _ := a.Unnumbered()
		year = w.SettingsNow().FiscalYear(settled)
		first, err := a.StartExecution(a.Head.Run, task.Series{Year: year}, w.Now())
		if err != nil {
			return first, err
		}
		step := a.Process().Steps[0]
		return a.ClaimAfter(first, a.Head.Run, task.Call{Order: 1, Arguments: aggregate.Blob{JSON: step.ToolInput},
			ArgumentsHash: aggregate.HashOf(string(step.ToolInput)), Tool: task.ToolRef{Name: step.Tool}})
	})
	w.Later(time.Second)
	w.Completed("決裁を記録しました。")
	return year
}
