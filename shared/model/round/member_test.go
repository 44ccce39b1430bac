package round_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"ringi/shared/domain/contest"
	"ringi/shared/model"
	"ringi/shared/model/round"
	"ringi/shared/runtime/expect"
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
	return []model.Tool{{Name: "list_rules", Description: "Lists rules", Schema: json.RawMessage(`{"type":"object","properties":{"word":{"type":"string"}},"required":["word"],"additionalProperties":false}`)}}
}

func (reads) Lacking() string { return "" }

func (reads) Read(_ context.Context, tool string, input json.RawMessage) (string, error) {
	return "\U000e0041" + tool + strings.Repeat("あ", 20_000), nil // people see no tag of a letter
}

func TestMembersUseTheToolsOfTheirTypeAlone(t *testing.T) {
	m := models{}
	use := func(tool, input string) says {
		return func(_ context.Context, r model.Request) (model.Response, error) {
			if got := results(r); got != nil {
				return text(got[0].Text)
			}
			return model.Response{Calls: []model.Call{{Name: tool, Input: json.RawMessage(input)}}}, nil
		}
	}
	m["code"], m["bad"], m["search"] = use("execute_code", `{"script":"echo 1"}`), use("execute_code", `{"script":"exit 1"}`), use("list_rules", `{"word":"x"}`)
	m["none"], m["other"] = use("execute_code", `{"script":""}`), use("list_rules", `{"word":"x"}`)
	p := play()
	for name, of := range map[string]contest.AgentType{"code": contest.CodeExec, "bad": contest.CodeExec, "none": contest.CodeExec, "other": contest.CodeExec, "search": contest.WebSearch} {
		x := member(name, of)
		x.Model = name
		p.Team.Members = append(p.Team.Members, x)
	}
	used := map[string]string{} // by member: what it called, and how that ended
	out := expect.Value(round.Runner{Models: m, Sandbox: shell{}, Reads: reads{}, Watch: func(e round.Event) {
		if e.Kind == round.ToolUsed {
			used[e.Agent] = fmt.Sprintf("%s %s %.10s%.16s", e.Tool, e.Input, e.Text, e.Failed)
		}
	}}.Round(t.Context(), p))(t)
	expect.Same(t, map[string]string{
		"code": `execute_code {"script":"echo 1"} ran echo 1`, "bad": `execute_code {"script":"exit 1"} ERROR: exit stat`, "none": `execute_code {"script":""} ERROR: script mu`,
		"search": `list_rules {"word":"x"} list_rules`, "other": `list_rules {"word":"x"} There is no tool`,
	}, used)
	want := map[string]string{"code": "ran echo 1", "bad": "ERROR: exit status 1", "none": "ERROR: script must", "other": "There is no tool", "search": "list_rulesあ"}
	for _, s := range out.Record.Submissions {
		if !strings.HasPrefix(s.Content, want[s.AgentName]) || s.Status != contest.Success || s.Usage.ToolCalls != 1 || s.Usage.Requests != 2 || len(s.Content) > 40_000 {
			t.Errorf("%s: %.200s %+v", s.AgentName, s.Content, s.Usage)
		}
	}
	expect.Is(t, len(out.Record.Submissions), 5, "submissions")
}

func TestAMemberThatNeverAnswersIsAnError(t *testing.T) {
	x := member("loop", contest.CodeExec)
	x.Model = "loop"
	n := 0
	out := expect.Value(round.Runner{Sandbox: shell{}, Models: models{"loop": func(context.Context, model.Request) (model.Response, error) {
		n++
		return model.Response{Calls: []model.Call{{Name: "execute_code", Input: json.RawMessage(`{"script":"ls"}`)}}}, nil
	}}}.Round(t.Context(), play(x)))(t)
	s := out.Record.Submissions[0]
	expect.That(t, s.Status == contest.Error && n == 8 && s.Usage.Requests == 8, "%d: %+v", n, s)
}

// counting is a sandbox that counts what it ran, and ran is told of each.
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
	x := member("greedy", contest.CodeExec)
	x.Model = "greedy"
	greedy := models{"greedy": func(_ context.Context, r model.Request) (model.Response, error) {
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
	if s := out.Record.Submissions[0]; n != 20 || s.Usage.ToolCalls != 20 || s.Content != "No more calls are possible: answer now." {
		t.Errorf("%d scripts of one answer ran: %+v", n, s)
	}
	n = 0
	var may error
	r := round.Runner{Models: greedy, Sandbox: counting{n: &n, ran: func() { may = round.ErrStopped }}, May: func(context.Context) error { return may }}
	if _, err := r.Round(t.Context(), play(x)); !errors.Is(err, round.ErrStopped) || n != 1 {
		t.Errorf("%d scripts ran in a contest that was ended after the first: %v", n, err)
	}
}

func TestARoundInWhichMembersReadMuchCanBeSaved(t *testing.T) {
	greedy := models{"greedy": func(_ context.Context, r model.Request) (model.Response, error) {
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
		x := member(fmt.Sprintf("m%d", i), contest.WebSearch)
		x.Model = "greedy"
		p.Team.Members = append(p.Team.Members, x)
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
	if kept > large.MaxBytes || len(out.Record.Submissions) != 15 || with < 3 {
		t.Errorf("%d bytes of %d submissions, %d with what was said", kept, len(out.Record.Submissions), with)
	}
}
