package witness

import (
	"errors"
	"os"
	"os/exec"
	"testing"

	"ringi/infra/local/process"
	"ringi/shared/runtime/expect"
)

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
	expect.AtNight(t) // by day it checks signatures and cards
	Walk(t, App{Name: "the slack_sdk app", Command: command(t, "app.py")})
}

func TestSlackSDKRefusesAForeignSignature(t *testing.T) {
	CheckForgeryRefused(t, App{Name: "the slack_sdk app", Command: command(t, "app.py")})
}
