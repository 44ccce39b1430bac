package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/ringitest"
	"ringi/infra/local/vendors"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/tool/github"
	"ringi/shared/tool/wire"
)

// hub is a conversation with an approved pull request, and GitHub.
type hub struct {
	*world
	server *vendors.GitHubServer
	repo   *vendors.Repository
	first  string
	fault  func(route string, w http.ResponseWriter, r *http.Request, do http.HandlerFunc)
}

func newHub(t *testing.T) *hub {
	t.Helper()
	h := &hub{server: expect.Value(vendors.NewGitHub(t.TempDir()))(t)}
	h.repo = h.server.Add("acme", "shop", nil)
	at := time.Now().UTC()
	h.first = h.repo.Commit("main", "first", map[string]vendors.File{"a.py": {Content: "1\n"},
		"b.bin": {Content: "\x00"}}, at)
	h.server.Fault = func(route string, w http.ResponseWriter, r *http.Request, do http.HandlerFunc) {
		if h.fault == nil {
			do(w, r)
			return
		}
		h.fault(route, w, r, do)
	}
	s := expect.Server(t, http.StripPrefix("/github", h.server.Handler()))
	h.world = h.sourced(t)
	h.GitHub = github.Config{Base: s.URL + "/github", HTTP: wire.NewHTTP(), Now: time.Now}
	h.App = func(context.Context, string) (github.App, error) {
		return github.NewApp(vendors.AppID, vendors.Installation, h.server.Key)
	}
	return h
}

func (h *hub) source() tenancy.Source {
	return tenancy.Source{Name: "shop", Repository: "acme/shop", Ref: "heads/main", People: []string{tenancy.Everybody},
		Agents: []string{"codex"}, CI: tenancy.CISkip, RepositoryID: int(h.repo.ID)}
}

// sourced opens a conversation whose files are the repository's, and has a pull request approved in it.
func (h *hub) sourced(t *testing.T) *world {
	t.Helper()
	w := opened(t, conversation.SourceOf(h.source()))
	by := ringitest.Member("U1")
	w.save(h.source(), by)
	run := w.Load().Head.Run
	w.Do(func(a *conversation.Aggregate) (aggregate.Change, error) { return a.TrySource(run, w.now) })
	w.Do(func(a *conversation.Aggregate) (aggregate.Change, error) { return a.FixSource(run, h.first, w.now) })
	was := expect.Value((&files.Tree{}).Apply([]files.File{{Path: "a.py", Content: "1\n"}}))(t)
	is := expect.Value(was.Apply([]files.File{{Path: "a.py", Content: "2\n"}, {Path: "new.py", Content: "n\n"}}))(t)
	version := files.Sum(expect.Value(is.Archive())(t))
	w.Do(func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.TakeSource(run, conversation.Fetched{Commit: h.first, Version: version}, w.now)
	})
	push := &conversation.Push{Source: "shop", Repository: "acme/shop", RepositoryID: int(h.repo.ID), Commit: h.first,
		Into: "main", CI: tenancy.CISkip}
	spec, _ := w.Catalog.Lookup("open_pull_request")
	p := conversation.Payload{Tool: spec.Name, Arguments: `{"title":"Mend","body":"why"}`}
	p.Base, p.Push, p.Changes = &version, push, (conversation.Commit{}).Changes(was, is)
	p.Called = conversation.Called{ToolVersion: spec.Version(), Access: spec.Access}
	text := p.JSON()
	proposal := &conversation.Proposal{Type: conversation.ToolCall, Tool: spec.Name, Access: spec.Access, Push: push,
		On: conversation.On{Base: version}, Payload: ringitest.InRow(text),
		Terms: aggregate.Terms{ApprovalRequired: true, ApprovalHours: 24, SettingsRev: w.settingsRev()}}
	w.Answer("shall I?", proposal)
	w.Approve()
	w.Wake()
	return w
}

func (w *world) settingsRev() int {
	return expect.Value(w.Rows.Settings(w.T.Context(), w.Ref.Tenant))(w.T).Rev
}

func (w *world) save(s tenancy.Source, by aggregate.Actor) {
	w.T.Helper()
	x := expect.Value(w.Rows.Settings(w.T.Context(), w.Ref.Tenant))(w.T)
	x.Sources = []tenancy.Source{s}
	expect.Value(w.Rows.SaveSettings(w.T.Context(), w.Ref.Tenant, x, by, w.now))(w.T)
}

func TestPushes(t *testing.T) {
	for name, test := range map[string]func(t *testing.T, h *hub){
		"a pull request is the commit's tree with what people approved": testPush,
		"whatever breaks once, there is one pull request in the end":    testPushAgain,
		"a branch without a pull request is a failure with its address": testBranchAlone,
		"a branch that somebody else made stays":                        testBranchTaken,
		"settings that changed meanwhile open nothing":                  testPushSettings,
		"nor do settings that change under the claim":                   testPushSettingsUnderTheClaim,
		"all that says what is pushed says the same":                    testOtherPush,
		"a step that nobody confirms is what its row says":              testUnconfirmedStep,
		"what was withdrawn on the way goes no further":                 testPushWithdrawn,
		"a person has it looked at":                                     testLook,
		"what an earlier try may have made is not called refused":       testRefusedLater,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newHub(t))
		})
	}
}

func (h *hub) pulled(t *testing.T) {
	t.Helper()
	x, pulls := h.action(), h.repo.Pulls()
	expect.Must(t, len(pulls) == 1, "%d pull requests", len(pulls))
	expect.That(t, x.Status == conversation.ActionSucceeded && x.Outcome == "" && x.Pushed.Commit == pulls[0].HeadSHA &&
		x.Pushed.There &&
		x.Pushed.URL() == "https://github.com/acme/shop/pull/1", "%+v %+v", x, x.Pushed)
	expect.Same(t, map[string]string{"a.py": "100644 2\n", "new.py": "100644 n\n", "b.bin": "100644 \x00"},
		h.repo.Files(pulls[0].HeadSHA))
}

func testPush(t *testing.T, h *hub) {
	next, err := h.handle()
	expect.NoError(t, err)
	expect.Is(t, next.State, conversation.StateAnswer)
	h.pulled(t)
	p := h.repo.Pulls()[0]
	expect.That(t, p.Draft && p.Title == "Mend" && p.Body == "```text\nwhy\n```\n" && p.Base == "main" &&
		strings.HasPrefix(p.Head, "ringi/"), "%+v", p)
}

// down answers that GitHub is away, for a moment, or lets nobody in.
func down(w http.ResponseWriter, status int) {
	w.Header().Set("Retry-After-Ms", "1")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, `{"message":"You have exceeded a secondary rate limit"}`)
}

// testPushAgain breaks each call and each commit once.
func testPushAgain(t *testing.T, h *hub) {
	broken := map[string]bool{}
	h.fault = func(route string, w http.ResponseWriter, r *http.Request, do http.HandlerFunc) {
		if r.Method == http.MethodPost && !broken[route] && !strings.Contains(route, "token") {
			broken[route] = true
			status := []int{http.StatusTooManyRequests, http.StatusBadGateway, http.StatusForbidden}[len(broken)%3]
			if status == http.StatusBadGateway && len(broken)%2 == 0 {
				do(httptest.NewRecorder(), r) // its answer is lost
			}
			down(w, status)
			return
		}
		do(w, r)
	}
	tries := 0
	for h.action().Status != conversation.ActionSucceeded {
		_, err := h.handle()
		expect.That(t, err == nil || strings.Contains(err.Error(), "unavailable") || h.action().Claim == nil, "%v", err)
		if tries++; tries > 9 {
			t.Fatalf("after %d tries the action is %+v", tries, h.action())
		}
	}
	expect.That(t, tries > 1, "nothing broke")
	h.pulled(t)
}

func (h *hub) refusesCalls(route string, status int, message string) {
	h.fault = func(r string, w http.ResponseWriter, q *http.Request, do http.HandlerFunc) {
		if r == route {
			w.Header().Set("Retry-After-Ms", "1")
			w.WriteHeader(status)
			_ = json.NewEncoder(w).Encode(map[string]string{"message": message})
			return
		}
		do(w, q)
	}
}

func testBranchAlone(t *testing.T, h *hub) {
	h.refusesCalls("POST/pulls", http.StatusForbidden, "Resource not accessible by integration")
	expect.Value(h.handle())(t)
	x := h.action()
	expect.That(t, x.Status == conversation.ActionFailed && x.Outcome == "" && x.Error == conversation.ReasonBranchAlone &&
		strings.Contains(x.ErrorDetail, "Resource not accessible") &&
		strings.HasSuffix(x.Pushed.URL(), "/tree/"+x.Pushed.Branch), "%+v %+v", x, x.Pushed)
}

func testBranchTaken(t *testing.T, h *hub) {
	theirs := h.repo.Commit(h.action().Pushed.Branch, "theirs", map[string]vendors.File{"x": {Content: "x"}}, time.Now())
	expect.Value(h.handle())(t)
	x := h.action()
	expect.That(t, x.Status == conversation.ActionFailed && x.Error == conversation.ReasonBranchTaken && x.Outcome == "" &&
		h.repo.Ref("heads/"+x.Pushed.Branch) == theirs, "%+v", x)
}

func testPushSettings(t *testing.T, h *hub) {
	h.changeSource()
	h.refusesSource(t)
}

func testPushSettingsUnderTheClaim(t *testing.T, h *hub) {
	h.Store = &forbidding{h.Store, h.changeSource}
	h.refusesSource(t)
}

func (h *hub) changeSource() {
	s := h.source()
	s.CI = tenancy.CIRun
	h.save(s, ringitest.Member("U9"))
}

func (h *hub) refusesSource(t *testing.T) {
	t.Helper()
	expect.Value(h.handle())(t)
	x := h.action()
	expect.That(t, x.Error == conversation.ReasonPushSource && x.Pushed.Commit == "" && len(h.repo.Pulls()) == 0, "%+v", x)
}

// prepared is the pull request as an invocation prepares it before its claim.
func (h *hub) prepared(t *testing.T) *job {
	t.Helper()
	a := h.Load()
	j := &job{making: h.making(h.In(), "en"), session: a.Conversation, action: a.Current()}
	why := expect.Value(j.prepare(t.Context()))(t)
	expect.Must(t, why == (refusal{}), "%+v", why)
	return j
}

func testOtherPush(t *testing.T, h *hub) {
	const row, source = conversation.ReasonUnread, conversation.ReasonPushSource
	for name, tt := range map[string]struct {
		why    aggregate.Reason
		change func(j *job)
	}{
		"a row of no push":                {row, func(j *job) { j.action.Pushed = nil }},
		"a payload of no push":            {row, func(j *job) { j.payload.Push = nil }},
		"a tool without a source":         {row, func(j *job) { j.tool.Spec.Sourced = false }},
		"another base":                    {row, func(j *job) { j.action.Pushed.Base = "other" }},
		"another repository":              {row, func(j *job) { j.action.Pushed.Repository = "acme/other" }},
		"no change":                       {row, func(j *job) { j.payload.Changes = nil }},
		"a conversation without a source": {source, func(j *job) { j.session.Source = nil }},
		"another commit of its source":    {source, func(j *job) { j.session.Source.Commit = "other" }},
		"another number of a repository":  {source, func(j *job) { j.payload.Push.RepositoryID++ }},
		"a source that nobody lists":      {source, func(j *job) { j.settings.Sources = nil }},
		"another branch":                  {source, func(j *job) { j.payload.Push.Into = "other" }},
		"other checks":                    {source, func(j *job) { j.payload.Push.CI = tenancy.CIRun }},
	} {
		j := h.prepared(t)
		tt.change(j)
		expect.Is(t, j.pushable(j.payload).reason, tt.why, name)
	}
}

// unconfirmed is a store that never says what became of a commit.
type unconfirmed struct {
	Store
	saves bool
}

func (u *unconfirmed) Decide(ctx context.Context, ref aggregate.Ref, decide conversation.Decision) (
	*conversation.Aggregate, error) {
	if u.saves {
		if _, err := u.Store.Decide(ctx, ref, decide); err != nil {
			return nil, err
		}
	}
	return nil, aggregate.ErrUnconfirmed
}

func testUnconfirmedStep(t *testing.T, h *hub) {
	j := h.prepared(t)
	expect.NoError(t, j.claim(t.Context()))
	u := &unconfirmed{Store: h.Store}
	h.Store = u
	at := *j.action.Pushed
	for _, step := range []func(){
		func() { at.Commit = h.first }, func() { at.There = true }, func() { at.Number = 7 },
	} {
		step()
		u.saves = false
		expect.Fails(t, j.note(t.Context(), at), aggregate.ErrMoved, "of %+v nothing is saved", at)
		u.saves = true
		expect.NoError(t, j.note(t.Context(), at))
	}
}

func testPushWithdrawn(t *testing.T, h *hub) {
	h.fault = func(r string, w http.ResponseWriter, q *http.Request, do http.HandlerFunc) {
		do(w, q)
		if r == "POST/git/refs" {
			h.Cancel()
		}
	}
	expect.Value(h.handle())(t)
	x := h.action()
	expect.That(t, x.Status == conversation.ActionCancelled && x.Late != nil &&
		x.Late.Error == conversation.ReasonBranchAlone &&
		strings.Contains(x.Pushed.URL(), "/tree/") && len(h.repo.Pulls()) == 0, "%+v %+v", x, x.Pushed)
}

// testLook: every try is cut off after the branch was asked for, and then a person has it looked at.
func testLook(t *testing.T, h *hub) {
	h.fault = func(r string, w http.ResponseWriter, q *http.Request, do http.HandlerFunc) {
		if r == "POST/pulls" {
			do(httptest.NewRecorder(), q)
			h.refusesCalls("GET/pulls", http.StatusBadGateway, "")
			down(w, http.StatusBadGateway)
			return
		}
		do(w, q)
	}
	for range 9 {
		if _, err := h.handle(); err == nil {
			break
		}
	}
	x := h.action()
	expect.Must(t, x.Outcome == conversation.OutcomeUnknown && x.Pushed.There, "%+v %+v", x, x.Pushed)
	h.Do(func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.Check(x.ActionID, ringitest.Member("U1"), ringitest.Anyone(), h.now)
	})
	h.fault = func(r string, w http.ResponseWriter, q *http.Request, do http.HandlerFunc) {
		expect.That(t, q.Method != http.MethodPost || strings.Contains(r, "token"), "a look calls %s", r)
		do(w, q)
	}
	expect.Value(h.handle())(t)
	h.pulled(t)
}

// testRefusedLater: a step is made and its answer is lost, and then GitHub refuses all, a look and the next try.
func testRefusedLater(t *testing.T, _ *hub) {
	for _, route := range []string{"POST/git/refs", "POST/pulls"} {
		h, made := newHub(t), false
		h.fault = func(r string, w http.ResponseWriter, q *http.Request, do http.HandlerFunc) {
			switch made = made || r == route; {
			case !made:
				do(w, q)
			case r == route:
				do(httptest.NewRecorder(), q)
				down(w, http.StatusBadGateway)
			default:
				w.WriteHeader(http.StatusForbidden)
			}
		}
		_, err := h.handle()
		expect.Must(t, err != nil && h.action().Claim == nil, "%s: %v", route, err)
		expect.Value(h.handle())(t)
		expect.Is(t, h.action().Outcome, conversation.OutcomeUnknown, route)
	}
}
