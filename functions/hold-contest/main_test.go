package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"ringi/infra/local/vendors/models"
	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/model/teamconfig"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/secret"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

// world is one contest of the teams a, b and c, in a table.
type world struct {
	*testing.T
	store *store.ContestStore
	ref   aggregate.Ref
}

func begin(t *testing.T, db *storetest.Server) *world {
	t.Helper()
	o := storetest.Order("a", "b", "c")
	w := &world{t, storetest.Store(t, db), contest.Ref(o.Tenant, o.Execution)}
	expect.NoError(t, storetest.Begin(t, w.store, o))
	return w
}

func (w *world) load() *contest.Aggregate {
	w.Helper()
	return expect.Value(w.store.Load(w.Context(), w.ref))(w)
}

// scored adds the team with this index, and scores one of its rounds with a cost.
func (w *world) scored(place int) {
	w.Helper()
	team := expect.Value(w.store.Enter(w.Context(), w.load(), place))(w)
	expect.NoError(w, store.Kept{Store: w.store, Team: team.Ref(), Execution: w.ref.ID}.Keep(w.Context(), "01/leader/1",
		nil, aggregate.Usage{ID: aggregate.NewID(), Calls: 1, Cost: aggregate.USD(0.25)}))
	expect.Value(w.round(place, 1))(w)
}

func (w *world) round(place, number int) (*contest.Work, error) {
	e := expect.Value(w.load().Entrant(place))(w)
	return w.store.SaveRound(w.Context(), contest.TeamRef(w.ref.Tenant, w.ref.ID, e.TeamID),
		storetest.Round(w.ref.ID, e, number, "案 "+e.TeamID, 0.5, time.Now()))
}

func (w *world) closes(run int) (aggregate.Next, error) {
	return (&Handler{Contests: w.store}).Close(w.Context(),
		pipeline.Input{Tenant: w.ref.Tenant, Kind: w.ref.Kind, ID: w.ref.ID, Run: run})
}

func TestAContestIsClosedFromItsRows(t *testing.T) {
	db := storetest.Start(t)
	for name, run := range map[string]func(*world){
		"whatever became of its teams": testCutOff,
		"by the run that is its own":   testAnotherRun,
		"after it was cancelled":       testCancelled,
		"by two invocations at once":   testAtOnce,
	} {
		t.Run(name, func(t *testing.T) { run(begin(t, db)) })
	}
}

func testCutOff(w *world) {
	w.scored(1)
	expect.Value(w.store.Enter(w.Context(), w.load(), 2))(w)
	for range 2 { // the second call finds the contest ended
		if next, err := w.closes(1); err != nil || next.State != aggregate.StateFinish ||
			next.Outcome != string(contest.SummaryPartialFailure) {
			w.Fatalf("%+v, %v", next, err)
		}
	}
	s := w.load().Summary
	if len(s.Places) != 1 || s.Places[0].TeamID != "a" || s.Places[0].ExitReason != contest.PartialFailure ||
		*s.BestTeamID != "a" {
		w.Errorf("places %+v", s.Places)
	}
	for i, want := range []aggregate.Reason{contest.ReasonUnfinished, contest.ReasonNeverBegan} {
		if f := s.FailedTeams[i]; f.Reason != want {
			w.Errorf("%+v, not %s", f, want)
		}
	}
	if _, err := w.round(1, 2); !errors.Is(err, aggregate.ErrMoved) {
		w.Errorf("a round that came late: %v", err)
	}
	if late := expect.Value(w.store.Enter(w.Context(), w.load(), 3))(w); late.Team.Status != contest.TeamFailed {
		w.Errorf("a team that came late is %s", late.Team.Status)
	}
}

func testAnotherRun(w *world) {
	w.scored(1)
	if _, err := w.closes(2); !errors.Is(err, aggregate.ErrSuperseded) {
		w.Errorf("another run: %v", err)
	}
	team := expect.Value(w.store.Teams.Load(w.Context(), contest.TeamRef(w.ref.Tenant, w.ref.ID, "a")))(w)
	if a := w.load(); a.Summary != nil || team.Team.Status != contest.TeamRunning {
		w.Errorf("it closed the contest: %+v, team %s", a.Summary, team.Team.Status)
	}
}

func testCancelled(w *world) {
	w.scored(1)
	expect.Value(w.store.Decide(w.Context(), w.ref, func(a *contest.Aggregate) (aggregate.Change, error) {
		return a.Withdraw(aggregate.Ref{Tenant: w.ref.Tenant, Kind: a.Contest.ForKind, ID: a.Contest.ForID}, time.Now())
	}))(w)
	expect.Value(w.closes(1))(w)
	a := w.load()
	if a.Contest.Status != contest.Cancelled || a.Contest.SettledAt == nil ||
		a.Contest.Usage.Cost != aggregate.USD(0.25) || len(a.Summary.Places) != 1 || a.Summary.FailedTeams[0].Reason == "" {
		w.Errorf("%+v\n%+v", a.Contest, a.Summary)
	}
}

func testAtOnce(w *world) {
	w.scored(1)
	w.scored(2)
	w.scored(3)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if next, err := w.closes(1); err != nil || next.Outcome != string(contest.SummaryCompleted) {
				w.Errorf("%+v, %v", next, err)
			}
		})
	}
	all.Wait()
	if a := w.load(); a.Contest.Usage.Cost != aggregate.USD(0.75) || len(a.Summary.Places) != 3 {
		w.Errorf("cost %s, places %+v", a.Contest.Usage.Cost, a.Summary.Places)
	}
	page := expect.Value(w.store.Audit(w.Context(), w.ref.Tenant, store.AuditFilter{Resource: w.ref.ID}, "", 20))(w)
	ended := 0
	for _, e := range page.Items {
		if e.Action == contest.AuditEnded {
			ended++
		}
	}
	if ended != 1 {
		w.Errorf("it ended %d times: %+v", ended, page.Items)
	}
}

// kept is what a workspace's administrators decided.
type kept struct{ settings tenancy.Settings }

func (k *kept) Settings(context.Context, string) (tenancy.Settings, error) { return k.settings, nil }

// sample returns the local stack's contest files with further ones.
func sample(t *testing.T, more map[string]string) fstest.MapFS {
	t.Helper()
	all := fstest.MapFS{}
	expect.NoError(t, fs.WalkDir(models.Sample(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(models.Sample(), name)
		all[name] = &fstest.MapFile{Data: b}
		return err
	}))
	for name, text := range more {
		all[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return all
}

func handler(files fs.FS) (*Handler, *kept) {
	k := &kept{}
	return &Handler{Settings: k,
		Models:    teamconfig.Models{Keys: keys(`{"anthropic":"sk-ant","openai":"sk"}`)},
		Workspace: func() (teamconfig.Workspace, error) { return teamconfig.Workspace{FS: files}, nil }, Now: time.Now}, k
}

// keys is the model secret.
type keys string

func (k keys) Get(context.Context) (secret.ModelSecret, error) {
	if k == "" {
		return secret.ModelSecret{}, errors.New("no answer")
	}
	var s secret.ModelSecret
	if json.Unmarshal([]byte(k), &s) != nil {
		return s, fmt.Errorf("read it: %w", secret.ErrMalformed)
	}
	return s, nil
}

var tenant = aggregate.TenantID("T1")

func TestAFileIsCheckedForItsMistakes(t *testing.T) {
	h, _ := handler(sample(t, map[string]string{"configs/broken.toml": "[orchestrator]\nmax_rounds = 99\nteams = []"}))
	for file, wrong := range map[string]string{
		models.SampleFile: "", "configs/broken.toml": "max_rounds", "none.toml": "none.toml: there is no such file",
		"../x.toml": "../x.toml", "/etc/passwd": "/etc/passwd", "configs/evaluator.toml": "configs/evaluator.toml",
	} {
		got := expect.Value(h.Check(t.Context(), store.ContestQuery{Tenant: tenant, File: file}))(t)
		said := strings.Join(got.Wrong, "\n")
		expect.That(t, (wrong == "") == (said == "") && strings.Contains(said, wrong), "%s: %q", file, said)
	}
	h.Workspace = func() (teamconfig.Workspace, error) { return teamconfig.Open("", nil) }
	expect.That(t, expect.Value(h.Check(t.Context(), store.ContestQuery{Tenant: tenant}))(t).NotSet, "without files")
}

// Prices that are saved together with the setting count, and those that it takes away don't.
func TestAFileIsCheckedAtThePricesThatAreSavedWithTheSetting(t *testing.T) {
	h, k := handler(sample(t, map[string]string{
		"bedrock.toml": "[orchestrator]\n[[orchestrator.teams]]\nconfig = 'nova.toml'\n",
		"nova.toml":    "[team]\nteam_id = 'a'\nteam_name = 'A'\n[team.leader]\nmodel = 'bedrock:anthropic.claude-9-v1:0'\n",
	}))
	price := []tenancy.ModelPrice{{Model: "bedrock:anthropic.claude-9-v1:0", Input: "0.8", Output: "3.2"}}
	for name, tt := range map[string]struct {
		saved, becomes []tenancy.ModelPrice
		unpriced       bool
	}{
		"added with it":      {nil, price, false},
		"taken away with it": {price, []tenancy.ModelPrice{}, true},
		"as saved":           {price, nil, false},
	} {
		k.settings.Prices = tt.saved
		got := expect.Value(h.Check(t.Context(), store.ContestQuery{Tenant: tenant, File: "bedrock.toml",
			Prices: tt.becomes}))(t)
		said := strings.Join(got.Wrong, "\n")
		expect.That(t, strings.Contains(said, "has no known price") == tt.unpriced, "%s: %q", name, said)
	}
}

func TestOnlySoManyMistakesAreNamed(t *testing.T) {
	const wrong = "wrong.toml"
	file := "[orchestrator]\n" + strings.Repeat("a", 1<<15) + " = 1\n"
	for i := range 5_000 {
		file += fmt.Sprintf("b%d = 1\n", i)
	}
	h, _ := handler(sample(t, map[string]string{
		wrong: file + "[[orchestrator.teams]]\nconfig = 'long.toml'\n", "long.toml": "[team]\nteam_id = 'a'\nteam_name = '" +
			strings.Repeat("a", 1<<15) + "'\n",
	}))
	got := expect.Value(h.Check(t.Context(), store.ContestQuery{Tenant: tenant, File: wrong}))(t)
	answer := expect.Value(json.Marshal(got))(t)
	expect.That(t, len(got.Wrong) == mostWrong+1 && strings.HasPrefix(got.Wrong[mostWrong], "and ") &&
		len(answer) <= 100<<10, "%d mistakes in %d bytes", len(got.Wrong), len(answer))
}

// down is a bucket that fails for one file.
type down struct{ fstest.MapFS }

func (d down) Open(name string) (fs.File, error) {
	if strings.HasSuffix(name, "evaluator.toml") {
		return nil, &fs.PathError{Op: "open", Path: name, Err: explain.ErrUnavailable}
	}
	return d.MapFS.Open(name)
}

func TestABucketThatIsDownIsNoMistakeInAFile(t *testing.T) {
	h, _ := handler(down{sample(t, nil)})
	expect.Fails(t, expect.Err(h.Check(t.Context(), store.ContestQuery{File: models.SampleFile})), explain.ErrUnavailable)
}

// Every model of a contest is opened before it begins, and every fault is named with its file and field.
func TestAContestWhoseModelsCantBeCalledIsRefused(t *testing.T) {
	h, _ := handler(sample(t, map[string]string{
		"c.toml": "[orchestrator]\nmax_rounds = 3\nevaluator_config = 'e.toml'\n[[orchestrator.teams]]\nconfig = 't.toml'\n",
		"t.toml": "[team]\nteam_id = 'a'\nteam_name = 'A'\n[team.leader]\nmodel = 'gpt-5.4'\n[[team.members]]\nconfig = " +
			"'m.toml'\n" +
			"[[team.members]]\nagent_name = 'b'\nagent_type = 'plain'\ntool_description = 'x'\nmodel = 'compatible:box/llama'\n",
		"m.toml": "[agent]\nagent_name = 'm'\nagent_type = 'plain'\ntool_description = 'x'\nmodel = " +
			"'claude-sonnet-99'\n",
		"e.toml": "default_model = 'gemini-2.5-flash'\n[[metrics]]\nname = 'Coverage'\n[[metrics]]\nname = " +
			"'Relevance'\nmodel = 'o9'\n",
	}))
	asked := store.ContestQuery{Tenant: tenant, File: "c.toml"}
	wrong := func(secret string) []string {
		h.Models.Keys = keys(secret)
		return expect.Value(h.Check(t.Context(), asked))(t).Wrong
	}
	const (
		noKey   = "can't be called: the model secret has no key for "
		noPrice = "has no known price, which a contest's budget needs: enter its price in the settings or choose " +
			"another model, got "
	)
	expect.Same(t, []string{
		`e.toml: evaluator.default_model: ` + noKey + `compatible.gemini, got "gemini-2.5-flash"`,
		`e.toml: evaluator.metrics[1].model: ` + noKey + `openai, got "o9"`,
		`e.toml: evaluator.metrics[1].model: ` + noPrice + `"o9"`,
		`t.toml: teams[0].leader.model: ` + noKey + `openai, got "gpt-5.4"`,
		`m.toml: teams[0].members[0].model: ` + noPrice + `"claude-sonnet-99"`,
		`t.toml: teams[0].members[1].model: can't be called: the model secret has no address for compatible.box, ` +
			`got "compatible:box/llama"`,
		`t.toml: teams[0].members[1].model: ` + noPrice + `"compatible:box/llama"`,
	}, wrong(`{"anthropic":"sk-ant"}`))
	if all := wrong(`{`); len(all) < 5 || !strings.Contains(all[0], "the model secret can't be read") {
		t.Errorf("a malformed secret: %q", all)
	}
	h.Models.Keys = keys("")
	_, err := h.Check(t.Context(), asked)
	expect.That(t, errors.Is(err, explain.ErrUnavailable), "a secret that can't be read now: %v", err)
	h.Models.Instead = "demo"
	got := expect.Value(h.Check(t.Context(), asked))(t)
	expect.That(t, len(got.Wrong) == 0, "the demo in place of all: %+v", got)
}
