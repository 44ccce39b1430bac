package witness

import (
	"bytes"
	"context"
	"embed"
	"io/fs"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
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

//go:embed aimock/package.json aimock/package-lock.json aimock/.npmrc aimock/fixtures
var aimockFiles embed.FS

// start starts the fake on a free port and waits until it answers.
func startAimock(t *testing.T) (url string) {
	t.Helper()
	expect.Patience(t)
	node, dir := process.StartNode(t, "aimock", expect.Value(fs.Sub(aimockFiles, "aimock"))(t))
	l := expect.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	address := l.Addr().String()
	l.Close()
	_, port, _ := net.SplitHostPort(address)
	cmd := exec.Command(node, filepath.Join("node_modules", "@copilotkit", "aimock", "dist", "cli.js"), "-p", port, "-f", "fixtures", "--strict", "--log-level", "warn")
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
	expect.AtNight(t) // infra/journeys/wires has our own vendors
	url := startAimock(t)
	host := url[len("http://"):]
	role := aws.Config{Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("id", "secret", "")}
	for name, g := range map[string]model.Wire{
		"anthropic":  anthropic.New(anthropic.Config{BaseURL: url, Model: "claude-sonnet-4-6", Key: "k", HTTP: http.DefaultClient}),
		"openai":     openai.New(openai.Config{BaseURL: url + "/v1", Model: "gpt-5.4", Key: "k", HTTP: http.DefaultClient}),
		"compatible": compatible.New(compatible.Config{Endpoint: "aimock", BaseURL: url + "/v1", Model: "llama3.2", Key: "k", HTTP: outbound.Dialer{Allow: []string{host}}.Client()}),
		"bedrock":    bedrock.New(bedrock.Config{AWS: role, BaseURL: url, Model: "anthropic.claude-sonnet-4-6", HTTP: http.DefaultClient}),
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
				{"too many", "", 1, task.Failure{Reason: task.ReasonModelUnavailable, RetryAfter: 7 * time.Second, Transient: true}},
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
