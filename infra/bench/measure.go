package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"ringi/infra/local/lambda"
	"ringi/infra/local/process"
	"ringi/infra/local/template"
)

// bareOf names the clients, which are build tags, of the bare handler that each function is paired with, by the
// function's folder. The function has all of them, and may have more; only read-file has none.
var bareOf = map[string]string{
	"resume-task": "dynamodb-secret-slack", "close-task": "dynamodb",
	"extract-task": "dynamodb-models", "draft-prompt": "dynamodb-models", "plan-process": "dynamodb-models",
	"request-approval": "dynamodb-sfn", "relay-changes": "dynamodb-sfn-sqs", "sweep-tasks": "dynamodb-sfn-sqs",
	"receive-event": "dynamodb-secret", "receive-interaction": "dynamodb-secret-slack",
	"update-card": "dynamodb-secret-slack-sqs", "execute-process": "dynamodb-secret-slack-models-mcp",
	"serve-console": "dynamodb-secret-slack", "seal-audit": "dynamodb", "export-audit": "dynamodb",
	"expire-results": "dynamodb",
	"answer-message": "dynamodb-models", "fetch-source": "dynamodb", "run-action": "dynamodb", "give-up": "dynamodb",
	"run-round": "dynamodb-models", "close-contest": "dynamodb", "begin-contest": "dynamodb",
	"call-tool": "dynamodb-secret-slack", "serve-gate": "dynamodb-mcp", "read-file": "dynamodb",
}

// besideBolt is the function that has the same clients as the Bolt app.
const besideBolt = "receive-interaction"

// Report compares every function with a bare handler, and one function with Bolt for JavaScript.
type Report struct {
	Spawns    int // how often each pair was started
	Functions []Function
	Bolt      *Bolt // nil without Node
}

type Function struct {
	Pair
	Name string // its folder
	Size int64  // bytes of its binary
}

// Pair compares how long two processes take from their start until they ask for their first event.
type Pair struct {
	RSS                                int64 // bytes when it asks for its first event; 0 if unknown
	Min, Median, OtherMin, OtherMedian time.Duration
	Ratio                              float64 // the median of the ratios of all pairs
}

// Options say what to measure. Functions are folders; an empty list means all.
type Options struct {
	Spawns    int
	Functions []string
	Artifacts string // a folder of `sam build`; "" compiles the functions
	Flags     lambda.Flags
	NoBolt    bool
	Log       io.Writer
}

// Measure builds the functions and bare handlers and starts them alternately.
func Measure(ctx context.Context, o Options) (*Report, error) {
	root, err := process.ModuleRoot()
	if err != nil {
		return nil, err
	}
	bare, err := os.MkdirTemp("", "ringi-bare-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(bare)
	if err := build(ctx, root, bare, o.Flags); err != nil {
		return nil, err
	}
	secret := httptest.NewServer(http.HandlerFunc(slackSecret))
	defer secret.Close()
	described, err := template.Read(filepath.Join(root, "template.yaml"), template.Names{Region: "us-east-1",
		Account: "123456789012", Stack: "bench", Endpoint: secret.URL}, map[string]string{"Stage": "dev"})
	if err != nil {
		return nil, err
	}
	binaries, release, err := lambda.Binaries(ctx, root, o.Artifacts, o.Flags, described.Functions, nil)
	if err != nil {
		return nil, err
	}
	defer release()
	r := &Report{Spawns: o.Spawns}
	for _, f := range described.Functions {
		// A managed runtime starts before the function's own code does.
		if f.Managed || len(o.Functions) > 0 && !slices.Contains(o.Functions, f.Folder) {
			continue
		}
		clients, ok := bareOf[f.Folder]
		if !ok {
			return nil, fmt.Errorf("no bare handler has the clients of %s", f.Folder)
		}
		env := environment(secret.URL, f.Environment)
		one, other := starter{[]string{binaries[f.ID]}, env, filepath.Dir(binaries[f.ID])},
			starter{[]string{filepath.Join(bare, clients)}, env, bare}
		x := Function{Name: f.Folder}
		info, err := os.Stat(one.command[0])
		if err != nil {
			return nil, err
		}
		x.Size = info.Size()
		if x.Pair, err = pairs(ctx, o.Spawns, one, other); err != nil {
			return nil, err
		}
		r.Functions = append(r.Functions, x)
		if f.Folder == besideBolt && !o.NoBolt {
			if r.Bolt, err = measureBolt(ctx, root, o, env, one); err != nil {
				return nil, err
			}
		}
	}
	return r, nil
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

// environment adds the variables that Lambda sets to a function's own.
func environment(endpoint string, own map[string]string) (list []string) {
	all := map[string]string{
		"AWS_ENDPOINT_URL": endpoint, "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "local",
		"AWS_SECRET_ACCESS_KEY": "local", "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_LAMBDA_FUNCTION_NAME": "bench", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "512", "AWS_LAMBDA_LOG_FORMAT": "JSON",
		"AWS_LAMBDA_LOG_LEVEL": "INFO", "TZ": ":UTC",
		"PATH": "/usr/local/bin:/usr/bin:/bin",
	}
	maps.Copy(all, own)
	for name, value := range all {
		list = append(list, name+"="+value)
	}
	return list
}

// build compiles the bare handlers like the functions, each with the clients of its name.
func build(ctx context.Context, root, into string, like lambda.Flags) error {
	for _, clients := range slices.Compact(slices.Sorted(maps.Values(bareOf))) {
		tags := strings.ReplaceAll(clients, "-", ",")
		cmd := like.Build(ctx, root, filepath.Join(into, clients), tags, "./infra/bench/bare")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build the bare handler with %s: %w\n%s", clients, err, out)
		}
	}
	return nil
}

// starter is a command with its environment.
type starter struct {
	command, environment []string
	dir                  string
}

// pairs starts both n times, alternately, after a first start that loads their files into memory.
func pairs(ctx context.Context, n int, one, other starter) (Pair, error) {
	var a, b []time.Duration
	var ratios []float64
	var weights []int64
	for i := range n + 1 {
		x, err := one.spawn(ctx)
		if err != nil {
			return Pair{}, err
		}
		y, err := other.spawn(ctx)
		if err != nil {
			return Pair{}, err
		}
		if i > 0 {
			a, b, weights = append(a, x.took), append(b, y.took), append(weights, x.rss)
			ratios = append(ratios, float64(x.took)/float64(y.took))
		}
	}
	return Pair{middle(weights), slices.Min(a), middle(a), slices.Min(b), middle(b),
		math.Round(middle(ratios)*100) / 100}, nil
}

func middle[T int64 | float64 | time.Duration](values []T) T {
	return slices.Sorted(slices.Values(values))[len(values)/2]
}

// startWithin is Lambda's own limit on a start.
const startWithin = 10 * time.Second

type sample struct {
	took time.Duration
	rss  int64
}

// spawn starts a process and kills it when it asks for its first event.
func (s starter) spawn(ctx context.Context) (sample, error) {
	asked := make(chan time.Time, 1)
	said := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/invocation/next") {
			select {
			case asked <- time.Now():
			default:
			}
			<-r.Context().Done()
			return
		}
		var body bytes.Buffer
		body.ReadFrom(http.MaxBytesReader(w, r.Body, 1<<16))
		select {
		case said <- body.String():
		default:
		}
		w.WriteHeader(http.StatusAccepted)
	}))
	defer server.Close()

	var output bytes.Buffer
	cmd := exec.Command(s.command[0], s.command[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.dir, &output, &output
	cmd.Env = append([]string{"AWS_LAMBDA_RUNTIME_API=" + server.Listener.Addr().String()}, s.environment...)
	began := time.Now()
	p, err := process.Start(cmd)
	if err != nil {
		return sample{}, err
	}
	defer p.Kill()
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	select {
	case at := <-asked:
		return sample{at.Sub(began), memory(p.PID())}, nil
	case text := <-said:
		return sample{}, fmt.Errorf("start %s: it said %s", s.command[0], text)
	case <-p.Done():
		return sample{}, fmt.Errorf("start %s: it ended: %s", s.command[0], &output)
	case <-ctx.Done():
		return sample{}, fmt.Errorf("start %s: %w", s.command[0], errors.Join(ctx.Err(), p.Err()))
	}
}

// memory returns a process's resident memory in bytes, or 0 without /proc.
func memory(pid int) int64 {
	status, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	_, resident, _ := strings.Cut(string(status), "VmRSS:")
	var kb int64
	fmt.Sscan(resident, &kb)
	return kb << 10
}

// Bolt compares an app made with Bolt for JavaScript with receive-interaction, which has the same clients.
type Bolt struct {
	Pair
	Node, Bolt string // versions
	Size       int64  // bytes of the app with its modules
}

// measureBolt starts the Bolt app and a function alternately. It returns nil without Node.
func measureBolt(ctx context.Context, root string, o Options, environment []string, beside starter) (*Bolt, error) {
	node, err := process.Node(ctx)
	if errors.Is(err, process.ErrNode) {
		fmt.Fprintf(o.Log, "nothing is compared with Bolt: %v\n", err)
		return nil, nil
	}
	folder, err := process.Folder()
	if err != nil {
		return nil, err
	}
	dir, err := process.InstallNode(ctx, folder, "bench-bolt", os.DirFS(filepath.Join(root, "infra", "bench", "bolt")))
	if err != nil {
		return nil, err
	}
	b := &Bolt{}
	if b.Pair, err = pairs(ctx, o.Spawns, starter{[]string{node, "bootstrap.js"}, environment, dir}, beside); err != nil {
		return nil, err
	}
	version, err := exec.CommandContext(ctx, node, "--version").Output()
	if err != nil {
		return nil, err
	}
	b.Node = strings.TrimSpace(string(version))
	if b.Size, err = weight(dir); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err != nil {
		return nil, err
	}
	var described struct {
		Dependencies map[string]string `json:"dependencies"`
	}
	if err := json.Unmarshal(text, &described); err != nil {
		return nil, fmt.Errorf("read package.json: %w", err)
	}
	b.Bolt = described.Dependencies["@slack/bolt"]
	return b, nil
}

// weight returns the total size of the files below a folder.
func weight(dir string) (total int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	})
	return total, err
}
