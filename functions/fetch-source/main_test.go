package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"ringi/infra/local/ringitest"
	"ringi/infra/local/vendors"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
	"ringi/shared/tool/github"
)

// kept stores files in memory.
type kept struct {
	trees map[string]*files.Tree
	err   error
}

func (k *kept) Put(_ context.Context, _ aggregate.Ref, t *files.Tree) (string, error) {
	archive, err := t.Archive()
	if err = errors.Join(err, k.err); err != nil {
		return "", err
	}
	version := files.Sum(archive)
	k.trees[version] = t
	return version, nil
}

// world is a conversation that waits for its source.
type world struct {
	*Handler
	*vendors.GitHubServer
	ringitest.Talk
	repo  *vendors.Repository
	kept  *kept
	sha   string
	now   time.Time
	noApp bool

	mu    sync.Mutex
	calls map[string]int
	fault func(route string, w http.ResponseWriter) bool // true: it has answered
}

// odd is what a repository may have: files, and entries that the conversation's files can't have.
func odd() map[string]vendors.File {
	return map[string]vendors.File{
		"main.py": {Content: "print(1)\n"}, "pay/tax.py": {Content: "rate = 10\n"},
		"run.sh":         {Content: "true\n", Mode: "100755"},
		".gitattributes": {Content: "version.txt export-subst\nsecret.txt export-ignore\n"},
		"version.txt":    {Content: "$Format:%H$\n"},
		"secret.txt":     {Content: "x\n"}, "lib": {Content: strings.Repeat("1", 40), Mode: "160000"},
		"out": {Content: "../etc", Mode: "120000"}, "in": {Content: "main.py", Mode: "120000"},
		"model.bin": {Content: "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 9\n"},
	}
}

func newWorld(t *testing.T, db *storetest.Server, change func(s *tenancy.Source)) *world {
	t.Helper()
	_, table := db.Store(t)
	w := &world{GitHubServer: expect.Value(vendors.NewGitHub(t.TempDir()))(t), calls: map[string]int{},
		kept: &kept{trees: map[string]*files.Tree{}}, now: time.Now().UTC().Truncate(time.Millisecond)}
	rows, now := store.NewConversations(db.DB, table), func() time.Time { return w.now }
	w.repo = w.Add("acme", "shop", nil)
	w.sha = w.repo.Commit("main", "first", odd(), w.now)
	w.Fault = func(route string, rw http.ResponseWriter, r *http.Request, do http.HandlerFunc) {
		w.mu.Lock()
		w.calls[route]++
		w.mu.Unlock()
		if w.fault == nil || !w.fault(route, rw) {
			do(rw, r)
		}
	}
	s := expect.Server(t, w.GitHubServer.Handler())
	w.Handler = &Handler{Store: rows, Files: w.kept, GitHub: github.At(s.URL), Now: now,
		App: func(context.Context, string) (github.App, error) {
			if w.noApp {
				return github.App{}, aggregate.ErrNotFound
			}
			return github.NewApp(vendors.AppID, vendors.Installation, w.Key)
		}}
	source := tenancy.Source{Name: "shop", Repository: "acme/shop", Ref: "heads/main", RepositoryID: 7_000_001,
		People: []string{tenancy.Everybody}, Agents: []string{"claude"}, CI: tenancy.CISkip}
	if change != nil {
		change(&source)
	}
	w.Talk = ringitest.Talk{T: t, Rows: rows, Ref: ringitest.Heard(ringitest.Root, "U1", "").Ref()}
	expect.Value(rows.Bootstrap(t.Context(), tenancy.Tenant{ID: w.Ref.Tenant, Name: "T1", TeamID: "T1",
		Admins: []string{"U1"}}, w.now))(t)
	w.lists(source)
	w.Talk = ringitest.Begin(t, rows, now, ringitest.Heard(ringitest.Root, "U1", "fix it"),
		conversation.Opening{AgentID: "claude", Locale: "en", Source: conversation.SourceOf(source)})
	return w
}

// lists saves the settings with these sources.
func (w *world) lists(all ...tenancy.Source) {
	w.T.Helper()
	s := expect.Value(w.Rows.Settings(w.T.Context(), w.Ref.Tenant))(w.T)
	s.Sources = all
	expect.Value(w.Rows.SaveSettings(w.T.Context(), w.Ref.Tenant, s, ringitest.Member("U1"), w.now))(w.T)
}

func (w *world) run() (aggregate.Next, error) {
	w.now = w.now.Add(time.Second)
	return w.Handle(w.T.Context(), w.In())
}

// says returns the system's messages.
func (w *world) says() (all []conversation.Message) {
	w.T.Helper()
	for _, m := range expect.Value(w.Rows.Messages(w.T.Context(), w.Ref.Tenant, w.Ref.ID, ""))(w.T) {
		if m.Sender == conversation.FromSystem {
			all = append(all, m)
		}
	}
	return all
}

func (w *world) called(route string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.calls[route]
}

func TestFetchSource(t *testing.T) {
	db := storetest.Start(t)
	for name, run := range map[string]func(*testing.T, *storetest.Server){
		"a conversation begins with a commit's files": testFetched,
		"a folder of it": testFolder,
		"a retry fetches the commit of the first try":          testSameCommit,
		"three tries, then it goes on without files":           testTries,
		"what GitHub doesn't give is said":                     testRefused,
		"it delays neither stopping nor closing":               testStopped,
		"an archive that breaks off is no archive of odd form": testBrokenOff,
	} {
		t.Run(name, func(t *testing.T) { run(t, db) })
	}
}

const tarball = "GET/tarball/{sha}"

func testFetched(t *testing.T, db *storetest.Server) {
	w := newWorld(t, db, nil)
	next := expect.Value(w.run())(t)
	expect.Same(t, conversation.StateAnswer, next.State)
	s := w.Load().Conversation
	expect.Same(t, conversation.SourceThere, s.Source.State)
	expect.Same(t, w.sha, s.Source.Commit)
	expect.Same(t, "github.com/acme/shop@"+w.sha, s.WorkspacePath)
	expect.Same(t, tenancy.AutoScope{Sourced: true, Place: s.Channel}, s.Where(nil)) // no rule of a work folder holds
	tree := w.kept.trees[s.WorkspaceVersion]
	expect.Same(t, []string{".gitattributes", "main.py", "pay/tax.py", "run.sh", "version.txt"}, tree.Paths())
	expect.Same(t, []string{"model.bin", "out"}, s.Source.Left)
	said := w.says()
	expect.Must(t, len(said) == 1, "said %+v", said)
	for _, want := range []string{"github.com/acme/shop@" + w.sha, "model.bin"} {
		expect.Has(t, said[0].Content, want)
	}
	for _, m := range said { // names are others' words
		for _, p := range m.Pieces() {
			expect.That(t, p.Quoted || !strings.Contains(p.Text, "model.bin") && !strings.Contains(p.Text, "main.py") &&
				!strings.Contains(p.Text, "acme"), "%q is said in Ringi's own words", p.Text)
		}
	}
	before := w.called(tarball)
	next = expect.Value(w.run())(t) // a repetition
	expect.That(t, next.State == conversation.StateAnswer && w.called(tarball) == before, "%+v", next)
}

func testFolder(t *testing.T, db *storetest.Server) {
	w := newWorld(t, db, func(s *tenancy.Source) { s.Path = "pay" })
	list := odd()
	for i := range files.MaxLooked + 1000 { // what stands beside the folder counts for no limit
		list[fmt.Sprintf("beside/%d/%d.txt", i%100, i)] = vendors.File{}
	}
	w.sha = w.repo.Commit("main", "second", list, w.now)
	expect.Value(w.run())(t)
	s := w.Load().Conversation
	expect.Same(t, "github.com/acme/shop@"+w.sha+"/pay", s.WorkspacePath)
	expect.Same(t, []string{"tax.py"}, w.kept.trees[s.WorkspaceVersion].Paths())
	expect.That(t, len(s.Source.Left) == 0, "left out %+v", s.Source.Left)
	w = newWorld(t, db, func(s *tenancy.Source) { s.Path = "pay/no" })
	expect.Value(w.run())(t)
	expect.Same(t, 0, len(w.kept.trees[w.Load().Conversation.WorkspaceVersion].Paths()))
}

func testSameCommit(t *testing.T, db *storetest.Server) {
	w := newWorld(t, db, nil)
	w.kept.err = errors.New("the bucket is down")
	expect.That(t, expect.Err(w.run()) != nil, "no error")
	w.kept.err = nil
	w.repo.Commit("main", "second", map[string]vendors.File{"other.py": {Content: "x\n"}}, w.now)
	expect.Value(w.run())(t)
	s := w.Load().Conversation.Source
	expect.That(t, s.Commit == w.sha && s.Tries == 2 && s.State == conversation.SourceThere, "%+v", s)
}

func testTries(t *testing.T, db *storetest.Server) {
	w := newWorld(t, db, nil)
	w.fault = func(route string, rw http.ResponseWriter) bool {
		if route == tarball {
			rw.WriteHeader(http.StatusBadGateway)
		}
		return route == tarball
	}
	for range conversation.MaxSourceTries {
		expect.Fails(t, expect.Err(w.run()), explain.ErrUnavailable)
	}
	next := expect.Value(w.run())(t)
	expect.Same(t, conversation.StateAnswer, next.State)
	w.failed(conversation.ReasonSourceUnfetched)
	expect.Same(t, conversation.MaxSourceTries, w.called(tarball))
}

// failed checks that the source is given up for this reason, which people and the agent are told.
func (w *world) failed(why aggregate.Reason) {
	w.T.Helper()
	a := w.Load()
	s := a.Conversation
	expect.That(w.T, s.Source.State == conversation.SourceFailed && s.Source.Error == why && s.WorkspaceVersion == "",
		"%+v", s.Source)
	said := w.says()
	expect.Must(w.T, len(said) == 1, "said %+v", said)
	expect.Has(w.T, said[0].Content, conversation.SourceWords("en", why))
	expect.That(w.T, a.Card("CARD#message#"+said[0].Key()) != nil || len(a.Cards) == 1, "no card: %+v", a.Cards)
	expect.That(w.T, len(a.Inbox) == 1, "the message is not to be answered any more")
}

func testStopped(t *testing.T, db *storetest.Server) {
	by, p := ringitest.Member("U1"), ringitest.Anyone()
	for name, act := range map[string]conversation.Decision{
		"stop":  func(a *conversation.Aggregate) (aggregate.Change, error) { return a.Stop(by, p, time.Now()) },
		"close": func(a *conversation.Aggregate) (aggregate.Change, error) { return a.End(by, p, time.Now()) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, db, nil)
			w.fault = func(route string, _ http.ResponseWriter) bool {
				if route == download {
					w.Do(act)
				}
				return false
			}
			expect.Fails(t, expect.Err(w.run()), aggregate.ErrSuperseded)
			a := w.Load()
			expect.That(t, a.Conversation.WorkspaceVersion == "" && len(a.Inbox) == 0 && a.Head.Resting, "%+v", a.Conversation)
		})
	}
}

func testBrokenOff(t *testing.T, db *storetest.Server) {
	w := newWorld(t, db, nil)
	w.fault = func(route string, rw http.ResponseWriter) bool {
		if route == download {
			rw.Header().Set("Content-Length", "1000")
			_, _ = rw.Write([]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0})
		}
		return route == download
	}
	_, err := w.run()
	expect.Fails(t, err, explain.ErrUnavailable)
	expect.That(t, !strings.Contains(err.Error(), "token="), "the address is in the error: %v", err)
	w.fault = nil
	expect.Same(t, conversation.StateAnswer, expect.Value(w.run())(t).State)
}

func testRefused(t *testing.T, db *storetest.Server) {
	for name, tt := range map[string]struct {
		change func(w *world)
		want   aggregate.Reason
	}{
		"it is not listed any more": {func(w *world) { w.lists() }, conversation.ReasonSourceGone},
		"GitHub is not connected":   {func(w *world) { w.noApp = true }, conversation.ReasonSourceRefused},
		"the name is another's": {func(w *world) {
			w.Add("acme", "shop", nil).Commit("main", "x", nil, w.now)
		}, conversation.ReasonSourceRefused},
		"it has too many entries":        {manyEntries, conversation.ReasonSourceTooLarge},
		"its archive is no archive":      {func(w *world) { w.fault = noArchive }, ""},
		"the archive is on another host": {func(w *world) { w.fault = elsewhere }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, db, nil)
			tt.change(w)
			next, err := w.run()
			if tt.want == "" {
				expect.Fails(t, err, explain.ErrUnavailable)
				return
			}
			expect.NoError(t, err)
			expect.Same(t, conversation.StateAnswer, next.State)
			w.failed(tt.want)
		})
	}
}

func manyEntries(w *world) {
	list := map[string]vendors.File{}
	for i := range files.MaxLooked + 1 {
		list[fmt.Sprintf("%d/%d.txt", i%100, i)] = vendors.File{}
	}
	w.sha = w.repo.Commit("main", "many", list, w.now)
}

const download = "GET /codeload/{owner}/{name}/{sha}"

func noArchive(route string, rw http.ResponseWriter) bool {
	if route == download {
		_, _ = rw.Write([]byte("<html>"))
	}
	return route == download
}

func elsewhere(route string, rw http.ResponseWriter) bool {
	if route == tarball {
		rw.Header().Set("Location", "http://169.254.169.254/latest?token=x")
		rw.WriteHeader(http.StatusFound)
	}
	return route == tarball
}
