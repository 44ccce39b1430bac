package task

import (
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/isolated"
)

// Files is what was read of a request's files before the first layer. It changes only with the files, when a corrected
// request is drafted anew or a form is filled in again, so that all layers are shown the same. It keeps what was read
// of the files of earlier versions.
type Files struct {
	aggregate.Meta
	Files     []ReadFile `json:"files"`
	CreatedAt time.Time  `json:"created_at"`
}

// ReadFile is a file as it was read, or why it was not.
type ReadFile struct {
	aggregate.SharedFile
	SHA256 string `json:"sha256,omitempty"` // of the file; the object with this name is the file
	// Kind is what it is by its content, and Left why it is not attached; see Attached.
	Kind FileKind `json:"kind,omitempty"`
	Left LeftOut  `json:"left,omitempty"`

	Form     isolated.FileForm     `json:"form,omitempty"`
	Encoding string                `json:"encoding,omitempty"`
	Remarks  []isolated.FileRemark `json:"remarks,omitempty"`
	Why      string                `json:"why,omitempty"` // why it has no text; see conversation.CauseOf
	// Characters are those of its text, of which models are shown the first Shown. Text is that beginning.
	Characters int             `json:"characters,omitempty"`
	Shown      int             `json:"shown,omitempty"`
	Text       *aggregate.Blob `json:"text,omitempty"`
}

// Limits of a request's files: how many, the bytes of each and of all together, and the characters of a text and of all
// texts that models are shown.
const (
	MaxAttached   = 10
	MaxFileBytes  = 10 << 20
	MaxFilesBytes = 25 << 20
	MaxFileShown  = 30_000
	MaxFilesShown = 60_000
)

// FilesKey is the key of a task's Files.
const FilesKey = "FILES"

func (r *Files) Key() string             { return FilesKey }
func (r Files) At(rev int) aggregate.Row { r.Rev = rev; return &r }

// Unread reports whether the request has files that must be read before anything else is made of it.
func (a *Aggregate) Unread() bool {
	return a.Request != nil && len(a.Listed()) > 0 && a.Read() == nil
}

// Listed returns the request's files as Slack lists them: those of its form as it was last filled in.
func (a *Aggregate) Listed() []aggregate.SharedFile { return a.filesOf(a.Prompt()) }

// Read returns what was read of the request's files; nil if that were others, before the form was filled
// in again.
func (a *Aggregate) Read() *Files { return a.readOf(a.Prompt()) }

// readOf is Read of the files that a version has; see filesOf.
func (a *Aggregate) readOf(p *Prompt) *Files {
	if a.Files == nil || a.Request == nil {
		return nil
	}
	out := *a.Files
	out.Files = nil
	for _, of := range a.filesOf(p) {
		f := a.Files.of(of.ID)
		if f == nil {
			return nil
		}
		out.Files = append(out.Files, *f)
	}
	return &out
}

// of returns what was read of a file, or nil.
func (r *Files) of(id string) *ReadFile {
	if i := slices.IndexFunc(r.Files, func(f ReadFile) bool { return f.ID == id }); i >= 0 {
		return &r.Files[i]
	}
	return nil
}

// ReadBefore returns what was read of a file of an earlier version, or nil. It is not read twice: the file of a stamp
// stays what it was.
func (a *Aggregate) ReadBefore(id string) *ReadFile {
	if a.Files == nil {
		return nil
	}
	return a.Files.of(id)
}

// filesOf returns the files of a version, which are those of its policy; nil: of the request as it came.
func (a *Aggregate) filesOf(p *Prompt) []aggregate.SharedFile {
	if p != nil && p.Matter != nil {
		return p.Files
	}
	return a.Request.Files
}

// FilesOf returns what was read of the files of the steps with this id.
func (a *Aggregate) FilesOf(id string) []ReadFile {
	if steps, is := a.gateOf(id).(*Process); is {
		if read := a.readOf(a.policyOf(steps)); read != nil {
			return read.Files
		}
	}
	return nil
}

// WithFiles returns the files of a form that is filled in again: those of the steps with this id that it keeps, and
// those that were added, each once.
func (a *Aggregate) WithFiles(id string, keeps []string, added []aggregate.SharedFile) (files []aggregate.SharedFile) {
	for _, f := range a.FilesOf(id) {
		if slices.Contains(keeps, f.ID) {
			files = append(files, f.SharedFile)
		}
	}
	for _, f := range added {
		if !slices.ContainsFunc(files, func(o aggregate.SharedFile) bool { return o.ID == f.ID }) {
			files = append(files, f)
		}
	}
	return files
}

// ReadFiles saves what was read of the request's files. If they were read before, nothing changes.
func (a *Aggregate) ReadFiles(run int, files []ReadFile, now time.Time) (aggregate.Change, error) {
	if err := a.working(run); err != nil {
		return aggregate.Change{}, err
	}
	if !a.Unread() {
		return aggregate.Change{}, nil
	}
	c := a.begin(now)
	row := &Files{Files: slices.Clip(files), CreatedAt: c.Now}
	if a.Files != nil {
		row.Meta = a.Files.Meta
		for _, f := range a.Files.Files { // of an earlier version
			if row.of(f.ID) == nil {
				row.Files = append(row.Files, f)
			}
		}
	}
	c.Put(row)
	return c.done()
}

// Last reports whether the task ends if this policy or these steps are rejected.
func (a *Aggregate) Last(row Gated) bool {
	_, step := row.(*StepGate)
	return !step && a.Further(row) == 0
}

// Follows says what follows if people send back what a gate asks about.
type Follows string

const (
	FollowsNothing Follows = ""        // it ends: a step
	FollowsNext    Follows = "next"    // another version, or a turn of an agent
	FollowsAsker   Follows = "asker"   // whoever asked fills in the form again, or cancels
	FollowsNoMore  Follows = "no_more" // it is the last version that may be made
)

// Follows returns what follows if the gate with this id is sent back: only versions can be.
func (a *Aggregate) Follows(id string) Follows {
	row := a.gateOf(id)
	_, check := row.(*StepGate)
	_, steps := row.(*Process)
	switch {
	case row == nil || check:
		return FollowsNothing
	case a.Last(row):
		return FollowsNoMore
	case steps && a.Matter() != nil:
		return FollowsAsker
	}
	return FollowsNext
}

// Further returns how many more versions may be made after this policy or these steps. It is 0 for a step's gate.
func (a *Aggregate) Further(row Gated) int {
	most := row.gate().Terms.MaxVersions
	switch row := row.(type) {
	case *Prompt:
		return further(a.Prompts, row.Version, most)
	case *Process:
		return further(a.Processes, row.Version, most)
	}
	return 0
}

// further returns how many versions may still be generated after this one: people's picks don't count.
func further[R Gated](rows []R, version, most int) int {
	for _, r := range rows {
		p, policy := Gated(r).(*Prompt)
		if r.Asks().Version <= version && !(policy && p.Author != "") {
			most--
		}
	}
	return max(0, most)
}
