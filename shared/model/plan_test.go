package model_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/runtime/expect"
	"ringi/shared/tool"
)

// step is a step as a model would write it.
type step map[string]any

func listStep(n int) step {
	return step{
		"stepId": fmt.Sprintf("step-%d", n), "order": n, "title": "List", "tool": "list_employees", "description": "d",
		"expectedOutput": "e",
		"toolInput":      `{"status":"active","department":null}`, "requiresHumanCheck": false,
	}
}

func (s step) with(name string, v any) step { s[name] = v; return s }

func answer(t testing.TB, steps ...step) string {
	t.Helper()
	b := expect.Value(json.Marshal(map[string]any{"steps": steps, "missing": []any{}, "remarks": "すべて反映しました。"}))(t)
	return string(b)
}

func planInput(t testing.TB) model.PlanInput {
	return model.PlanInput{Task: task.Task{Title: "t"}, Policy: "p", Tools: catalog(t), Requester: "U0SANDSATO",
		Locale: "en", Now: now(), Try: 1}
}

func TestPlanRefuses(t *testing.T) {
	many := []step{}
	for n := range 61 {
		many = append(many, listStep(n+1))
	}
	dm := `{"recipient":"U0123","text":%s,"details":[]}`
	for name, test := range map[string]struct {
		steps []step
		told  string
	}{
		"no steps": {[]step{}, "there are 0 steps, there must be 1 to 60"},
		"61 steps": {many, "there are 61 steps, there must be 1 to 60"},
		"an unlisted tool": {[]step{listStep(1).with("tool", "approve_everything")},
			`steps.0.tool: there is no tool "approve_everything"`},
		"another's order": {[]step{listStep(2)}, `steps.0 must have stepId "step-1" and order 1`},
		"a step id twice": {[]step{listStep(1), listStep(2).with("stepId", "step-1")},
			`steps.1 must have stepId "step-2" and order 2`},
		"an odd step id": {[]step{listStep(1).with("stepId", "STEP#0001")}, `steps.0 must have stepId "step-1"`},
		"title of 151": {[]step{listStep(1).with("title", strings.Repeat("a", 151))},
			"steps.0.title has 151 characters, the limit is 150"},
		"blank title": {[]step{listStep(1).with("title", "\n")}, "steps.0.title is empty"},
		"long description": {[]step{listStep(1).with("description", strings.Repeat("a", 1001))},
			"steps.0.description has 1001 characters"},
		"arguments not JSON": {[]step{listStep(1).with("toolInput", "none")},
			"steps.0.toolInput: arguments: not one JSON value"},
		"arguments unfit": {[]step{listStep(1).with("toolInput", `{"status":"active","department":1}`)},
			"steps.0.toolInput: department: got integer, want string or null"},
		"an argument too many": {[]step{listStep(1).with("toolInput", `{"status":"active","department":null,"sudo":1}`)},
			"additional properties 'sudo'"},
		"a later step's result": {[]step{listStep(1).with("tool", "send_slack_dm").with("toolInput",
			fmt.Sprintf(dm, `{"$ref":"step-2.result.count"}`)), listStep(2)}, "argument text: step-2 is no earlier step"},
		"its own result": {[]step{listStep(1).with("tool", "send_slack_dm").with("toolInput",
			fmt.Sprintf(dm, `{"$ref":"step-1.result.count"}`))}, "argument text: step-1 is no earlier step"},
		"a result that is not": {[]step{listStep(1), listStep(2).with("tool", "send_slack_dm").with("toolInput",
			fmt.Sprintf(dm, `{"$ref":"step-1.result.salaries"}`))}, `list_employees returns no "salaries"`},
		"an effect of its own": {[]step{listStep(1).with("effect", "read")}, "additional properties 'effect' not allowed"},
		"approval in the answer": {[]step{listStep(1).with("approved_by", "U0SANDSATO")},
			"additional properties 'approved_by' not allowed"},
		"arguments over 16 KiB": {[]step{listStep(1).with("toolInput", `{"a":"`+strings.Repeat("a", 17_000)+`"}`)},
			"the limit is 16384"},
	} {
		t.Run(name, func(t *testing.T) {
			g := says(answer(t, test.steps...), answer(t, listStep(1)))
			steps, _, _, err := model.Plan(t.Context(), g, planInput(t))
			expect.NoError(t, err)
			expect.Must(t, len(g.asked) == 2, "%d calls: the plan was taken: %+v", len(g.asked), steps)
			expect.Has(t, told(t, g.asked[1]), test.told, "told")
		})
	}
}

// Another attempt seldom helps if a request needs more steps than a card shows. So people are told to ask for less.
func TestPeopleAreToldOfStepsThatNoCardShowsWhole(t *testing.T) {
	many, long := []step{}, []step{}
	for n := range 61 {
		many = append(many, listStep(n+1))
		if n < 60 {
			long = append(long, listStep(n+1).with("description", strings.Repeat("勤", 1000)).with("expectedOutput",
				strings.Repeat("怠", 1000)))
		}
	}
	for name, test := range map[string]struct {
		steps  []step
		logged string
	}{
		"what does not fit":   {[]step{listStep(1)}, "fewer steps"},
		"more than there may": {many, "there are 61 steps"},
		"more than is kept":   {long, "bytes, the limit is"},
	} {
		in := planInput(t)
		in.Fits = func([]task.Step, string) bool { return false }
		_, _, _, err := model.Plan(t.Context(), says(answer(t, test.steps...), answer(t, test.steps...)), in)
		if f := model.Failure(err); f.Reason != task.ReasonPlanTooLong || !strings.Contains(err.Error(), test.logged) {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
		_, _, _, err = model.Plan(t.Context(), says(answer(t, test.steps...), answer(t, listStep(2))), in)
		expect.Is(t, model.Failure(err).Reason, task.ReasonModelBadOutput, "%s, then another mistake: %v", name, err)
	}
}

func TestPlanIsBoundToTheCatalog(t *testing.T) {
	g := says(answer(t, listStep(1).with("toolInput",
		"{\n \"status\": \"active\", \"status\": \"all\", \"department\": null }")))
	steps, _, _, err := model.Plan(t.Context(), g, planInput(t))
	expect.NoError(t, err)
	spec, _ := catalog(t).Lookup("list_employees")
	s := steps[0]
	expect.That(t, s.Access == aggregate.Read && s.ToolVersion == spec.Version() &&
		s.ToolInput == `{"department":null,"status":"all"}`, "%+v", s)
}

// A server's tool that changed is off until an administrator allows it again.
func TestAPolicyIsToldOfAToolThatChanged(t *testing.T) {
	changed := time.Now()
	rows := []tenancy.ToolPermission{{ToolName: "rooms.book_room", Allowed: true}, {ToolName: "rooms.list_rooms",
		Allowed: true, ChangedAt: &changed}}
	b := model.BoundsOf(rows, func(string) []tenancy.Constraint { return nil })
	expect.That(t, slices.Contains(b.Forbidden, "rooms.list_rooms"), "%v", b.Forbidden)
	expect.Same(t, []string{"rooms.book_room"}, b.ServerTools)
}

// confined returns the input for a plan under a tenant's constraints.
func confined(t *testing.T, tool string, constraints aggregate.JSON) model.PlanInput {
	t.Helper()
	in := planInput(t)
	var err error
	if in.Tools, err = in.Tools.Under([]tenancy.ToolPermission{{ToolName: tool, Allowed: true,
		Constraints: constraints}}); err != nil {
		t.Fatal(err)
	}
	return in
}

func TestAPlanIsToldItsConstraintsAndHeldToThem(t *testing.T) {
	in := confined(t, "send_slack_dm", `{"recipients":["U0SUZUKI"]}`)
	dm := func(who string) step {
		return listStep(1).with("tool", "send_slack_dm").with("toolInput",
			fmt.Sprintf(`{"recipient":%q,"text":"x","details":[]}`, who))
	}
	g := says(answer(t, dm("U0SANDSATO")), answer(t, dm("U0SUZUKI")))
	steps, _, _, err := model.Plan(t.Context(), g, in)
	expect.Must(t, err == nil && len(steps) == 1 && strings.Contains(string(steps[0].ToolInput), "U0SUZUKI"),
		"%+v, %v", steps, err)
	standing := strings.Join(strings.Fields(g.asked[0].Standing), "")
	if !strings.Contains(standing, `"constraints":{"recipients":["U0SUZUKI"]}`) ||
		strings.Count(standing, `"constraints"`) != 1 {
		t.Errorf("told %s", standing)
	}
	expect.Has(t, told(t, g.asked[1]), "Sending to “U0SANDSATO” isn't allowed (allowed: U0SUZUKI)", "asked again with")
	_, _, _, err = model.Plan(t.Context(), says(answer(t, dm("U0SANDSATO")), answer(t, dm("U0SANDSATO"))), in)
	expect.That(t, err != nil, "a plan that breaks a constraint twice was taken")
}

func TestSixtyStepsAtTheirLongestFitTheRow(t *testing.T) {
	steps := []step{}
	for n := range task.MaxSteps {
		steps = append(steps, listStep(n+1).with("title", strings.Repeat("題", model.MaxTitle)).with("description",
			strings.Repeat("説", 400)))
	}
	got, _, _, err := model.Plan(t.Context(), says(answer(t, steps...)), planInput(t))
	expect.Must(t, err == nil && len(got) == 60, "%d steps, %v", len(got), err)
	for _, s := range steps {
		s["description"], s["expectedOutput"] = strings.Repeat("説", model.MaxStepText), strings.Repeat("果", model.MaxStepText)
	}
	g := says(answer(t, steps...), answer(t, listStep(1)))
	_, _, _, err = model.Plan(t.Context(), g, planInput(t))
	expect.That(t, err == nil && strings.Contains(told(t, g.asked[1]), "the limit is 200000"), "%d calls, %v",
		len(g.asked), err)
}

func TestASummaryNamesNobodysAddress(t *testing.T) {
	const said, want = "hanako@example.com (090-1234-5678) ほか 42 名", "h*****@example.com (***-****-**78) ほか 42 名"
	b := expect.Value(json.Marshal(map[string]string{"summary": said}))(t)
	got, _, err := model.Summarize(t.Context(), says(string(b)), model.SummaryInput{Locale: "ja", Now: now(), Try: 1})
	expect.That(t, err == nil && got == want && model.SessionSummary(said) == want,
		"%q and %q, %v", got, model.SessionSummary(said), err)
}

func TestASummaryThatFailsLeavesAPlainOne(t *testing.T) {
	in := model.SummaryInput{Locale: "ja", Now: now(), Try: 1, Steps: []model.StepResult{
		{Title: "従業員一覧を取得", Result: json.RawMessage(`{"count":1}`)},
		{Title: "Sheet 書き込み", Result: json.RawMessage(`{"url":"http://x/y"}`)},
	}}
	got, _, err := model.Summarize(t.Context(), says("x", "y"), in)
	expect.That(t, err != nil && got == "完了したステップ:\n• 従業員一覧を取得\n• Sheet 書き込み", "%q, %v", got, err)
	for range 200 {
		in.Steps = append(in.Steps, model.StepResult{Title: "とても長い手順の名前"})
	}
	expect.Is(t, len([]rune(model.Plain(in))), model.MaxSummary, "characters")
}

// A server's results may be passed to the same server without a human check, but not to another, nor to a write.
func TestAServerIsGivenOnlyItsOwnResultsUnseen(t *testing.T) {
	in := planInput(t)
	for name, access := range map[string]aggregate.Access{"notes.find": aggregate.Read, "notes.read": aggregate.Read,
		"other.read": aggregate.Read, "notes.write": aggregate.Write} {
		server, _, _ := strings.Cut(name, ".")
		s, ok := tool.Pinned(tenancy.ToolPermission{ToolName: name, Allowed: true, Pin: &tenancy.Pin{URL: "https://x",
			Access: access, Input: `{"type":"object"}`, Output: `{"type":"object"}`}},
			[]tenancy.MCPServer{{Name: server, URL: "https://x"}})
		var err error
		if in.Tools, err = in.Tools.With(s); err != nil || !ok {
			t.Fatal(err, ok)
		}
	}
	reads := func(n int, name, from string) step {
		return listStep(n).with("tool", name).with("toolInput", fmt.Sprintf(`{"id":{"$ref":%q}}`, from))
	}
	steps, _, _, err := model.Plan(t.Context(),
		says(answer(t, listStep(1), listStep(2).with("tool", "notes.find").with("toolInput", `{"text":"x"}`),
			reads(3, "notes.read", "step-2.result.id"), reads(4, "other.read", "step-2.result.id"),
			reads(5, "notes.read", "step-1.result.count"), reads(6, "notes.write", "step-2.result.id"))), in)
	expect.NoError(t, err)
	for i, want := range []bool{false, false, false, true, true, true} {
		expect.Is(t, steps[i].RequiresHumanCheck, want, "step %d is shown", i+1)
	}
}

// FuzzAnswers checks that a model's answer is accepted only if its steps can be run.
func FuzzAnswers(f *testing.F) {
	c := catalog(f)
	f.Add(answer(f, listStep(1)))
	f.Add(answer(f, listStep(1), listStep(2).with("tool", "send_slack_dm").with("toolInput",
		`{"recipient":{"$ref":"step-1.result.employees.0.email"},"text":"x","details":[]}`)))
	f.Add(goodExtract)
	f.Add("```json\n{}\n```")
	f.Add(`{"steps":[{"stepId":"step-1"}]}`)
	f.Add(`{"policy":"\u0000\ud800"}`)
	f.Add(`{"summary":" "}`)
	f.Add(`{"summary":"\u202e\u200b完了\ufe01\udb40\udc41"}`)
	f.Add(answer(f, listStep(1), listStep(2).with("tool", "send_slack_dm").with("toolInput",
		`{"recipient":"U0EVIL001","text":"x","details":[]}`)))
	f.Fuzz(func(t *testing.T, text string) {
		ctx := context.Background()
		in := model.PlanInput{Tools: c, Policy: "U0123", Requester: "U0SANDSATO", Now: now(), Try: 1}
		if steps, _, _, err := model.Plan(ctx, says(text, text), in); err == nil {
			for i, s := range steps {
				spec, ok := c.Lookup(s.Tool)
				expect.That(t, ok && s.ToolVersion == spec.Version() && s.Access == spec.Access && s.Order == i+1 &&
					json.Valid([]byte(s.ToolInput)), "taken: %+v", s)
				_, err := tool.Parse(s.ToolInput)
				expect.That(t, err == nil, "%+v, %v", s, err)
				hidden(t, s.Title, s.Description, s.ExpectedOutput)
			}
		}
		e, _, err := model.Extract(ctx, says(text, text), model.ExtractInput{Now: now(), Try: 1})
		expect.That(t, err != nil || e.Title != "" && !strings.ContainsAny(e.Title, "\n\r\x00"), "taken: %+v", e)
		p, _, err := model.Draft(ctx, says(text, text), model.DraftInput{Now: now(), Try: 1})
		expect.That(t, err != nil || p.Content != "" && len([]rune(p.Content)) <= model.MaxPolicy, "taken: %q", p)
		if s, _, err := model.Summarize(ctx, says(text, text), model.SummaryInput{Now: now(), Try: 1}); err == nil &&
			s == "" {
			t.Error("an empty summary was taken")
		} else if err == nil {
			hidden(t, s)
		}
	})
}

// hidden fails for a text with invisible characters.
func hidden(t *testing.T, texts ...string) {
	t.Helper()
	for _, s := range texts {
		expect.That(t, !strings.ContainsAny(s, "\u202e\u2066\u200b\u2060\ufeff\u00ad\x00\x1b\r\u2028") &&
			strings.TrimSpace(s) != "", "taken: %q", s)
	}
}

// If a write omits arguments, its step shows the defaults in the server's schema, so that people stamp them, too. It
// knows what its server calls the arguments, so that cards can say it.
func TestAServersDefaultsAndTitlesArePlanned(t *testing.T) {
	pin := &tenancy.Pin{URL: "https://x", Title: "Post", Description: "Posts.", Access: aggregate.Write,
		Input: `{"type":"object","properties":{"to":{"type":"string","title":"Reader"},` +
			`"public":{"type":"boolean","default":true}}}`}
	spec, ok := tool.Pinned(tenancy.ToolPermission{ToolName: "notes.post", Allowed: true, Pin: pin},
		[]tenancy.MCPServer{{Name: "notes", URL: "https://x"}})
	expect.Must(t, ok, "notes.post is not allowed")
	in := planInput(t)
	in.Tools = expect.Value(catalog(t).With(spec))(t)
	said := answer(t, listStep(1).with("tool", "notes.post").with("toolInput", `{"to":"x"}`))
	steps, _, _, err := model.Plan(t.Context(), says(said), in)
	expect.NoError(t, err)
	expect.That(t, steps[0].LeftOut == `{"public":true}` && steps[0].Declared == `[["/to","Reader"]]`, "%+v", steps)
}
