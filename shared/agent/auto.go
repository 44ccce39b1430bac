package agent

import (
	"path"
	"slices"
	"strings"

	"ringi/shared/lazy"
)

// AutoRule lets actions begin without a person: tests of one form in one workspace. There is none for anything that a
// shell reads.
type AutoRule struct {
	Type ActionType `json:"type"` // test_run
	// Argv has one pattern for each element of a command: the text itself, in which * stands for any characters.
	Argv      []string `json:"argv"`
	Workspace string   `json:"workspace"`
}

// The rules of an AutoRule.
const (
	RuleAutoType      Rule = "auto_type"
	RuleAutoArgv      Rule = "auto_argv"
	RuleAutoShell     Rule = "auto_shell"
	RuleAutoCode      Rule = "auto_code"
	RuleAutoWorkspace Rule = "auto_workspace"
)

// starters are programs that read commands, or start a program that they are given: what runs would not be what the rule says.
var starters = []string{
	"sh", "bash", "dash", "zsh", "ksh", "csh", "tcsh", "fish", "ash", "busybox", "pwsh", "powershell", "cmd", "env", "sudo", "doas", "su", "xargs", "nohup", "setsid",
	"timeout", "time", "nice", "ionice", "stdbuf", "script", "eval", "exec", "command", "parallel", "watch", "find", "awk", "gawk", "sed", "ssh", "chroot", "unshare", "nsenter", "strace",
	"toybox", "flock", "setpriv", "runuser", "prlimit", "taskset", "chrt", "numactl", "systemd-run", "bwrap", "firejail", "tmux", "screen", "entr", "ltrace", "gdb", "expect",
}

// runners are programs whose arguments are code, or name what is run: interpreters, and runners of packages. Each element of
// a rule for one is the text itself, so that what begins is what an administrator wrote.
var runners = []string{
	"python", "pypy", "ipython", "node", "nodejs", "ts-node", "tsx", "ruby", "jruby", "irb", "perl", "raku", "php", "lua", "luajit", "tclsh", "wish", "r", "rscript", "julia", "java", "jshell",
	"groovy", "kotlin", "scala", "scala-cli", "clojure", "clj", "bb", "elixir", "iex", "erl", "escript", "ghci", "runghc", "runhaskell", "ocaml", "guile", "racket", "sbcl", "sqlite3", "psql", "mysql",
	"npx", "pnpx", "bunx", "corepack", "uv", "uvx", "pipx", "pipenv", "poetry", "pdm", "hatch", "rye", "bundle", "conda", "mamba", "micromamba", "pyenv", "rbenv", "nvm", "fnm", "volta", "asdf", "mise",
	"nix", "nix-shell", "docker", "podman", "nerdctl",
}

// running are, of tools that do other things too, the words by which they run what they are given; an empty one stands for
// a file that is named instead of a word.
var running = map[string][]string{
	"go": {"run", "tool", "generate"}, "npm": {"exec", "x", "explore"}, "pnpm": {"exec", "dlx"}, "yarn": {"exec", "dlx", "node", "run"}, "bun": {"", "run", "x", "exec"}, "deno": {"", "run", "eval", "repl", "x", "task"},
	"cargo": {"run", "install"}, "dotnet": {"run", "exec", "fsi", "script", "tool"}, "mix": {"run", "do", "eval", "cmd"}, "swift": {"", "run", "repl"}, "dart": {"", "run"}, "zig": {"run"}, "crystal": {"", "run", "eval"},
	"composer": {"exec", "run-script"}, "rails": {"runner", "r", "console", "c"},
}

// Faults are what is wrong with the rule.
func (r AutoRule) Faults() (all []Fault) {
	if r.Type != TestRun {
		all = append(all, Fault{"type", RuleAutoType})
	}
	switch {
	case len(r.Argv) == 0 || len(r.Argv) > 32 || slices.ContainsFunc(r.Argv, func(s string) bool { return s == "" || len(s) > 200 }) || strings.Contains(r.Argv[0], "*"):
		all = append(all, Fault{"argv", RuleAutoArgv})
	case starts(r.Argv[0]):
		all = append(all, Fault{"argv", RuleAutoShell})
	case runsAnything(r.Argv):
		all = append(all, Fault{"argv", RuleAutoCode})
	}
	if r.Workspace == "" || len(r.Workspace) > 200 {
		all = append(all, Fault{"workspace", RuleAutoWorkspace})
	}
	return all
}

func starts(program string) bool { return slices.Contains(starters, nameOf(program)) }

// runsAnything reports whether a * in a rule's patterns stands for code, or for what is run.
func runsAnything(patterns []string) bool {
	open := func(pattern string) bool { return strings.Contains(pattern, "*") }
	if !slices.ContainsFunc(patterns, open) {
		return false
	}
	program, rest := nameOf(patterns[0]), patterns[1:]
	words, several := running[program]
	if !several {
		return slices.Contains(runners, program)
	}
	// The first word says what such a tool does, and alone does no harm; a word of running may stand behind options that take one.
	first := slices.IndexFunc(rest, func(p string) bool { return !strings.HasPrefix(p, "-") })
	return first < 0 || open(rest[first]) && (len(rest) > 1 || slices.Contains(words, "")) ||
		slices.ContainsFunc(rest, func(p string) bool { return slices.Contains(words, p) })
}

// versioned is a name with a version: python3.11-dbg, but no script1.sh.
var versioned = lazy.Regexp(`^(\D+?)[-._]?\d[\d.]*(-[a-z]+)?$`)

// nameOf is a program's name without its folder and its version.
func nameOf(program string) string {
	name := strings.TrimSuffix(strings.ToLower(path.Base(program)), ".exe")
	if m := versioned().FindStringSubmatch(name); m != nil && !slices.Contains(runners, name) {
		return m[1]
	}
	return name
}

// telling are the signs by which programs read more than a name from an argument: make runs what X:=$(shell …) says. A * stands
// for none of them.
const telling = "=$`\n\r"

// Allows reports whether the rule lets a command begin: it has as many elements as the rule, and each fits its pattern. A
// pattern that begins with * takes no option, and no pattern takes a path that leads upwards, nor a sign of telling's.
func (r AutoRule) Allows(t ActionType, argv []string, workspace string) bool {
	if len(r.Faults()) > 0 || t != TestRun || r.Workspace != workspace || len(argv) != len(r.Argv) || starts(argv[0]) {
		return false
	}
	for i, pattern := range r.Argv {
		if !fits(pattern, argv[i]) {
			return false
		}
	}
	return true
}

func fits(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == text
	}
	if parts[0] == "" && strings.HasPrefix(text, "-") || slices.Contains(strings.Split(text, "/"), "..") {
		return false
	}
	for _, sign := range telling {
		if strings.Count(text, string(sign)) > strings.Count(pattern, string(sign)) {
			return false
		}
	}
	last := len(parts) - 1
	if len(text) < len(parts[0])+len(parts[last]) || !strings.HasPrefix(text, parts[0]) || !strings.HasSuffix(text, parts[last]) {
		return false
	}
	text = text[len(parts[0]) : len(text)-len(parts[last])]
	for _, part := range parts[1:last] {
		_, rest, found := strings.Cut(text, part)
		if !found {
			return false
		}
		text = rest
	}
	return true
}

// AutoApproved is the first of the rules that lets a command begin; -1 without one.
func AutoApproved(rules []AutoRule, t ActionType, argv []string, workspace string) int {
	return slices.IndexFunc(rules, func(r AutoRule) bool { return r.Allows(t, argv, workspace) })
}
