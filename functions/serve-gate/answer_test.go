package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/ringitest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
)

// What the door says by MCP of a call that runs where the agent runs is whole, and only what a model can do.
func TestWhatWaitingSaysAModelCanDo(t *testing.T) {
	w := opened(t)
	w.give("Write")
	write := `{"tool":"Write","arguments":{"path":"a"}}`
	_, a, _ := w.says("POST", "/calls", write)
	s := w.connected("2025-06-18")
	say := func(want string) {
		t.Helper()
		text, is, _ := w.tell(s, "ringi_wait", map[string]any{"id": a.ID, "seconds": 0})
		expect.That(t, strings.HasSuffix(is.Say, want) && !strings.Contains(is.Say, " take"), "%s", text)
	}
	w.act(a.ID, circulation.SendBack, "no")
	say("Tell the person you work for.")
	_, b, _ := w.says("POST", "/calls", strings.Replace(write, "{", `{"again":"`+a.ID+`",`, 1))
	say("Tell the person you work for.")
	a = b
	say("repeat exactly this call later: it stays the same request.")
	w.act(a.ID, circulation.Stamp, "")
	say("to have it run, repeat exactly this call. It runs once.")
}

// give adds a tool that runs where the agent runs to the key's.
func (w *world) give(name string) {
	w.changes(func(k *tenancy.Key) { k.Tools = append(k.Tools, name) })
}

// changes saves the key anew.
func (w *world) changes(change func(k *tenancy.Key)) {
	w.t.Helper()
	k := expect.Value(w.all.Key(w.t.Context(), w.key.TenantID, w.key.ID))(w.t)
	change(&k)
	w.key = expect.Value(w.all.SaveKey(w.t.Context(), k, ringitest.Member("U9"), w.now))(w.t)
}

// What the sentence of an ended call names is a field of the REST API or words in an argument, and either works.
func TestWhatIsSaidOfAnEndedCallWorks(t *testing.T) {
	w := opened(t)
	_, first, _ := w.says("POST", "/calls", askBash)
	w.act(first.ID, circulation.SendBack, "金曜は避けてください")
	_, first, text := w.says("POST", "/calls", askBash)
	said := regexp.MustCompile(`ask for it with (again): ([\w-]+), or (ringi_again: ([\w-]+)) in its (description)\.$`).
		FindStringSubmatch(first.Say)
	expect.Must(t, said != nil, "%s", text)
	ids := map[string]bool{first.ID: true}
	for _, body := range []string{strings.Replace(askBash, `"reason"`, `"`+said[1]+`":"`+said[2]+`","reason"`, 1),
		strings.Replace(askBash, `"`+said[5]+`":"Deploys`, `"`+said[5]+`":"Deploys. `+said[3], 1)} {
		_, is, text := w.says("POST", "/calls", body)
		expect.That(t, is.Status == "pending" && is.ID != first.ID, "%s: %s", body, text)
		ids[is.ID] = true
	}
	expect.Is(t, len(ids), 2, "both name the same call")
}

// What a model behind the files for agents is told it can do where no words in its call have room for it: tell its
// person, whose program says it.
func TestAModelBehindAFileCanDoWhatItIsTold(t *testing.T) {
	w := opened(t)
	w.give("pay")
	server := expect.Server(t, w.http)
	files := expect.Value(filepath.Abs("../../infra/gate"))(t)
	const program = "import json, os, sys; sys.path.insert(0, sys.argv[1]); from ask import ask; a = sys.argv\n" +
		"print(ask(a[2], json.loads(a[3]), wait=0, again=a[4] or None))"
	if _, err := exec.LookPath("python3"); err != nil && os.Getenv("CI") == "" {
		t.Skip("python3 is missing: ", err)
	}
	asks := func(tool, arguments, again string) string {
		t.Helper()
		run := exec.CommandContext(t.Context(), "python3", "-c", program, files, tool, arguments, again)
		run.Env = append(os.Environ(), "RINGI_URL="+server.URL, "RINGI_KEY="+w.secret+"\r\n")
		text, err := run.CombinedOutput()
		expect.Must(t, err == nil, "%v: %s", err, text)
		return string(text)
	}
	const pay = `{"to":"U1"}`
	_, a, _ := w.says("POST", "/calls", `{"tool":"pay","arguments":`+pay+`}`)
	w.act(a.ID, circulation.SendBack, "no")
	is := asks("pay", pay, "")
	of := regexp.MustCompile(`tell them that your program has to ask for it with again: ([\w-]+)\.`).FindStringSubmatch(is)
	expect.Must(t, of != nil, "%s", is)
	expect.Has(t, asks("pay", pay, of[1]), "waits for people")
	// Once people stamped it, a mere repeat runs it, and only the first.
	_, newest, _ := w.says("POST", "/calls", `{"tool":"pay","arguments":`+pay+`}`)
	w.act(newest.ID, circulation.Stamp, "")
	is = strings.TrimSpace(asks("pay", pay, ""))
	expect.That(t, is == "None" || is == "null", "%s", is)
	expect.Has(t, asks("pay", pay, ""), "was used, once")
}

// A key waits for few answers at once; more are answered at once.
func TestAKeyWaitsForFewAnswers(t *testing.T) {
	w := opened(t)
	_, a, _ := w.says("POST", "/calls", askBash)
	for range 6 {
		expect.NoError(t, w.Store.Count(t.Context(), w.key.TenantID, call.Waits(w.key, mostWait*time.Second, w.now)))
	}
	began := time.Now()
	status, is, text := w.says("GET", "/calls/"+a.ID+"?wait=25", "")
	expect.That(t, status == 200 && is.Status == "pending" && time.Since(began) < 20*time.Second, "%d %s", status, text)
}

// A key that ends while the answer is waited for is told so, and what it asked for was asked; one that has ended asks
// for nothing.
func TestAKeyThatEndsWhileItWaitsHasAsked(t *testing.T) {
	w := opened(t)
	was, waited := w.rows(), make(chan int)
	go func() {
		status, _, _ := w.says("POST", "/calls?wait=25", askBash)
		waited <- status
	}()
	for w.rows() < was+5 && t.Context().Err() == nil { // the use of the key is noted, and more
		time.Sleep(20 * time.Millisecond)
	}
	expect.NoError(t, w.all.RevokeKey(t.Context(), w.key.TenantID, w.key.ID, aggregate.System(), w.now))
	expect.Is(t, <-waited, 401)
	page := expect.Value(store.CallsOf(w.all).Listed(t.Context(), w.key.TenantID, "", 9, 9,
		func(call.Call) bool { return true }))(t)
	expect.That(t, len(page.Items) == 1 && page.Items[0].KeyID == w.key.ID, "%+v", page.Items)
	was = w.rows()
	status, _, _ := w.says("POST", "/calls?wait=25", strings.Replace(askBash, "deploy", "test", 1))
	expect.That(t, status == 401 && w.rows() == was, "%d, %d rows, not %d", status, w.rows(), was)
}

// Once a key is revoked its waits end, and what waits for people; what is taken off it isn't granted any more.
func TestARevokedKeyWaitsForNothing(t *testing.T) {
	w := opened(t)
	_, a, _ := w.says("POST", "/calls", askBash)
	_, b, _ := w.says("POST", "/calls", strings.Replace(askBash, "deploy", "test", 1))
	_, dm, _ := w.tell(w.connected("2026-07-28"), writeTool, message("a"))
	w.act(b.ID, circulation.Stamp, "")
	w.changes(func(k *tenancy.Key) { k.Tools = []string{writeTool} })
	status, _, text := w.says("POST", "/calls/"+b.ID+"/take", strings.Replace(takes("a"), "deploy", "test", 1))
	expect.That(t, status == 403 && strings.Contains(text, "not among"), "%d %s", status, text)
	expect.NoError(t, w.all.FollowKey(t.Context(), w.key.TenantID, w.key.ID, w.now)) // as the relay does
	_, is, text := w.says("GET", "/calls/"+a.ID, "")
	expect.That(t, is.Status == "refused" && strings.Contains(is.Say, "may not use this tool any more"), "%s", text)
	began, waited := time.Now(), make(chan int)
	go func() {
		status, _, _ := w.says("GET", "/calls/"+dm.ID+"?wait=25", "")
		waited <- status
	}()
	expect.NoError(t, w.all.RevokeKey(t.Context(), w.key.TenantID, w.key.ID, aggregate.System(), w.now))
	expect.That(t, <-waited == 401 && time.Since(began) < 20*time.Second, "a wait goes on")
	expect.NoError(t, w.all.FollowKey(t.Context(), w.key.TenantID, w.key.ID, w.now))
	x := expect.Value(w.Store.Joined(t.Context(), w.key, dm.ID))(t)
	expect.Is(t, x.Call.CancelReason, call.ReasonKey)
}

// The key of somebody who left stops within five minutes, whatever became of Slack's event. While Slack is silent it
// stands.
func TestALeaversKeyStops(t *testing.T) {
	w := opened(t)
	looks := func() int {
		status, _, _ := w.says("GET", "/calls/call-x", "")
		return status
	}
	expect.Is(t, looks(), 404)
	w.left = "U1"
	expect.Is(t, looks(), 404) // asked a moment ago
	w.now, w.slack = w.now.Add(tenancy.KeyUsedEvery), errors.New("down")
	expect.Is(t, looks(), 404)
	w.now, w.slack = w.now.Add(tenancy.KeyUsedEvery), nil
	expect.Is(t, looks(), 401)
	k := expect.Value(w.all.Key(t.Context(), w.key.TenantID, w.key.ID))(t)
	expect.That(t, k.RevokedAt != nil && k.RevokedBy == "" && tenancy.KeyUsedEvery < 5*time.Minute, "%+v", k)
}
