package process

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

	"ringi/shared/runtime/expect"
)

// launcher is run where it stands. It is embedded so that tests are run again when it changed.
//
//go:embed launcher
var launcher embed.FS

// readyWithin bounds the start of an installed server. A start takes about a second on an idle machine.
const readyWithin = 3 * time.Minute

type MotoOptions struct {
	// TaskPort is the port at which the state machine interpreter calls services for its tasks; 0 means the server's
	// own port.
	TaskPort int
	// Notify is called with what takes long the first time; may be nil.
	Notify func(what string)
}

// Moto starts the stand-ins for DynamoDB, SQS, Step Functions, KMS, S3 and Secrets Manager: a moto server with pinned
// versions in a private Python environment, patched to handle races and waiting runs. It makes the environment if
// necessary, starts the server on a free port and waits until it answers. The server ends with this process or by Stop.
//
// It returns ErrMissing if there is no suitable Python, and pip's error if the packages can't be installed.
func Moto(ctx context.Context, o MotoOptions) (*Server, error) {
	root, err := ModuleRoot()
	if err != nil {
		return nil, err
	}
	pins, err := launcher.ReadFile("launcher/requirements.txt")
	if err != nil {
		return nil, fmt.Errorf("read requirements: %w", err)
	}
	python, err := environment(ctx, pins, o.Notify)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(python, filepath.Join(root, "infra", "local", "process", "launcher", "main.py"))
	cmd.Env = variables(o)
	return serve(ctx, cmd)
}

// variables returns the server's complete environment, without the person's credentials, profiles and proxies.
func variables(o MotoOptions) []string {
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
var shared = sync.OnceValues(func() (*Server, error) { return Moto(context.Background(), MotoOptions{}) })

// MotoForTests returns the endpoint of the server that all tests of a package share, so each test makes its own tables,
// queues and buckets. The server ends with the test binary. Without a suitable Python the test is skipped on a laptop
// and fails if CI is set.
func MotoForTests(t testing.TB) string {
	t.Helper()
	expect.Patience(t)
	s, err := shared()
	if errors.Is(err, ErrMissing) && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	expect.NoError(t, err)
	return s.URL
}
