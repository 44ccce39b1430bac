package gate_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
)

// The stubs hold the least that README's lines need of each package. ask says what its environment has; the last line
// is what the lines decide.
var (
	pythonStubs = map[string]string{
		"ask.py":                         "import json, os\ndef ask(*_): return json.loads(os.environ['SAID'])\n",
		"langchain/__init__.py":          "",
		"langchain/agents/__init__.py":   "",
		"langchain/agents/middleware.py": "def wrap_tool_call(f): return f\n",
		"langchain_core/__init__.py":     "",
		"langchain_core/messages.py":     "def ToolMessage(no, **_): return 'denied'\n",
		"pydantic_ai/__init__.py":        "",
		"pydantic_ai/toolsets.py": "class WrapperToolset:\n" +
			"    async def call_tool(self, name, tool_args, ctx, tool): return 'runs'\n",
		"agents.py": "class ToolGuardrailFunctionOutput:\n" +
			"    allow = staticmethod(lambda: 'runs')\n    reject_content = staticmethod(lambda no: 'denied')\n" +
			"def tool_input_guardrail(f): return f\n",
	}
	nodeStubs = map[string]string{
		"ask.mjs": "export const ask = async () => JSON.parse(process.env.SAID);\n",
		"node_modules/@openai/agents/package.json": `{"type":"module","exports":"./index.js"}`,
		"node_modules/@openai/agents/index.js": "export const defineToolInputGuardrail = g => g;\n" +
			"export const ToolGuardrailFunctionOutputFactory = { allow: () => 'runs', rejectContent: () => 'denied' };\n",
	}
	decides = map[string]struct{ language, last string }{
		"LangGraph, LangChain": {"python", "from types import SimpleNamespace as N\n" +
			"print(door(N(tool_call={'name': 'a', 'args': {}, 'id': '1'}), lambda _: 'runs'))\n"},
		"Pydantic AI": {"python", "out = asyncio.run(Door().call_tool('a', {}, None, None))\n" +
			"print('runs' if out == 'runs' else 'denied')\n"},
		"OpenAI Agents, Python": {"python", "from types import SimpleNamespace as N\n" +
			"print(asyncio.run(door(N(context=N(tool_name='a', tool_arguments='{}')))))\n"},
		"OpenAI Agents, JavaScript": {"js", "console.log(await door.run({ toolCall: { name: 'a', arguments: '{}' } }));\n"},
		"AI SDK": {"js", "const what = await toolApproval({ toolCall: { toolName: 'a', input: {} } });\n" +
			"console.log(what === 'approved' ? 'runs' : what.type);\n"},
	}
)

// README's lines take nothing but the one yes for a yes.
func TestTheLinesForAgentsRunTheToolOnNothingElse(t *testing.T) {
	t.Parallel()
	py, js := python(t), node(t)
	for heading, of := range decides {
		program, name, stubs := py, "agent.py", pythonStubs
		if of.language == "js" {
			program, name, stubs = js, "agent.mjs", nodeStubs
		}
		if program == "" {
			continue
		}
		x := trial{dir: t.TempDir()}
		for file, text := range stubs {
			x.write(t, file, text)
		}
		x.write(t, name, block(t, heading, of.language, 1)+of.last)
		for said, want := range map[string]string{`null`: "runs", `"no"`: "denied", `""`: "denied"} {
			cmd := exec.Command(program, filepath.Join(x.dir, name))
			cmd.Env = append(os.Environ(), "SAID="+said)
			out, err := cmd.CombinedOutput()
			expect.That(t, err == nil && strings.TrimSpace(string(out)) == want, "%s, %s: %v: %s", heading, said, err, out)
		}
	}
}

// Who writes the repository, such as by a pull request, has no say in what Claude Code asks, or whom.
func TestTheRepositoryHasNoSayInItsOwnDoor(t *testing.T) {
	x := trial{dir: t.TempDir()}
	x.write(t, "claude", "#!/bin/sh\nprintf '%s\\n' \"$@\"\n")
	expect.NoError(t, os.Chmod(filepath.Join(x.dir, "claude"), 0o755))
	cmd := exec.Command("sh", "-c", block(t, "Claude Code", "sh", 1))
	cmd.Env = []string{"PATH=" + x.dir + ":/usr/bin:/bin", "HOME=/home/a"}
	out := expect.Value(cmd.Output())(t)
	expect.Has(t, string(out), "\n--strict-mcp-config\n")
	expect.Has(t, string(out), "\n--mcp-config\n/home/a/.config/ringi/mcp.json\n")
	expect.Has(t, string(out), "\n--setting-sources\nuser\n")
	readme := string(expect.Value(os.ReadFile("README.md"))(t))
	expect.Has(t, readme, "`claude --setting-sources user`") // at a keyboard
	for _, of := range []string{"`.mcp.json`", "`.claude/settings", "sources project"} {
		expect.That(t, !strings.Contains(readme, of), "README keeps the door in the repository: %s", of)
	}
}
