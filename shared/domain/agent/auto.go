package agent

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"ringi/shared/words/lazy"
)

// AutoRule lets actions begin without a person: tests of one form in one workspace. There is none for anything that a
// shell reads.
type AutoRule struct {
	Type ActionType `json:"type"` // test_run
	// Argv has one pattern for each element of a command: the text itself, in which * stands for one or more of A-Z, a-z,
	// 0-9 and _./:@-
	Argv      []string `json:"argv"`
	Workspace string   `json:"workspace"`
}

// The rules of an AutoRule.
const (
	RuleAutoType      Rule = "auto_type"
	RuleAutoArgv      Rule = "auto_argv"
	RuleAutoShell     Rule = "auto_shell"
	RuleAutoStar      Rule = "auto_star"
	RuleAutoOption    Rule = "auto_option"
	RuleAutoWorkspace Rule = "auto_workspace"
)

// shells are programs that read commands, or start a program that they are given. The list can't be complete, and
// nothing rests on it: what begins by a rule without * is what an administrator wrote.
var shells = []string{
	"sh", "bash", "dash", "zsh", "ksh", "csh", "tcsh", "fish", "ash", "busybox", "pwsh", "powershell", "cmd", "env", "sudo", "doas", "su", "xargs", "nohup", "setsid",
	"timeout", "time", "nice", "ionice", "stdbuf", "script", "eval", "exec", "command", "parallel", "watch", "find", "awk", "gawk", "sed", "ssh", "chroot", "unshare", "nsenter", "strace",
	"toybox", "flock", "setpriv", "runuser", "prlimit", "taskset", "chrt", "numactl", "systemd-run", "bwrap", "firejail", "tmux", "screen", "entr", "ltrace", "gdb", "expect",
}

// open is a command whose rules may have a *.
type open struct {
	command string
	// names says that the command reads what is no option as the name of a file, a package or a test of the workspace.
	// Another command reads it as something to do.
	names bool
	// options are what may stand beside a *, or hold one behind their =. None names a program, a plugin, a file to write
	// or a file of more options.
	options string
}

// opens are test runners, linters and build commands to which no name is code. What runs is what stands in the
// workspace, which people approved. No command is here that hands its arguments to another program (make, npm), that
// takes code or a plugin by name (node, deno), or that stands in the workspace itself.
var opens = []open{
	{"go test", true, "-v -race -short -cover -failfast -json -run -skip -bench -count -timeout"}, {"go vet", true, ""}, {"go build", true, ""},
	{"pytest", true, "-q -v -vv -x -s -k -m --maxfail"}, {"jest", true, "-t --ci --verbose"}, {"vitest run", true, "-t"}, {"rspec", true, "-e --fail-fast"},
	{"cargo test", true, "--lib --release -p --package --test"}, {"cargo build", false, "--lib --release --package"}, {"cargo check", false, "--lib --package"},
	{"mvn test", false, "-q -Dtest"}, {"gradle test", false, "--tests"},
	{"gofmt", true, "-l -d -s"}, {"staticcheck", true, ""}, {"golangci-lint run", true, ""}, {"ruff check", true, ""}, {"flake8", true, ""}, {"mypy", true, ""}, {"eslint", true, ""},
	{"ls", true, "-l -a -la"}, {"cat", true, "-n"}, {"head", true, "-n"}, {"tail", true, "-n"}, {"wc", true, "-l"},
}

// OpenCommands are those whose rules may have a *, as people read them.
func OpenCommands() string {
	var all []string
	for _, o := range opens {
		all = append(all, o.command)
	}
	return strings.Join(all, ", ")
}

// Faults are what is wrong with the rule.
func (r AutoRule) Faults() (all []Fault) {
	if r.Type != TestRun {
		all = append(all, Fault{"type", RuleAutoType})
	}
	if rule := argvRule(r.Argv); rule != "" {
		all = append(all, Fault{"argv", rule})
	}
	if r.Workspace == "" || len(r.Workspace) > 200 {
		all = append(all, Fault{"workspace", RuleAutoWorkspace})
	}
	return all
}

// argvRule is the rule that patterns break; empty when they break none.
func argvRule(patterns []string) Rule {
	starred := func(p string) bool { return strings.Contains(p, "*") }
	switch {
	case len(patterns) == 0 || len(patterns) > 32 || slices.ContainsFunc(patterns, func(p string) bool { return p == "" || len(p) > 200 }) || starred(patterns[0]):
		return RuleAutoArgv
	case slices.Contains(shells, nameOf(patterns[0])):
		return RuleAutoShell
	case !slices.ContainsFunc(patterns, starred):
		return ""
	}
	for _, o := range opens {
		if words := strings.Fields(o.command); len(patterns) > len(words) && slices.Equal(patterns[:len(words)], words) {
			return o.rule(patterns[len(words):])
		}
	}
	return RuleAutoStar
}

// rule is the rule that a command's further patterns break. A sign that some commands read a file of options by is no
// name.
func (o open) rule(patterns []string) Rule {
	for _, p := range patterns {
		name, _, _ := strings.Cut(p, "=")
		if option := strings.HasPrefix(p, "-") || strings.HasPrefix(p, "@"); option && !slices.Contains(strings.Fields(o.options), name) {
			return RuleAutoOption
		} else if !option && !o.names {
			return RuleAutoStar
		}
	}
	return ""
}

// versioned is a name with a version: zsh-5.9, but no script1.sh.
var versioned = lazy.Regexp(`^(\D+?)[-._]?\d[\d.]*(-[a-z]+)?$`)

// nameOf is a program's name without its folder and its version.
func nameOf(program string) string {
	name := strings.TrimSuffix(strings.ToLower(path.Base(program)), ".exe")
	if m := versioned().FindStringSubmatch(name); m != nil {
		return m[1]
	}
	return name
}

// Allows reports whether the rule lets a command begin: it has as many elements as the rule, and each fits its pattern.
// A rule with a fault lets none.
func (r AutoRule) Allows(t ActionType, argv []string, workspace string) bool {
	return len(r.Faults()) == 0 && t == TestRun && r.Workspace == workspace && slices.EqualFunc(r.Argv, argv, fits)
}

// fits reports whether a text is the pattern's. Where a * begins the pattern, the text is no option and no file of
// options; no * leads out of the workspace.
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

// AutoApproved is the first of the rules that lets a command begin; -1 without one.
func AutoApproved(rules []AutoRule, t ActionType, argv []string, workspace string) int {
	return slices.IndexFunc(rules, func(r AutoRule) bool { return r.Allows(t, argv, workspace) })
}
