package agent

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/words/language"
)

// AutoRule lets tests that match a command pattern start without approval in one place. It never allows a shell.
type AutoRule struct {
	Type ActionType `json:"type"` // test_run
	// Argv has one pattern for each word of the command, where * stands for one or more of A-Z, a-z, 0-9 and _./:@-
	Argv   []string `json:"argv"`
	Source string   `json:"source,omitempty"` // name of a source in the settings; empty: conversations without one
	Place  string   `json:"place"`            // Slack's id of a channel or of direct messages
	// Changed says that the rule also holds once the files are no longer the source's, or attachments lie beside them.
	// Until then what the test reads as its configuration is what the repository's people wrote. A rule without a source
	// never holds beside attachments: what anybody in the conversation attaches would run.
	Changed bool `json:"changed,omitempty"`
}

// Where is what rules know of a conversation.
type Where struct {
	Source   string // name of its source, if the settings still list that for it; empty: it has none
	Sourced  bool   // it began from a source, also if that is not listed any more
	Place    string // Slack's id of the channel
	Changed  bool   // its files are not the source's any more
	Attached bool   // what people attached lies beside its files, and nobody has approved that
}

// Where names where a rule holds, for people.
func (r AutoRule) Where() string {
	return strings.TrimSpace(r.Source + " " + r.Place)
}

// holds reports whether the rule is about such a conversation.
func (r AutoRule) holds(w Where) bool {
	switch {
	case w.Attached && !r.Changed:
		return false
	case r.Source == "":
		return r.Place == w.Place && !w.Sourced
	}
	return r.Source == w.Source && r.Place == w.Place && (r.Changed || !w.Changed)
}

var placeForm = language.Regexp{Text: `^[CDG][A-Z0-9]{1,40}$`}

// shells are programs that read commands or start another program. The list can't be complete, and security does not
// depend on it: a rule without * allows only exactly what an administrator wrote.
var shells = []string{
	"sh", "bash", "dash", "zsh", "ksh", "csh", "tcsh", "fish", "ash", "busybox", "pwsh", "powershell", "cmd", "env",
	"sudo", "doas", "su", "xargs", "nohup", "setsid",
	"timeout", "time", "nice", "ionice", "stdbuf", "script", "eval", "exec", "command", "parallel", "watch", "find", "awk",
	"gawk", "sed", "ssh", "chroot", "unshare", "nsenter", "strace",
	"toybox", "flock", "setpriv", "runuser", "prlimit", "taskset", "chrt", "numactl", "systemd-run", "bwrap", "firejail",
	"tmux", "screen", "entr", "ltrace", "gdb", "expect",
}

// open is a command whose rules may have a *.
type open struct {
	command string
	// names says that the command treats each argument without a leading - as the name of a file, package or test in
	// the workspace. Other commands treat such an argument as a task to run.
	names bool
	// options lists the options that may appear in a rule with a *, also with a * after their =. None of them names a
	// program, a plugin, an output file or a file with more options.
	options string
}

// opens are test runners, linters and build commands that don't take code as an argument. They run only the files in
// the workspace, which people have approved. Excluded are commands that pass arguments on to other programs (make,
// npm), that load code or a plugin by name (node, deno), or that are themselves files in the workspace.
var opens = []open{
	{"go test", true, "-v -race -short -cover -failfast -json -run -skip -bench -count -timeout"}, {"go vet", true,
		""}, {"go build", true, ""},
	{"pytest", true, "-q -v -vv -x -s -k -m --maxfail"}, {"jest", true, "-t --ci --verbose"}, {"vitest run", true,
		"-t"}, {"rspec", true, "-e --fail-fast"},
	{"cargo test", true, "--lib --release -p --package --test"}, {"cargo build", false,
		"--lib --release --package"}, {"cargo check", false, "--lib --package"},
	{"mvn test", false, "-q -Dtest"}, {"gradle test", false, "--tests"},
	{"gofmt", true, "-l -d -s"}, {"staticcheck", true, ""}, {"golangci-lint run", true, ""}, {"ruff check", true,
		""}, {"flake8", true, ""}, {"mypy", true, ""}, {"eslint", true, ""},
	{"ls", true, "-l -a -la"}, {"cat", true, "-n"}, {"head", true, "-n"}, {"tail", true, "-n"}, {"wc", true, "-l"},
}

// OpenCommands lists the commands for which rules may contain a *.
func OpenCommands() string {
	var all []string
	for _, o := range opens {
		all = append(all, o.command)
	}
	return strings.Join(all, ", ")
}

// Problems returns everything that is wrong with the rule.
func (r AutoRule) Problems() (all aggregate.Problems) {
	all.Unless(r.Type == TestRun, "type", "auto_type")
	code := argvRule(r.Argv)
	all.Unless(code == "", "argv", code, OpenCommands())
	all.Unless(r.Source == "" || sourceForm.Get().MatchString(r.Source), "source", "auto_source")
	all.Unless(placeForm.Get().MatchString(r.Place), "place", "auto_place")
	all.Unless(!r.Changed || r.Source != "", "changed", "auto_changed")
	return all
}

// argvRule returns the rule that the patterns break, or "".
func argvRule(patterns []string) string {
	starred := func(p string) bool { return strings.Contains(p, "*") }
	switch {
	case len(patterns) == 0 || len(patterns) > 32 || slices.ContainsFunc(patterns,
		func(p string) bool { return p == "" || len(p) > 200 }) || starred(patterns[0]):
		return "auto_argv"
	case slices.Contains(shells, nameOf(patterns[0])):
		return "auto_shell"
	case !slices.ContainsFunc(patterns, starred):
		return ""
	}
	for _, o := range opens {
		if words := strings.Fields(o.command); len(patterns) > len(words) && slices.Equal(patterns[:len(words)], words) {
			return o.rule(patterns[len(words):])
		}
	}
	return "auto_star"
}

// rule returns the rule that the patterns after the command break, or "". A leading @ is treated like a -, because some
// commands read a file of options after it.
func (o open) rule(patterns []string) string {
	for _, p := range patterns {
		name, _, _ := strings.Cut(p, "=")
		if option := strings.HasPrefix(p, "-") || strings.HasPrefix(p, "@"); option &&
			!slices.Contains(strings.Fields(o.options), name) {
			return "auto_option"
		} else if !option && !o.names {
			return "auto_star"
		}
	}
	return ""
}

// versioned matches a name with a version such as zsh-5.9, but not script1.sh.
var versioned = language.Regexp{Text: `^(\D+?)[-._]?\d[\d.]*(-[a-z]+)?$`}

// nameOf returns a program's name without its folder and version.
func nameOf(program string) string {
	name := strings.TrimSuffix(strings.ToLower(path.Base(program)), ".exe")
	if m := versioned.Get().FindStringSubmatch(name); m != nil {
		return m[1]
	}
	return name
}

// Allows reports whether the rule lets a command start: it has as many words as the rule, and each matches its pattern.
// A rule with a fault allows nothing.
func (r AutoRule) Allows(t ActionType, argv []string, w Where) bool {
	return len(r.Problems()) == 0 && t == TestRun && r.holds(w) && slices.EqualFunc(r.Argv, argv, fits)
}

// fits reports whether the text matches the pattern. If the pattern begins with *, the text must not begin with -, @ or
// /. Text matched with a * must not contain "..", which could leave the workspace.
func fits(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == text
	}
	if parts[0] == "" && strings.IndexAny(text, "-@/") == 0 || slices.Contains(strings.Split(text, "/"), "..") {
		return false
	}
	for i, part := range parts {
		parts[i] = regexp.QuoteMeta(part)
	}
	form, err := regexp.Compile(`\A` + strings.Join(parts, `[A-Za-z0-9_./:@-]+`) + `\z`)
	return err == nil && form.MatchString(text)
}

// AutoApproved returns the index of the first rule that lets the command start, or -1.
func AutoApproved(rules []AutoRule, t ActionType, argv []string, w Where) int {
	return slices.IndexFunc(rules, func(r AutoRule) bool { return r.Allows(t, argv, w) })
}

// ListedRead lets one agent call one version of a tool that only reads, without approval, for the people named. Whether
// the arguments allow that is decided at each call.
type ListedRead struct {
	Agent   string   `json:"agent"`
	Tool    string   `json:"tool"`
	Version string   `json:"version"` // SHA-256, as the console's page of tools shows it
	People  []string `json:"people"`  // Slack user ids
}

// Limits of a ListedRead.
const (
	maxListedTool   = 200 // bytes
	maxListedPeople = 200
)

var versionForm = language.Regexp{Text: `^[0-9a-f]{64}$`}

// Problems returns everything that is wrong with the entry.
func (r ListedRead) Problems() (all aggregate.Problems) {
	all.Unless(idForm.Get().MatchString(r.Agent), "agent", "agent_id")
	all.Unless(r.Tool != "" && len(r.Tool) <= maxListedTool, "tool", "listed_tool")
	all.Unless(versionForm.Get().MatchString(r.Version), "version", "listed_version")
	wrong := func(id string) bool { return !personForm.Get().MatchString(id) }
	n := len(r.People)
	all.Unless(n > 0 && n <= maxListedPeople && !slices.ContainsFunc(r.People, wrong), "people", "listed_people")
	return all
}

// Listed returns the index of the first entry that lists this version of a tool for an agent and everybody in people,
// or
// -1. An entry with a fault lists nothing, and no entry is for nobody.
func Listed(list []ListedRead, agent, tool, version string, people []string) int {
	if len(people) == 0 {
		return -1
	}
	return slices.IndexFunc(list, func(r ListedRead) bool {
		unlisted := func(id string) bool { return !slices.Contains(r.People, id) }
		return len(r.Problems()) == 0 && r.Agent == agent && r.Tool == tool && r.Version == version &&
			!slices.ContainsFunc(people, unlisted)
	})
}
