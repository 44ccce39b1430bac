package gate_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"ringi/shared/runtime/expect"
)

// hooked starts the hook for a call, as a client does, and returns what the client sees: code, standard output, error.
func hooked(t *testing.T, url, stdin string, env ...string) func() (code int, out, say string) {
	t.Helper()
	cmd := exec.Command(python(t), "ask.py", "--hook")
	cmd.Env = append(append(os.Environ(), "RINGI_KEY="+key), env...)
	if url != "" {
		cmd.Env = append(cmd.Env, "RINGI_URL="+url)
	}
	var out, say bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &say
	expect.NoError(t, cmd.Start())
	return func() (int, string, string) {
		err := cmd.Wait()
		var failed *exec.ExitError
		expect.Must(t, err == nil || errors.As(err, &failed), "%v", err)
		return cmd.ProcessState.ExitCode(), out.String(), say.String()
	}
}

const bash = `{"session_id":"s","cwd":"/repo","hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"t",` +
	`"tool_input":{"command":"make deploy","description":"Deploys"}}`

// A hook stops a tool by code 2 and a reason on its standard error alone. Of a yes Claude Code is told, so that it
// doesn't ask once more.
func TestTheHookStopsTheToolUnlessItIsStamped(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	code, out, say := hooked(t, d.URL+"/hook/stamped", bash)()
	expect.Is(t, code, 0, say)
	expect.Has(t, out, `"permissionDecision":"allow"`)
	expect.Is(t, say, "")
	expect.Is(t, d.taken("hook/stamped"), 1)
	for _, tt := range []struct{ name, url, stdin, says string }{
		{"the same once more", d.URL + "/hook/stamped", bash, "granted to an attempt already"},
		{"refused", d.URL + "/hook/refused", bash, "refused by 佐藤: over the budget"},
		{"pending", d.URL + "/hook/pending", bash, "Repeat exactly this call later"},
		{"half an answer", d.URL + "/hook/take-half", bash, "Nothing was run"},
		{"a page", d.URL + "/hook/ask-html", bash, "Nothing was run"},
		{"down", "http://127.0.0.1:1", bash, "Nothing was run"},
		{"no address", "", bash, "Nothing was run"},
		{"no call", d.URL + "/hook/stamped", ``, "Nothing was run"},
		{"half a call", d.URL + "/hook/stamped", bash[:90], "Nothing was run"},
		{"a folder of its own", d.URL + "/cwd/stamped", strings.Replace(bash, `"command"`, `"cwd":"/","command"`, 1), "cwd"},
		{"another form", d.URL + "/hook/stamped", `{"tool_name":"Bash","tool_input":"make"}`, "Nothing was run"},
	} {
		code, out, say := hooked(t, tt.url, tt.stdin)()
		expect.Is(t, code, 2, tt.name)
		expect.Is(t, out, "", tt.name)
		expect.Has(t, say, tt.says, tt.name)
	}
}

// A door that never answers is a no well before the client's own limit, 60 seconds.
func TestTheHookAnswersInTime(t *testing.T) {
	expect.AtNight(t) // TestOnlyTheDoorsOwnGrantIsAYes has a shorter wait
	began := time.Now()
	code, out, say := hooked(t, newDoor(t).URL+"/hook/ask-hang", bash)()
	expect.Is(t, code, 2)
	expect.Has(t, out+say, "in time")
	expect.That(t, time.Since(began) < 40*time.Second, "the client's 60 seconds are near: %s", time.Since(began))
}

// Words for people don't make a repeat another call, unless they name the call that is meant once more.
func TestTheHookTellsARepeatFromASecondCall(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	for _, tt := range []struct {
		description string
		code        int
	}{{"Deploys", 0}, {"Deploys the new version", 2}, {"Deploys. ringi_again: call_1", 0}} {
		code, _, say := hooked(t, d.URL+"/hook/stamped", strings.Replace(bash, "Deploys", tt.description, 1))()
		expect.Is(t, code, tt.code, "%s: %s", tt.description, say)
	}
	elsewhere := strings.Replace(bash, "/repo", "/other", 1)
	code, _, _ := hooked(t, d.URL+"/hook/stamped", elsewhere)()
	expect.Is(t, code, 0, "in another folder it is another call")
}

// elsewhereEncoded are machines whose Python reads and writes something else than UTF-8, the first a Japanese Windows.
var elsewhereEncoded = [][]string{
	{"PYTHONIOENCODING=cp932:surrogateescape"}, {"PYTHONIOENCODING=latin-1"}, {"PYTHONIOENCODING=utf-16"},
	{"PYTHONIOENCODING=ascii:surrogateescape"},
	{"PYTHONUTF8=0", "PYTHONCOERCECLOCALE=0", "LC_ALL=C"}, {"PYTHONUTF8=0", "LC_ALL=POSIX", "LANG=ja_JP.SJIS"},
}

// People are asked about the bytes that run, whatever the machine's encoding is, and read its words as they were said.
func TestTheHookReadsAndWritesUTF8Everywhere(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	for i, env := range elsewhereEncoded {
		for j, command := range []string{"rm -r 報告書/2025", "# 全力\nrm -rf build", "git commit -m '集計' é 🚀 \u2028"} {
			way := fmt.Sprintf("utf8-%d-%d", i, j)
			call := written(map[string]any{"cwd": "C:/作業", "tool_name": "Bash",
				"tool_input": map[string]any{"command": command}})
			code, out, say := hooked(t, d.URL+"/"+way+"/stamped", call, env...)()
			expect.Is(t, code, 0, "%v: %s", env, say)
			expect.Is(t, out, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}`+"\n", env)
			all := d.askedBy(way + "/stamped")
			expect.Same(t, all, []string{written(map[string]any{"command": command, "cwd": "C:/作業"})})
		}
		code, _, say := hooked(t, fmt.Sprintf("%s/no-%d/refused", d.URL, i), bash, env...)()
		expect.Is(t, code, 2, env)
		expect.Has(t, say, "refused by 佐藤: over the budget", env)
	}
}

// What isn't UTF-8 is refused in words, and nobody is asked.
func TestTheHookRefusesWhatIsNotUTF8(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	for i, command := range []string{"rm -r \x95\xf1\x8d\x90\x8f\x91", "caf\xe9", `half \ud83d`, "\xed\xa0\xbd",
		"\xc0\xaf"} {
		for j, env := range append(elsewhereEncoded, []string{"PYTHONUTF8=1"}) {
			way := fmt.Sprintf("bytes-%d-%d", i, j)
			code, out, say := hooked(t, d.URL+"/"+way+"/stamped", strings.Replace(bash, "make deploy", command, 1), env...)()
			expect.Is(t, code, 2, "%q, %v", command, env)
			expect.Is(t, out, "", "%q, %v", command, env)
			expect.Has(t, say, "This call isn't text in UTF-8", "%q, %v", command, env)
			expect.Is(t, len(d.askedBy(way+"/stamped")), 0, "%q, %v", command, env)
		}
	}
}
