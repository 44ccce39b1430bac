// Package expect is the kit of all tests: it checks in one line what a test requires, makes trees of files, and reads
// the texts of all languages.
package expect

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ringi/shared/domain/files"
	"ringi/shared/runtime/clock"
)

// Memory is there, and tests are short: with four times as much garbage they take a fifth less of a processor's time.
func init() {
	if testing.Testing() {
		debug.SetGCPercent(400)
	}
}

// T is a test: testing's own or rapid's.
type T interface {
	Helper()
	Context() context.Context
	Fatal(...any)
	Errorf(string, ...any)
}

// NoError ends the test when there is an error.
func NoError(t T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Value returns a call's result, or ends the test if the call failed: x := expect.Value(call())(t).
func Value[V any](v V, err error) func(T) V {
	return func(t T) V {
		t.Helper()
		NoError(t, err)
		return v
	}
}

// JSON returns a value as JSON. It panics for a value that has no such form.
func JSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// Err returns a call's error without its result: expect.Fails(t, expect.Err(call()), want).
func Err[V any](_ V, err error) error { return err }

// Same fails the test with the difference between two values. The test continues.
func Same(t T, a, b any, options ...cmp.Option) {
	t.Helper()
	if diff := cmp.Diff(a, b, options...); diff != "" {
		t.Errorf("%s", diff)
	}
}

// That fails the test unless a claim holds. format and args describe what was found instead. The test continues.
func That(t T, holds bool, format string, args ...any) {
	t.Helper()
	if !holds {
		t.Errorf(format, args...)
	}
}

// Must is That, but ends the test.
func Must(t T, holds bool, format string, args ...any) {
	t.Helper()
	if !holds {
		t.Fatal(fmt.Sprintf(format, args...))
	}
}

// Is fails the test unless got equals want, and describes the value by about, formatted as by fmt.Sprintf: expect.Is(t,
// len(rows), 3, "rows of %s", name). After Is, Has and Fails the test continues.
func Is[V comparable](t T, got, want V, about ...any) {
	t.Helper()
	if got != want {
		t.Errorf("%s%s, want %s", said(about), shown(got), shown(want))
	}
}

// Has fails the test unless text contains part.
func Has(t T, text, part string, about ...any) {
	t.Helper()
	if !strings.Contains(text, part) {
		t.Errorf("%s%s does not have %q", said(about), shown(text), part)
	}
}

// Fails fails the test unless err is or wraps want.
func Fails(t T, err, want error, about ...any) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%sthe error is %v, want %v", said(about), err, want)
	}
}

func said(about []any) string {
	if len(about) == 0 {
		return ""
	}
	return fmt.Sprintf(fmt.Sprint(about[0]), about[1:]...) + ": "
}

func shown(v any) string {
	if text, ok := v.(string); ok {
		return strconv.Quote(text)
	}
	return fmt.Sprintf("%+v", v)
}

// Eventually ends the test unless a claim holds within a minute, since a busy machine may be slow.
func Eventually(t T, what string, holds func() bool) {
	t.Helper()
	Must(t, Holds(t.Context(), time.Minute, 40*time.Millisecond, holds), "not within a minute: %s", what)
}

// Walks repeats random walks, at most 20 times, until one has reached each of all. A walk counts what it reaches.
func Walks[K comparable](t T, walk func(reached map[K]int), all ...K) {
	t.Helper()
	reached := map[K]int{}
	missing := func(k K) bool { return reached[k] == 0 }
	for range 20 {
		if walk(reached); testing.Short() || !slices.ContainsFunc(all, missing) {
			return
		}
	}
	t.Errorf("the walks reached only %v of %v", reached, all)
}

// Holds polls until a claim holds: first often, then once per pause, and the longer it takes the more rarely, down to
// four times a second: a check may be many calls to the emulator. It returns false after most, or when ctx ends.
func Holds(ctx context.Context, most, pause time.Duration, holds func() bool) bool {
	wait := min(2*time.Millisecond, pause)
	for begun := time.Now(); !holds(); {
		waited := time.Since(begun)
		if waited > most || clock.Sleep(ctx, wait) != nil {
			return false
		}
		wait = min(2*wait, max(pause, min(waited/5, 250*time.Millisecond)))
	}
	return true
}

// Expiring returns a context whose deadline passes when expire is called, once.
func Expiring(t T) (ctx context.Context, expire func()) {
	passed := make(chan struct{})
	return expiring{t.Context(), passed}, sync.OnceFunc(func() { close(passed) })
}

type expiring struct {
	context.Context
	passed chan struct{}
}

func (e expiring) Done() <-chan struct{} { return e.passed }

func (e expiring) Err() error {
	select {
	case <-e.passed:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// Within fails the test if do takes longer than most in every try: a busy machine may be slow in some of them. A build
// that looks for data races has ten times as long.
func Within(t T, most time.Duration, do func()) {
	t.Helper()
	races := debug.BuildSetting{Key: "-race", Value: "true"}
	if build, ok := debug.ReadBuildInfo(); ok && slices.Contains(build.Settings, races) {
		most *= 10
	}
	for range 5 {
		began := time.Now()
		if do(); time.Since(began) < most {
			return
		}
	}
	t.Errorf("it takes longer than %s", most)
}

// Long reports whether tests try everything: each crash point, look and language, many rounds. Otherwise they try a
// fixed sample of it. RINGI_LONG=1 asks for all, which takes a night: .ci/nightly sets it.
func Long() bool { return os.Getenv("RINGI_LONG") != "" }

// Seed is the seed of all that tests draw at random: RINGI_SEED, or 1. .ci/nightly takes another each time.
func Seed() uint64 {
	seed, err := strconv.ParseUint(os.Getenv("RINGI_SEED"), 10, 64)
	if err != nil {
		return 1
	}
	return seed
}

// AtNight skips a test of which another has a sample, unless Long.
func AtNight(t testing.TB) {
	t.Helper()
	if !Long() {
		t.Skip("left out without RINGI_LONG=1: .ci/nightly has it")
	}
}

// Patience skips a test in short mode because it takes seconds.
func Patience(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
}

// Computed returns how long this process computed while f ran, as it would on a quiet core: work of a known length is
// measured before and after, so that neither a slow machine counts nor what else it does.
func Computed(t testing.TB, f func()) time.Duration {
	t.Helper()
	slow := slowness(t)
	took := computing(t, f)
	return time.Duration(float64(took) / max(1, slow, slowness(t)))
}

// slowness is how many times longer a piece of work takes than on a quiet core.
func slowness(t testing.TB) float64 {
	t.Helper()
	const quiet = 22 * time.Millisecond
	text := strings.Repeat(`{"a":["勤怠",1.5,{"b":null}]},`, 8000)
	took := computing(t, func() {
		var all []any
		NoError(t, json.Unmarshal([]byte("["+strings.TrimSuffix(text, ",")+"]"), &all))
		Value(json.Marshal(all))(t)
	})
	return float64(took) / float64(quiet)
}

// computing returns the time of this process's cores while f ran.
func computing(t testing.TB, f func()) time.Duration {
	t.Helper()
	used := func() time.Duration {
		var u syscall.Rusage
		NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	before := used()
	f()
	return used() - before
}

// Metrics returns what f writes to standard output, where metrics go. Tests that use it must not run in parallel.
func Metrics(t *testing.T, f func()) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "stdout")
	file := Value(os.Create(name))(t)
	before := os.Stdout
	os.Stdout = file
	defer func() { os.Stdout = before }()
	f()
	NoError(t, file.Close())
	b := Value(os.ReadFile(name))(t)
	return string(b)
}

// AtOnce runs do so many times at once, and returns once all have ended.
func AtOnce(n int, do func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { do(i) })
	}
	all.Wait()
}

// Server starts a server on this machine that ends with the test.
func Server(t testing.TB, h http.Handler) *httptest.Server {
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

// Entry is an entry of an archive with its content.
type Entry struct {
	Header tar.Header
	Text   string
}

func File(name, text string) Entry {
	return Entry{tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644}, text}
}

func Program(name, text string) Entry {
	return Entry{tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o755}, text}
}

func Link(name, target string) Entry {
	return Entry{tar.Header{Name: name, Typeflag: tar.TypeSymlink, Linkname: target, Mode: 0o777}, ""}
}

func Folder(name string) Entry {
	return Entry{tar.Header{Name: name + "/", Typeflag: tar.TypeDir, Mode: 0o755}, ""}
}

// Tree returns a tree with these entries.
func Tree(t T, all ...Entry) *files.Tree {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, x := range all {
		x.Header.Size = int64(len(x.Text))
		NoError(t, w.WriteHeader(&x.Header))
		_, err := w.Write([]byte(x.Text))
		NoError(t, err)
	}
	NoError(t, w.Close())
	tree, err := files.Read(&out)
	NoError(t, err)
	return tree
}
