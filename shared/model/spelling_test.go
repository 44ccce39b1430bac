package model_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/model"
	"ringi/shared/model/demo"
	"ringi/shared/runtime/expect"
	"ringi/shared/tool"
)

const calls = "<｜tool▁calls▁begin｜>"

const shell, input = "shell_command", `{"script":"rm -rf out"}`

// byTool is a request with one tool.
func byTool() model.Request {
	return model.Request{Tools: []model.Tool{{Name: shell,
		Schema: json.RawMessage(`{"type":"object","properties":{"script":{"type":"string"},"cwd":{"type":"string"}}}`)}}}
}

// read hears a text that arrives in pieces of n bytes, and returns what was shown last.
func read(t *testing.T, r model.Request, text string, n int) (out model.Response, shown string) {
	t.Helper()
	h := model.Hear(&out, r, "", func(s string) { shown = s })
	for ; text != ""; text = text[min(n, len(text)):] {
		h.Say(text[:min(n, len(text))])
	}
	h.Stops("stop")
	expect.NoError(t, h.End(nil))
	return out, shown
}

// marked are calls as families of models write them, each behind its mark.
var marked = map[string]string{
	"Hermes":          "<tool_call>\n{\"name\": \"shell_command\", \"arguments\": " + input + "}\n</tool_call>",
	"Hermes 2":        "<tool_call>\n{\"arguments\": " + input + ", \"name\": \"shell_command\"}\n</tool_call>",
	"as Python":       "<tool_call>\n{'name': 'shell_command', 'arguments': {'script': 'rm'}}\n</tool_call>",
	"Qwen Coder":      "<tool_call>\n<function=shell_command>\n<parameter=script>\nrm -rf out\n</parameter>\n</function>",
	"Seed":            "<seed:tool_call>\n<function=shell_command>\n<parameter=script>rm</parameter>\n</function>",
	"Mistral":         "[TOOL_CALLS]shell_command[ARGS]" + input,
	"Mistral, a list": `[TOOL_CALLS] [{"name": "shell_command", "arguments": ` + input + `}]`,
	"Mistral, its id": "[TOOL_CALLS]shell_command[CALL_ID]a1b2c3d4e[ARGS]" + input,
	"Llama":           "<|python_tag|>{\"name\": \"shell_command\", \"parameters\": " + input + "}",
	"Llama, its own":  `<|python_tag|>shell_command.call(script="rm")`,
	"Llama, a tag":    "<function=shell_command>" + input + "</function>",
	"Llama 4":         `<|python_start|>[shell_command(script="rm")]<|python_end|>`,
	"DeepSeek":        calls + "<｜tool▁call▁begin｜>function<｜tool▁sep｜>shell_command\n```json\n" + input + "\n```",
	"DeepSeek 3.1":    calls + "<｜tool▁call▁begin｜>shell_command<｜tool▁sep｜>" + input + "<｜tool▁call▁end｜>",
	"DeepSeek 3.2":    "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"shell_command\">",
	"Kimi":            "<|tool_call_begin|>functions.shell_command:0<|tool_call_argument_begin|>" + input,
	"MiniMax":         "<minimax:tool_call>\n<invoke name=\"shell_command\">\n<parameter name=\"script\">rm</parameter>",
	"Step":            "<steptml:invoke name=\"shell_command\"><steptml:parameter name=\"script\">rm</steptml:parameter>",
	"Grok":            "<xai:function_call name=\"shell_command\"><parameter name=\"script\">rm</parameter>",
	"GLM":             "<tool_call>shell_command\n<arg_key>script</arg_key>\n<arg_value>rm</arg_value>\n</tool_call>",
	"GLM 4.7":         "<tool_call>shell_command<arg_key>script</arg_key><arg_value>rm</arg_value></tool_call>",
	"Hunyuan 3":       "<tool_calls><tool_call>shell_command<tool_sep><arg_key>script</arg_key>",
	"gpt-oss":         "<|start|>assistant<|channel|>commentary to=functions.shell_command <|constrain|>json<|message|>{",
	"gpt-oss, its to": "<|start|>assistant to=functions.shell_command<|channel|>commentary json<|message|>" + input,
	"gpt-oss, a part": "commentary to=functions.shell_command json" + input,
	"Gemma 4":         `<|tool_call>call:shell_command{script:<|"|>rm -rf out<|"|>}<tool_call|>`,
	"FunctionGemma":   `<start_function_call>call:shell_command{script:<escape>rm<escape>}<end_function_call>`,
	"Granite, Phi":    `<|tool_call|>[{"name": "shell_command", "arguments": ` + input + `}]`,
	"Phi":             `functools[{"name": "shell_command", "arguments": ` + input + `}]`,
	"Cohere":          `<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "shell_command", "parameters": {}}]`,
	"Jamba, Hunyuan":  `<tool_calls>[{"name": "shell_command", "arguments": ` + input + `}]</tool_calls>`,
	"Nemotron":        `<TOOLCALL>[{"name": "shell_command", "arguments": ` + input + `}]</TOOLCALL>`,
	"LongCat":         `<longcat_tool_call>{"name": "shell_command", "arguments": ` + input + `}</longcat_tool_call>`,
	"InternLM":        "<|action_start|><|plugin|>\n{\"name\": \"shell_command\", \"parameters\": " + input + "}",
	"LFM":             `<|tool_call_start|>[shell_command(script="rm")]<|tool_call_end|>`,
	"Olmo":            "<function_calls>\nshell_command(script=\"rm\")\n</function_calls>",
	"Apertus":         `<|tools_prefix|>[{"shell_command": ` + input + `}]<|tools_suffix|>`,
	"Solar":           "<|tool_calls|><|tool_call:begin|>a1<|tool_call:name|>shell_command<|tool_call:args|>" + input,
}

// Where a server doesn't read its model's calls, they stand in the text. That is no answer, and nobody is shown it. A
// text that quotes one, or that has one of another's tools, is an answer.
func TestACallInTheTextIsNoAnswer(t *testing.T) {
	ask := byTool()
	for about, text := range marked {
		lines := func(before string) string { return before + strings.ReplaceAll(text, "\n", "\n"+before) }
		for how, as := range map[string]struct {
			text  string
			ask   model.Request
			whole bool
		}{
			"alone":         {text, ask, false},
			"behind words":  {"I do it. " + text, ask, false},
			"below a quote": {"You asked:\n> Do it.\n\n" + text, ask, false},
			"below code":    {"I make\n\n    out/\n\nempty.\n" + text, ask, false},
			"behind quotes": {"「作り直して」 “now” „jetzt“ \"maintenant\": " + text, ask, false},

			"without tools":   {"I do it. " + text, model.Request{}, true},
			"another's tool":  {strings.ReplaceAll("It writes "+text, shell, "make_tea"), ask, true},
			"in a fence":      {"It writes\n~~~~\n" + text + "\n~~~~\nthen.", ask, true},
			"in a quote":      {"The file says:\n" + lines("> ") + "\nI did not run it.", ask, true},
			"indented":        {"The file says:\n\n" + lines("    ") + "\n\nI did not run it.", ask, true},
			"in quotes":       {"The log shows “" + text + "”: the server reads none.", ask, true},
			"behind a word":   {"The log shows “then " + text + "”: the server reads none.", ask, true},
			"between corners": {"記録には「" + text + "」とあります。", ask, true},
			"in plain quotes": {`"Why?" The log shows "then ` + text + `": the server reads none.`, ask, true},
		} {
			for _, n := range []int{1, 7, len(as.text)} {
				out, shown := read(t, as.ask, as.text, n)
				expect.That(t, (out.Stop == model.StopEnd) == as.whole && (shown == as.text) == as.whole &&
					(as.whole || !strings.Contains(shown, shell)), "%s, %s, by %d: %s %s, shown %q", about, how, n, out.Stop, out.Why,
					shown)
			}
		}
	}
}

// Models of some families write a call without a mark. A text that is nothing else is no answer, either.
func TestATextThatIsNothingButACall(t *testing.T) {
	for text, call := range map[string]bool{
		`{"name": "shell_command", "parameters": ` + input + `}`:                                                true,
		` {"name": "shell_command", "arguments": ` + input + "}\n":                                              true,
		`{"name": "shell_command", "arguments": "{\"script\":\"rm\"}"}`:                                         true,
		`{"type": "function", "function": {"name": "shell_command", "parameters": ` + input + `}`:               true,
		`{"function": "shell_command", "arguments": {}}`:                                                        true,
		`[{"name": "shell_command", "arguments": ` + input + `}]`:                                               true,
		`[{"tool_name": "shell_command", "parameters": ` + input + `}]`:                                         true,
		`{"name": "shell_command", "parameters": {}}; {"name": "shell_command", "parameters": ` + input + `}`:   true,
		"{\"name\": \"shell_command\", \"arguments\": " + input + "}\n{\"name\": \"other\", \"arguments\": {}}": true,
		`{"name": "shell_command", "arguments": {"script": "rm", "why": "}"}}`:                                  true,
		`{"name": "shell_command", "arguments": {"arguments_json": "{}"}}`:                                      true,
		`[shell_command(script="rm -rf out")]`:                                                                  true,
		`[shell_command(script="rm"), shell_command()]`:                                                         true,
		`shell_command(script="rm")`:                                                                            true,
		"shell_command\n" + input:                                                                               true,

		`{"name": "shell_command", "parameters": ` + input + "} runs it.":                                           false,
		"It writes:\n{\"name\": \"shell_command\", \"parameters\": " + input + "}":                                  false,
		"```json\n{\"name\": \"shell_command\", \"parameters\": " + input + "}\n```":                                false,
		`{"name": "shell_command", "description": "Runs."}`:                                                         false,
		`{"name": "shell_command", "parameters": {"type": "object", "properties": {"script": {"type": "string"}}}}`: false,
		`{"type": "function", "function": {"name": "shell_command", "parameters": {"type": "object"}}}`:             false,
		`{"name": "make_tea", "arguments": ` + input + `}`:                                                          false,
		`{"tools": [{"name": "shell_command", "arguments": ` + input + `}]}`:                                        false,
		`["shell_command"]`:                    false,
		`[shell_command](https://example.com)`: false,
		`[1] shell_command(script="rm")`:       false,
		"shell_command(…) runs a script.":      false,
		"shell_command\nruns a script.":        false,
		"shell_command":                        false,
		"{":                                    false,
		`{"a": "`:                              false,
	} {
		for _, n := range []int{1, 7, len(text)} {
			out, shown := read(t, byTool(), text, n)
			expect.That(t, (out.Stop == model.StopBroken) == call && (shown == text) == !call && (!call || shown == ""),
				"%q by %d: %s %s, shown %q", text, n, out.Stop, out.Why, shown)
		}
	}
}

// An answer may speak of marks and of a tool beside them.
func TestATextThatSpeaksOfCalls(t *testing.T) {
	for _, mark := range []string{"<tool_call>", "<tool_calls>", "<TOOLCALL>", "<|tool_call|>", "functools",
		"<|tool_call>", "<start_function_call>", "<function=", "<function=shell_command>", "<|python_tag|>",
		"<|tool_call_start|>", "<function_calls>", "[TOOL_CALLS]", "<|START_ACTION|>", "<|plugin|>", "<｜tool▁call▁begin｜>",
		"<|tool_call_begin|>", "<|tool_call:name|>", "<invoke name=", `<invoke name="shell_command">`,
		"<|channel|>commentary to=functions.", "<|channel|>commentary to=functions.shell_command"} {
		for _, text := range []string{
			"Qwen marks a call with " + mark + ", and this agent would then run shell_command only after approval.",
			"Behind " + mark + " stands shell_command, and what it gets in { and }.",
			mark + " begins a call of shell_command (its `script` is shown before).",
			mark + "\n\nis what a call of shell_command begins with.",
			"Er beginnt mit " + mark + "「shell_command」の呼び出しです。",
		} {
			out, shown := read(t, byTool(), text, 3)
			expect.That(t, out.Stop == model.StopEnd && shown == text, "%q: %s %s, shown %q", text, out.Stop, out.Why, shown)
		}
	}
}

// What speaks of thousands of calls is read in time.
func TestATextOfManyCallsIsReadInTime(t *testing.T) {
	for _, one := range []string{"`<tool_call>{\"name\":\"shell_command\"}` ", "“<tool_call>{'name':'shell_command'}” ",
		"\n    <tool_call>{\"name\":\"shell_command\"}", "<tool_call>{", "[", `{"a":`} {
		began := time.Now()
		_, _ = read(t, byTool(), "\n"+strings.Repeat(one, 2000), 4000)
		expect.That(t, time.Since(began) < 10*time.Second, "%q: it took %s", one, time.Since(began))
	}
}

func lacking(t *testing.T, steps []step, lacks ...model.LackData) string {
	t.Helper()
	b := expect.Value(json.Marshal(map[string]any{"steps": append([]step{}, steps...), "missing": lacks,
		"remarks": ""}))(t)
	return string(b)
}

// withoutDM returns the input for a plan of a tenant that forbids messages.
func withoutDM(t *testing.T) model.PlanInput {
	t.Helper()
	in := confined(t, "list_employees", `{"departments":["営業部"]}`)
	in.Tools = in.Tools.Only(func(s tool.Spec) bool { return s.Name != "send_slack_dm" })
	in.Forbidden = []string{"send_slack_dm"}
	return in
}

// A request that steps can't carry out gets an explanation, never steps for a part of it.
func TestWhatCantBePlannedIsSaid(t *testing.T) {
	in := withoutDM(t)
	dm := model.LackData{What: "依頼者への\n通知", Tool: "send_slack_dm", Why: "forbidden"}
	for name, test := range map[string]struct {
		locale string
		lacks  []model.LackData
		said   string
	}{
		"forbidden": {"ja", []model.LackData{dm}, "「依頼者への 通知」に必要なツール send_slack_dm は、管理者が許可していません。"},
		"constraint": {"ja", []model.LackData{{"人事部の一覧", "list_employees", "constraint"}},
			"「人事部の一覧」は、管理者が許可した範囲の外です (対象の部署: 営業部)。"},
		"no tool": {"ja", []model.LackData{{"PDF の作成", "", "no_tool"}}, "「PDF の作成」を行うツールがありません。"},
		"no value": {"en", []model.LackData{{"a message to Kato", "", "unknown"}},
			"“a message to Kato” needs a value that is in neither the request nor the policy."},
		"unclear": {"ja", []model.LackData{{"数量: 三台", "", "unclear"}}, "方針の「数量: 三台」は、実行ステップに反映できません。"},
		"many": {"en", []model.LackData{dm, dm, dm, dm},
			strings.Repeat("“依頼者への 通知” needs the tool send_slack_dm, which an administrator hasn't allowed. ",
				2) + "And 2 more."},
		"long": {"ja", []model.LackData{{strings.Repeat("長", 150), "", "no_tool"}},
			"「" + strings.Repeat("長", 59) + "…」を行うツールがありません。"},
	} {
		t.Run(name, func(t *testing.T) {
			in := in
			in.Locale = test.locale
			g := says(lacking(t, []step{listStep(1)}, test.lacks...))
			steps, _, usage, err := model.Plan(t.Context(), g, in)
			var lack *model.LackError
			expect.Must(t, errors.As(err, &lack) && len(steps) == 0 && len(g.asked) == 1,
				"%+v, %v after %d calls", steps, err, len(g.asked))
			f := model.FailedAtCost(err, usage)
			want := task.ReasonPlanLacks
			if why := test.lacks[0].Why; why != "forbidden" && why != "constraint" {
				want = task.ReasonPlanNever
			}
			expect.That(t, f.Reason == want && f.Said == test.said && f.Detail == "" && !f.Transient && f.Usage.Calls == 1,
				"%+v", f)
			expect.That(t, !strings.Contains(err.Error(), "通知"), "the error tells what was said: %v", err)
		})
	}
	expect.Must(t, strings.Contains(in.Forbidden[0], "dm"), "%v", in.Forbidden)
}

// A model can't claim that available tools are missing, nor plan something other than what was asked for.
func TestALackMustBeOne(t *testing.T) {
	for name, test := range map[string]struct {
		answer, told string
	}{
		"a tool that is allowed": {lacking(t, nil, model.LackData{What: "x", Tool: "calculate_overtime",
			Why: "forbidden"}), `missing.0.tool: "calculate_overtime" is none of the forbidden tools`},
		"a tool without constraints": {lacking(t, nil, model.LackData{What: "x", Tool: "calculate_overtime",
			Why: "constraint"}), `missing.0.tool: "calculate_overtime" is no tool with constraints`},
		"a tool that there is not": {lacking(t, nil, model.LackData{What: "x", Tool: "send_mail", Why: "no_tool"}),
			"missing.0.tool must be empty where why is no_tool"},
		"nothing to see": {lacking(t, nil, model.LackData{What: "\u200b", Why: "no_tool"}),
			"missing.0.what is empty"},
		"an odd reason":            {lacking(t, nil, model.LackData{What: "x", Why: "approved"}), "missing.0.why"},
		"neither steps nor a lack": {lacking(t, []step{}), "missing"},
		"another department": {answer(t, listStep(1).with("toolInput", `{"status":"active","department":"営業部"}`)),
			"department \"営業部\" stands neither in the policy nor in the request"},
	} {
		t.Run(name, func(t *testing.T) {
			in := withoutDM(t)
			in.Policy, in.Request = "人事部の従業員一覧を取得します。", "人事部の一覧"
			g := says(test.answer, lacking(t, nil, model.LackData{What: "人事部の一覧", Tool: "list_employees", Why: "constraint"}))
			_, _, _, err := model.Plan(t.Context(), g, in)
			var lack *model.LackError
			expect.Must(t, errors.As(err, &lack) && len(g.asked) == 2, "%v after %d calls", err, len(g.asked))
			expect.Has(t, told(t, g.asked[1]), test.told, "told")
		})
	}
	in := withoutDM(t)
	in.Policy = "営業の従業員一覧を取得します。"
	if steps, _, _, err := model.Plan(t.Context(), says(answer(t,
		listStep(1).with("toolInput", `{"status":"active","department":"営業部"}`))), in); err != nil || len(steps) != 1 {
		t.Errorf("the department that was asked for: %v", err)
	}
}

func TestTheDemoSaysWhatItMayNot(t *testing.T) {
	for name, test := range map[string]struct {
		tool, constraints, request, tells string
	}{
		"another department": {"list_employees", `{"departments":["営業部"]}`, "人事部の勤怠をまとめて",
			"範囲の外です (対象の部署: 営業部)"},
		"the whole company": {"list_employees", `{"departments":["営業部"]}`, "勤怠をまとめて",
			"範囲の外です (対象の部署: 営業部)"},
		"another sheet": {"write_rows_to_google_sheet", `{"spreadsheet_ids":["another"]}`, "勤怠をまとめて",
			"範囲の外です (書き込めるスプレッドシート: another)"},
		"another than the requester": {"send_slack_dm", `{"recipients":["U0OTHER"]}`, "勤怠をまとめて",
			"範囲の外です (送れる相手: U0OTHER)"},
		"no room can be booked": {"send_slack_dm", `{}`, "会議室を予約して", "ツールがありません"},
	} {
		t.Run(name, func(t *testing.T) {
			in := confined(t, test.tool, aggregate.JSON(test.constraints))
			in.Request, in.Locale = test.request, "ja"
			_, _, usage, err := model.Plan(t.Context(), demo.Layers{}, in)
			if f := model.FailedAtCost(err, usage); (f.Reason == task.ReasonPlanNever) != (name == "no room can be booked") ||
				!strings.Contains(f.Said, test.tells) {
				t.Errorf("%v: %+v", err, f)
			}
		})
	}
	in := withoutDM(t)
	in.Request, in.Locale = "営業部の勤怠をまとめて", "ja"
	_, _, usage, err := model.Plan(t.Context(), demo.Layers{}, in)
	expect.Has(t, model.FailedAtCost(err, usage).Said, "send_slack_dm は、管理者が許可していません", "%v", err)
}
