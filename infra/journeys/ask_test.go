package journeys

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
)

// pythonAsks asks at once for each way of the door and says what came of it, a line each.
const pythonAsks = `
import json, os, sys
sys.path.insert(0, sys.argv[1])
from ask import ask
for way in sys.argv[3:]:
    if not os.fork():
        os.environ["RINGI_URL"] = sys.argv[2] + way
        no = ask("shell", {"command": "make deploy", "description": way}, wait=0 if way.endswith("drip") else 25)
        os.write(1, (json.dumps([way, no]) + "\n").encode())
        os._exit(0)
for way in sys.argv[3:]:
    os.wait()
`

func python(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("python3")
	if err != nil && os.Getenv("CI") == "" {
		t.Skip("there is no python3")
	}
	expect.NoError(t, err)
	return path
}

// said asks at once for each way, and returns what came of it; nil is a yes.
func said(t *testing.T, url, key string, ways ...string) map[string]*string {
	t.Helper()
	cmd := exec.Command(python(t), append([]string{"-c", pythonAsks, "../gate", url}, ways...)...)
	cmd.Env = append(os.Environ(), "RINGI_KEY="+key)
	out, err := cmd.Output()
	expect.NoError(t, err)
	all := map[string]*string{}
	for line := range strings.Lines(string(out)) {
		var way string
		var no *string
		expect.NoError(t, json.Unmarshal([]byte(line), &[]any{&way, &no}))
		all[way] = no
	}
	expect.Is(t, len(all), len(ways))
	return all
}

// recovered are faults after which the door's own grant came nevertheless.
var recovered = []string{"ask-no-say", "ask-empty-say", "take-no-say", "take-empty-say", "ask-broken-once",
	"take-broken-once"}

// Whatever goes wrong with an answer is a no, and each no has a sentence for the model.
func TestOnlyTheDoorsOwnGrantIsAYes(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	ways := []string{"stamped", "refused", "late"}
	for name := range faults {
		ways = append(ways, "ask-"+name, "take-"+name)
	}
	all := said(t, d.URL+"/python/", key, ways...)
	for way, no := range all {
		yes := way == "stamped" || slices.Contains(recovered, way)
		expect.That(t, (no == nil) == yes, "%s: it is a yes: %v", way, no == nil)
		expect.That(t, no != nil || d.taken("python/"+way) == 1, "%s: a yes that the door did not grant", way)
		expect.That(t, no == nil || len(*no) > 20, "%s: nothing is said", way)
	}
	for way, says := range map[string]string{"refused": "refused by 佐藤: over the budget",
		"late": "Repeat exactly this call later", "ask-say-list": "Nothing was run. Repeat exactly this call later."} {
		if no := all[way]; no != nil {
			expect.Has(t, *no, says)
		}
	}
	expect.Is(t, d.taken("python/late"), 0)
}

// What was decided late runs once, when the call is repeated, and no third time.
func TestARepeatAfterALateStampRunsOnce(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	var yes []bool // of three repeats
	for range 3 {
		yes = append(yes, said(t, d.URL+"/late/", key, "late")["late"] == nil)
	}
	expect.Same(t, yes, []bool{false, true, false})
}

// Without a door, an address or a key nothing runs. The gateway before the door speaks otherwise, and too many requests
// aren't a refusal.
func TestWithoutADoorNothingRuns(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	gateway := expect.Server(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTooManyRequests)
		fmt.Fprint(w, `{"message":"Too Many Requests"}`)
	}))
	for _, tt := range []struct{ what, url, key, says string }{
		{"down", "http://127.0.0.1:1/", key, "Nothing was run"},
		{"another key", d.URL + "/x/", "rk_another", "Nothing was run"},
		{"no address", "nowhere/", key, "Nothing was run"},
		{"too many", gateway.URL + "/", key,
			"Ringi refused this: Too Many Requests. Nothing was run. Repeat exactly this call later."},
	} {
		no := said(t, tt.url, tt.key, "stamped")["stamped"]
		expect.Must(t, no != nil, "%s: it is a yes", tt.what)
		expect.Has(t, *no, tt.says, tt.what)
	}
}

// hooked starts the hook for a call, as a client does, and returns what the client sees: code, standard output, error.
func hooked(t *testing.T, url, stdin string, env ...string) (code int, out, say string) {
	t.Helper()
	cmd := exec.Command(python(t), "../gate/ask.py")
	cmd.Env = append(append(os.Environ(), "RINGI_KEY="+key), env...)
	if url != "" {
		cmd.Env = append(cmd.Env, "RINGI_URL="+url)
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &stdout, &stderr
	err := cmd.Run()
	expect.Must(t, err == nil || errors.As(err, new(*exec.ExitError)), "%v", err)
	return cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()
}

const (
	bash = `{"session_id":"s","cwd":"/repo","hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"t",` +
		`"tool_input":{"command":"make deploy","description":"Deploys"}}`
	allow = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}` + "\n"
)

// A hook stops a tool by code 2 and a reason on its standard error alone. Of a yes Claude Code is told, so that it
// doesn't ask once more.
func TestTheHookStopsTheToolUnlessItIsStamped(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	code, out, say := hooked(t, d.URL+"/hook/stamped", bash)
	expect.Same(t, []any{code, out, say}, []any{0, allow, ""})
	expect.Is(t, d.taken("hook/stamped"), 1)
	for _, tt := range []struct{ name, url, stdin, says string }{
		{"the same once more", d.URL + "/hook/stamped", bash, "granted to an attempt already"},
		{"other words for people", d.URL + "/hook/stamped", strings.Replace(bash, "Deploys", "Ships", 1), "already"},
		{"half an answer", d.URL + "/hook/take-half", bash, "Nothing was run"},
		{"no address", "", bash, "set RINGI_URL and RINGI_KEY. Nothing was run"},
		{"no call", d.URL + "/hook/stamped", ``, "Nothing was run"},
		{"half a call", d.URL + "/hook/stamped", bash[:90], "Nothing was run"},
		{"a folder of its own", d.URL + "/cwd/stamped", strings.Replace(bash, `"command"`, `"cwd":"/","command"`, 1), "cwd"},
		{"another form", d.URL + "/hook/stamped", `{"tool_name":"Bash","tool_input":"make"}`, "Nothing was run"},
	} {
		code, out, say := hooked(t, tt.url, tt.stdin)
		expect.Is(t, code, 2, tt.name)
		expect.Is(t, out, "", tt.name)
		expect.Has(t, say, tt.says, tt.name)
	}
}

// elsewhereEncoded are machines whose Python reads and writes something else than UTF-8, the first a Japanese Windows.
var elsewhereEncoded = [][]string{
	{"PYTHONIOENCODING=cp932:surrogateescape"}, {"PYTHONIOENCODING=utf-16"}, {"PYTHONIOENCODING=latin-1"},
	{"PYTHONIOENCODING=ascii:surrogateescape"},
	{"PYTHONUTF8=0", "PYTHONCOERCECLOCALE=0", "LC_ALL=C"}, {"PYTHONUTF8=0", "LC_ALL=POSIX", "LANG=ja_JP.SJIS"},
}

// People are asked about the bytes that run, whatever the machine's encoding is, and what they say reaches the agent
// unchanged. Of what isn't UTF-8 nobody is asked.
func TestTheHookSpeaksUTF8Everywhere(t *testing.T) {
	expect.Patience(t)
	t.Parallel()
	d := newDoor(t)
	for i, env := range elsewhereEncoded {
		way := fmt.Sprintf("utf8-%d/stamped", i)
		command := "rm -r 報告書\n# 全力\ngit commit -m '集計' é 🚀 \u2028" + strings.Repeat("あ", 10_800)
		call := expect.JSON(map[string]any{"cwd": "C:/作業", "tool_name": "Bash",
			"tool_input": map[string]any{"command": command}})
		code, out, say := hooked(t, d.URL+"/"+way, call, env...)
		expect.Same(t, []any{code, out, say}, []any{0, allow, ""})
		expect.Same(t, d.askedBy(way), []string{expect.JSON(map[string]any{"command": command, "cwd": "C:/作業"})})

		code, _, say = hooked(t, fmt.Sprintf("%s/no-%d/refused", d.URL, i), bash, env...)
		expect.Is(t, code, 2, env)
		expect.Has(t, say, "refused by 佐藤: over the budget", env)

		way = fmt.Sprintf("bytes-%d/stamped", i)
		for j, command := range []string{"rm -r \x95\xf1\x8d\x90", "caf\xe9", `half \ud83d`, "\xed\xa0\xbd", "\xc0\xaf"} {
			if i != j && !expect.Long() {
				continue
			}
			code, out, say := hooked(t, d.URL+"/"+way, strings.Replace(bash, "make deploy", command, 1), env...)
			expect.Is(t, code, 2, "%q, %v", command, env)
			expect.Is(t, out, "", "%q, %v", command, env)
			expect.Has(t, say, "This call isn't text in UTF-8", "%q, %v", command, env)
		}
		expect.Is(t, len(d.askedBy(way)), 0, env)
	}
}
