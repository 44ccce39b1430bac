// Package teamconfig reads and checks the files in which people configure teams, contests and evaluators.
package teamconfig

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"ringi/shared/domain/tenancy"
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
	// SystemInstruction is appended to the prompt; nil: nothing is appended.
	SystemInstruction *string `json:"system_instruction" toml:"system_instruction"`
	Model             string  `json:"model" toml:"model"`
	Call
}

// Member is an agent that the leader delegates to.
type Member struct {
	AgentName         string  `json:"agent_name" toml:"agent_name"`
	AgentType         string  `json:"agent_type" toml:"agent_type"`
	ToolName          *string `json:"tool_name" toml:"tool_name"`
	ToolDescription   string  `json:"tool_description" toml:"tool_description"`
	Model             string  `json:"model" toml:"model"`
	SystemInstruction *string `json:"system_instruction" toml:"system_instruction"` // nil: the built-in one of its type
	SystemPrompt      *string `json:"system_prompt" toml:"system_prompt"`           // beside the instruction
	Call
	Config *string `json:"config" toml:"config"` // the file that the rest was read from
}

// Tool is the name of the leader's tool that calls the member.
func (m Member) Tool() string {
	if m.ToolName != nil && *m.ToolName != "" {
		return *m.ToolName
	}
	return "delegate_to_" + m.AgentName
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

// Named is the place where a file names a model, or leaves it out.
type Named struct {
	File, Field, Model string
	Set                bool // otherwise the model is the default
}

// Refused returns a finding about the model.
func (n Named) Refused(why string) Finding {
	if n.Set {
		return Finding{File: n.File, Field: n.Field, Value: written(n.Model), Message: why}
	}
	return Finding{File: n.File, Field: n.Field, Message: "is not set, and the default, " + n.Model + ", " + why}
}

// Evaluator scores submissions.
type Evaluator struct {
	DefaultModel string   `json:"default_model" toml:"default_model"`
	Metrics      []Metric `json:"metrics" toml:"metrics"`
	Call
}

// Call has the settings of an agent's model. A nil field is left to the model, for a metric first to its evaluator.
type Call struct {
	Temperature    *float64 `json:"temperature" toml:"temperature"`
	MaxTokens      *int     `json:"max_tokens" toml:"max_tokens"`
	TimeoutSeconds *int     `json:"timeout_seconds" toml:"timeout_seconds"` // of one call
	MaxRetries     *int     `json:"max_retries" toml:"max_retries"`
	StopSequences  []string `json:"stop_sequences" toml:"stop_sequences"`
	TopP           *float64 `json:"top_p" toml:"top_p"`
	Seed           *int     `json:"seed" toml:"seed"`
}

// Metric is a metric of an evaluator. The weights of an evaluator's metrics sum to 1.
type Metric struct {
	Name   string  `json:"name" toml:"name"`
	Weight float64 `json:"weight" toml:"weight"`
	// the evaluator's where the file has none
	Model             string `json:"model" toml:"model"`
	SystemInstruction string `json:"system_instruction" toml:"system_instruction"` // empty: the built-in one of its name
	Call
}

// Environment is the variable that has the workspace's address.
const Environment = "MIXSEEK_WORKSPACE"

// ErrNotSet says that the variable is missing or blank. It has no default.
var ErrNotSet = errors.New(Environment + " environment variable is not set.\nPlease set it: export " + Environment +
	"=/path/to/workspace")

const (
	// maxFile bounds a file, in bytes.
	maxFile = 1 << 20
	// maxRead bounds all files of one configuration, in bytes. Every member of every team may name the same file, and a
	// contest is saved with the contents of all of them.
	maxRead = 4 << 20
)

// Workspace is a folder of configurations. Paths are relative to it and can't leave it.
type Workspace struct {
	FS fs.FS
	// Folder is the path on this machine; empty if the files are elsewhere.
	Folder string
}

// Open opens the workspace that the variable's value names. Links in a folder can't lead out of it. elsewhere, if it is
// not nil, opens files at s3://bucket/prefix. For a blank value Open returns ErrNotSet.
func Open(value string, elsewhere func(bucket, prefix string) (fs.FS, error)) (Workspace, error) {
	if strings.TrimSpace(value) == "" {
		return Workspace{}, ErrNotSet
	}
	if address, ok := strings.CutPrefix(value, "s3://"); ok {
		bucket, prefix, _ := strings.Cut(address, "/")
		if bucket == "" || elsewhere == nil {
			return Workspace{}, fmt.Errorf("%s must be a folder here, got %q", Environment, value)
		}
		files, err := elsewhere(bucket, strings.Trim(prefix, "/"))
		if err != nil {
			return Workspace{}, fmt.Errorf("%s %s: %w", Environment, value, err)
		}
		return Workspace{FS: files}, nil
	}
	root, err := os.OpenRoot(value)
	if err != nil {
		return Workspace{}, fmt.Errorf("%s: %w", Environment, err)
	}
	folder, err := filepath.Abs(value)
	if err != nil {
		return Workspace{}, fmt.Errorf("%s: %w", Environment, err)
	}
	return Workspace{FS: root.FS(), Folder: folder}, nil
}

// Locate converts a path from the command line to one relative to the workspace. The path may be absolute, relative to
// the working directory, or relative to the workspace. A file outside of the workspace is an error.
func (w Workspace) Locate(file string) (string, error) {
	if w.Folder == "" {
		return inside(file)
	}
	if _, err := os.Lstat(file); err == nil || filepath.IsAbs(file) {
		absolute, err := filepath.Abs(file)
		if err != nil {
			return "", err
		}
		if real, err := filepath.EvalSymlinks(filepath.Dir(absolute)); err == nil {
			absolute = filepath.Join(real, filepath.Base(absolute))
		}
		folder := w.Folder
		if real, err := filepath.EvalSymlinks(folder); err == nil {
			folder = real
		}
		if relative, err := filepath.Rel(folder, absolute); err == nil && filepath.IsLocal(relative) {
			return filepath.ToSlash(relative), nil
		}
		if filepath.IsAbs(file) {
			return "", fmt.Errorf("%s is outside of %s, %s", file, Environment, w.Folder)
		}
	}
	return inside(file)
}

// inside normalizes a path in a configuration file. An absolute path, or one that leaves the workspace, is an error.
func inside(name string) (string, error) {
	short := path.Clean(name)
	if strings.TrimSpace(name) == "" || strings.ContainsAny(name, "\\\x00") || !fs.ValidPath(short) || short == "." {
		return "", errors.New("must be a relative path inside the workspace")
	}
	return short, nil
}

// tables reads a file. The error does not contain the file's name.
func (r *reading) tables(name string) (map[string]any, error) {
	f, err := r.w.FS.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no such file in the workspace: %w", fs.ErrNotExist)
	} else if err != nil {
		return nil, fmt.Errorf("can't be opened: %w", bare(err))
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("can't be read: %w", bare(err))
	case len(b) > maxFile:
		return nil, fmt.Errorf("must be at most %d bytes", maxFile)
	}
	if r.bytes += len(b); r.bytes > maxRead {
		return nil, fmt.Errorf("is one too many: a contest's files must be at most %d bytes in total, each counted every "+
			"time it is named", maxRead)
	}
	var tables map[string]any
	err = unmarshal(b, &tables)
	if at, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, column := at.Position()
		return nil, fmt.Errorf("is not TOML: line %d, column %d: %s", line, column, strings.TrimPrefix(at.Error(), "toml: "))
	} else if err != nil {
		return nil, fmt.Errorf("is not TOML: %w", err)
	}
	return tables, nil
}

// unmarshal reads TOML, with or without the byte order mark that editors on Windows write.
func unmarshal(b []byte, tables *map[string]any) error {
	return toml.Unmarshal(bytes.TrimPrefix(b, []byte("\ufeff")), tables)
}

// bare removes the path that the file system adds to an error.
func bare(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return at.Err
	}
	return err
}

// Limits of the search by Contests, because the folder may hold many unrelated files.
const (
	mostWalked   = 2000 // files and folders
	mostRead     = 200  // files
	mostContests = 50
	deepest      = 4 // folders within each other
)

// errEnough stops a walk that has reached a limit.
var errEnough = errors.New("enough was seen")

// Contests lists the workspace's files that describe contests, including invalid ones. more says that the search
// reached a limit, so there may be others.
func (w Workspace) Contests() (files []string, more bool, err error) {
	walked, read := 0, 0
	err = fs.WalkDir(w.FS, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("look into %s: %w", name, bare(err))
		}
		walked++
		hidden := name != "." && strings.HasPrefix(path.Base(name), ".")
		switch {
		case walked > mostWalked, len(files) == mostContests, read == mostRead:
			return errEnough
		case d.IsDir() && (hidden || strings.Count(name, "/") >= deepest):
			return fs.SkipDir
		case d.IsDir(), hidden, path.Ext(name) != ".toml":
			return nil
		}
		read++
		if w.describesContest(name) {
			files = append(files, name)
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		return files, true, nil
	}
	return files, false, err
}

// describesContest reports whether a file has a contest's table, or seems to have one although it is not valid TOML.
func (w Workspace) describesContest(name string) bool {
	f, err := w.FS.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return false
	}
	var tables map[string]any
	if err := unmarshal(b, &tables); err != nil {
		return strings.Contains(string(b), "[orchestrator")
	}
	_, ok := tables["orchestrator"]
	return ok
}
