package conversation

import (
	"maps"
	"slices"
)

// Maker is an action that changed a path after the conversation's first files.
type Maker struct {
	Action int  `json:"action"`         // its number; 0: earlier actions, which are not named
	Seen   bool `json:"seen,omitempty"` // a person saw the changed text before it was made
}

// mostMakers is how many actions are named for one path, the newest.
const mostMakers = 10

// Made says of a version of the files which actions changed which paths since the first files. It stands beside the
// version.
type Made struct {
	Paths map[string][]Maker `json:"paths"`
	// Unknown says that nobody knows which actions made the changes before those in Paths.
	Unknown bool `json:"unknown,omitempty"`
}

// After returns what holds after an action has made these changes.
func (m Made) After(by Maker, changes []FileChange) Made {
	out := Made{Paths: maps.Clone(m.Paths), Unknown: m.Unknown}
	if out.Paths == nil {
		out.Paths = map[string][]Maker{}
	}
	for _, c := range changes {
		all := append(slices.Clone(out.Paths[c.Path]), by)
		if more := len(all) - mostMakers; more > 0 {
			all = append([]Maker{{}}, all[more:]...)
		}
		out.Paths[c.Path] = all
	}
	return out
}

// Below returns the same of a folder's files, by the paths of what has that folder.
func (m Made) Below(folder string) Made {
	if folder == "" {
		return m
	}
	out := Made{Paths: map[string][]Maker{}, Unknown: m.Unknown}
	for p, by := range m.Paths {
		out.Paths[folder+"/"+p] = by
	}
	return out
}

// Of returns the actions that changed a path, the oldest first.
func (m Made) Of(path string) []Maker {
	all := m.Paths[path]
	if m.Unknown && (len(all) == 0 || all[0].Action != 0) {
		all = append([]Maker{{}}, all...)
	}
	return all
}

// Maker says how the action stands among those that changed files: people saw what they approved of code_generate.
func (x *Action) Maker() Maker {
	return Maker{Action: x.Number, Seen: x.ActionType == CodeGenerate && x.ApprovedBy == ApprovedByUser}
}

// FirstFiles reports whether no action has changed the conversation's files: it has none, or those of its source.
func (s *Conversation) FirstFiles() bool {
	return s.WorkspaceVersion == "" || s.Source != nil && s.Source.Version == s.WorkspaceVersion && s.FilesBy == 0
}

// MadeBefore adds to changes which actions changed their paths before.
func MadeBefore(changes []FileChange, before Made) {
	for i := range changes {
		changes[i].By = before.Of(changes[i].Path)
	}
}
