package template

import (
	"fmt"
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
	// This replaces the notes of an older build of the same program.
	f, err := os.Create(filepath.Join(folder, noteName(here)+noteEnd+filepath.Base(os.Args[0])))
	return &Notes{seen: map[string]bool{}, file: f}, err
})

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
