package turn_test

import (
	"encoding/json"
	"strings"
	"testing"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/model/turn"
	"ringi/shared/runtime/expect"
	"ringi/shared/tool"
)

// rulesOf returns the rules that a turn's request has, and all of the request.
func rulesOf(t *testing.T, of turn.Turn) (rules, all string) {
	t.Helper()
	w := wireOf(func(r model.Request) (model.Response, error) {
		rules, all = r.System, string(expect.Value(json.Marshal(r))(t))
		return model.Response{Text: "ok", Stop: model.StopEnd}, nil
	})
	expect.Value(turn.Answer(t.Context(), w, of, nil))(t)
	return rules, all
}

// An agent is told how files are edited and leave, and of pull requests, where that holds and nowhere else.
func TestAnAgentIsToldWhatHoldsOfItsFiles(t *testing.T) {
	everything := turnOf(user("hi"))
	everything.Agent = agent.Definition{ID: "a", Capabilities: agent.Capabilities}
	everything.Calls = expect.Value(tool.Builtin())(t)
	everything.Tools = "sh and python3"
	rules, _ := rulesOf(t, everything)
	parts := []string{"with CRLF", "chmod", "button on the action's card", "a patch for git apply", "open_pull_request alone",
		"sh and python3", "`lies_at`", "`text_at`"}
	for _, part := range parts {
		expect.Is(t, strings.Count(rules, part), 1, "%q stands in the rules", part)
	}
	nothing := everything
	nothing.Agent.Capabilities, nothing.Calls = nil, nil
	rules, _ = rulesOf(t, nothing)
	for _, part := range parts[:6] {
		expect.That(t, !strings.Contains(rules, part), "an agent that may do nothing is told of %q", part)
	}
	waits := everything
	waits.Busy, waits.FilesLost = true, true
	free, _ := rulesOf(t, everything)
	rules, all := rulesOf(t, waits)
	expect.Is(t, rules, free, "the rules differ between turns")
	expect.That(t, strings.Contains(all, "under way") && strings.Contains(all, "folder are lost"), "%s", all)
}

// No argument of a call may be a reference, so nothing that the agent is shown has one.
func TestNoReferencesAreShown(t *testing.T) {
	x := turnOf(user("hi"))
	x.Agent = agent.Definition{ID: "a", Capabilities: agent.Capabilities}
	const foreign = `{"type":"object","$defs":{"id":{"type":"integer"}},"properties":{"id":{"$ref":"#/$defs/id"}}}`
	specs := append(expect.Value(tool.Builtin())(t).All(), tool.Spec{Name: "wiki_page", Description: "d", InputSchema: foreign,
		OutputSchema: `{}`, Pin: &tenancy.Pin{}})
	x.Calls = expect.Value(tool.NewCatalog(specs...))(t)
	_, all := rulesOf(t, x)
	expect.Has(t, all, "wiki_page")
	expect.Has(t, all, "As list_employees returns them: the values themselves.")
	for _, gone := range []string{"$ref", "$defs", "step-"} {
		expect.That(t, !strings.Contains(all, gone), "%s is shown", gone)
	}
}
