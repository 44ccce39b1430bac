package teamconfig

import (
	"fmt"
	"unicode/utf8"
)

// The bounds of a team.
const (
	DefaultConcurrentMembers = 15
	MaxConcurrentMembers     = 50
	DefaultLeaderModel       = "openai:gpt-4o"
	DefaultLeaderTimeout     = 300 // seconds
	MinLeaderTimeout         = 10
	MaxLeaderTimeout         = 600
	DefaultMaxRetries        = 3
	maxName                  = 200 // characters
)

// file reads the file that a field names. If the file can't be read, it records a finding and returns nil.
func (r *reading) file(file, field string) map[string]any {
	name, err := inside(file)
	if err == nil {
		var tables map[string]any
		if tables, err = r.tables(name); err == nil {
			if tables == nil {
				tables = map[string]any{}
			}
			return tables
		}
	}
	r.found = append(r.found, Finding{File: file, Field: field, Message: err.Error(), Err: err})
	return nil
}

// team reads [team]. path is the prefix of its fields in messages.
func (r *reading) team(file, path string, tables map[string]any) (t Team) {
	s := r.topTable(file, path, "team", "a team", tables)
	if s == nil {
		return t
	}
	t = Team{TeamID: s.name("team_id"), TeamName: s.name("team_name"), Members: []Member{}}
	t.MaxConcurrentMembers = s.wholeOr(DefaultConcurrentMembers, 1, MaxConcurrentMembers, "max_concurrent_members")
	t.Leader = r.leader(file, path+"leader.", s.table("leader"))
	members := s.list("members", "[[team.members]]")
	if n := len(members); n > t.MaxConcurrentMembers {
		s.refuse("members", "Too many members: %d > %d. Adjust max_concurrent_members or reduce member count.", n,
			t.MaxConcurrentMembers)
	}
	// Members beyond the limit are not read, since each may name a file.
	for i, keys := range members[:min(len(members), MaxConcurrentMembers)] {
		t.Members = append(t.Members, r.member(file, fmt.Sprintf("%smembers[%d].", path, i), keys))
	}
	s.unique(t.Members)
	s.end()
	return t
}

// name reads a text for lists, of at most maxName characters.
func (s *section) name(key string) string {
	t := s.needed(key)
	if utf8.RuneCountInString(t) > maxName {
		s.refuse(key, "must be at most %d characters", maxName)
	}
	return t
}

// unique refuses members or tools that have the same name.
func (s *section) unique(members []Member) {
	var names, tools []string
	for _, m := range members {
		if !blank(m.AgentName) {
			names, tools = append(names, m.AgentName), append(tools, m.Tool())
		}
	}
	if twice := repeated(names); twice != "" {
		s.refuse("members", "Duplicate agent_name detected: %s", twice)
	}
	if twice := repeated(tools); twice != "" {
		s.refuse("members", "Duplicate tool_name detected: %s", twice)
	}
}

func (r *reading) leader(file, path string, keys map[string]any) Leader {
	s := r.section(file, path, keys)
	l := Leader{Call: called(s.callWithin(MinLeaderTimeout, MaxLeaderTimeout), DefaultLeaderTimeout),
		SystemPrompt: s.text("system_prompt"), SystemInstruction: s.instruction("system_instruction"),
		Model: s.model("model", DefaultLeaderModel)}
	if l.SystemPrompt != nil && blank(*l.SystemPrompt) {
		s.refuse("system_prompt", "system_prompt cannot be empty string. Use None for default prompt or provide valid text.")
	}
	s.end()
	return l
}
