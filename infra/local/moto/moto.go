// Package moto runs the stand-ins for DynamoDB, SQS, Step Functions, KMS, S3 and Secrets Manager. They are a moto
// server with pinned versions in a private Python environment, patched to handle races and waiting runs.
package moto

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"ringi/infra/local/process"
	"ringi/shared/runtime/expect"
)

// launcher is run where it stands. It is embedded so that tests are run again when it changed.
//
//go:embed launcher
var launcher embed.FS

// ErrPython says what to install when there is no Python to run moto with.
var ErrPython = process.ErrMissing

// readyWithin bounds the start of an installed server. A start takes about a second on an idle machine.
const readyWithin = 3 * time.Minute

type Options struct {
	// TaskPort is the port at which the state machine interpreter calls services for its tasks; 0 means the server's
	// own port.
	TaskPort int
	// Notify is called with what takes long the first time; may be nil.
	Notify func(what string)
}

// Start makes the Python environment if necessary, starts a server on a free port and waits until it answers. The
// server ends with this process or by Stop.
//
// It returns ErrPython if there is no suitable Python, and pip's error if the packages can't be installed.
func Start(ctx context.Context, o Options) (*process.Server, error) {
	root, err := process.ModuleRoot()
	if err != nil {
		return nil, err
	}
	pins, err := launcher.ReadFile("launcher/requirements.txt")
	if err != nil {
		return nil, fmt.Errorf("read requirements: %w", err)
	}
	python, err := process.Environment(ctx, "moto", pins, o.Notify)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(python, filepath.Join(root, "infra", "local", "moto", "launcher", "main.py"))
	cmd.Env = variables(o)
	return process.Serve(ctx, "moto", cmd, readyWithin)
}

// variables returns the server's complete environment, without the person's credentials, profiles and proxies.
func variables(o Options) []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + os.TempDir(),
		"AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local", "AWS_DEFAULT_REGION=us-east-1",
		"AWS_EC2_METADATA_DISABLED=true",
		"NO_PROXY=*", "PYTHONUNBUFFERED=1",
		"MOTO_DISABLE_GLOBAL_CORS=true", // otherwise every page could read the data
	}
	if o.TaskPort != 0 {
		env = append(env, "MOTO_PORT="+strconv.Itoa(o.TaskPort))
	}
	return env
}

// shared is one server per test binary, because a start takes longer than most tests.
var shared = sync.OnceValues(func() (*process.Server, error) { return Start(context.Background(), Options{}) })

// ForTests returns the endpoint of the server that all tests of a package share, so each test makes its own tables,
// queues and buckets. The server ends with the test binary. Without a suitable Python the test is skipped on a laptop
// and fails if CI is set.
func ForTests(t testing.TB) string {
	t.Helper()
	expect.Patience(t)
	s, err := shared()
	ready(t, err)
	return s.URL
}

// StartForTest starts an empty server for one test and returns its endpoint. The server ends with the test. Without a
// suitable Python the test is skipped on a laptop and fails if CI is set.
func StartForTest(t testing.TB) string {
	t.Helper()
	expect.Patience(t)
	s, err := Start(context.Background(), Options{})
	ready(t, err)
	t.Cleanup(s.Stop)
	return s.URL
}

func ready(t testing.TB, err error) {
	t.Helper()
	if errors.Is(err, ErrPython) && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	expect.NoError(t, err)
}
