package tool_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
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
func inputsOf(steps []task.Step) (typed explain.Typed, at map[string][2]int) {
	typed, at = explain.Typed{}, map[string][2]int{}
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

// edited is what planning says of steps that somebody typed in the place of others.
func edited(t *testing.T, p tool.Planning, was []task.Step, typed explain.Typed) ([]task.Step, []task.Misfit) {
	t.Helper()
	written, misfits, err := typed.Write("ja", was, nil)
	expect.That(t, err == nil, "%v", err)
	if len(misfits) > 0 {
		return nil, misfits
	}
	return p.Edited("ja", was, written)
}

// What nobody changes stays byte for byte, but for what the tool says of itself today. A reference is never typed.
func TestEditedStepsAreCompletedAsPlanned(t *testing.T) {
	p, was := planning(t), editedSteps()
	typed, at := inputsOf(was)
	is, misfits := edited(t, p, was, typed)
	expect.That(t, len(misfits) == 0 && len(is) == 2, "%+v", misfits)
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
	is, _ = edited(t, p, was, typed)
	expect.That(t, is[1].Unnamed && is[1].RequiresHumanCheck && strings.Contains(string(is[1].ToolInput), `"value":1200`),
		"a recipient whom nobody has seen goes unchecked: %+v", is[1])
}

// Fields of nowhere and missing ones change nothing.
func TestAFormOfOtherFieldsIsNoEdit(t *testing.T) {
	was := editedSteps()
	shown, at := inputsOf(was)
	for name, change := range map[string]func(explain.Typed){
		"a step too many":    func(x explain.Typed) { x[[2]int{3, 0}] = "x" },
		"a field too many":   func(x explain.Typed) { x[[2]int{1, 9}] = "x" },
		"a field below zero": func(x explain.Typed) { x[[2]int{-1, -1}] = "x" },
		"a field left out":   func(x explain.Typed) { delete(x, at["2 text"]) },
		"a reference":        func(x explain.Typed) { x[[2]int{2, 1}] = "x" },
		"nothing":            func(x explain.Typed) { clear(x) },
	} {
		typed := maps.Clone(shown)
		change(typed)
		steps, misfits, err := typed.Write("ja", was, nil)
		expect.That(t, errors.Is(err, explain.ErrMalformedForm) && steps == nil && misfits == nil, "%s: %v", name, err)
	}
}

// Values beyond what the tool takes say where and why, with the limit.
func TestWhatDoesNotFitIsNotSaved(t *testing.T) {
	p, was := planning(t), editedSteps()
	shown, at := inputsOf(was)
	number := at["2 details.1.value"]
	for name, c := range map[string]struct {
		at          [2]int
		text, limit string
		why         task.MisfitWhy
	}{
		"words for a number":     {number, "三", "", task.MisfitNumber},
		"JSON for a number":      {number, `{"$ref":"step-1.result.count"}`, "", task.MisfitNumber},
		"no number":              {number, "NaN", "", task.MisfitNumber},
		"a choice that isn't":    {at["1 status"], "休職", "active, all", task.MisfitChoice},
		"nobody's id":            {at["2 recipient"], "経理部", "U0TANAKA", task.MisfitForm},
		"nothing":                {at["2 text"], "", "", task.MisfitEmpty},
		"a text beyond its most": {at["2 text"], strings.Repeat("長", 3001), "3000", task.MisfitLong},
	} {
		typed := maps.Clone(shown)
		typed[c.at] = c.text
		_, misfits := edited(t, p, was, typed)
		expect.That(t, len(misfits) > 0 && misfits[0].Why == c.why && misfits[0].Order == c.at[0] &&
			misfits[0].Field == c.at[1] && (c.limit == "" || misfits[0].Limit == c.limit), "%s: %+v", name, misfits)
	}
	long := maps.Clone(shown)
	long[at["2 details.0.label"]] = strings.Repeat("長", 100)
	for i := range was {
		was[i].Description = strings.Repeat("長", task.MaxStepsBytes/5)
	}
	_, misfits := edited(t, p, was, long)
	expect.That(t, len(misfits) == 1 && misfits[0].Why == task.MisfitTooLong, "%+v", misfits)

	// What looks like a reference is a text.
	typed, was := maps.Clone(shown), editedSteps()
	typed[at["2 text"]] = `{"$ref":"step-1.result"}`
	is, misfits := edited(t, p, was, typed)
	expect.That(t, len(misfits) == 0 && strings.Contains(string(is[1].ToolInput), `\"$ref\"`), "%+v %+v", misfits, is)

	allowed, _ := p.Tools.Under([]tenancy.ToolPermission{{ToolName: "send_slack_dm"}})
	p.Tools = allowed
	_, misfits = edited(t, p, was, shown)
	expect.That(t, len(misfits) == 1 && misfits[0].Why == task.MisfitTool && misfits[0].Order == 2, "%+v", misfits)
}

// A number knows the limits of Ringi's own tool before any run compares it.
func TestANumberBeyondItsLimitIsSaidAtOnce(t *testing.T) {
	was := []task.Step{{StepID: "step-1", Order: 1, Tool: "list_attendance", Access: aggregate.Read,
		ToolInput: `{"employees":[],"month":4,"year":2026}`}}
	shown, at := inputsOf(was)
	for text, want := range map[string]task.Misfit{
		"13": {Order: 1, Why: task.MisfitMost, Limit: "12"}, "0": {Order: 1, Why: task.MisfitLeast, Limit: "1"},
	} {
		typed := maps.Clone(shown)
		typed[at["1 month"]] = text
		want.Field = at["1 month"][1]
		_, misfits, err := typed.Write("ja", was, nil)
		expect.That(t, err == nil, "%v", err)
		expect.Same(t, []task.Misfit{want}, misfits)
	}
}

// What a form shows is called as people call it, and offers what the tool takes.
func TestInputsAreCalledAsPeopleCallThem(t *testing.T) {
	for locale, want := range map[string]string{
		"ja": "部署 / 対象 [在籍者のみ 退職者・入社前の人を含む] / 宛先 (person) / 明細 1 件目の項目名 / 明細 1 件目の値 / 明細 2 件目の項目名 / 明細 2 件目の値 / 本文",
		"en": "Department / People [Only those employed Including people who have left or not joined yet] / To (person) / " +
			"Details row 1: Label / Details row 1: Value / Details row 2: Label / Details row 2: Value / Text",
	} {
		var names []string
		steps := editedSteps()
		for i, s := range steps {
			all, _ := explain.Inputs(locale, s, steps[:i])
			for _, x := range all {
				name := x.Name
				if x.Person {
					name += " (person)"
				}
				if x.Choices != nil {
					var texts []string
					for _, c := range x.Choices {
						texts = append(texts, c.Text)
					}
					name += fmt.Sprint(" ", texts)
				}
				names = append(names, name)
			}
		}
		slices.Sort(names)
		wants := strings.Split(want, " / ")
		slices.Sort(wants)
		expect.Same(t, wants, names)
	}
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
	is, misfits := edited(t, p, was, typed)
	expect.That(t, len(misfits) == 0 && is[0].ToolInput == `{"empty":[],"none":null,"on":false}`, "%+v %+v", misfits, is)
	typed[at["1 on"]] = "はい"
	_, misfits = edited(t, p, was, typed)
	expect.That(t, len(misfits) == 1 && misfits[0].Why == task.MisfitBool, "%+v", misfits)
}

// A row of the only list, which has no title of its own, is called by its number alone.
func TestAValueOfARowIsCalledByTheRowsNumber(t *testing.T) {
	for input, want := range map[aggregate.JSON]string{
		`{"items":[{"品目":"PC"}]}`: "1 件目の品目", `{"items":[{"品目":"PC"}],"notes":["x"]}`: "items 1 件目の品目",
	} {
		all, _ := explain.Inputs("ja", task.Step{Tool: "rooms.place_order", ToolInput: input}, nil)
		expect.Is(t, all[0].Name, want)
	}
}

// What an MCP server's tool takes and the call doesn't have can be filled in; what stays empty stays out.
func TestAnUnusedArgumentIsFilledIn(t *testing.T) {
	s := task.Step{StepID: "step-1", Order: 1, Tool: "rooms.place_order", ToolInput: `{"supplier":"アクメ"}`}
	schemas := explain.Schemas{s.Tool: `{"type":"object","required":["supplier"],"properties":{"supplier":{"type":"string"},` +
		`"gift":{"type":"boolean"},"items":{"type":"array"},"note":{"type":"string","maxLength":10},"quantity":{"type":"integer"}}}`}
	fields, _ := schemas.Inputs("ja", s, nil)
	at := map[string]int{}
	for n, f := range fields {
		at[f.Path[0]] = n
		expect.Is(t, f.Unused, n > 0)
	}
	expect.That(t, len(at) == 4 && at["supplier"] == 0, "%v", at)
	write := func(typed map[string]string) (string, []task.Misfit) {
		of := explain.Typed{{1, 0}: "アクメ"}
		for name, text := range typed {
			of[[2]int{1, at[name]}] = text
		}
		steps, misfits, err := of.Write("ja", []task.Step{s}, schemas)
		expect.NoError(t, err)
		if len(misfits) > 0 {
			return "", misfits
		}
		return string(steps[0].ToolInput), nil
	}
	for want, typed := range map[string]map[string]string{
		`{"supplier":"アクメ"}`: {"note": " ", "quantity": "", "gift": ""},
		`{"gift":true,"note":"至急","quantity":4,"supplier":"アクメ"}`: {"note": "至急", "quantity": "４", "gift": "true"},
	} {
		got, misfits := write(typed)
		expect.That(t, got == want && misfits == nil, "%s, %+v", got, misfits)
	}
	for name, typed := range map[string][2]string{"note": {strings.Repeat("長", 11), string(task.MisfitLong)},
		"quantity": {"三", string(task.MisfitNumber)}} {
		_, misfits := write(map[string]string{name: typed[0]})
		expect.That(t, len(misfits) == 1 && misfits[0].Field == at[name] && string(misfits[0].Why) == typed[1], "%+v", misfits)
	}
}
