package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ringi/infra/local/lambda"
	"ringi/infra/local/process"
	"ringi/infra/local/template"
)

// bareOf names the build tags of the bare handler with which a function is paired if it links clients of MCP servers,
// or of these and of models.
var bareOf = map[string]string{"serve-gate": "mcp", "execute-process": "mcp,models", "run-round": "mcp,models"}

// start compares how long a function's process and a bare handler's take until they ask for their first event.
type start struct {
	name          string // the function's folder
	size          int64  // bytes of its binary
	median        time.Duration
	fastest, bare time.Duration // the fastest start of each
	ratio         float64       // the median of the ratios of all pairs
}

// measureStarts builds functions and bare handlers and starts them alternately: the functions of these folders, or all.
func measureStarts(ctx context.Context, spawns int, folders ...string) ([]start, error) {
	root, err := process.ModuleRoot()
	if err != nil {
		return nil, err
	}
	bare, err := os.MkdirTemp("", "ringi-bare-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(bare)
	if err := build(ctx, root, bare); err != nil {
		return nil, err
	}
	secret := httptest.NewServer(http.HandlerFunc(slackSecret))
	defer secret.Close()
	described, err := template.Read(filepath.Join(root, "template.yaml"), template.Names{Endpoint: secret.URL},
		map[string]string{"Stage": "dev"})
	if err != nil {
		return nil, err
	}
	binaries, err := lambda.Binaries(ctx, root, "", lambda.LikeAWS, described.Functions, nil)
	if err != nil {
		return nil, err
	}
	var all []start
	for _, f := range described.Functions {
		// A managed runtime starts before the function's own code does.
		if f.Managed || len(folders) > 0 && !slices.Contains(folders, f.Folder) {
			continue
		}
		binary := binaries[f.ID]
		env := lambda.Variables(secret.URL, lambda.Function{Function: f, Binary: binary})
		info, err := os.Stat(binary)
		if err != nil {
			return nil, err
		}
		other := filepath.Join(bare, "bare-"+bareOf[f.Folder])
		x, err := pairs(ctx, spawns, env, binary, other)
		if err != nil {
			return nil, err
		}
		x.name, x.size = f.Folder, info.Size()
		all = append(all, x)
	}
	return all, nil
}

// slackSecret answers the only call that functions make at their start.
func slackSecret(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("X-Amz-Target") != "secretsmanager.GetSecretValue" {
		http.Error(w, "only the secret is here", http.StatusNotImplemented)
		return
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	fmt.Fprintf(w, `{"SecretString":"{\"signing_secret\":\"8f742231b10e8888abcd99yyyzzz85a5\",`+
		`\"bot_token\":\"xoxb-bench\",\"api_url\":\"http://%s/api/\"}"}`, r.Host)
}

// build compiles the bare handlers like the functions, each with the build tag of its name.
func build(ctx context.Context, root, into string) error {
	for _, tag := range []string{"", "mcp", "mcp,models"} {
		cmd := lambda.LikeAWS.Build(ctx, root, filepath.Join(into, "bare-"+tag), tag, "./infra/bench/bare")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build the bare handler: %w\n%s", err, out)
		}
	}
	return nil
}

// pairs starts both binaries n times, alternately, after a first start that loads their files into memory.
func pairs(ctx context.Context, n int, env []string, one, other string) (start, error) {
	var a, b []time.Duration
	var ratios []float64
	for i := range n + 1 {
		x, err := spawn(ctx, one, env)
		if err != nil {
			return start{}, err
		}
		y, err := spawn(ctx, other, env)
		if err != nil {
			return start{}, err
		}
		if i > 0 {
			a, b, ratios = append(a, x), append(b, y), append(ratios, float64(x)/float64(y))
		}
	}
	slices.Sort(ratios)
	return start{median: percentile(a, 0.5), fastest: slices.Min(a), bare: slices.Min(b),
		ratio: ratios[n/2]}, nil
}

// startWithin is Lambda's own limit on a start.
const startWithin = 10 * time.Second

// spawn starts a process, kills it when it asks for its first event, and returns how long that took.
func spawn(ctx context.Context, binary string, env []string) (time.Duration, error) {
	asked := make(chan time.Time, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/invocation/next") {
			select {
			case asked <- time.Now():
			default:
			}
			<-r.Context().Done()
		}
	}))
	defer server.Close()

	var output bytes.Buffer
	cmd := exec.Command(binary)
	cmd.Dir, cmd.Stdout, cmd.Stderr = filepath.Dir(binary), &output, &output
	cmd.Env = append(env, "AWS_LAMBDA_RUNTIME_API="+server.Listener.Addr().String())
	began := time.Now()
	p, err := process.Start(cmd)
	if err != nil {
		return 0, err
	}
	defer p.Kill()
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	select {
	case at := <-asked:
		return at.Sub(began), nil
	case <-p.Done():
		return 0, fmt.Errorf("start %s: it ended: %s", binary, &output)
	case <-ctx.Done():
		return 0, fmt.Errorf("start %s: %w", binary, errors.Join(ctx.Err(), p.Err()))
	}
}
