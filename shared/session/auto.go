package session

import "strings"

// Rule is an administrator's: actions of this type and form are approved without a person. There are rules for test_run
// alone: what a shell reads is approved by people only.
type Rule struct {
	ID        string
	Type      ActionType
	Argv      []string // patterns, one for each element: * stands for any text within one element; a last ** for any further ones
	Workspace string   // the workspace_path that it is for; empty: none
}

// Matches reports whether the rule approves the payload in that workspace. A payload is held against it element by element;
// nothing is split or joined.
func (r Rule) Matches(t ActionType, p Payload, workspace string) bool {
	if r.ID == "" || r.Type != TestRun || t != TestRun || r.Workspace == "" || r.Workspace != workspace || len(r.Argv) == 0 {
		return false
	}
	patterns, more := r.Argv, false
	if n := len(patterns); n > 1 && patterns[n-1] == "**" {
		patterns, more = patterns[:n-1], true
	}
	if len(p.Argv) < len(patterns) || len(p.Argv) > len(patterns) && !more {
		return false
	}
	for i, pattern := range patterns {
		if !matches(pattern, p.Argv[i]) {
			return false
		}
	}
	return true
}

// matches reports whether a text is as a pattern says, in which * stands for any text.
func matches(pattern, s string) bool {
	parts := strings.Split(pattern, "*")
	first, last := parts[0], parts[len(parts)-1]
	if len(parts) == 1 {
		return pattern == s
	}
	if len(s) < len(first)+len(last) || !strings.HasPrefix(s, first) || !strings.HasSuffix(s, last) {
		return false
	}
	s = s[len(first) : len(s)-len(last)]
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(s, part)
		if i < 0 {
			return false
		}
		s = s[i+len(part):]
	}
	return true
}
