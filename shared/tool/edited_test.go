package tool_test

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/tool"
)

// editedSteps read employees, and send what comes of it to somebody.
func editedSteps() []task.Step {
	step := func(n int, name string, access aggregate.Access, input string) task.Step {
		return task.Step{StepID: fmt.Sprint("step-", n), Order: n, Title: "題", Tool: name, Access: access, ToolVersion: "old",
			ToolInput: aggregate.JSON(input), Description: "手順", RequiresHumanCheck: n == 2}
	}
	return []task.Step{
		step(1, "list_employees", aggregate.Read, `{"department":"営業部","status":"active"}`),
		step(2, "send_slack_dm", aggregate.Write, `{"recipient":"U0TANAKA","text":"x","details":[{"label":"人数","value":`+
			`{"$ref":"step-1.result.count"}},{"label":"件","value":3}]}`),
	}
}

// inputsOf returns what the form of steps shows, by order and number.
func inputsOf(steps []task.Step) (typed tool.Typed, at map[string][2]int) {
	typed, at = tool.Typed{}, map[string][2]int{}
	for i, s := range steps {
		all, _ := explain.Inputs("ja", s, steps[:i])
		for n, x := range all {
			if x.Said == "" {
				typed[[2]int{s.Order, n}] = fmt.Sprint(x.Value)
				at[fmt.Sprint(s.Order, " ", strings.Join(x.Path, "."))] = [2]int{s.Order, n}
			}
		}
	}
	return typed, at
}

func planning(t *testing.T) tool.Planning {
	return tool.Planning{Tools: expect.Value(tool.Builtin())(t).Planned(), Seen: "営業部を U0TANAKA に送る", Requester: "U0SATO"}
}

// What nobody changes stays byte for byte, but for what the tool says of itself today. A reference is never typed.
func TestEditedStepsAreCompletedAsPlanned(t *testing.T) {
	p, was := planning(t), editedSteps()
	typed, at := inputsOf(was)
	is, misfits, err := p.Edited("ja", was, typed)
	expect.That(t, err == nil && len(misfits) == 0 && len(is) == 2, "%v %+v", err, misfits)
	for i := range is {
		spec, _ := p.Tools.Lookup(is[i].Tool)
		args := expect.Value(tool.Parse(was[i].ToolInput))(t)
		expect.Same(t, expect.Value(args.JSON())(t), is[i].ToolInput)
		expect.That(t, is[i].ToolVersion == spec.Version() && is[i].Tool == was[i].Tool && is[i].StepID == was[i].StepID &&
			!is[i].Unnamed && is[i].RequiresHumanCheck == was[i].RequiresHumanCheck, "%+v", is[i])
	}
	_, typable := at["2 details.0.value"]
	expect.That(t, !typable && len(at) == 7, "%v", at)

	typed[at["2 recipient"]] = "U0OTHER"
	typed[at["2 details.1.value"]] = " １,２００ "
	is, _, _ = p.Edited("ja", was, typed)
	expect.That(t, is[1].Unnamed && is[1].RequiresHumanCheck && strings.Contains(string(is[1].ToolInput), `"value":1200`),
		"a recipient whom nobody has seen goes unchecked: %+v", is[1])
}

// Fields of nowhere, missing ones and values beyond what the tool takes change nothing; each says where and why.
func TestWhatDoesNotFitIsNotSaved(t *testing.T) {
	p, was := planning(t), editedSteps()
	shown, at := inputsOf(was)
	with := func(change func(tool.Typed)) tool.Typed {
		typed := maps.Clone(shown)
		change(typed)
		return typed
	}
	for name, typed := range map[string]tool.Typed{
		"a step too many":    with(func(x tool.Typed) { x[[2]int{3, 0}] = "x" }),
		"a field too many":   with(func(x tool.Typed) { x[[2]int{1, 9}] = "x" }),
		"a field below zero": with(func(x tool.Typed) { x[[2]int{-1, -1}] = "x" }),
		"a field left out":   with(func(x tool.Typed) { delete(x, at["2 text"]) }),
		"nothing":            {},
	} {
		steps, misfits, err := p.Edited("ja", was, typed)
		expect.That(t, errors.Is(err, explain.ErrMalformedForm) && steps == nil && misfits == nil, "%s: %v", name, err)
	}
	number := at["2 details.1.value"]
	for name, c := range map[string]struct {
		at   [2]int
		text string
		why  tool.MisfitWhy
	}{
		"words for a number":     {number, "三", tool.MisfitNumber},
		"JSON for a number":      {number, `{"$ref":"step-1.result.count"}`, tool.MisfitNumber},
		"no number":              {number, "NaN", tool.MisfitNumber},
		"a choice that isn't":    {at["1 status"], "休職", tool.MisfitLimit},
		"no id of a person":      {at["2 recipient"], "経理部", tool.MisfitForm},
		"a text beyond its most": {at["2 text"], strings.Repeat("長", 100_000), tool.MisfitLimit},
	} {
		_, misfits, err := p.Edited("ja", was, with(func(x tool.Typed) { x[c.at] = c.text }))
		expect.That(t, err == nil && len(misfits) > 0 && misfits[0].Why == c.why && misfits[0].Order == c.at[0], "%s: %v %+v", name,
			err, misfits)
	}
	// What looks like a reference is a text.
	is, _, err := p.Edited("ja", was, with(func(x tool.Typed) { x[at["2 text"]] = `{"$ref":"step-1.result"}` }))
	expect.That(t, err == nil && strings.Contains(string(is[1].ToolInput), `\"$ref\"`), "%v %s", err, is[1].ToolInput)

	allowed, _ := p.Tools.Under([]tenancy.ToolPermission{{ToolName: "send_slack_dm"}})
	p.Tools = allowed
	_, misfits, _ := p.Edited("ja", was, shown)
	expect.That(t, len(misfits) == 1 && misfits[0].Why == tool.MisfitTool && misfits[0].Order == 2, "%+v", misfits)
}

func TestATruthIsTyped(t *testing.T) {
	p := planning(t)
	spec := tool.Spec{Name: "switch", Access: aggregate.Read, OutputSchema: "{}", InputSchema: `{"type":"object",` +
		`"properties":{"on":{"type":"boolean"},"none":{},"empty":{"type":"array"}}}`}
	p.Tools = expect.Value(tool.NewCatalog(spec))(t)
	was := []task.Step{{StepID: "step-1", Order: 1, Tool: "switch", Access: aggregate.Read,
		ToolInput: `{"on":true,"none":null,"empty":[]}`}}
	typed, at := inputsOf(was)
	expect.That(t, len(typed) == 1, "null and what is empty are typed: %v", typed)
	typed[at["1 on"]] = "false"
	is, _, err := p.Edited("ja", was, typed)
	expect.That(t, err == nil && is[0].ToolInput == `{"empty":[],"none":null,"on":false}`, "%v %+v", err, is)
	typed[at["1 on"]] = "はい"
	_, misfits, _ := p.Edited("ja", was, typed)
	expect.That(t, len(misfits) == 1 && misfits[0].Why == tool.MisfitBool, "%+v", misfits)
}
