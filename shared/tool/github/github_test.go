package github_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/vendors"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/tool/github"
	"ringi/shared/tool/wire"
)

var at = time.Date(2026, 4, 1, 9, 0, 0, 0, time.UTC)

// world is a GitHub with one repository of one commit.
type world struct {
	*vendors.GitHubServer
	repo  *vendors.Repository
	first string
	url   string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{GitHubServer: expect.Value(vendors.NewGitHub(t.TempDir()))(t)}
	w.repo = w.Add("acme", "shop", nil)
	w.first = w.repo.Commit("main", "first", map[string]vendors.File{
		"main.py": {Content: "print(1)\n"}, "old.py": {Content: "x\n"}, "run.sh": {Content: "true\n", Mode: "100755"},
		"untouched.bin": {Content: "\x00\x01"},
	}, at)
	s := expect.Server(t, http.StripPrefix("/github", w.Handler()))
	w.url = s.URL + "/github"
	return w
}

func (w *world) config() github.Config {
	return github.Config{Base: w.url, HTTP: wire.NewHTTP(), Now: func() time.Time { return w.Now() }}
}

func app(t *testing.T, key string) github.App {
	t.Helper()
	return expect.Value(github.NewApp(vendors.AppID, vendors.Installation, key))(t)
}

func (w *world) open(t *testing.T, p github.Permissions) *github.Client {
	t.Helper()
	return w.config().Open(app(t, w.Key), "acme/shop", w.repo.ID, p)
}

func problem(err error) explain.Problem {
	if e, ok := errors.AsType[*explain.CallError](err); ok {
		return e.Problem
	}
	return ""
}

func TestACommitIsFound(t *testing.T) {
	w := newWorld(t)
	w.repo.Tag("v1", w.first)
	ctx := t.Context()
	found := expect.Value(w.config().Find(app(t, w.Key), "acme/shop").Repository(ctx))(t)
	expect.Same(t, github.Repository{ID: w.repo.ID}, found)
	c := w.open(t, github.Reads())
	for _, ref := range []string{"heads/main", "tags/v1"} {
		expect.Is(t, expect.Value(c.Resolve(ctx, ref))(t), w.first, ref)
	}
	_, err := c.Resolve(ctx, "heads/none")
	expect.Is(t, problem(err), explain.ProblemNotFound)
}

// The archive's address is on the host that the API may name, and gets no token of ours.
func TestAnArchiveIsReadWhereItIs(t *testing.T) {
	w := newWorld(t)
	c := w.open(t, github.Reads())
	packed := expect.Value(c.Archive(t.Context(), w.first))(t)
	defer packed.Close()
	z := expect.Value(gzip.NewReader(packed))(t)
	expect.Has(t, string(expect.Value(io.ReadAll(z))(t)), "print(1)")

	for _, to := range []string{"http://169.254.169.254/", "https://evil.example/x", "", "http://name:word@" +
		strings.TrimPrefix(w.url, "http://") + "/x", strings.Replace(w.url, "http:", "https:", 1),
		w.url + "/repos/acme/shop/tarball/" + w.first} { // of the last it is read at the third call
		calls := 0
		w.Fault = func(route string, rw http.ResponseWriter, r *http.Request, do http.HandlerFunc) {
			if calls++; !strings.HasPrefix(route, "GET/tarball") || calls > 2 {
				do(rw, r)
				return
			}
			rw.Header().Set("Location", to)
			rw.WriteHeader(http.StatusFound)
		}
		_, err := c.Archive(t.Context(), w.first)
		expect.Is(t, problem(err), explain.ProblemBadAnswer, "%s: %v", to, err)
	}
}

// A token is good for one repository and what it is made for.
func TestTokensAreNarrow(t *testing.T) {
	w := newWorld(t)
	other := w.Add("acme", "other", nil)
	other.Commit("main", "first", nil, at)
	ctx := t.Context()
	_, err := w.open(t, github.Reads()).Carry(ctx, w.order(t), w.begun(), nil)
	expect.Is(t, problem(err), explain.ProblemDenied, "a write with a token for reading")
	_, err = w.config().Open(app(t, w.Key), "acme/other", w.repo.ID, github.Reads()).Repository(ctx)
	expect.Is(t, problem(err), explain.ProblemNotFound, "another repository")
	_, err = w.config().Open(app(t, w.Key), "acme/shop", 99, github.Reads()).Repository(ctx)
	expect.Is(t, problem(err), explain.ProblemRejected, "an id that isn't installed")
	stranger := expect.Value(rsa.GenerateKey(rand.Reader, 2048))(t)
	key := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(stranger)})
	_, err = w.config().Find(app(t, string(key)), "acme/shop").Repository(ctx)
	expect.Is(t, problem(err), explain.ProblemUnauthorized, "another key")
}

func TestATokenThatEndedIsMadeAnew(t *testing.T) {
	w := newWorld(t)
	c := w.open(t, github.Reads())
	expect.Value(c.Repository(t.Context()))(t)
	w.Now = func() time.Time { return time.Now().Add(2 * time.Hour) }
	expect.Value(c.Repository(t.Context()))(t)
}

func TestAnAppsKeyIsChecked(t *testing.T) {
	w := newWorld(t)
	for field, test := range map[string][3]string{
		"app_id": {"x", "1", w.Key}, "installation_id": {"1", "", w.Key}, "private_key": {"1", "1", "no key"},
	} {
		_, err := github.NewApp(test[0], test[1], test[2])
		expect.Must(t, err != nil, "%s is taken", field)
		expect.Has(t, err.Error(), field)
	}
	_, err := github.NewApp("1", "1", strings.Repeat("x", github.MaxKey+1))
	expect.Has(t, err.Error(), "8192")
}

// was and is are files of the commit that newWorld makes, before and after what people approved. The commit's
// untouched.bin is not among them.
func (w *world) approved(t *testing.T) []files.Change {
	t.Helper()
	was := expect.Tree(t, expect.File("main.py", "print(1)\n"), expect.File("old.py", "x\n"),
		expect.File("run.sh", "true\n"))
	is := expect.Tree(t, expect.File("main.py", "print(2)"), expect.File("run.sh", "true\n"),
		expect.File("new/x.py", "x = 1\r\n"), expect.File("empty", ""))
	commit := conversation.Commit{}
	changes := commit.Changes(was, is)
	for i := range changes { // a Tree's files are made without modes
		expect.Must(t, changes[i].Path != "run.sh", "run.sh has changed: %+v", changes[i])
	}
	sh := files.Sum([]byte("true\n"))
	return append(changes, files.Change{Path: "run.sh", Was: &files.Side{Mode: "100755", SHA256: sh},
		Is: &files.Side{Mode: "100644", SHA256: sh}})
}

func (w *world) order(t *testing.T) github.Order {
	t.Helper()
	return github.Order{RepositoryID: w.repo.ID, Into: "main", Title: "Mend",
		Body: conversation.PullBody("why"), Message: conversation.PushMessage("s", "a", "skip"), At: at.Add(1500e6),
		Changes: w.approved(t)}
}

// branch is the one that orders make.
const branch = "ringi/s/a"

// begun is an order's step before anything is made.
func (w *world) begun() conversation.Pushed {
	return conversation.Pushed{Repository: "acme/shop", Base: w.first, Branch: branch}
}

// carry carries an order out and returns the steps that were noted.
func (w *world) carry(t *testing.T, o github.Order, from conversation.Pushed) (last conversation.Pushed,
	noted []conversation.Pushed, err error) {
	t.Helper()
	last, err = w.open(t, github.Pushes()).Carry(t.Context(), o, from,
		func(_ context.Context, s conversation.Pushed) error {
			noted = append(noted, s)
			return nil
		})
	return last, noted, err
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	c := exec.Command("git", append([]string{"-C", dir, "-c", "core.quotePath=false", "-c", "safe.directory=*"},
		args...)...)
	var said bytes.Buffer
	c.Stderr = &said
	out, err := c.Output()
	expect.Must(t, err == nil, "git %v: %v\n%s", args, err, &said)
	return string(out)
}

// tree lists what git itself finds in a commit: mode, hash and path.
func tree(t *testing.T, dir, commit string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for line := range strings.Lines(git(t, dir, "ls-tree", "-r", commit)) {
		about, path, _ := strings.Cut(strings.TrimSpace(line), "\t")
		out[path] = about
	}
	return out
}

// What git finds in the pull request is the commit's tree with the approved changes, and nothing else.
func TestAPullRequestsTreeIsTheCommitsAndTheChanges(t *testing.T) {
	w := newWorld(t)
	o := w.order(t)
	last, noted, err := w.carry(t, o, w.begun())
	expect.NoError(t, err)
	made, there := w.begun(), w.begun()
	made.Commit, there.Commit, there.There = last.Commit, last.Commit, true
	expect.Same(t, []conversation.Pushed{made, there, last}, noted)
	expect.Is(t, last.Number, 1)
	expect.Is(t, w.repo.Ref("heads/"+branch), last.Commit)
	dir := w.repo.Dir()
	git(t, dir, "fsck", "--strict", "--no-dangling")
	want := tree(t, dir, w.first)
	blob := func(text string) string { return "blob " + files.BlobSHA([]byte(text)) }
	delete(want, "old.py")
	maps.Copy(want, map[string]string{"main.py": "100644 " + blob("print(2)"), "new/x.py": "100644 " + blob("x = 1\r\n"),
		"empty": "100644 " + blob(""), "run.sh": "100644 " + blob("true\n")})
	expect.Same(t, want, tree(t, dir, last.Commit))
	expect.Is(t, git(t, dir, "log", "-1", "--format=%P|%an|%ae|%cn|%ce|%ad|%cd|%B", "--date=iso", last.Commit), w.first+
		"|ringi|ringi@noreply.invalid|ringi|ringi@noreply.invalid|2026-04-01 09:00:01 +0000|2026-04-01 09:00:01 +0000|"+
		o.Message+"\n")
	pulls := w.repo.Pulls()
	expect.Must(t, len(pulls) == 1, "%+v", pulls)
	p := pulls[0]
	expect.That(t, p.Draft && p.Title == "Mend" && p.Body == "```text\nwhy\n```\n" && p.Head == branch &&
		p.Base == "main" && p.HeadSHA == last.Commit, "%+v", p)
}

// breaks fails one call of a route in a way: the call is not made, or it is made and its answer is lost.
func (w *world) breaks(route string, status int, made bool, message string) {
	once := false
	w.Fault = func(r string, rw http.ResponseWriter, q *http.Request, do http.HandlerFunc) {
		if once || r != route {
			do(rw, q)
			return
		}
		once = true
		if made {
			do(blind{}, q)
		}
		rw.Header().Set("Content-Type", "application/json")
		rw.WriteHeader(status)
		fmt.Fprintf(rw, `{"message":%q}`, message)
	}
}

// blind is an answer that nobody gets.
type blind struct{}

func (blind) Header() http.Header         { return http.Header{} }
func (blind) Write(b []byte) (int, error) { return len(b), nil }
func (blind) WriteHeader(int)             {}

// Wherever a call fails or its answer is lost, the next try goes on and there is one branch and one pull request.
func TestABrokenPushGoesOn(t *testing.T) {
	for _, route := range []string{"POST/git/trees", "POST/git/commits", "POST/git/refs", "POST/pulls",
		"GET/git/trees/{sha}"} {
		for _, status := range []int{502, 429, 403} {
			for _, made := range []bool{false, true} {
				if made && status != 502 {
					continue // a refused call was not made
				}
				name := fmt.Sprint(route, " ", status, " ", made)
				w := newWorld(t)
				o := w.order(t)
				w.breaks(route, status, made, "You have exceeded a secondary rate limit")
				last, noted, err := w.carry(t, o, w.begun())
				seen := route == "POST/git/refs" || route == "POST/pulls"
				if e, ok := errors.AsType[*explain.CallError](err); ok {
					expect.Is(t, e.Outcome == explain.CallUnknown, status == 502 && seen, name+": whether the step may be there")
					expect.That(t, status == 502 || e.Problem == explain.ProblemRateLimited, "%s: %v", name, err)
				} else {
					expect.That(t, err == nil, "%s: %v", name, err)
				}
				expect.That(t, !made || !seen || err == nil, "%s: what was made is not found: %v", name, err)
				if len(noted) > 0 {
					last = noted[len(noted)-1]
				}
				last, _, err = w.carry(t, o, last)
				expect.That(t, err == nil && last.Number == 1 && last.There, "%s: %+v %v", name, last, err)
				pulls := w.repo.Pulls()
				expect.That(t, len(pulls) == 1 && pulls[0].HeadSHA == last.Commit, "%s: %+v", name, pulls)
			}
		}
	}
}

// Two that carry the same order out at the same time, in any order of their steps, make one branch and one pull
// request.
func TestTwoDeliveriesOpenOnePullRequest(t *testing.T) {
	for stops := range 3 {
		w := newWorld(t)
		o := w.order(t)
		c := w.open(t, github.Pushes())
		n := 0
		first, err := c.Carry(t.Context(), o, w.begun(), func(ctx context.Context, s conversation.Pushed) error {
			if n++; n-1 == stops {
				_, err := w.open(t, github.Pushes()).Carry(ctx, o, w.begun(),
					func(context.Context, conversation.Pushed) error { return nil })
				return err
			}
			return nil
		})
		expect.That(t, err == nil && first.Number == 1 && len(w.repo.Pulls()) == 1, "%d: %+v %v", stops, first, err)
	}
}

func TestNothingIsMadeAfterANoteThatFails(t *testing.T) {
	for stop := range 2 {
		w := newWorld(t)
		o, n := w.order(t), 0
		last, err := w.open(t, github.Pushes()).Carry(t.Context(), o, w.begun(),
			func(context.Context, conversation.Pushed) error {
				if n++; n-1 == stop {
					return errors.New("stopped")
				}
				return nil
			})
		expect.That(t, err != nil && last.Commit != "" && last.There == (stop == 1) && last.Number == 0, "%+v %v", last, err)
		expect.Is(t, w.repo.Ref("heads/"+branch) != "", stop == 1)
		expect.Is(t, len(w.repo.Pulls()), 0)
	}
}

// A ref that somebody else made, or a rule of the repository, is refused and nothing is written over.
func TestABranchOfSomebodyElseStays(t *testing.T) {
	w := newWorld(t)
	o := w.order(t)
	other := w.repo.Commit(branch, "theirs", map[string]vendors.File{"x": {Content: "theirs"}}, at)
	last, _, err := w.carry(t, o, w.begun())
	taken := github.Final(conversation.ReasonBranchTaken)
	expect.That(t, errors.Is(err, taken) && !last.There && w.repo.Ref("heads/"+branch) == other, "%+v %v", last, err)
	_, err = w.open(t, github.Reads()).Look(t.Context(), w.repo.ID, last)
	expect.That(t, problem(err) == explain.ProblemDenied, "a look needs the right to read pull requests: %v", err)
	_, err = w.open(t, github.Looks()).Look(t.Context(), w.repo.ID, last)
	expect.That(t, errors.Is(err, taken), "%v", err)

	w = newWorld(t)
	w.breaks("POST/git/refs", 422, false, "Repository rule violations found\n\nCommits must have verified signatures.\n\n")
	_, _, err = w.carry(t, w.order(t), w.begun())
	e, ok := errors.AsType[*explain.CallError](err)
	expect.That(t, ok && e.Outcome == explain.CallFailed && e.Problem == explain.ProblemRejected, "%v", err)
	expect.Has(t, fmt.Sprint(e.Args), "verified signatures")
}

// A branch without a pull request is told apart from what nobody knows.
func TestARefusedPullRequestLeavesItsBranch(t *testing.T) {
	w := newWorld(t)
	o := w.order(t)
	o.Into = "none"
	last, noted, err := w.carry(t, o, w.begun())
	e, ok := errors.AsType[*explain.CallError](err)
	expect.That(t, ok && e.Outcome == explain.CallFailed && last.There && last.Number == 0 && len(noted) == 2,
		"%+v %v", last, err)
	at := expect.Value(w.open(t, github.Looks()).Look(t.Context(), w.repo.ID, last))(t)
	expect.Same(t, last, at)
}

func TestALookFindsWhatIsThere(t *testing.T) {
	w := newWorld(t)
	o := w.order(t)
	c := w.open(t, github.Looks())
	at := w.begun()
	at.Commit = strings.Repeat("0", 40)
	expect.Same(t, at, expect.Value(c.Look(t.Context(), w.repo.ID, at))(t))
	last, _, err := w.carry(t, o, w.begun())
	expect.NoError(t, err)
	expect.Same(t, last, expect.Value(c.Look(t.Context(), w.repo.ID, last))(t))
	expect.Fails(t, expect.Err(c.Look(t.Context(), w.repo.ID+1, last)), github.Final(conversation.ReasonPushSource))
	// the pull request of another commit
	expect.Fails(t, expect.Err(c.Look(t.Context(), w.repo.ID, at)), github.Final(conversation.ReasonBranchTaken))
}

// What is not the commit's, or not what people were shown, makes no tree.
func TestAPushIsOnTheCommitThatWasApproved(t *testing.T) {
	for name, bend := range map[string]func(w *world, o *github.Order){
		"another commit": func(w *world, o *github.Order) {
			w.first = w.repo.Commit("main", "second", map[string]vendors.File{"main.py": {Content: "print(3)\n"},
				"old.py": {Content: "x\n"},
				"run.sh": {Content: "true\n", Mode: "100755"}}, at)
		},
		"a path that the commit has": func(_ *world, o *github.Order) {
			o.Changes = append(o.Changes, files.Change{Path: "untouched.bin", Is: o.Changes[0].Is, Hunks: o.Changes[0].Hunks})
		},
		"a guarded path": func(_ *world, o *github.Order) {
			is := &files.Side{Mode: "100644", SHA256: files.Sum(nil)}
			o.Changes = append(o.Changes, files.Change{Path: ".github/workflows/x.yml", Is: is})
		},
		"bytes that nobody approved": func(_ *world, o *github.Order) {
			o.Changes = slices.Clone(o.Changes)
			i := slices.IndexFunc(o.Changes, func(x files.Change) bool { return x.Path == "main.py" })
			o.Changes[i].Is = &files.Side{Mode: "100644", SHA256: files.Sum([]byte("print(9)"))}
		},
	} {
		w := newWorld(t)
		o := w.order(t)
		bend(w, &o)
		_, noted, err := w.carry(t, o, w.begun())
		expect.That(t, errors.Is(err, files.ErrRefused) && noted == nil, "%s: %v", name, err)
		expect.Is(t, w.repo.Ref("heads/"+branch), "", name)
	}
	w := newWorld(t)
	w.Fault = func(route string, rw http.ResponseWriter, r *http.Request, do http.HandlerFunc) {
		if route == "GET/git/blobs/{sha}" {
			_, _ = io.WriteString(rw, `{"encoding":"utf-8","content":"print(9)"}`)
			return
		}
		do(rw, r)
	}
	_, noted, err := w.carry(t, w.order(t), w.begun())
	expect.That(t, problem(err) == explain.ProblemBadAnswer && noted == nil, "a blob of other bytes: %v", err)
	w.Fault = nil
	o := w.order(t)
	o.RepositoryID++
	_, _, err = w.carry(t, o, w.begun())
	expect.That(t, errors.Is(err, github.Final(conversation.ReasonPushSource)), "%v", err)
}

// A tree or a commit that GitHub makes otherwise than it was told never gets a ref.
func TestAnotherTreeGetsNoBranch(t *testing.T) {
	const tree, commit = "GET/git/trees/{sha}", "POST/git/commits"
	type entry = map[string]any
	other := entry{"path": "more", "mode": "100644", "sha": strings.Repeat("a", 40)}
	for name, tt := range map[string]struct {
		route string
		bend  func(is entry, entries []any)
	}{
		"a file less":        {tree, func(is entry, entries []any) { is["tree"] = entries[1:] }},
		"a file more":        {tree, func(is entry, entries []any) { is["tree"] = append(entries, other) }},
		"other bytes":        {tree, func(_ entry, entries []any) { entries[0].(entry)["sha"] = other["sha"] }},
		"another mode":       {tree, func(_ entry, entries []any) { entries[0].(entry)["mode"] = "100755" }},
		"files left out":     {tree, func(is entry, _ []any) { is["truncated"] = true }},
		"a commit of others": {commit, func(is entry, _ []any) { is["tree"] = other }},
		"on another commit":  {commit, func(is entry, _ []any) { is["parents"] = []any{other} }},
	} {
		w := newWorld(t)
		made := false
		w.Fault = func(route string, rw http.ResponseWriter, r *http.Request, do http.HandlerFunc) {
			if made = made || route == "POST/git/trees"; !made || route != tt.route {
				do(rw, r)
				return
			}
			is := httptest.NewRecorder()
			do(is, r)
			var answer map[string]any
			expect.NoError(t, json.Unmarshal(is.Body.Bytes(), &answer))
			entries, _ := answer["tree"].([]any) // the first is a file
			tt.bend(answer, entries)
			expect.NoError(t, json.NewEncoder(rw).Encode(answer))
		}
		_, noted, err := w.carry(t, w.order(t), w.begun())
		refused := errors.Is(err, github.Final(conversation.ReasonPushOther)) || errors.Is(err, files.ErrRefused)
		expect.That(t, (refused || problem(err) == explain.ProblemBadAnswer) && noted == nil, "%s: %v", name, err)
	}
}
