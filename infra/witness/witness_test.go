package witness

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/google/go-cmp/cmp"

	"ringi/infra/local/process"
	"ringi/shared/domain/task"
	"ringi/shared/model"
	"ringi/shared/model/anthropic"
	"ringi/shared/model/bedrock"
	"ringi/shared/model/compatible"
	"ringi/shared/model/openai"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/outbound"
)

//go:embed bolt/package.json bolt/package-lock.json bolt/.npmrc bolt/app.js
var boltFiles embed.FS

func app(t *testing.T) App {
	t.Helper()
	expect.AtNight(t)
	node, dir := process.StartNode(t, "bolt", expect.Value(fs.Sub(boltFiles, "bolt"))(t))
	return App{Name: "the Bolt app", Command: func(testing.TB) *exec.Cmd {
		cmd := exec.Command(node, "app.js")
		cmd.Dir = dir
		return cmd
	}}
}

func TestBoltUnderstandsTheSandbox(t *testing.T) { Walk(t, app(t)) }

func TestBoltRefusesAForeignSignature(t *testing.T) { CheckForgeryRefused(t, app(t)) }

// The lock file pins contents, not the registry that they come from.
func TestTheLockNamesNoRegistry(t *testing.T) {
	lock := expect.Value(boltFiles.ReadFile("bolt/package-lock.json"))(t)
	expect.That(t, !bytes.Contains(lock, []byte(`"resolved"`)) && bytes.Contains(lock, []byte(`"integrity": "sha512-`)),
		"package-lock.json holds addresses, or no hashes; .npmrc leaves the addresses out when npm writes it")
}

// command runs one of the package's programs; without Python the test is skipped on a laptop and fails if CI is set.
func command(t *testing.T, name string) func(testing.TB) *exec.Cmd {
	t.Helper()
	expect.Patience(t)
	interpreter, err := interpreter(t.Context(), func(m string) { t.Log(m) })
	if errors.Is(err, process.ErrMissing) && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	expect.NoError(t, err)
	path := expect.Value(script(t.TempDir(), name))(t)
	return func(testing.TB) *exec.Cmd { return exec.Command(interpreter, path) }
}

func TestSlackSDKUnderstandsTheSandbox(t *testing.T) {
	expect.AtNight(t)
	Walk(t, App{Name: "the slack_sdk app", Command: command(t, "app.py")})
}

func TestSlackSDKRefusesAForeignSignature(t *testing.T) {
	expect.AtNight(t)
	CheckForgeryRefused(t, App{Name: "the slack_sdk app", Command: command(t, "app.py")})
}

type content struct {
	Name    string          `json:"name"`
	Content json.RawMessage `json:"content"`
}

type opinion struct {
	Name     string   `json:"name"`
	Problems []string `json:"problems"`
	Blocks   int      `json:"blocks"`
}

// opinions returns the errors of slack_sdk's models for each message or modal.
func opinions(t *testing.T, all []content) map[string]opinion {
	t.Helper()
	var in bytes.Buffer
	for _, c := range all {
		expect.NoError(t, json.NewEncoder(&in).Encode(c))
	}
	cmd := command(t, "blocks.py")(t)
	cmd.Stdin, cmd.Stderr = &in, os.Stderr
	out := expect.Value(cmd.Output())(t)
	said := map[string]opinion{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var o opinion
		if err := d.Decode(&o); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		said[o.Name] = o
	}
	expect.Must(t, len(said) == len(all), "%d opinions on %d contents", len(said), len(all))
	return said
}

// At night every card and form that Ringi can show, as the card package's test of their looks writes them; by day a few
// that have each kind of block.
func TestSlackSDKAcceptsEveryCard(t *testing.T) {
	root := expect.Value(process.ModuleRoot())(t)
	folder := filepath.Join(root, "shared/slack/card/testdata/wire")
	if expect.Long() {
		folder = t.TempDir()
		write := exec.Command("go", "test", "-count=1", "-run=^TestEveryStateLooksAsItDid$", "./shared/slack/card")
		write.Dir, write.Env = root, append(os.Environ(), "RINGI_CARDS="+folder)
		out, err := write.CombinedOutput()
		expect.Must(t, err == nil, "%v:\n%s", err, out)
	}
	paths, err := filepath.Glob(filepath.Join(folder, "*.json"))
	expect.Must(t, err == nil && len(paths) != 0, "%s has %d cards, %v", folder, len(paths), err)
	var all []content
	for _, path := range paths {
		all = append(all, content{filepath.Base(path), expect.Value(os.ReadFile(path))(t)})
	}
	blocks := 0
	for name, o := range opinions(t, all) {
		plain := strings.Contains(name, "task_") || strings.Contains(name, "talk_said") // a text alone
		expect.That(t, len(o.Problems) == 0 && (o.Blocks != 0 || plain),
			"%s, %d blocks:\n%s", name, o.Blocks, strings.Join(o.Problems, "\n"))
		blocks += o.Blocks
	}
	t.Logf("%d cards and forms of %d blocks", len(all), blocks)
}

// A witness that accepts everything proves nothing.
func TestSlackSDKRefusesWhatSlackRefuses(t *testing.T) {
	expect.AtNight(t)
	long := func(n int) string { return strings.Repeat("長", n) }
	text := func(kind, s string) map[string]any { return map[string]any{"type": kind, "text": s} }
	button := func(label, value, style string) map[string]any {
		b := map[string]any{"type": "button", "action_id": "a", "text": text("plain_text", label), "value": value}
		if style != "" {
			b["style"] = style
		}
		return b
	}
	actions := func(e ...any) map[string]any { return map[string]any{"type": "actions", "elements": e} }
	modal := func(title string) map[string]any {
		return map[string]any{"type": "modal", "title": text("plain_text", title),
			"blocks": []any{map[string]any{"type": "divider"}}}
	}
	tests := []struct {
		name  string
		block map[string]any
		want  string
	}{
		{"a header of 151", map[string]any{"type": "header", "text": text("plain_text", long(151))}, "150"},
		{"a section of 3001", map[string]any{"type": "section", "text": text("mrkdwn", long(3001))}, "3000"},
		{"a section of nothing", map[string]any{"type": "section"}, "text or fields"},
		{"a label of 76", actions(button(long(76), "v", "")), "75"},
		{"a value of 2001", actions(button("x", long(2001), "")), "2000"},
		{"a style that is none", actions(button("x", "v", "green")), "style"},
		{"a block that is none", map[string]any{"type": "poster"}, "no block has type"},
		{"a field that is none", map[string]any{"type": "divider", "color": "red"}, "/color is unknown"},
		{"a form with a long title", modal(long(25)), "24"},
	}
	var all []content
	for _, tt := range tests {
		m := map[string]any{"attachments": []any{map[string]any{"blocks": []any{tt.block}}}}
		if tt.block["type"] == "modal" {
			m = tt.block
		}
		b := expect.Value(json.Marshal(m))(t)
		all = append(all, content{tt.name, b})
	}
	said := opinions(t, all)
	for _, tt := range tests {
		expect.Has(t, strings.Join(said[tt.name].Problems, "\n"), tt.want, "%s", tt.name)
	}
}

//go:embed aimock/package.json aimock/package-lock.json aimock/.npmrc aimock/fixtures
var aimockFiles embed.FS

// startAimock starts the fake on a free port and waits until it answers.
func startAimock(t *testing.T) (url string) {
	t.Helper()
	node, dir := process.StartNode(t, "aimock", expect.Value(fs.Sub(aimockFiles, "aimock"))(t))
	l := expect.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	address := l.Addr().String()
	l.Close()
	_, port, _ := net.SplitHostPort(address)
	cmd := exec.Command(node, filepath.Join("node_modules", "@copilotkit", "aimock", "dist", "cli.js"), "-p", port, "-f",
		"fixtures", "--strict", "--log-level", "warn")
	var said bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &said, &said
	expect.NoError(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		if t.Failed() {
			t.Log(said.String())
		}
	})
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); <-tick.C {
		if conn, err := net.DialTimeout("tcp", address, time.Second); err == nil {
			conn.Close()
			return "http://" + address
		}
	}
	t.Fatalf("it does not answer: %s", said.String())
	return ""
}

func TestOurClientsAgainstAimock(t *testing.T) {
	expect.AtNight(t) // infra/journeys/edges has our own vendors
	url := startAimock(t)
	host := url[len("http://"):]
	role := aws.Config{Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("id", "secret", "")}
	for name, g := range map[string]model.Wire{
		"anthropic": anthropic.New(anthropic.Config{BaseURL: url, Model: "claude-sonnet-4-6", Key: "k",
			HTTP: http.DefaultClient}),
		"openai": openai.New(openai.Config{BaseURL: url + "/v1", Model: "gpt-5.4", Key: "k", HTTP: http.DefaultClient}),
		"compatible": compatible.New(compatible.Config{Endpoint: "aimock", BaseURL: url + "/v1", Model: "llama3.2", Key: "k",
			HTTP: outbound.Dialer{Allow: []string{host}}.Client()}),
		"bedrock": bedrock.New(bedrock.Config{AWS: role, BaseURL: url, Model: "anthropic.claude-sonnet-4-6",
			HTTP: http.DefaultClient}),
	} {
		t.Run(name, func(t *testing.T) {
			for _, tt := range []struct {
				asked string
				title string
				calls int
				fails task.Failure
			}{
				{"sum up attendance", "Attendance", 1, task.Failure{}},
				{"say it in prose", "Repaired", 2, task.Failure{}},
				{"too many", "", 1, task.Failure{Reason: task.ReasonModelUnavailable, RetryAfter: 7 * time.Second,
					Transient: true}},
				{"overloaded", "", 1, task.Failure{Reason: task.ReasonModelUnavailable, Transient: true}},
			} {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				e, usage, err := model.Extract(ctx, g, model.ExtractInput{Text: tt.asked, Locale: "en", Now: time.Now(), Try: 1})
				cancel()
				var failed task.Failure
				if err != nil {
					failed = model.Failure(err)
				}
				if d := cmp.Diff(tt.fails, failed); d != "" || e.Title != tt.title || usage.Calls != tt.calls {
					t.Errorf("%s: %q, %+v, %v %s", tt.asked, e.Title, usage, err, d)
				}
			}
		})
	}
}
