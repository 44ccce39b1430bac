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
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"ringi/infra/local/process"
	"ringi/infra/local/sandbox"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/runtime/expect"
)

// startWithin bounds the time until an app listens.
const startWithin = 2 * time.Minute

// App is one library's app; Command starts it with an empty environment.
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
	now := time.Now() // the clock doesn't advance, so that no trigger expires on a busy machine
	s := sandbox.New(sandbox.Options{
		SigningSecret: "the-signing-secret", BotToken: "xoxb-witness", TimeScale: 0.0001, AnswerTime: time.Minute,
		Now: func() time.Time { return now },
	})
	t.Cleanup(s.Close)
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close)

	cmd := app.Command(t)
	// The app gets only PATH, not the proxies, tokens or options of the person who runs the test.
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
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("attempts: %+v\nthe app says: %s", s.Attempts(), p.stderr)
		}
	})
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

// tail stores the end of an app's standard error.
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

// Walk uses every feature of the app, as a person in the sandbox does.
func Walk(t *testing.T, app App) {
	p := start(t, app, "the-signing-secret")
	root := expect.Value(p.Say(webapi.Sato, webapi.HR, sandbox.Mention("こんにちは <&>")))(t)
	expect.Eventually(p.t, "the app answers in the thread", func() bool { return len(p.Messages(webapi.HR, root)) == 2 })
	card := p.Messages(webapi.HR, root)[1]
	expect.That(t, card.ThreadTS == root && card.BotID == webapi.BotID &&
		strings.Contains(blocks(card), "heard \\u003c@"+webapi.Sato), "the card is %+v", card)
	p.note(root, card.TS)
	p.finish(card.TS)
	err := p.Shortcut(webapi.Tanaka, webapi.HR, root, "cancel_task")
	expect.That(t, err == nil, "shortcut: %v\n%s", err, p.stderr)
	expect.Eventually(p.t, "the shortcut's answer", func() bool { return len(p.Messages(webapi.HR, root)) == 3 })
	expect.Is(t, p.Messages(webapi.HR, root)[2].Text, "cancelled by <@"+webapi.Tanaka+">", "the shortcut's answer")
	for _, a := range p.Attempts() {
		expect.That(t, a.Reason == "" && a.Status == http.StatusOK && a.Retry <= 0, "delivery %+v did not go well at once", a)
	}
	for _, c := range p.Calls() {
		expect.Is(t, c.Error, "", "call %s was answered", c.Method)
	}
	expect.Is(t, p.stderr.String(), "", "the app complains")
}

func (p *place) message(card string) webapi.Message {
	p.t.Helper()
	return expect.Value(p.Workspace().Message(webapi.HR, card, webapi.Suzuki))(p.t)
}

// note fills in the card's form. The open form refuses a note that is too short; a longer one changes the card.
func (p *place) note(root, card string) {
	p.click(webapi.Suzuki, card, "open_form")
	expect.Eventually(p.t, "the form opens", func() bool { return len(p.Views(webapi.Suzuki)) == 1 })
	form := p.Views(webapi.Suzuki)[0]
	refused, err := p.Submit(webapi.Suzuki, form.ID, map[string]any{"note_block": "短"})
	expect.That(p.t, err == nil && refused["note_block"] == "at least three characters" &&
		len(p.Views(webapi.Suzuki)) == 1,
		"a short note: %v %v, %d forms are open; want it refused in the open form", refused, err, len(p.Views(webapi.Suzuki)))
	refused, err = p.Submit(webapi.Suzuki, form.ID, map[string]any{"note_block": "稟議を<&>回す"})
	expect.That(p.t, err == nil && len(refused) == 0 && len(p.Views(webapi.Suzuki)) == 0,
		"a note: %v %v, %d forms are open; want it taken and the form "+
			"closed\n%s", refused, err, len(p.Views(webapi.Suzuki)), p.stderr)
	expect.Eventually(p.t, "the card shows the note", func() bool {
		return strings.Contains(blocks(p.message(card)),
			"noted: 稟議を")
	})
	m := p.message(card)
	expect.That(p.t, m.Text == "noted" && !strings.Contains(blocks(m), "open_form") &&
		len(p.Messages(webapi.HR, root)) == 2, "the updated card is %+v", m)
}

// finish presses the card's other button, which tells the person twice and removes the buttons.
func (p *place) finish(card string) {
	p.click(webapi.Suzuki, card, "finish")
	expect.Eventually(p.t, "the card is finished", func() bool {
		return strings.Contains(blocks(p.message(card)),
			"finished, 1 of 2 messages are ours")
	})
	expect.Eventually(p.t, "the person is told twice", func() bool { return len(p.Ephemerals(webapi.Suzuki)) == 2 })
	for i, want := range []string{"for you alone", "by response_url"} {
		expect.Is(p.t, p.Ephemerals(webapi.Suzuki)[i].Text, want, "the person is told")
	}
	others := p.Ephemerals(webapi.Sato)
	expect.That(p.t, len(others) == 0, "somebody else sees %v", others)
	expect.That(p.t, p.Click(webapi.Suzuki, webapi.HR, card, "finish") != nil,
		"a button that is gone can be pressed")
}

// CheckForgeryRefused checks that the app verifies signatures: with another secret it must refuse every call and do
// nothing. Walk alone would pass for an app that accepts any signature.
func CheckForgeryRefused(t *testing.T, app App) {
	p := start(t, app, "another-secret")
	root := expect.Value(p.Say(webapi.Sato, webapi.HR, sandbox.Mention("こんにちは")))(t)
	expect.Eventually(p.t, "the event is given up", func() bool {
		final := 0
		for _, a := range p.Attempts() {
			if a.Final {
				final++
			}
		}
		return final == 2 // app_mention and the channel's message
	})
	for _, a := range p.Attempts() {
		expect.That(t, a.Status == http.StatusUnauthorized && a.Reason == "http_error", "attempt %+v, want 401", a)
	}
	err := p.Shortcut(webapi.Sato, webapi.HR, root, "cancel_task")
	var trouble sandbox.InteractionError
	expect.That(t, errors.As(err, &trouble) && trouble.Status == http.StatusUnauthorized, "shortcut: %v, want 401", err)
	expect.Is(t, len(p.Messages(webapi.HR, root)), 1, "messages in the thread; an app that believes nobody says nothing")
	for _, c := range p.Calls() {
		if c.Method != "auth.test" { // a library may ask who it is when it starts
			t.Errorf("an app that believes nobody calls %s", c.Method)
		}
	}
}

func (p *place) click(user, ts, action string) {
	p.t.Helper()
	err := p.Click(user, webapi.HR, ts, action)
	expect.Must(p.t, err == nil, "click %s: %v\n%s", action, err, p.stderr)
}

func blocks(m webapi.Message) string {
	b, err := json.Marshal(m.Blocks)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

//go:embed app.py blocks.py requirements.txt
var sdkFiles embed.FS

// interpreter returns the path of a Python that has slack_sdk.
func interpreter(ctx context.Context, notify func(string)) (string, error) {
	folder, err := process.Folder()
	if err != nil {
		return "", err
	}
	pins, err := sdkFiles.ReadFile("requirements.txt")
	if err != nil {
		return "", fmt.Errorf("read requirements: %w", err)
	}
	return process.Environment(ctx, folder, "slack_sdk", pins, notify)
}

// script writes one of the package's programs into dir and returns its path.
func script(dir, name string) (string, error) {
	content, err := sdkFiles.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("unpack %s: %w", name, err)
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, content, 0o644); err != nil {
		return "", fmt.Errorf("unpack %s: %w", name, err)
	}
	return path, nil
}
