package conversation

import (
	"encoding/json"
	"fmt"
	"strings"

	"ringi/shared/domain/agent"
)

// maxKept is the limit in bytes of a kept payload: the lines of all changes as JSON, which spells some characters with
// six bytes.
const maxKept = 8 * MaxChangedBytes

// On is what an action works on: a version of the files, and one of the attachments beside them. Empty: there are none.
type On struct{ Base, Attachments string }

// On returns what an action works on that is proposed now.
func (s *Conversation) On() On { return On{s.WorkspaceVersion, s.AttachmentsVersion} }

// Complete returns the payload as it is kept and stamped: with the versions for which it was proposed and, for files,
// with exactly what it changes in them. t are the files of that version; commands need none. It returns problems as
// Changes does.
func (p Payload) Complete(typ agent.ActionType, on On, t *Tree) (kept Payload, problems []string) {
	kept = p
	kept.Base, kept.AttachmentsVersion = &on.Base, on.Attachments
	if typ != agent.CodeGenerate {
		return kept, nil
	}
	if kept.Changes, problems = t.Changes(p); problems != nil {
		return Payload{}, problems
	}
	kept.Files, kept.Edits, kept.Delete = nil, nil, nil
	return kept, nil
}

// First is Complete for a payload that is no proposal of files, or writes one file where there are none.
func (p Payload) First(typ agent.ActionType, on On) (kept Payload, problems []string) {
	kept = p
	kept.Base, kept.AttachmentsVersion = &on.Base, on.Attachments
	if typ != agent.CodeGenerate {
		return kept, nil
	}
	if on.Base != "" || len(p.Files) != 1 || len(p.Edits)+len(p.Delete) > 0 {
		return Payload{}, []string{"it is not one file where there are none"}
	}
	before := &Tree{}
	after, err := before.Apply(p.Files)
	if err != nil {
		return Payload{}, []string{err.Error()}
	}
	kept.Files, kept.Changes = nil, Difference(before, after)
	if problems = stampable(kept.Changes); problems != nil {
		return Payload{}, problems
	}
	return kept, nil
}

// ReadKept parses a kept payload of this type.
func ReadKept(typ agent.ActionType, text []byte) (p Payload, problems []string) {
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
	if typ == agent.CodeGenerate {
		if len(members) > 0 || len(added.Changes) == 0 {
			return p, []string{"a kept payload of files has changes and nothing else"}
		}
		return Payload{Stamped: added}, checkChanges(added.Changes)
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
func (s Stamped) misplaced(typ agent.ActionType) []string {
	switch {
	case typ == agent.ToolCall:
		return append(s.Called.checkCalled(), checkChanges(s.Changes)...)
	case s.Called != Called{} || s.Push != nil:
		return []string{"only a tool_call has a tool's version or a push"}
	case typ != agent.CodeGenerate && s.Changes != nil:
		return []string{"a command has no changes"}
	}
	return nil
}

// checkChanges checks that changes can be drawn and made: known modes, paths inside, whole lines.
func checkChanges(changes []FileChange) (problems []string) {
	seen := map[string]bool{}
	for i, c := range changes {
		field := fmt.Sprintf("changes[%d]", i)
		if err := CheckPath(c.Path); err != nil || seen[c.Path] {
			problems = append(problems, field+".path is no path, or there twice")
		}
		seen[c.Path] = true
		for _, s := range []*Side{c.Was, c.Is} {
			if s != nil && (s.Mode != ModeFile && s.Mode != ModeExecutable || s.Target != "") {
				problems = append(problems, field+" is no file")
			}
		}
		if c.Was == nil && c.Is == nil || c.Was != nil && c.Is != nil && *c.Was == *c.Is || c.Unshown != "" ||
			c.Added != 0 || c.Removed != 0 || len(c.By) > mostMakers+1 {
			problems = append(problems, field+" doesn't say what changes")
		}
		for _, h := range c.Hunks {
			for _, line := range h.Lines {
				text := strings.TrimSuffix(line, "\n")
				if len(line) < 2 || !strings.Contains(" +-", line[:1]) || strings.Contains(text, "\n") {
					problems = append(problems, field+" has a line that is none")
				}
			}
		}
	}
	return problems
}

// Proposed returns a kept payload in the form in which an agent proposes it, so that later turns show the agent its own
// proposals.
func (p Payload) Proposed() Payload {
	changes := p.Changes
	p.Stamped = Stamped{}
	if p.Tool != "" {
		return p
	}
	for _, c := range changes {
		if c.Is == nil {
			p.Delete = append(p.Delete, c.Path)
			continue
		}
		var edits []Edit
		for _, h := range c.Hunks {
			var with strings.Builder
			to := h.From - 1
			for _, line := range h.Lines {
				if line[0] != '+' {
					to++
				}
				if line[0] != '-' {
					with.WriteString(line[1:])
				}
			}
			edits = append(edits, Edit{Path: c.Path, From: h.From, To: to, New: with.String()})
		}
		switch {
		case len(edits) == 0:
			p.Files = append(p.Files, File{Path: c.Path})
		case edits[0].To < edits[0].From: // the file was new or empty
			p.Files = append(p.Files, File{c.Path, edits[0].New})
		default:
			p.Edits = append(p.Edits, edits...)
		}
	}
	return p
}
