package round_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ringi/shared/domain/contest"
	"ringi/shared/model"
	"ringi/shared/model/round"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/isolated"
	"ringi/shared/store/large"
)

type shell struct{}

func (shell) About() string { return "sh" }
func (shell) Run(_ context.Context, script string) (string, error) {
	if strings.Contains(script, "exit 1") {
		return "", errors.New("exit status 1")
	}
	return "ran " + script, nil
}

type reads struct{}

func (reads) Tools() []model.Tool {
	return []model.Tool{{Name: "list_rules", Description: "Lists rules",
		Schema: json.RawMessage(`{"type":"object","properties":{"word":{"type":"string"}},
			"required":["word"],"additionalProperties":false}`)}}
}

func (reads) Lacking() string { return "" }

func (reads) Read(_ context.Context, tool string, input json.RawMessage) (string, error) {
	return "\U000e0041" + tool + strings.Repeat("あ", 20_000), nil // people see no tag of a letter
}

func TestMembersUseTheToolsOfTheirTypeAlone(t *testing.T) {
	m := roundModels{"code": uses("execute_code", `{"script":"echo 1"}`), "bad": uses("execute_code",
		`{"script":"exit 1"}`), "none": uses("execute_code", `{"script":""}`), "search": uses("list_rules", `{"word":"x"}`),
		"other": uses("list_rules", `{"word":"x"}`)}
	p := play()
	for name, of := range map[string]contest.AgentType{"code": contest.CodeExec, "bad": contest.CodeExec,
		"none": contest.CodeExec, "other": contest.CodeExec, "search": contest.WebSearch} {
		p.Team.Members = append(p.Team.Members, memberBy(name, name, of))
	}
	out := expect.Value(round.Runner{Models: m, Sandbox: shell{}, Reads: reads{}}.Round(t.Context(), p))(t)
	want := map[string]string{"code": "ran echo 1", "bad": "ERROR: exit status 1", "none": "ERROR: script must",
		"search": "list_rulesあ"}
	for _, s := range out.Record.Submissions {
		if s.AgentName == "other" { // its tool is of another type: it is asked again once, and calls it all the same
			expect.That(t, s.Status == contest.Error && strings.Contains(*s.ErrorMessage, "途中で終わりました") &&
				s.Usage.ToolCalls == 0 && out.Usage.Provider != "", "%+v", s)
			continue
		}
		expect.That(t, strings.HasPrefix(s.Content, want[s.AgentName]) && s.Status == contest.Success &&
			s.Usage.ToolCalls == 1 && s.Usage.Requests == 2 && len(s.Content) <= 40_000, "%s: %.200s %+v", s.AgentName,
			s.Content, s.Usage)
	}
	expect.Is(t, len(out.Record.Submissions), 5, "submissions")
}

func TestAMemberThatNeverAnswersIsAnError(t *testing.T) {
	n := 0
	out := expect.Value(round.Runner{Sandbox: shell{}, Models: roundModels{"loop": func(context.Context,
		model.Request) (model.Response, error) {
		n++
		return model.Response{Calls: []model.Call{{Name: "execute_code", Input: json.RawMessage(`{"script":"ls"}`)}}}, nil
	}}}.Round(t.Context(), play(memberBy("loop", "loop", contest.CodeExec))))(t)
	s := out.Record.Submissions[0]
	expect.That(t, s.Status == contest.Error && n == 8 && s.Usage.Requests == 8, "%d: %+v", n, s)
}

// counting is a sandbox that counts its runs. It calls ran at each run.
type counting struct {
	shell
	n   *int
	ran func()
}

func (c counting) Run(context.Context, string) (string, error) {
	*c.n++
	if c.ran != nil {
		c.ran()
	}
	return "ran", nil
}

func TestAMemberRunsNoMoreThanItMay(t *testing.T) {
	x := memberBy("greedy", "greedy", contest.CodeExec)
	greedy := roundModels{"greedy": func(_ context.Context, r model.Request) (model.Response, error) {
		if got := results(r); got != nil {
			return text(got[len(got)-1].Text)
		}
		var out model.Response
		for range 500 {
			out.Calls = append(out.Calls, model.Call{Name: "execute_code", Input: json.RawMessage(`{"script":"ls"}`)})
		}
		return out, nil
	}}
	n := 0
	out := expect.Value(round.Runner{Models: greedy, Sandbox: counting{n: &n}}.Round(t.Context(), play(x)))(t)
	s := out.Record.Submissions[0]
	expect.That(t, n == 20 && s.Usage.ToolCalls == 20 && s.Content == "No more calls are possible: answer now.",
		"%d scripts of one answer ran: %+v", n, s)
	n = 0
	var may error
	r := round.Runner{Models: greedy, Sandbox: counting{n: &n, ran: func() { may = round.ErrStopped }},
		May: func(context.Context) error { return may }}
	if _, err := r.Round(t.Context(), play(x)); !errors.Is(err, round.ErrStopped) || n != 1 {
		t.Errorf("%d scripts ran in a contest that was ended after the first: %v", n, err)
	}
}

func TestARoundInWhichMembersReadMuchCanBeSaved(t *testing.T) {
	greedy := roundModels{"greedy": func(_ context.Context, r model.Request) (model.Response, error) {
		if results(r) != nil {
			return text("read")
		}
		var out model.Response
		for range 20 {
			out.Calls = append(out.Calls, model.Call{Name: "list_rules", Input: json.RawMessage(`{"word":"x"}`)})
		}
		return out, nil
	}}
	p := play()
	for i := range 15 {
		p.Team.Members = append(p.Team.Members, memberBy("greedy", fmt.Sprint("m", i), contest.WebSearch))
	}
	out := expect.Value(round.Runner{Models: greedy, Reads: reads{}}.Round(t.Context(), p))(t)
	kept := len(expect.Value(json.Marshal(out.Record))(t))
	with := 0
	for _, s := range out.Record.Submissions {
		if s.AllMessages != nil {
			with++
		}
		expect.That(t, s.Content == "read" && s.Usage.ToolCalls == 20, "%.200s %+v", s.Content, s.Usage)
	}
	expect.That(t, kept <= large.MaxBytes && len(out.Record.Submissions) == 15 && with >= 3,
		"%d bytes of %d submissions, %d with what was said", kept, len(out.Record.Submissions), with)
}

// room stands in for the isolated place. It returns the errors, lines and end that a test sets.
type room struct {
	orders []isolated.Order
	lines  []string
	end    isolated.End
	errs   []error
}

func (r *room) Run(_ context.Context, o isolated.Order, onLine func(isolated.Line) error) (isolated.End, error) {
	r.orders = append(r.orders, o)
	if n := len(r.orders); n <= len(r.errs) {
		return isolated.End{}, r.errs[n-1]
	}
	for _, l := range r.lines {
		if err := onLine(isolated.Line{Text: l}); err != nil {
			return isolated.End{}, err
		}
	}
	return r.end, nil
}

func TestAMembersScriptGetsNothingAndKeepsNothing(t *testing.T) {
	r := &room{lines: []string{"42", "7"}, end: isolated.End{ExitCode: 3, TimedOut: true, Missing: "python3", Dropped: 2,
		Limit: isolated.EndedByMemory}}
	for range 2 {
		got := expect.Value(round.Isolated(r, "").Run(t.Context(), "echo 42"))(t)
		want := "42\n7\n(2 more lines)\n(it was ended after its time limit)\n(the tool python3 is not installed)\n(" +
			isolated.EndedByMemory + ")\nexit code: 3"
		expect.That(t, got == want, "%q", got)
	}
	for _, o := range r.orders {
		expect.NoError(t, o.Validate())
		expect.That(t, o.Workspace == "" && o.Cancel == "" && o.Upload.URL == "" && o.Script == "echo 42", "%+v", o)
	}
	expect.That(t, r.orders[0].Action != r.orders[1].Action, "two scripts share a sandbox")
	r.lines = strings.Split(strings.Repeat(strings.Repeat("x", 1000)+"\n", 100), "\n")
	got := expect.Value(round.Isolated(r, "").Run(t.Context(), "x"))(t)
	expect.That(t, len(got) <= 32<<10 && strings.Contains(got, "more lines)"), "%d bytes", len(got))
}

func TestAScriptRunsOnceOrNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		notYet, never := fmt.Errorf("busy: %w", isolated.ErrNotBegun), fmt.Errorf("gone: %w: %w", isolated.ErrCannot,
			isolated.ErrNotBegun)
		for about, tt := range map[string]struct {
			errs   []error
			orders int
			fails  string
		}{
			"not to be had at first": {[]error{notYet, notYet}, 3, ""}, "not to be had": {[]error{notYet, notYet, notYet}, 3,
				"could not be run"},
			"never to be had": {[]error{never}, 1, "can't be executed here"},
			"lost on its way": {[]error{errors.New("cut off: secret words")}, 1, "nobody knows"},
		} {
			r := &room{errs: tt.errs}
			_, err := round.Isolated(r, "").Run(t.Context(), "x")
			expect.That(t, len(r.orders) == tt.orders && (err != nil) == (tt.fails != "") &&
				(err == nil || strings.Contains(err.Error(), tt.fails) && !strings.Contains(err.Error(), "secret")),
				"%s: %d orders, %v", about, len(r.orders), err)
		}
		r := &room{}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		expect.Value(round.Isolated(r, "").Run(ctx, "x"))(t)
		expect.Is(t, r.orders[0].TimeoutSeconds, 10, "%+v", r.orders)
		short, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		_, err := round.Isolated(r, "").Run(short, "x")
		expect.That(t, err != nil && len(r.orders) == 1, "%v", err)
		_, err = round.Isolated(r, "").Run(t.Context(), strings.Repeat("x", isolated.MaxScript+1))
		expect.That(t, err != nil && len(r.orders) == 1, "%v", err)
	})
}
