package conversation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"ringi/shared/domain/files"
	"ringi/shared/domain/tenancy"
)

const (
	MaxPayload = 128 << 10 // as JSON; a row holds 400 KB
	MaxArgv    = 64
	MaxArg     = 4000  // characters
	MaxScript  = 16000 // characters
	MinSeconds = 1
	MaxSeconds = 600
)

// Payload is the payload of an action. Each type uses only some of the fields.
type Payload struct {
	Files          []files.File `json:"files,omitempty"`           // code_generate: files to write whole
	Edits          []files.Edit `json:"edits,omitempty"`           // code_generate
	Delete         []string     `json:"delete,omitempty"`          // code_generate: paths
	Argv           []string     `json:"argv,omitempty"`            // test_run
	Script         string       `json:"script,omitempty"`          // shell_command
	TimeoutSeconds int          `json:"timeout_seconds,omitempty"` // test_run and shell_command
	Tool           string       `json:"tool,omitempty"`            // tool_call
	Arguments      string       `json:"arguments,omitempty"`       // tool_call: a JSON object as text, without references

	// Stamped is what the trusted side adds before people are asked.
	Stamped
}

// Stamped is the part of a kept payload that says on which files the action works, and what it makes of them.
type Stamped struct {
	// Base is the version of the files for which the action was proposed. nil: it is a proposal.
	Base *string `json:"base,omitempty"`
	// AttachmentsVersion is the version of the attachments that lie beside the files. Empty: none.
	AttachmentsVersion string `json:"attachments_version,omitempty"`
	// Changes is what a code_generate changes. They take the place of files, edits and delete.
	Changes []files.Change `json:"changes,omitempty"`
	// Called is which form of the tool a tool_call calls.
	Called
	// Push is where a tool_call that opens a pull request opens it.
	Push *Push `json:"push,omitempty"`
}

// ReadPayload parses a payload of this type. If it returns problems, worded so that a model can fix them, the payload
// must not be used.
func ReadPayload(t tenancy.ActionType, text []byte) (p Payload, problems []string) {
	if len(text) > MaxPayload {
		return p, []string{fmt.Sprintf("the payload has %d bytes, the limit is %d", len(text), MaxPayload)}
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	problems, err := p.decode(t, d)
	if err != nil {
		return Payload{}, []string{"it is not of the payload's form: " + err.Error()}
	}
	if _, more := d.Token(); more != io.EOF {
		return Payload{}, []string{"something follows the payload"}
	}
	if len(problems) > 0 {
		return Payload{}, problems
	}
	return p, nil
}

// decode reads the fields of a proposal of this type.
func (p *Payload) decode(t tenancy.ActionType, d *json.Decoder) (problems []string, err error) {
	switch t {
	case tenancy.CodeGenerate:
		var x files.Writing
		err = d.Decode(&x)
		p.Files, p.Edits, p.Delete = x.Files, x.Edits, x.Delete
		problems = x.Check()
	case tenancy.TestRun:
		var x struct {
			Argv           []string
			TimeoutSeconds int `json:"timeout_seconds"`
		}
		err = d.Decode(&x)
		p.Argv, p.TimeoutSeconds = x.Argv, x.TimeoutSeconds
		problems = append(p.checkArgv(), p.checkTime()...)
	case tenancy.ShellCommand:
		var x struct {
			Script         string
			TimeoutSeconds int `json:"timeout_seconds"`
		}
		err = d.Decode(&x)
		p.Script, p.TimeoutSeconds = x.Script, x.TimeoutSeconds
		problems = append(p.checkScript(), p.checkTime()...)
	case tenancy.ToolCall:
		var x struct{ Tool, Arguments string }
		err = d.Decode(&x)
		p.Tool, p.Arguments = x.Tool, x.Arguments
		problems = p.checkCall()
	default:
		return []string{fmt.Sprintf("there is no action of type %.50q", t)}, d.Decode(&json.RawMessage{})
	}
	return problems, err
}

// JSON returns the stored form of the payload, which is the same for equal payloads.
func (p Payload) JSON() string {
	b, err := json.Marshal(p)
	if err != nil {
		panic(fmt.Sprintf("encode a payload: %v", err)) // can't happen with strings and numbers
	}
	return string(b)
}

func (p Payload) checkArgv() (problems []string) {
	if n := len(p.Argv); n == 0 || n > MaxArgv {
		return []string{fmt.Sprintf("argv has %d elements, it must have 1 to %d", n, MaxArgv)}
	}
	if strings.TrimSpace(p.Argv[0]) == "" || strings.HasPrefix(p.Argv[0], "-") {
		problems = append(problems, "argv[0] must be the name of a program")
	}
	for i, s := range p.Argv {
		problems = append(problems, line(fmt.Sprintf("argv[%d]", i), s, MaxArg)...)
	}
	return problems
}

func (p Payload) checkScript() []string {
	if strings.TrimSpace(p.Script) == "" {
		return []string{"script is empty"}
	}
	return line("script", p.Script, MaxScript)
}

func (p Payload) checkTime() []string {
	if p.TimeoutSeconds < MinSeconds || p.TimeoutSeconds > MaxSeconds {
		return []string{fmt.Sprintf("timeout_seconds is %d, it must be %d to %d", p.TimeoutSeconds, MinSeconds, MaxSeconds)}
	}
	return nil
}

func line(field, s string, limit int) []string {
	switch n := utf8.RuneCountInString(s); {
	case !files.IsText([]byte(s)):
		return []string{field + " is no text"}
	case n > limit:
		return []string{fmt.Sprintf("%s has %d characters, the limit is %d", field, n, limit)}
	}
	return nil
}

// maxKept is the limit in bytes of a kept payload: the lines of all changes as JSON, which spells some characters with
// six bytes.
const maxKept = 8 * files.MaxChangedBytes

// On is what an action works on: a version of the files, and one of the attachments beside them. Empty: there are none.
type On struct{ Base, Attachments string }

// On returns what an action works on that is proposed now.
func (s *Conversation) On() On { return On{s.WorkspaceVersion, s.AttachmentsVersion} }

// Complete returns the payload as it is kept and stamped: with the versions for which it was proposed and, for files,
// with exactly what it changes in them. t are the files of that version; commands need none. It returns problems as
// Changes does.
func (p Payload) Complete(typ tenancy.ActionType, on On, t *files.Tree) (kept Payload, problems []string) {
	kept = p
	kept.Base, kept.AttachmentsVersion = &on.Base, on.Attachments
	if typ != tenancy.CodeGenerate {
		return kept, nil
	}
	kept.Changes, problems = t.Changes(files.Writing{Files: p.Files, Edits: p.Edits, Delete: p.Delete})
	if problems != nil {
		return Payload{}, problems
	}
	kept.Files, kept.Edits, kept.Delete = nil, nil, nil
	return kept, nil
}

// ReadKept parses a kept payload of this type.
func ReadKept(typ tenancy.ActionType, text []byte) (p Payload, problems []string) {
	if len(text) > maxKept {
		return p, []string{fmt.Sprintf("the payload has %d bytes, the limit is %d", len(text), maxKept)}
	}
	var members map[string]json.RawMessage
	var added Stamped
	if json.Unmarshal(text, &members) != nil || json.Unmarshal(text, &added) != nil || added.Base == nil {
		return p, []string{"base, attachments_version or changes are not of the payload's form"}
	}
	for _, name := range append([]string{"base", "attachments_version", "changes", "push"}, called...) {
		delete(members, name)
	}
	if wrong := added.misplaced(typ); wrong != nil {
		return p, wrong
	}
	if typ == tenancy.CodeGenerate {
		if len(members) > 0 || len(added.Changes) == 0 {
			return p, []string{"a kept payload of files has changes and nothing else"}
		}
		return Payload{Stamped: added}, files.CheckChanges(added.Changes)
	}
	rest, err := json.Marshal(members)
	if err != nil {
		return p, []string{"the payload can't be read"}
	}
	if p, problems = ReadPayload(typ, rest); problems == nil {
		p.Stamped = added
	}
	return p, problems
}

// misplaced returns what a kept payload of this type may not have, or lacks.
func (s Stamped) misplaced(typ tenancy.ActionType) []string {
	switch {
	case typ == tenancy.ToolCall:
		return append(s.Called.checkCalled(), files.CheckChanges(s.Changes)...)
	case s.Called != Called{} || s.Push != nil:
		return []string{"only a tool_call has a tool's version or a push"}
	case typ != tenancy.CodeGenerate && s.Changes != nil:
		return []string{"a command has no changes"}
	}
	return nil
}

// Proposed returns a kept payload in the form in which an agent proposes it, so that later turns show the agent its own
// proposals.
func (p Payload) Proposed() Payload {
	if p.Tool == "" {
		w := files.Proposed(p.Changes)
		p.Files, p.Edits, p.Delete = append(p.Files, w.Files...), append(p.Edits, w.Edits...), append(p.Delete, w.Delete...)
	}
	p.Stamped = Stamped{}
	return p
}
