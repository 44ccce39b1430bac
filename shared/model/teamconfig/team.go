package teamconfig

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"unicode/utf8"

	"ringi/shared/words/language"
	"ringi/shared/words/legible"
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
		SystemPrompt: s.text("system_prompt"), SystemInstruction: s.instruction(),
		Model: s.model("model", DefaultLeaderModel)}
	if l.SystemPrompt != nil && blank(*l.SystemPrompt) {
		s.refuse("system_prompt", "system_prompt cannot be empty string. Use None for default prompt or provide valid text.")
	}
	s.end()
	return l
}

// agentTypes maps the spellings of member types in files to the types.
var agentTypes = map[string]string{
	"plain": "plain", "web-search": "web-search", "code-exec": "code-exec",
	"web_search": "web-search", "code_execution": "code-exec",
}

// aliases are shorter names for a member's fields.
var aliases = [][2]string{{"name", "agent_name"}, {"type", "agent_type"}, {"description", "tool_description"}}

// toolForm is the form of a tool's name that all vendors accept.
var toolForm = language.Regexp{Text: `^[A-Za-z0-9_-]{1,64}$`}

// member reads one of [[team.members]]. Its keys take precedence over those of the file that it names.
func (r *reading) member(file, path string, keys map[string]any) Member {
	own := r.named(r.section(file, path, keys))
	config := own.text("config")
	if config != nil {
		own = r.over(own, *config)
	}
	m := own.agent()
	m.Config = config
	return m
}

// named replaces shorter names of fields with the long ones.
func (r *reading) named(s *section) *section {
	keys := map[string]any{}
	maps.Copy(keys, s.keys)
	for _, a := range aliases {
		short, long := a[0], a[1]
		v, ok := keys[short]
		if !ok {
			continue
		}
		other, both := keys[long]
		differ := both && !reflect.DeepEqual(other, v)
		delete(keys, short)
		switch {
		case differ && short == "description":
			s.warn(short, "has no effect when %s is set", long)
			continue
		case differ:
			s.refuse(short, "disagrees with %s: keep only one of them", long)
		}
		keys[long] = v
	}
	s.keys = keys
	return s
}

// over adds keys from a member's file that the member does not set itself.
func (r *reading) over(own *section, config string) *section {
	own.torn = true
	name, err := inside(config)
	if err != nil {
		own.refuse("config", "%v", err)
		return own
	}
	tables := r.file(name, own.path+"config")
	if tables == nil {
		return own
	}
	base := r.agentFile(name, own.path, tables)
	if base == nil {
		return own
	}
	own.torn = false
	if _, nested := base.keys["config"]; nested {
		base.refuse("config", "is not a field of a member's own file")
		base.take("config")
	}
	own.from = map[string]string{}
	for key, v := range base.keys {
		if _, ok := own.keys[key]; ok || key == "config" {
			continue
		}
		own.keys[key], own.from[key] = v, name
	}
	return own
}

// agentFile returns the table [agent] of a member's file. If there is none, it records a finding and returns nil.
func (r *reading) agentFile(file, path string, tables map[string]any) *section {
	s := r.topTable(file, path, "agent", "a member", tables)
	if s == nil {
		return nil
	}
	return r.named(s)
}

func (s *section) agent() Member {
	m := Member{
		Call: retried(s.callWithin(1,
			noMost)), AgentName: s.needed("agent_name"), AgentType: s.agentType(), ToolName: s.text("tool_name"),
		Model:             s.model("model", ""),
		SystemInstruction: s.instruction(), SystemPrompt: s.text("system_prompt"),
	}
	m.ToolDescription = s.described(m.AgentName)
	if m.ToolName != nil && blank(*m.ToolName) {
		m.ToolName = nil
	}
	if tool := m.Tool(); !blank(m.AgentName) && !toolForm.Get().MatchString(tool) {
		s.refuse("tool_name", "must be 1 to 64 letters, digits, _ or -, as model vendors require; it is %q, taken from "+
			"agent_name unless tool_name is set", legible.Beginning(tool, maxShown))
	}
	if !blank(m.AgentName) {
		m.ToolName = new(m.Tool())
	}
	if _, ok := s.take("plugin"); ok {
		s.refuse("plugin", "can't be used: Ringi loads no code from a workspace. Use type plain, web-search or code-exec")
	}
	s.ignored("it is kept for other programs", "metadata", "capabilities")
	s.ignored("max_retries and timeout_seconds control retries", "retry_config")
	s.ignored("write system_instruction", "instructions")
	s.ignored("the workspace's administrator sets up tools", "tool_settings")
	s.end()
	return m
}

func (s *section) agentType() string {
	written := s.needed("agent_type")
	if blank(written) {
		return ""
	}
	kind, ok := agentTypes[written]
	switch {
	case ok:
	case slices.Contains([]string{"custom", "web_fetch", "web-fetch"}, written):
		s.refuse("agent_type", "can't be used: Ringi has no such agents. Use plain, web-search or code-exec")
	default:
		s.refuse("agent_type", "must be plain, web-search or code-exec")
	}
	return kind
}

// described returns what the leader's model reads about the member. Unless the file says it, the name stands for it.
func (s *section) described(name string) string {
	t := s.text("tool_description")
	switch {
	case t != nil && blank(*t):
		s.refuse("tool_description", "tool_description cannot be empty")
	case t != nil:
		return *t
	case s.torn || blank(name):
		return ""
	}
	return "Delegate task to " + name
}
