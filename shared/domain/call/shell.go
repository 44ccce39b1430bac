package call

import (
	"path"
	"slices"
	"strings"
)

// Interactive reports whether a call in an agent's surroundings opens a program into which more can be typed, or types
// into one: a stamp binds a command line, and no later word. It knows the usual spellings, as a shell reads them.
func Interactive(tool string, members map[string]any) bool {
	if tool == "write_stdin" || tool == "send_keys" {
		return true
	}
	for _, name := range []string{"command", "cmd", "argv"} {
		switch line := members[name].(type) {
		case string:
			if interactiveLine(line, mostNested) {
				return true
			}
		case []any:
			var words []string
			for _, w := range line {
				text, _ := w.(string)
				words = append(words, text)
			}
			if interactive(words, false, mostNested) {
				return true
			}
		}
	}
	return false
}

// mostNested is how deep command lines within command lines are looked at. What is deeper counts as interactive.
const mostNested = 4

// wrappers stand before the command that they run. An option of theirs in valued has a value.
var wrappers, valued = strings.Fields("env exec nohup sudo doas time command nice builtin stdbuf setsid timeout xargs " +
	"eval if then else elif while until do { !"), strings.Fields("-u -g -k -a -C -I")

// program is one that waits for what is typed unless it is given what to do.
type program struct {
	command []string // options whose value says it, or that end at once
	words   int      // the word that says it; 0: none does
	values  string   // other short options with a value
	asks    bool     // -i makes it interactive in any case
	lines   bool     // command is a shell's line
}

var (
	shell    = program{[]string{"-c", "--version"}, 1, "oO", true, true}
	python   = program{[]string{"-c", "-m", "-V", "--version"}, 1, "WX", true, false}
	node     = program{[]string{"-e", "-p", "-v", "--eval", "--print", "--version"}, 1, "r", true, false}
	language = program{[]string{"-e", "-E", "-r", "-v", "--version"}, 1, "", false, false}
	never    = program{}
)

// programs are by their names without a version.
var programs = map[string]program{
	"sh": shell, "bash": shell, "zsh": shell, "dash": shell, "ksh": shell, "fish": shell, "ash": shell,
	"python": python, "pypy": python, "node": node, "perl": language, "ruby": language, "php": language, "lua": language,
	"irb": never, "ghci": never, "telnet": never, "ftp": never, "tmux": never, "screen": never,
	"psql":   {[]string{"-c", "-f", "-l", "--command", "--file", "--list"}, 0, "hpUdvPR", false, false},
	"mysql":  {[]string{"-e", "--execute"}, 0, "hPuD", false, false},
	"sqlite": {nil, 2, "", false, false}, "redis-cli": {nil, 1, "hpnau", false, false},
	"ssh": {nil, 2, "BbcDEeFIiJLlmOopQRSWw", false, false}, "sftp": {[]string{"-b"}, 0, "BcDFiJloPRSs", false, false},
	"su": {[]string{"-c", "--command"}, 0, "sgGT", false, true},
}

func interactiveLine(line string, nested int) bool {
	return slices.ContainsFunc(commands(line), func(c command) bool { return interactive(c.words, c.fed, nested) })
}

// interactive reports it of one command. fed: what it reads comes from another command.
func interactive(words []string, fed bool, nested int) bool {
	if nested == 0 {
		return true
	}
	for len(words) > 0 && (slices.Contains(wrappers, path.Base(words[0])) || strings.Contains(words[0], "=") ||
		strings.ContainsAny(words[0][:min(1, len(words[0]))], "0123456789")) {
		super := words[0] == "sudo" || words[0] == "doas"
		for words = words[1:]; len(words) > 0 && strings.HasPrefix(words[0], "-"); words = words[1:] {
			if super && !strings.HasPrefix(words[0], "--") && strings.ContainsAny(words[0], "is") {
				return true
			}
			if slices.Contains(valued, words[0]) && len(words) > 1 {
				words = words[1:]
			}
		}
	}
	if len(words) == 0 {
		return false
	}
	name := path.Base(words[0])
	if slices.Contains([]string{"docker", "podman", "kubectl", "nerdctl"}, name) {
		return slices.ContainsFunc(words[1:], attaches)
	}
	p, known := programs[strings.TrimRight(name, ".0123456789")]
	return known && p.waits(words[1:], fed, nested)
}

// waits reports whether the program waits for what is typed.
func (p program) waits(words []string, fed bool, nested int) bool {
	plain := 0
	for i := 0; i < len(words); i++ {
		w := words[i]
		short := strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--") && w != "-"
		switch {
		case strings.HasPrefix(w, "<"):
			fed = true
		case p.asks && (short && strings.Contains(w, "i") || w == "--interactive"):
			return true
		case slices.ContainsFunc(p.command, func(c string) bool { return carries(w, c) }):
			return p.lines && i+1 < len(words) && interactiveLine(words[i+1], nested-1)
		case short && len(w) == 2 && strings.Contains(p.values, w[1:]):
			i++
		case !strings.HasPrefix(w, "-"):
			if plain++; plain == p.words {
				return p.words == 2 && interactiveLine(strings.Join(words[i:], " "), nested-1)
			}
		}
	}
	return !fed
}

// carries reports whether an option is that of a command, also after others as in -lc, or with its value after "=".
func carries(option, command string) bool {
	name, _, _ := strings.Cut(option, "=")
	return name == command || !strings.HasPrefix(command, "--") && !strings.HasPrefix(option, "--") &&
		strings.HasPrefix(option, "-") && strings.HasSuffix(option, command[1:])
}

// attaches reports whether a word gives a container's command a terminal, or what is typed.
func attaches(w string) bool {
	option, yes := strings.CutPrefix(w, "-")
	return slices.Contains([]string{"attach", "--interactive", "--stdin", "--tty"}, w) ||
		yes && option != "" && option != "d" && strings.Trim(option, "itd") == ""
}
