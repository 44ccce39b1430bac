package iam

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// NotesVariable names a folder in which stacks note what they allowed.
const NotesVariable = "RINGI_RIGHTS"

// Notes are the rights that functions used, each once.
type Notes struct {
	mu   sync.Mutex
	seen map[string]bool
	file *os.File
}

// shared are the notes of this process: several stacks may run in it.
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
	// What the same program noted before, in the same place, is of an older one.
	name := strings.ReplaceAll(strings.Trim(filepath.ToSlash(here), "/"), "/", "-") + "." + filepath.Base(os.Args[0])
	f, err := os.Create(filepath.Join(folder, name))
	return &Notes{seen: map[string]bool{}, file: f}, err
})

// TakeNotes are the notes of this process, nil if nobody asks for any.
func TakeNotes() (*Notes, error) {
	n, err := shared()
	if err != nil {
		return nil, fmt.Errorf("note which rights are used: %w", err)
	}
	return n, nil
}

// add notes what allowed a request of a function, the kinds of rows that it is about and, where it writes some attributes
// of a row, which.
func (n *Notes) add(function string, q Request, by []Right) {
	if n == nil {
		return
	}
	about := kinds(q)
	if q.Action == "dynamodb:UpdateItem" {
		about = append(about, q.Context[attributes]...)
	}
	for _, right := range by {
		n.write(fmt.Sprintf("%s\t%s\t%s", function, right, strings.Join(about, " ")))
	}
}

// addRefused notes what a role didn't allow.
func (n *Notes) addRefused(function string, q Request) {
	if n != nil {
		n.write(strings.Join([]string{function, refused, q.Action, q.Resource, strings.Join(kinds(q), " ")}, "\t"))
	}
}

// refused stands in a note in place of a policy.
const refused = "(refused)"

func (n *Notes) write(line string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.seen[line] {
		n.seen[line] = true
		fmt.Fprintln(n.file, line)
	}
}

// kinds are those of the rows that a request is about.
func kinds(q Request) (all []string) {
	for _, key := range q.Context[leadingKeys] {
		kind, _, _ := strings.Cut(key, "#")
		all = append(all, kind+"#")
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// used are the rights that all files of a folder note, with which function carries which managed policy to a use, and
// lines about what was refused.
func used(folder string) (all map[Right]bool, wrong []string, err error) {
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(files) == 0 {
		return nil, nil, fmt.Errorf("%s has no notes of rights: the tests of stacks make them when %s names it", folder, NotesVariable)
	}
	all = map[Right]bool{}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			return nil, nil, err
		}
		defer f.Close()
		lines := bufio.NewScanner(f)
		for lines.Scan() {
			column := strings.Split(lines.Text(), "\t")
			if len(column) < 5 {
				return nil, nil, fmt.Errorf("%s: %q is no note", name, lines.Text())
			}
			if column[1] == refused {
				wrong = append(wrong, "was refused: "+lines.Text())
				continue
			}
			all[Right{column[1], column[2], column[3], column[4]}] = true
			all[carries(column[0], column[1])] = true
		}
		if err := lines.Err(); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return all, wrong, nil
}

// carries stands for all that a managed policy gives to one function.
func carries(function, policy string) Right { return Right{function, "carries", policy, "-"} }
