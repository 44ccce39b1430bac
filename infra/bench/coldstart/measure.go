package coldstart

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"ringi/infra/local/lambda"
	"ringi/infra/local/process"
	"ringi/infra/local/template"
)

// bareOf says which clients each function makes when it starts, by the folder of the bare handler.
var bareOf = map[string]string{
	"resume-task": "dynamodb-secret-slack", "close-task": "dynamodb",
	"extract-task": "dynamodb-models", "draft-prompt": "dynamodb-models", "plan-process": "dynamodb-models",
	"request-approval": "dynamodb-sfn", "relay-changes": "dynamodb-sfn-sqs", "sweep-tasks": "dynamodb-sfn-sqs",
	"receive-event": "dynamodb-secret", "receive-interaction": "dynamodb-secret-slack",
	"update-card": "dynamodb-secret-slack-sqs", "execute-process": "dynamodb-secret-slack-kms-s3-models-mcp",
}

// besideBolt is the function whose clients the Bolt app has too.
const besideBolt = "receive-interaction"

// Options say what to measure. Functions are folders; none are all.
type Options struct {
	Spawns    int
	Functions []string
	NoBolt    bool
	Log       io.Writer
}

// Measure builds the functions and the bare handlers and starts them in turns.
func Measure(ctx context.Context, o Options) (Report, error) {
	root, err := process.ModuleRoot()
	if err != nil {
		return Report{}, err
	}
	built, err := lambda.Build(ctx, root)
	if err != nil {
		return Report{}, err
	}
	defer built.Release()
	bare, err := os.MkdirTemp("", "ringi-bare-")
	if err != nil {
		return Report{}, err
	}
	defer os.RemoveAll(bare)
	if err := build(ctx, root, bare); err != nil {
		return Report{}, err
	}
	services, err := startServices()
	if err != nil {
		return Report{}, err
	}
	defer services.close()
	described, err := template.Read(filepath.Join(root, "template.yaml"), template.Names{Region: "us-east-1", Account: "123456789012", Stack: "bench", Endpoint: services.url},
		nil)
	if err != nil {
		return Report{}, err
	}
	r := Report{Spawns: o.Spawns}
	for _, f := range described.Functions {
		if len(o.Functions) > 0 && !slices.Contains(o.Functions, f.Folder) {
			continue
		}
		folder, ok := bareOf[f.Folder]
		if !ok {
			return r, fmt.Errorf("no bare handler has the clients of %s", f.Folder)
		}
		env := services.environment(f.Environment)
		real := starter{[]string{built.Binaries[f.Folder]}, env, filepath.Dir(built.Binaries[f.Folder])}
		plain := starter{[]string{filepath.Join(bare, folder)}, env, bare}
		x := Function{Name: f.Folder, Bare: folder}
		if info, err := os.Stat(real.command[0]); err == nil {
			x.Size = info.Size()
		}
		if x.RSS, x.Min, x.Median, x.BareMin, x.BareMed, x.Ratio, err = pairs(ctx, o.Spawns, real, plain); err != nil {
			return r, err
		}
		r.Functions = append(r.Functions, x)
		if f.Folder == besideBolt && !o.NoBolt {
			if r.Bolt, err = measureBolt(ctx, root, o, env, real); err != nil {
				return r, err
			}
		}
	}
	return r, nil
}

// build compiles the bare handlers as the functions are.
func build(ctx context.Context, root, into string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-tags", "lambda.norpc", "-ldflags", "-s -w",
		"-o", into+string(filepath.Separator), "./infra/bench/bare/...")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build the bare handlers: %w\n%s", err, out)
	}
	return nil
}

// starter is a command with its environment.
type starter struct {
	command, environment []string
	dir                  string
}

func (s starter) spawn(ctx context.Context) (sample, error) {
	return spawn(ctx, s.command, s.environment, s.dir)
}

// pairs starts both n times in turns, after once for the disk's sake.
func pairs(ctx context.Context, n int, one, other starter) (rss int64, least, median, otherLeast, otherMedian time.Duration, ratio float64, err error) {
	var a, b []time.Duration
	var ratios []float64
	var weights []int64
	for i := range n + 1 {
		x, err := one.spawn(ctx)
		if err != nil {
			return 0, 0, 0, 0, 0, 0, err
		}
		y, err := other.spawn(ctx)
		if err != nil {
			return 0, 0, 0, 0, 0, 0, err
		}
		if i > 0 {
			a, b, weights = append(a, x.took), append(b, y.took), append(weights, x.rss)
			ratios = append(ratios, float64(x.took)/float64(y.took))
		}
	}
	return middle(weights), slices.Min(a), middle(a), slices.Min(b), middle(b), math.Round(middle(ratios)*100) / 100, nil
}

func middle[T int64 | float64 | time.Duration](values []T) T {
	return slices.Sorted(slices.Values(values))[len(values)/2]
}

// list makes NAME=value of a map.
func list(m map[string]string) (out []string) {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		out = append(out, name+"="+m[name])
	}
	return out
}
