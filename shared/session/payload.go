package session

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"strings"
	"unicode/utf8"

	"ringi/shared/aggregate"
	"ringi/shared/sandbox"
	"ringi/shared/workspace"
)

const (
	// DefaultTimeout is how long a command may run where its payload does not say, in seconds.
	DefaultTimeout = 120
	// MaxFiles is how many files one action writes.
	MaxFiles = 50
	// MaxPayload is how large a payload may be, in bytes of JSON.
	MaxPayload = 512 << 10
)

// Payload is what an action does, by its type: files for code_generate, argv for test_run, a script for shell_command.
type Payload struct {
	Files          []File   `json:"files,omitempty"`
	Argv           []string `json:"argv,omitempty"`
	Script         string   `json:"script,omitempty"`
	TimeoutSeconds int      `json:"timeout_seconds,omitempty"`
}

// File is one that is written, whole.
type File struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

// keys are what a payload of each type may have.
var keys = map[ActionType][]string{
	CodeGenerate: {"files"},
	TestRun:      {"argv", "timeout_seconds"},
	ShellCommand: {"script", "timeout_seconds"},
}

// ErrType says that there is no such type of action, or that the agent may not propose it.
type ErrType struct{ Type ActionType }

func (e ErrType) Error() string {
	return fmt.Sprintf("action type %.40q is not supported by this agent", string(e.Type))
}

// ReadPayload checks a payload by its type's schema and gives it its one form: what is shown, stamped and executed is that
// text. It returns aggregate.ErrField for what breaks the schema, ErrType for an unknown type.
func ReadPayload(t ActionType, raw aggregate.JSON) (p Payload, canonical aggregate.JSON, err error) {
	allowed, known := keys[t]
	if !known {
		return p, "", ErrType{t}
	}
	if len(raw) > MaxPayload {
		return p, "", aggregate.ErrField{Field: "payload", Limit: fmt.Sprintf("must have at most %d bytes, not %d", MaxPayload, len(raw))}
	}
	var names map[string]json.RawMessage
	if json.Unmarshal([]byte(raw), &names) != nil || names == nil {
		return p, "", aggregate.ErrField{Field: "payload", Limit: "must be an object"}
	}
	for name := range names {
		if !contains(allowed, name) {
			return p, "", aggregate.ErrField{Field: cutRunes(name, 40), Limit: "is no field of a " + string(t)}
		}
	}
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return p, "", aggregate.ErrField{Field: "payload", Limit: "does not have the form of a " + string(t)}
	}
	if _, err := d.Token(); err != io.EOF {
		return p, "", aggregate.ErrField{Field: "payload", Limit: "must be one object"}
	}
	if err := p.check(t, names["timeout_seconds"] != nil); err != nil {
		return p, "", err
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(p); err != nil {
		return p, "", err
	}
	return p, aggregate.JSON(bytes.TrimSpace(text.Bytes())), nil
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// check holds what a payload says against its type's limits, and gives a command its time.
func (p *Payload) check(t ActionType, timed bool) error {
	switch t {
	case CodeGenerate:
		return p.checkFiles()
	case TestRun:
		if err := p.checkArgv(); err != nil {
			return err
		}
	case ShellCommand:
		if n := len(p.Script); strings.TrimSpace(p.Script) == "" || n > sandbox.MaxScript {
			return aggregate.ErrField{Field: "script", Limit: fmt.Sprintf("must have 1 to %d bytes, not %d", sandbox.MaxScript, n)}
		}
		if err := plain("script", p.Script); err != nil {
			return err
		}
	}
	if !timed {
		p.TimeoutSeconds = DefaultTimeout
	}
	if p.TimeoutSeconds < 1 || p.TimeoutSeconds > sandbox.MaxTimeout {
		return aggregate.ErrField{Field: "timeout_seconds", Limit: fmt.Sprintf("must be between 1 and %d, not %d", sandbox.MaxTimeout, p.TimeoutSeconds)}
	}
	return nil
}

func (p *Payload) checkFiles() error {
	if n := len(p.Files); n < 1 || n > MaxFiles {
		return aggregate.ErrField{Field: "files", Limit: fmt.Sprintf("must be 1 to %d, not %d", MaxFiles, n)}
	}
	seen := map[string]bool{}
	for i, f := range p.Files {
		field := fmt.Sprintf("files[%d].path", i)
		if err := workspace.CheckPath(f.Path); err != nil {
			return aggregate.ErrField{Field: field, Limit: err.Error()}
		}
		if seen[path.Clean(f.Path)] {
			return aggregate.ErrField{Field: field, Limit: "stands there twice"}
		}
		seen[path.Clean(f.Path)] = true
		if !utf8.ValidString(f.Content) {
			return aggregate.ErrField{Field: fmt.Sprintf("files[%d].content", i), Limit: "must be text in UTF-8"}
		}
	}
	return nil
}

func (p *Payload) checkArgv() error {
	if n := len(p.Argv); n < 1 || n > sandbox.MaxArgs {
		return aggregate.ErrField{Field: "argv", Limit: fmt.Sprintf("must have 1 to %d elements, not %d", sandbox.MaxArgs, n)}
	}
	bytes := 0
	for i, x := range p.Argv {
		if err := plain(fmt.Sprintf("argv[%d]", i), x); err != nil {
			return err
		}
		bytes += len(x) + 1
	}
	if p.Argv[0] == "" || bytes > sandbox.MaxArgv {
		return aggregate.ErrField{Field: "argv", Limit: fmt.Sprintf("must begin with a command and have at most %d bytes", sandbox.MaxArgv)}
	}
	return nil
}

// plain refuses what no card can show as it is.
func plain(field, s string) error {
	if !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
		return aggregate.ErrField{Field: field, Limit: "must be text in UTF-8 without NUL"}
	}
	return nil
}
