package chat

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/driver"
	"ringi/infra/local/process"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
)

// hook is an agent's question before a command, by what infra/gate gives to strangers.
type hook struct {
	*exec.Cmd
	out, says bytes.Buffer
}

// asking starts the question. An agent that goes before the answer is a process that is killed.
func asking(t *testing.T, secret, command string) *hook {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil && os.Getenv("CI") == "" {
		t.Skip("there is no python3")
	}
	expect.NoError(t, err)
	root := expect.Value(process.ModuleRoot())(t)
	h := &hook{Cmd: exec.CommandContext(t.Context(), python, filepath.Join(root, "infra/gate/ask.py"), "--hook")}
	h.Env = append(os.Environ(), "RINGI_URL="+running.URL, "RINGI_KEY="+secret)
	h.Stdin = strings.NewReader(`{"tool_name":"Bash","cwd":"/srv","tool_input":{"command":"` + command + `"}}`)
	h.Stdout, h.Stderr = &h.out, &h.says
	expect.NoError(t, h.Start())
	return h
}

func (h *hook) ends(t *testing.T) (code int, says string) {
	t.Helper()
	var failed *exec.ExitError
	err := h.Wait()
	expect.Must(t, err == nil || errors.As(err, &failed), "%v", err)
	return h.ProcessState.ExitCode(), h.out.String() + h.says.String()
}

// An agent elsewhere is refused once and learns why, asks for less, and is gone when that is stamped. Its repeat runs,
// once.
func TestAnAgentElsewhereIsRefusedAndThenStampedWhenItHasGone(t *testing.T) {
	driver.Leave(t, running)
	team := running.Sandbox.TeamID()
	_, secret, err := store.OpenAll(running.AWS, boot.Table{TableName: running.TableName}).CreateKey(t.Context(),
		tenancy.Key{TenantID: aggregate.TenantID(team), Team: team, Name: "保守のエージェント", Answers: webapi.Sato,
			Tools: []string{"Bash"}, Channel: webapi.HR, QuotaDay: 20, ExpiresAt: time.Now().AddDate(0, 1, 0)},
		aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Suzuki}, time.Now())
	expect.NoError(t, err)
	d := &driver.Dialogue{T: t, S: running, User: webapi.Sato, Channel: webapi.HR, Timeout: time.Minute}

	first := asking(t, secret, "rm -r /srv/reports")
	const why = "今月分は残してください"
	d.Reject(webapi.Suzuki, d.Shows("保守のエージェント", "rm -r /srv/reports"), why)
	code, says := first.ends(t)
	for code == 2 && !strings.Contains(says, why) { // it didn't wait so long on this machine
		code, says = asking(t, secret, "rm -r /srv/reports").ends(t)
		expect.Must(t, t.Context().Err() == nil, "%s", says)
	}
	expect.Is(t, code, 2, says)

	second := asking(t, secret, "rm -r /srv/reports/2025")
	asks := d.Shows("保守のエージェント", "rm -r /srv/reports/2025")
	expect.NoError(t, second.Process.Kill())
	_ = second.Wait()
	d.Press(webapi.Suzuki, asks, "approve_call")
	d.Eventually("a repeat may run", func() bool {
		code, says = asking(t, secret, "rm -r /srv/reports/2025").ends(t)
		return code == 0
	})
	expect.Has(t, says, `"allow"`)
	code, says = asking(t, secret, "rm -r /srv/reports/2025").ends(t)
	expect.Is(t, code, 2, "it ran twice by one stamp: %s", says)
	expect.Has(t, says, "used, once")
}
