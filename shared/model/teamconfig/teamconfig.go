// Package teamconfig reads and checks the files in which people configure teams, contests and evaluators.
package teamconfig

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go"

	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/store/large"
)

// Team is a leader with the members that it can delegate to.
type Team struct {
	TeamID               string   `json:"team_id" toml:"team_id"`
	TeamName             string   `json:"team_name" toml:"team_name"`
	MaxConcurrentMembers int      `json:"max_concurrent_members" toml:"max_concurrent_members"`
	Leader               Leader   `json:"leader" toml:"leader"`
	Members              []Member `json:"members" toml:"members"` // none: the leader works alone
}

// Leader is the agent that submits.
type Leader struct {
	SystemPrompt *string `json:"system_prompt" toml:"system_prompt"` // nil: the built-in one
	Model        string  `json:"model" toml:"model"`
	Call
}

// Member is an agent that the leader delegates to.
type Member struct {
	AgentName         string  `json:"agent_name" toml:"agent_name"`
	AgentType         string  `json:"agent_type" toml:"agent_type"`
	ToolName          string  `json:"tool_name" toml:"tool_name"`
	ToolDescription   string  `json:"tool_description" toml:"tool_description"`
	Model             string  `json:"model" toml:"model"`
	SystemInstruction *string `json:"system_instruction" toml:"system_instruction"` // nil: the built-in one of its type
	SystemPrompt      *string `json:"system_prompt" toml:"system_prompt"`           // beside the instruction
	Call
	Config *string `json:"config" toml:"config"` // the file that the rest was read from
}

// Tool is the name of the leader's tool that calls the member.
func (m Member) Tool() string {
	if blank(m.ToolName) {
		return "delegate_to_" + m.AgentName
	}
	return m.ToolName
}

// Contest is a contest's complete configuration, including every file that it names.
type Contest struct {
	TeamTimeoutSeconds int       `json:"timeout_per_team_seconds"`
	MaxRounds          int       `json:"max_rounds"`
	Evaluator          Evaluator `json:"evaluator"`
	Teams              []Team    `json:"teams"`
	// Prices are the workspace's own prices of models, as of the contest's beginning.
	Prices []tenancy.ModelPrice `json:"prices,omitempty"`
	Named  []Named              `json:"-"` // where the files name the models
}

// Within returns the contest with at most this many rounds.
func (c Contest) Within(most int) Contest {
	c.MaxRounds = min(c.MaxRounds, most)
	return c
}

// Models returns the names of all models that a contest calls, each once.
func (c Contest) Models() (names []string) {
	for _, t := range c.Teams {
		names = append(names, t.Leader.Model)
		for _, m := range t.Members {
			names = append(names, m.Model)
		}
	}
	for _, m := range c.Evaluator.Metrics {
		names = append(names, m.Model)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Evaluator scores submissions.
type Evaluator struct {
	DefaultModel string   `json:"default_model" toml:"default_model"`
	Metrics      []Metric `json:"metrics" toml:"metrics"`
	Call
}

// Metric is a metric of an evaluator. The weights of an evaluator's metrics sum to 1.
type Metric struct {
	Name   string  `json:"name" toml:"name"`
	Weight float64 `json:"weight" toml:"weight"`
	// Model and the fields of Call are the evaluator's where the file has none.
	Model             string `json:"model" toml:"model"`
	SystemInstruction string `json:"system_instruction" toml:"system_instruction"` // empty: the built-in one of its name
	Call
}

// BuiltIn lists the metrics that need no instruction. Their weights apply if a file names no metric.
var BuiltIn = []Metric{{Name: "ClarityCoherence", Weight: 0.334}, {Name: "Coverage", Weight: 0.333},
	{Name: "Relevance", Weight: 0.333}}

// BuiltIn reports whether the metric is one that needs no instruction.
func (m Metric) BuiltIn() bool {
	return slices.ContainsFunc(BuiltIn, func(b Metric) bool { return b.Name == m.Name })
}

// Call has the settings of an agent's model. A nil field is left to the model.
type Call struct {
	Temperature    *float64 `json:"temperature" toml:"temperature"`
	MaxTokens      *int     `json:"max_tokens" toml:"max_tokens"`
	TimeoutSeconds *int     `json:"timeout_seconds" toml:"timeout_seconds"` // of one call
	MaxRetries     *int     `json:"max_retries" toml:"max_retries"`
	StopSequences  []string `json:"stop_sequences" toml:"stop_sequences"`
	TopP           *float64 `json:"top_p" toml:"top_p"`
	Seed           *int     `json:"seed" toml:"seed"`
}

// over fills in unset fields from another call.
func (c Call) over(other Call) Call {
	if c.StopSequences == nil {
		c.StopSequences = other.StopSequences
	}
	return Call{cmp.Or(c.Temperature, other.Temperature), cmp.Or(c.MaxTokens, other.MaxTokens),
		cmp.Or(c.TimeoutSeconds, other.TimeoutSeconds), cmp.Or(c.MaxRetries, other.MaxRetries), c.StopSequences,
		cmp.Or(c.TopP, other.TopP), cmp.Or(c.Seed, other.Seed)}
}

// Environment is the variable that has the workspace's address.
const Environment = "MIXSEEK_WORKSPACE"

// ErrNotSet says that the variable is missing or blank. It has no default.
var ErrNotSet = errors.New(Environment + " environment variable is not set.\nPlease set it: export " + Environment +
	"=/path/to/workspace")

// Workspace is a folder of configurations. Paths are relative to it and can't leave it.
type Workspace struct{ FS fs.FS }

// Open opens the workspace that the variable's value names. Links in a folder can't lead out of it. elsewhere, if it is
// not nil, opens files at s3://bucket/prefix. For a blank value Open returns ErrNotSet.
func Open(value string, elsewhere func(bucket, prefix string) fs.FS) (Workspace, error) {
	if strings.TrimSpace(value) == "" {
		return Workspace{}, ErrNotSet
	}
	if address, ok := strings.CutPrefix(value, "s3://"); ok {
		bucket, prefix, _ := strings.Cut(address, "/")
		if bucket == "" || elsewhere == nil {
			return Workspace{}, fmt.Errorf("%s must be a folder here, got %q", Environment, value)
		}
		return Workspace{elsewhere(bucket, strings.Trim(prefix, "/"))}, nil
	}
	root, err := os.OpenRoot(value)
	if err != nil {
		return Workspace{}, fmt.Errorf("%s: %w", Environment, err)
	}
	return Workspace{root.FS()}, nil
}

// inside normalizes a path in a configuration file. An absolute path, or one that leaves the workspace, is an error.
func inside(name string) (string, error) {
	short := path.Clean(name)
	if strings.TrimSpace(name) == "" || strings.ContainsAny(name, "\\\x00") || !fs.ValidPath(short) || short == "." {
		return "", errors.New(outside)
	}
	return short, nil
}

const (
	// maxFile bounds a file, in bytes: the time to decode one grows with the square of its keys.
	maxFile = 128 << 10
	// maxRead bounds all files of one configuration, in bytes. Every member of every team may name the same file, and a
	// contest is saved with the contents of all of them.
	maxRead = 4 << 20
)

// content reads a file, up to one byte more than maxFile.
func (w Workspace) content(name string) ([]byte, error) {
	f, err := w.FS.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxFile+1))
}

// readWithin limits the time for reading one file. maxObject limits its bytes; no contest's file is that large.
const (
	readWithin = 5 * time.Second
	maxObject  = 2 << 20
)

// Bucket returns a function that opens a prefix of a bucket as a file system. Opening a file reads all of it.
func Bucket(cfg aws.Config) func(bucket, prefix string) fs.FS {
	return func(bucket, prefix string) fs.FS { return folder{large.BucketAt(cfg, bucket), bucket, prefix} }
}

type folder struct {
	s3             *large.Bucket
	bucket, prefix string
}

func (f folder) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	ctx, cancel := context.WithTimeout(context.Background(), readWithin)
	defer cancel()
	key := path.Join(f.prefix, name)
	b, err := f.s3.Get(ctx, key, maxObject)
	if large.MissingObject(err) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	if err != nil {
		slog.WarnContext(ctx, "a file of contests was not read", "bucket", f.bucket, "key", key, "err", err)
		return nil, &fs.PathError{Op: "open", Path: name, Err: unread(err)}
	}
	return object{bytes.NewReader(b)}, nil
}

// unread returns an error that tells people why a file was not read. It leaves out S3's own message, which names roles,
// accounts and requests of the deployment. If another try may succeed, it wraps explain.ErrUnavailable.
func unread(err error) error {
	switch api, refused := errors.AsType[smithy.APIError](err); {
	case !refused:
		return fmt.Errorf("the bucket does not answer: %w", explain.ErrUnavailable)
	case explain.ClassOf(err) == explain.Unavailable:
		return fmt.Errorf("the bucket says %s: %w", api.ErrorCode(), explain.ErrUnavailable)
	default:
		return fmt.Errorf("the bucket says %s", api.ErrorCode())
	}
}

// object is a file that was read.
type object struct{ *bytes.Reader }

func (object) Stat() (fs.FileInfo, error) { return nil, errors.ErrUnsupported }
func (object) Close() error               { return nil }
