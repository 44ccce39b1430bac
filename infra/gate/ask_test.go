// Package gate_test holds what strangers put into their agents against a stand-in for Ringi's door, and at night real
// agents with it.
package gate_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
)

// pythonAsks asks once for each way of the door and says what came of it, a line each.
const pythonAsks = `
import json, os, sys
sys.path.insert(0, sys.argv[1])
from ask import ask
for way in sys.argv[3:]:
    os.environ["RINGI_URL"] = sys.argv[2] + way
    print(json.dumps([way, ask("shell", {"command": "make deploy", "description": way}, wait=0)]))
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

// ways are all faults at either step, and what else becomes of a call.
func ways() (all []string) {
	for name := range faults {
		all = append(all, "ask-"+name, "take-"+name)
	}
	return append(slices.Sorted(slices.Values(all)), "stamped", "refused", "pending", "late")
}

// started begins to ask. The function that it returns says what came of each way; nil is a yes.
func started(t *testing.T, cmd *exec.Cmd) func(*testing.T) map[string]*string {
	t.Helper()
	if cmd.Env == nil {
		cmd.Env = append(os.Environ(), "RINGI_KEY="+key)
	}
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	expect.NoError(t, cmd.Start())
	return func(t *testing.T) map[string]*string {
		err := cmd.Wait()
		expect.Must(t, err == nil, "%v: %s", err, problems.Bytes())
		return read(t, out.String())
	}
}

func said(t *testing.T, cmd *exec.Cmd) map[string]*string { return started(t, cmd)(t) }

func read(t *testing.T, out string) map[string]*string {
	t.Helper()
	all := map[string]*string{}
	for line := range strings.Lines(out) {
		var way string
		var no *string
		expect.NoError(t, json.Unmarshal([]byte(line), &[]any{&way, &no}))
		all[way] = no
	}
	return all
}

func asks(t *testing.T, url string, ways ...string) *exec.Cmd {
	t.Helper()
	return exec.Command(python(t), append([]string{"-c", pythonAsks, expect.Value(os.Getwd())(t), url}, ways...)...)
}

// Whatever goes wrong with an answer is a no, and each no has a sentence for the model.
func TestOnlyTheDoorsOwnGrantIsAYes(t *testing.T) {
	t.Parallel()
	isSlow := func(way string) bool { return strings.HasSuffix(way, "-hang") || strings.HasSuffix(way, "-drip") }
	quick := slices.DeleteFunc(ways(), isSlow)
	d := newDoor(t)
	waits := []func(*testing.T) map[string]*string{started(t, asks(t, d.URL+"/python/", quick...))}
	for _, way := range ways() {
		if isSlow(way) { // they wait at once
			waits = append(waits, started(t, asks(t, d.URL+"/python/", way)))
		}
	}
	checked := 0
	for _, wait := range waits {
		for way, no := range wait(t) {
			checkSaid(t, d, "python/"+way, no)
			checked++
		}
	}
	expect.Is(t, checked, len(ways()))
}

// recovered are faults after which the door's own grant came nevertheless.
var recovered = []string{"ask-no-say", "ask-empty-say", "take-no-say", "take-empty-say", "ask-broken-once",
	"take-broken-once"}

func checkSaid(t *testing.T, d *door, way string, no *string) {
	t.Helper()
	_, what, _ := strings.Cut(way, "/")
	yes := what == "stamped" || slices.Contains(recovered, what)
	expect.That(t, (no == nil) == yes, "%s: it is a yes: %v", way, no == nil)
	expect.That(t, no != nil || d.taken(way) == 1, "%s: a yes that the door did not grant", way)
	if no == nil {
		return
	}
	expect.That(t, len(*no) > 20, "%s: nothing is said", way)
	if strings.HasPrefix(what, "ask-say-") {
		expect.Is(t, *no, "Nothing was run. Repeat exactly this call later.", way)
	}
	switch what {
	case "refused":
		expect.Has(t, *no, "refused by 佐藤: over the budget")
	case "pending", "late":
		expect.Has(t, *no, "Repeat exactly this call later")
		expect.Is(t, d.taken(way), 0, way)
	}
}

// What was decided late runs once, when the call is repeated, and no third time.
func TestARepeatAfterALateStampRunsOnce(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	var yes []bool // of three repeats
	for range 3 {
		yes = append(yes, said(t, asks(t, d.URL+"/late/", "late"))["late"] == nil)
	}
	expect.Same(t, yes, []bool{false, true, false})
}

// The gateway before the door speaks otherwise, and too many requests aren't a refusal.
func TestWhatTheGatewaySaysIsTold(t *testing.T) {
	t.Parallel()
	door := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTooManyRequests)
		fmt.Fprint(w, `{"message":"Too Many Requests"}`)
	}))
	t.Cleanup(door.Close)
	no := said(t, asks(t, door.URL+"/", "stamped"))["stamped"]
	expect.Must(t, no != nil, "it is a yes")
	expect.Is(t, *no, "Ringi refused this: Too Many Requests. Nothing was run. Repeat exactly this call later.")
}

// Without a door, an address or a key nothing runs.
func TestWithoutADoorNothingRuns(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	for what, set := range map[string][]string{
		"down": {"http://127.0.0.1:1/", key}, "another key": {d.URL + "/x/", "rk_another"}, "no address": {"nowhere/", key},
	} {
		cmd := asks(t, set[0], "stamped")
		cmd.Env = append(os.Environ(), "RINGI_KEY="+set[1])
		no := said(t, cmd)["stamped"]
		expect.Must(t, no != nil, "%s: it is a yes", what)
		expect.Has(t, *no, "Nothing was run", what)
	}
}
