package template

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// NotesVariable is the environment variable that names the folder in which stacks record the rights they allowed.
const NotesVariable = "RINGI_RIGHTS"

// Notes records the rights that functions used, each once.
type Notes struct {
	mu   sync.Mutex
	seen map[string]bool
	file *os.File
}

// shared returns the Notes of this process, in which several stacks may run.
var shared = sync.OnceValues(func() (*Notes, error) {
	folder := os.Getenv(NotesVariable)
	if folder == "" {
		return nil, nil
	}
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	name := filepath.Join(folder, noteName(here)+noteEnd+filepath.Base(os.Args[0]))
	how := os.O_WRONLY | os.O_CREATE | os.O_APPEND
	if os.Getenv(notesOpen) != name { // else a test has started its own program, whose notes go to the same file
		how |= os.O_TRUNC // this replaces the notes of an older build
		err = os.Setenv(notesOpen, name)
	}
	f, openErr := os.OpenFile(name, how, 0o644)
	return &Notes{seen: map[string]bool{}, file: f}, errors.Join(err, openErr)
})

// notesOpen is the environment variable that tells the processes that a process starts which notes it writes.
const notesOpen = NotesVariable + "_OPEN"

// noteEnd separates the package's folder from the program's name in a note's file name.
const noteEnd = "@"

// noteName turns a folder into part of a file name.
func noteName(folder string) string {
	return strings.ReplaceAll(strings.Trim(filepath.ToSlash(folder), "/"), "/", "+")
}

// TakeNotes returns the Notes of this process, or nil if NotesVariable is not set.
func TakeNotes() (*Notes, error) {
	n, err := shared()
	if err != nil {
		return nil, fmt.Errorf("note which rights are used: %w", err)
	}
	return n, nil
}

// add records which rights allowed a function's request.
func (n *Notes) add(function string, by []Right) {
	if n == nil {
		return
	}
	for _, right := range by {
		n.write(fmt.Sprintf("%s\t%s", function, right))
	}
}

// addRefused records a request that the role did not allow.
func (n *Notes) addRefused(function string, q Request) {
	if n != nil {
		n.write(strings.Join([]string{function, refused, q.Action, q.Resource, strings.Join(kinds(q), " ")}, "\t"))
	}
}

// refused replaces the policy in the note of a refused request.
const refused = "(refused)"

func (n *Notes) write(line string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.seen[line] {
		n.seen[line] = true
		fmt.Fprintln(n.file, line)
	}
}

// kinds returns the key prefixes of the rows that a request concerns.
func kinds(q Request) (all []string) {
	for _, key := range q.Context[leadingKeys] {
		kind, _, _ := strings.Cut(key, "#")
		all = append(all, kind+"#")
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// used reads the notes in a folder. It returns the rights that were used, also by function, and a line for each refused
// request. It skips notes of packages that no longer have tests.
func used(folder string, packages []string) (all map[Right]bool, wrong []string, err error) {
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		return nil, nil, err
	}
	all = map[Right]bool{}
	for _, name := range files {
		of, _, _ := strings.Cut(filepath.Base(name), noteEnd)
		if !slices.ContainsFunc(packages, func(p string) bool { return noteName(p) == of }) {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, nil, err
		}
		for line := range strings.Lines(string(text)) {
			column := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
			if len(column) != 5 {
				return nil, nil, fmt.Errorf("%s: %q is no note", name, line)
			}
			if column[1] == refused {
				wrong = append(wrong, "was refused: "+strings.TrimSuffix(line, "\n"))
				continue
			}
			all[Right{column[1], column[2], column[3], column[4]}] = true
			all[carries(column[0], column[1], column[2])] = true
		}
	}
	if len(all) == 0 {
		return nil, nil, fmt.Errorf("%s has no notes of rights: tests make them when %s names it", folder, NotesVariable)
	}
	return all, wrong, nil
}

// granted returns the rights that roles grant: each action of a statement on each of its resources, each value of its
// conditions, and for each function each statement of its managed policies.
func granted(roles map[string]Role) map[Right]bool {
	all := map[Right]bool{}
	for owner, role := range roles {
		for _, p := range role.Policies {
			for _, s := range p.Statements {
				if s.Deny {
					continue
				}
				for _, a := range s.Actions {
					for _, r := range s.Resources {
						all[Right{p.Name, s.Sid, a, r.Name}] = true
					}
				}
				for _, c := range s.conditions {
					for _, v := range c.named() {
						all[value(p.Name, s.Sid, c.key, v)] = true
					}
				}
				if p.Managed {
					all[carries(owner, p.Name, s.Sid)] = true
				}
			}
		}
	}
	return all
}

// reason explains why a right is granted that no test uses.
type reason struct {
	line    string
	column  [4]string // policy, Sid, action and resource
	actions []string  // the actions in the third column
	chance  bool      // tests use the rights only by chance
}

func readReason(line string) (r reason, err error) {
	r.line = line
	pattern, why, _ := strings.Cut(line, ": ")
	column := strings.Fields(pattern)
	if len(column) > 0 && column[0] == "?" {
		r.chance, column = true, column[1:]
	}
	if len(column) != len(r.column) || why == "" {
		return r, fmt.Errorf("%q is no reason: policy Sid action resource: why", line)
	}
	copy(r.column[:], column)
	r.actions = strings.Split(column[2], ",")
	for _, a := range r.actions {
		if strings.Contains(a, "*") && !strings.Contains(a, "=") {
			return r, fmt.Errorf("%q is no reason: %s would be one for actions that are granted later, too", line, a)
		}
	}
	return r, nil
}

// about reports whether this reason, with one of its actions, applies to a right.
func (r reason) about(action string, x Right) bool {
	return action == x.Action && like(r.column[0], x.Policy) && like(r.column[1], x.Sid) && like(r.column[3], x.Resource)
}

func readReasons(text string) (list []reason, err error) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "# ") {
			continue
		}
		r, err := readReason(line)
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, nil
}

func needless(action string, r reason) string {
	return fmt.Sprintf("no right needs the reason for %s: %s", action, r.line)
}

// Ungranted returns the reasons, as in Unused, for rights that no role grants. It needs no notes of tests.
func Ungranted(roles map[string]Role, reasons string) (wrong []string, err error) {
	list, err := readReasons(reasons)
	if err != nil {
		return nil, err
	}
	all := slices.Collect(maps.Keys(granted(roles)))
	for _, r := range list {
		for _, action := range r.actions {
			if !slices.ContainsFunc(all, func(x Right) bool { return r.about(action, x) }) {
				wrong = append(wrong, needless(action, r))
			}
		}
	}
	return wrong, nil
}

// Unused compares the rights that roles grant with the rights that tests used, according to the notes in folder.
// packages are the folders with tests. Each line of reasons excuses unused rights; it has a policy, a Sid, actions
// separated by commas, a resource, a colon and the reason. A * stands for any text, except in actions. A line with a
// leading question mark is for rights that tests use only by chance. Unused returns rights without a reason, reasons
// that are no longer needed, and refused requests.
func Unused(roles map[string]Role, folder string, packages []string, reasons string) (wrong []string, err error) {
	was, wrong, err := used(folder, packages)
	if err != nil {
		return nil, err
	}
	all := granted(roles)
	excused := map[Right]bool{}
	list, err := readReasons(reasons)
	if err != nil {
		return nil, err
	}
	for _, r := range list {
		for _, action := range r.actions {
			needed := false
			for right := range all {
				if !r.about(action, right) {
					continue
				}
				if was[right] && !r.chance {
					wrong = append(wrong, fmt.Sprintf("is used, and has a reason why not: %s", right))
				}
				needed = needed || !was[right] || r.chance
				excused[right] = true
			}
			if !needed {
				wrong = append(wrong, needless(action, r))
			}
		}
	}
	for right := range maps.Keys(all) {
		if !was[right] && !excused[right] {
			wrong = append(wrong, fmt.Sprintf("is granted, and nothing used it: %s", right))
		}
	}
	slices.Sort(wrong)
	return wrong, nil
}
