//go:build linux

package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ringi/shared/domain/files"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/isolated"
)

// The sandbox's stages run in the test's own binary: stages are started from the supervisor's binary.
func TestMain(m *testing.M) {
	stage := len(os.Args) >= 2 && (os.Args[1] == stageInside || os.Args[1] == stageCommand)
	supervisor := len(os.Args) == 3 && os.Args[1] == "machine"
	if supervisor { // which is killed in a test, and leaves its box beside itself
		own, err := os.Executable()
		if err = errors.Join(err, os.Setenv("TMPDIR", filepath.Dir(own))); err != nil {
			panic(err)
		}
	}
	if stage || supervisor {
		main()
		return
	}
	if len(os.Args) > 2 && os.Args[1] == "attack" {
		attacks[os.Args[2]](os.Args[3:])
		return
	}
	// Orphaned processes become children of the test, which looks for them.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		panic(err)
	}
	flag.Parse()
	// Tests that mostly wait run side by side, after those that count processes or take memory.
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	os.Exit(inOwnFolder(m.Run))
}

// inOwnFolder runs the tests with boxes in a folder of their own. Afterwards no process or file of a box may be there.
func inOwnFolder(tests func() int) (code int) {
	folder, err := os.MkdirTemp("", "run-sandbox-")
	if err = errors.Join(err, os.Chmod(folder, 0o777|os.ModeSticky), os.Setenv("TMPDIR", folder)); err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	code = tests()
	deadline := time.Now().Add(time.Minute)
	for len(left()) > 0 && time.Now().Before(deadline) {
		time.Sleep(20 * time.Millisecond)
	}
	boxes, err := filepath.Glob(filepath.Join(folder, boxPrefix+"*"))
	if processes := left(); len(processes)+len(boxes) > 0 || err != nil {
		fmt.Println("FAIL: of boxes there are left the processes", processes, "and the folders", boxes, err)
		return 1
	}
	return code
}

// store serves and receives the sandbox's archives.
type store struct {
	*httptest.Server
	mu        sync.Mutex
	archive   []byte
	uploaded  []byte
	cancelled bool
	refuse    int // refuse this many uploads
}

func newStore(t *testing.T) *store {
	t.Helper()
	s := &store{}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /workspace", func(w http.ResponseWriter, _ *http.Request) { w.Write(s.archive) })
	mux.HandleFunc("GET /down", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	mux.HandleFunc("GET /cancel", func(w http.ResponseWriter, _ *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !s.cancelled {
			w.WriteHeader(http.StatusForbidden) // as S3 answers a caller who may not list
		}
	})
	mux.HandleFunc("POST /upload", func(w http.ResponseWriter, r *http.Request) {
		f, _, err := r.FormFile("file")
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.refuse--; s.refuse >= 0 || err != nil || r.FormValue("key") != "the key" {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		s.uploaded, _ = io.ReadAll(f)
		w.WriteHeader(http.StatusNoContent)
	})
	s.Server = expect.Server(t, mux)
	return s
}

// after returns the paths of the uploaded workspace.
func (s *store) after(t *testing.T) []string {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	return expect.Value(files.Read(bytes.NewReader(s.uploaded)))(t).Paths()
}

// outcome is the result of an order.
type outcome struct {
	lines []isolated.Line
	end   isolated.End
	err   error
	took  time.Duration
}

// text returns all output.
func (o outcome) text() string {
	var all []string
	for _, l := range o.lines {
		all = append(all, l.Text)
	}
	return strings.Join(all, "\n")
}

func (s *store) order(script string) isolated.Order {
	return isolated.Order{Action: "01ACTION", Type: isolated.ShellCommand, Script: script, TimeoutSeconds: 60,
		Deadline: time.Now().Add(3 * time.Minute), Cancel: s.URL + "/cancel",
		Upload: isolated.Form{URL: s.URL + "/upload", Fields: map[string]string{"key": "the key"}}}
}

func supervising(l level) *supervisor {
	return &supervisor{level: l, memory: memory, patience: endWithin, log: slog.New(slog.DiscardHandler)}
}

// run runs an order in a box of one level.
func run(t *testing.T, l level, o isolated.Order) outcome {
	t.Helper()
	return supervising(l).runs(t, o)
}

// ran runs a script to its end.
func ran(t *testing.T, l level, script string) outcome {
	t.Helper()
	got := run(t, l, newStore(t).order(script))
	expect.NoError(t, got.err)
	return got
}

func (s *supervisor) runs(t *testing.T, o isolated.Order) (got outcome) {
	t.Helper()
	r, w := io.Pipe()
	s.answer = isolated.NewWriter(w)
	begun := time.Now()
	ended := make(chan struct{})
	go func() {
		w.CloseWithError(s.run(t.Context(), o))
		close(ended)
	}()
	got.end, got.err = isolated.Read(r, func(l isolated.Line) error {
		got.lines = append(got.lines, l)
		return nil
	})
	r.Close()
	<-ended
	got.took = time.Since(begun)
	return got
}

// given caches, by level, the outcome of a command that does nothing.
var given = struct {
	sync.Mutex
	of map[level]outcome
}{of: map[level]outcome{}}

func gives(t *testing.T, l level) outcome {
	given.Lock()
	defer given.Unlock()
	got, known := given.of[l]
	if !known {
		got = run(t, l, newStore(t).order("true"))
		given.of[l] = got
	}
	return got
}

// inBoxes runs a test in a box of each level that this machine supports, side by side: what a test says of all
// processes or boxes of this machine it looks at before or afterwards. At other levels, every order must be refused.
func inBoxes(t *testing.T, test func(t *testing.T, l level)) {
	t.Helper()
	t.Run("levels", func(t *testing.T) {
		inTurn(t, func(t *testing.T, l level) {
			if !expect.Long() { // then attacks take all the memory of a box
				t.Parallel()
			}
			test(t, l)
		})
	})
}

// inTurn is inBoxes, one level after another.
func inTurn(t *testing.T, test func(t *testing.T, l level)) {
	t.Helper()
	expect.Patience(t)
	for _, l := range []level{namespaces, machine} {
		t.Run(string(l), func(t *testing.T) {
			got := gives(t, l)
			switch {
			case errors.Is(got.err, isolated.ErrCannot):
				t.Logf("this machine gives no such box, and nothing was run: %v", got.err)
			case got.err != nil || got.end.ExitCode != 0:
				t.Fatalf("%+v, %v", got.end, got.err)
			default:
				t.Logf("held: %s", strings.Join(got.end.Held, "; "))
				test(t, l)
			}
		})
	}
}

// inBox is inBoxes for what every box does alike: by day it is tried in the first that this machine gives.
func inBox(t *testing.T, test func(t *testing.T, l level)) {
	tried := false
	inTurn(t, func(t *testing.T, l level) {
		if !tried || expect.Long() {
			tried = true
			test(t, l)
		}
	})
}

func tree(t *testing.T, list ...string) []byte {
	t.Helper()
	var all []files.File
	for i := 0; i+1 < len(list); i += 2 {
		all = append(all, files.File{Path: list[i], Content: list[i+1]})
	}
	return expect.Value(expect.Value((&files.Tree{}).Apply(all))(t).Archive())(t)
}

// attached returns an order whose command finds attachments beside its files.
func attached(t *testing.T, script string, files []string, attachments ...string) (*store, isolated.Order) {
	t.Helper()
	s := newStore(t)
	s.archive = tree(t, files...)
	archive := tree(t, attachments...)
	s.Config.Handler.(*http.ServeMux).HandleFunc("GET /attachments",
		func(w http.ResponseWriter, _ *http.Request) { w.Write(archive) })
	o := s.order(script)
	o.Workspace, o.Attachments = s.URL+"/workspace", s.URL+"/attachments"
	return s, o
}

func TestACommandReadsAttachmentsBesideItsFiles(t *testing.T) {
	t.Parallel()
	inBox(t, func(t *testing.T, l level) {
		s, o := attached(t, `cat .ringi/in/a.csv && cp .ringi/in/a.csv report.csv && ls .ringi/in`,
			[]string{"attachments/own.txt", "the source's own"}, "a.csv", "n\n1\n", "b (2).xlsx", "PK")
		got := run(t, l, o)
		expect.NoError(t, got.err)
		expect.That(t, got.end.ExitCode == 0 && len(got.end.Left) == 0, "%+v", got.end)
		expect.Is(t, got.text(), "n\n1\na.csv\nb (2).xlsx", "what it printed")
		expect.Same(t, []string{"attachments/own.txt", "report.csv"}, s.after(t))
	})
}

// What a command writes to attachments fails, or is dropped; nothing of it is ever in a version.
func TestAttachmentsNeverBecomeFiles(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"it writes a file":       `echo x > .ringi/in/new`,
		"it replaces the place":  `rm .ringi/in; mkdir .ringi/in; echo x > .ringi/in/a.csv`,
		"it replaces the folder": `rm -r .ringi; echo x > .ringi`,
		"it makes a link of it":  `rm -r .ringi; ln -s . .ringi`,
		"it moves the folder":    `mv .ringi other`,
	} {
		t.Run(name, func(t *testing.T) {
			inBox(t, func(t *testing.T, l level) {
				s, o := attached(t, script+"; echo kept > kept", []string{".ringi/settings", "the source's"}, "a.csv", "n\n1\n")
				got := run(t, l, o)
				expect.NoError(t, got.err)
				expect.That(t, got.end.ExitCode == 0 && got.end.Version != "", "%+v: %s", got.end, got.text())
				for _, p := range s.after(t) {
					expect.That(t, p == "kept" || p == ".ringi/settings" || p == "other/settings", "the version has %s", p)
				}
				if l != machine && !strings.Contains(script, "rm") && !strings.Contains(script, "mv") {
					expect.That(t, got.text() != "", "writing did not fail")
				}
			})
		})
	}
}

func TestAnActionWhoseAttachmentsAreGoneDoesNotBegin(t *testing.T) {
	s := newStore(t)
	o := s.order("echo x")
	o.Attachments = s.URL + "/nothing"
	got := run(t, namespaces, o)
	expect.Fails(t, got.err, isolated.ErrCannot, "the attachments are gone")
}
