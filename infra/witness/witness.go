// Package witness tests the Slack sandbox with apps made with other Slack libraries, so that it behaves like Slack and
// not only as Ringi expects.
//
// Every library has the same small app. It answers a mention in the thread, with a card of two buttons. "Write a note"
// opens a form that refuses less than three characters; a longer note replaces the card's text. "Finish" counts the
// thread's messages, removes the buttons, and tells the person twice, ephemerally and through the response_url. The
// shortcut cancel_task answers in the thread.
package witness

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"ringi/infra/local/process"
	"ringi/infra/local/sandbox"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/sleep"
)

// startWithin is how long an app may take until it listens, patience how long anything else may take.
const startWithin, patience = 2 * time.Minute, time.Minute

// App is the app of one library. Command starts it, without an environment.
type App struct {
	Name    string
	Command func(t testing.TB) *exec.Cmd
}

// place is a sandbox with an app behind it.
type place struct {
	*sandbox.Sandbox
	t      testing.TB
	stderr *tail
}

// start starts a sandbox and the app. The app gets the sandbox's bot token, and appsSecret as its signing secret.
func start(t testing.TB, app App, appsSecret string) *place {
	t.Helper()
	now := time.Now() // the clock stands still, so that no trigger expires on a busy machine
	s := sandbox.New(sandbox.Options{
		SigningSecret: "the-signing-secret", BotToken: "xoxb-witness", TimeScale: 0.0001, AnswerTime: patience, Now: func() time.Time { return now },
	})
	t.Cleanup(s.Close)
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close)

	cmd := app.Command(t)
	// The app gets the PATH alone, and no proxy, token or option of whoever runs the test.
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "NO_PROXY=127.0.0.1",
		"SLACK_SIGNING_SECRET=" + appsSecret, "SLACK_BOT_TOKEN=xoxb-witness", "SLACK_API_URL=" + server.URL + "/api/",
	}
	stdin := expect.Value(cmd.StdinPipe())(t)
	t.Cleanup(func() { stdin.Close() })
	said, told, err := os.Pipe()
	expect.NoError(t, err)
	defer said.Close()
	p := &place{Sandbox: s, t: t, stderr: &tail{}}
	cmd.Stdout, cmd.Stderr = told, p.stderr
	child, err := process.Start(cmd)
	told.Close()
	expect.NoError(t, err)
	t.Cleanup(child.Kill)
	expect.NoError(t, said.SetReadDeadline(time.Now().Add(startWithin)))
	var ready struct{ Port int }
	line, err := bufio.NewReader(said).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &ready)
	}
	expect.Must(t, err == nil, "%s does not listen: %v\n%s", app.Name, err, p.stderr)
	at := fmt.Sprintf("http://127.0.0.1:%d/slack/events", ready.Port)
	s.Connect(sandbox.Endpoints{Self: server.URL, Events: at, Interactions: at})
	return p
}

// eventually polls until the claim holds.
func (p *place) eventually(what string, claim func() bool) {
	p.t.Helper()
	for deadline := time.Now().Add(patience); !claim(); {
		if time.Now().After(deadline) {
			p.t.Fatalf("never happened: %s\nattempts: %+v\nthe app says: %s", what, p.Attempts(), p.stderr)
		}
		_ = sleep.For(p.t.Context(), 10*time.Millisecond)
	}
}

// tail keeps the end of an app's standard error.
type tail struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.Write(b)
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := strings.TrimSpace(t.b.String())
	return all[max(0, len(all)-4000):]
}
