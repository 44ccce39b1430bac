package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"ringi/infra/local/vendors/models"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/model/teamconfig"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/secret"
	"ringi/shared/store"
)

// kept is a store that records the contests that it begins.
type kept struct {
	Contests
	config   string
	orders   []contest.Order
	settings tenancy.Settings
	tools    []tenancy.ToolPermission
	sums     tenancy.Sums
}

func (k *kept) KeepConfig(_ context.Context, _, _ string, config json.RawMessage) (aggregate.Blob, error) {
	k.config = string(config)
	return aggregate.Blob{JSON: aggregate.JSON(config), Bytes: len(config)}, nil
}

func (k *kept) Begin(_ context.Context, o contest.Order) error {
	if slices.ContainsFunc(k.orders, func(x contest.Order) bool { return x.Execution == o.Execution }) {
		return aggregate.ErrExists
	}
	if o.MostOfDay > 0 && k.sums.Day+o.Budget > o.MostOfDay {
		return aggregate.ErrFull{}
	}
	k.orders = append(k.orders, o)
	k.sums.Day += o.Budget
	k.sums.Month += o.Budget
	return nil
}

func (k *kept) Settings(context.Context, string) (tenancy.Settings, error) { return k.settings, nil }
func (k *kept) ToolPermissions(context.Context, string) ([]tenancy.ToolPermission, error) {
	return k.tools, nil
}
func (k *kept) Spent(context.Context, string, time.Time) (tenancy.Sums, error) { return k.sums, nil }

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
	return &Handler{Contests: k, Budgets: k,
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

func alone() store.Alone {
	return store.Alone{Tenant: aggregate.TenantID("T1"), Execution: contest.NewID(), File: models.SampleFile,
		Prompt: "勤怠の方針", Locale: "ja", MaxRounds: 1, Seconds: 60, Budget: aggregate.USD(1),
		By: aggregate.Actor{Type: aggregate.ActorUser, ID: "U1"}}
}

func TestContestsOfTheFilesAreListedWithTheirMistakes(t *testing.T) {
	h, _ := handler(sample(t, map[string]string{
		"configs/broken.toml": "[orchestrator]\nmax_rounds = 99\nteams = []",
		"notes/half.toml":     "[orchestrator]\nmax_rounds = ", ".git/hidden.toml": "[orchestrator]",
		"a/b/c/d/e/deep.toml": "[orchestrator]", "other.toml": "[tool]",
	}))
	got := expect.Value(h.Answer(t.Context(), store.ContestQuery{Tenant: alone().Tenant}))(t)
	wrong := map[string]string{}
	for _, d := range got.Contests {
		wrong[d.File] = strings.Join(d.Wrong, "\n")
	}
	expect.That(t, len(wrong) == 3 && wrong[models.SampleFile] == "" &&
		strings.Contains(wrong["configs/broken.toml"], "max_rounds") && strings.Contains(wrong["notes/half.toml"], "TOML"),
		"listed: %q", wrong)
	for _, d := range got.Contests {
		expect.That(t, d.File != models.SampleFile || len(d.Teams) >= 2 && d.MaxRounds >= 1 && d.TeamSeconds >= 10, "%+v", d)
	}
	team := "[team]\nteam_id = 'a'\nteam_name = 'A'\nmax_concurrent_members = 50\n"
	for i := range mostWrong + 2 {
		team += fmt.Sprintf("[[team.members]]\nagent_name = 'm%d'\nconfig = 'x.toml'\n", i)
	}
	h, _ = handler(sample(t, map[string]string{
		"many.toml": "[orchestrator]\n[[orchestrator.teams]]\nconfig = 'team.toml'\n", "team.toml": team,
		"x.toml": "[agent]\nagent_type = 'web-search'\ntool_description = 'd'\nmodel = 'grok:grok-4'\n",
	}))
	for _, d := range expect.Value(h.Answer(t.Context(), store.ContestQuery{Tenant: alone().Tenant}))(t).Contests {
		expect.That(t, d.File != "many.toml" || len(d.Warnings) == mostWrong+1 && d.Warnings[mostWrong] == "and 2 more",
			"%d warnings: %q", len(d.Warnings), d.Warnings)
		expect.That(t, d.File != models.SampleFile || len(d.Warnings) == 1 &&
			strings.Contains(d.Warnings[0], "can't read anything"), "%q", d.Warnings)
	}
	h.Workspace = func() (teamconfig.Workspace, error) { return teamconfig.Open("", nil) }
	got = expect.Value(h.Answer(t.Context(), store.ContestQuery{Tenant: alone().Tenant}))(t)
	expect.That(t, got.NotSet, "without files: %+v", got)
}

func TestOneFileIsDescribedWithItsMistakes(t *testing.T) {
	h, k := handler(sample(t, map[string]string{"configs/broken.toml": "[orchestrator]\nmax_rounds = 99\nteams = []"}))
	for file, wrong := range map[string]string{
		models.SampleFile: "", "configs/broken.toml": "max_rounds", "none.toml": "none.toml: there is no such file",
		"../x.toml": "../x.toml",
	} {
		got := expect.Value(h.Answer(t.Context(), store.ContestQuery{Tenant: alone().Tenant, Check: file}))(t)
		expect.Must(t, len(got.Contests) == 1 && got.Contests[0].File == file && !got.Begun, "%s: %+v", file, got)
		said := strings.Join(got.Contests[0].Wrong, "\n")
		expect.That(t, (wrong == "") == (said == "") && strings.Contains(said, wrong), "%s: %q", file, said)
	}
	expect.That(t, len(k.orders) == 0, "a contest began")
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
		got := expect.Value(h.Answer(t.Context(), store.ContestQuery{Tenant: alone().Tenant, Check: "bedrock.toml",
			Prices: tt.becomes}))(t)
		said := strings.Join(got.Contests[0].Wrong, "\n")
		expect.That(t, strings.Contains(said, "has no known price") == tt.unpriced, "%s: %q", name, said)
	}
}

func TestAContestBeginsOnceWhatTheFileAndThePersonSay(t *testing.T) {
	h, k := handler(sample(t, nil))
	x := alone()
	for range 2 { // a double click
		got := expect.Value(h.Answer(t.Context(), store.ContestQuery{Begin: &x}))(t)
		expect.Must(t, got.Begun, "%+v", got)
	}
	expect.That(t, len(k.orders) == 1 && k.orders[0].MaxRounds == 1 &&
		k.orders[0].TimeoutSeconds == 60 && k.orders[0].For == nil && strings.Contains(k.config, `"max_rounds":1`),
		"began %+v with %.200s", k.orders, k.config)
	for name, change := range map[string]func(*store.Alone){
		"a blank prompt": func(x *store.Alone) { x.Prompt = " \u3000\n" }, "no money": func(x *store.Alone) { x.Budget = 0 },
		"no id": func(x *store.Alone) { x.Execution = "x" },
	} {
		y := alone()
		change(&y)
		_, err := h.Answer(t.Context(), store.ContestQuery{Begin: &y})
		expect.That(t, errors.As(err, new(aggregate.Problem)), "%s: %v", name, err)
	}
	for _, file := range []string{"configs/none.toml", "configs/evaluator.toml", "../x.toml", "/etc/passwd", ""} {
		y := alone()
		y.File = file
		got, err := h.Answer(t.Context(), store.ContestQuery{Begin: &y})
		expect.That(t, err == nil && !got.Begun && len(got.Contests) == 1 && len(got.Contests[0].Wrong) != 0,
			"%s: %+v, %v", file, got, err)
	}
	expect.That(t, len(k.orders) == 1, "%d began", len(k.orders))
}

func TestOneFilesMistakesLeaveRoomForTheOtherFiles(t *testing.T) {
	const wrong = "wrong.toml"
	file := "[orchestrator]\n" + strings.Repeat("a", 1<<19) + " = 1\n"
	for i := range 10_000 {
		file += fmt.Sprintf("b%d = 1\n", i)
	}
	h, _ := handler(sample(t, map[string]string{
		wrong: file + "[[orchestrator.teams]]\nconfig = 'long.toml'\n", "long.toml": "[team]\nteam_id = 'a'\nteam_name = '" +
			strings.Repeat("a", 1<<19) + "'\n",
	}))
	got := expect.Value(h.Answer(t.Context(), store.ContestQuery{Tenant: alone().Tenant}))(t)
	answer := expect.Value(json.Marshal(got))(t)
	for _, d := range got.Contests {
		if d.File == wrong && (len(d.Wrong) != mostWrong+1 || !strings.HasPrefix(d.Wrong[mostWrong], "and ")) {
			t.Errorf("%d mistakes, the last: %.100q", len(d.Wrong), d.Wrong[len(d.Wrong)-1])
		}
	}
	expect.That(t, len(got.Contests) == 2 && len(answer) <= 100<<10,
		"%d contests in %d bytes", len(got.Contests), len(answer))
}

// A member that has nothing to read by, or no search though the settings allow one, is named before anything is paid.
func TestMembersThatCantReadAreNamedBeforeAContestBegins(t *testing.T) {
	read := tenancy.ToolPermission{ToolName: "mcp.rooms.list", Allowed: true, Contests: true,
		Pin: &tenancy.Pin{Access: aggregate.Read}}
	changed := read
	changed.ChangedAt = new(time.Time)
	const gone = "researcher can't read anything: contests have no reading tools"
	for name, tt := range map[string]struct {
		search  bool
		tools   []tenancy.ToolPermission
		instead string
		want    string // in the warning; empty: none
	}{
		"nothing":             {false, nil, "", gone + ", and the settings don't allow web search. Its team is told."},
		"a search":            {true, nil, "", ""},
		"a listed tool":       {false, []tenancy.ToolPermission{read}, "", ""},
		"a tool that changed": {false, []tenancy.ToolPermission{changed}, "", gone},
		"a wire without a search": {true, nil, "compatible:gemini/gemini-3",
			"compatible:gemini/gemini-3 has no vendor web search"},
		"such a wire, and a listed tool": {true, []tenancy.ToolPermission{read}, "bedrock:anthropic.x",
			"researcher can use only the listed tools: bedrock:anthropic.x has no vendor web search"},
		"such a wire, nobody is to search": {false, []tenancy.ToolPermission{read}, "bedrock:anthropic.x", ""},
	} {
		h, k := handler(sample(t, nil))
		k.settings.ContestSearch, k.tools, h.Models.Instead = tt.search, tt.tools, tt.instead
		got := expect.Value(h.Answer(t.Context(), store.ContestQuery{Tenant: alone().Tenant,
			Check: models.SampleFile}))(t).Contests[0]
		said := strings.Join(got.Warnings, "\n")
		expect.That(t, (tt.want == "") == (said == "") && strings.Contains(said, tt.want), "%s: %q", name, said)
	}
	h, k := handler(sample(t, nil))
	x := alone()
	expect.That(t, expect.Value(h.Answer(t.Context(), store.ContestQuery{Begin: &x}))(t).Begun && len(k.orders) == 1,
		"a warning stopped a contest")
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
	h, k := handler(down{sample(t, nil)})
	x := alone()
	for _, in := range []store.ContestQuery{{}, {Begin: &x}} {
		expect.Fails(t, expect.Err(h.Answer(t.Context(), in)), explain.ErrUnavailable)
	}
	expect.That(t, len(k.orders) == 0, "it began")
}

func TestAContestOfBedrocksModelsBegins(t *testing.T) {
	h, k := handler(sample(t, map[string]string{
		"bedrock.toml": "[orchestrator]\n[[orchestrator.teams]]\nconfig = 'nova.toml'\n",
		"nova.toml":    "[team]\nteam_id = 'a'\nteam_name = 'A'\n[team.leader]\nmodel = 'bedrock:anthropic.claude-9-v1:0'\n",
	}))
	h.Models.Keys = keys(`{"anthropic":"sk-ant"}`) // of the evaluator
	x := alone()
	x.File, x.MaxRounds = "bedrock.toml", 3
	got := expect.Value(h.Answer(t.Context(), store.ContestQuery{Begin: &x}))(t)
	expect.That(t, !got.Begun && len(k.orders) == 0 && len(got.Contests[0].Wrong) == 1 &&
		strings.HasPrefix(got.Contests[0].Wrong[0], "nova.toml: teams[0].leader.model: has no known price"), "%+v", got)
	k.settings.Prices = []tenancy.ModelPrice{{Model: "bedrock:anthropic.claude-9-v1:0", Input: "0.8", Output: "3.2"}}
	got = expect.Value(h.Answer(t.Context(), store.ContestQuery{Begin: &x}))(t)
	expect.That(t, got.Begun && len(k.orders) == 1 && strings.Contains(k.config,
		`"prices":[{"model":"bedrock:anthropic.claude-9-v1:0"`),
		"%+v", got)
}

// Every model of a contest is opened before it begins, and every fault is named with its file and field.
func TestAContestWhoseModelsCantBeCalledDoesNotBegin(t *testing.T) {
	h, k := handler(sample(t, map[string]string{
		"c.toml": "[orchestrator]\nmax_rounds = 3\nevaluator_config = 'e.toml'\n[[orchestrator.teams]]\nconfig = 't.toml'\n",
		"t.toml": "[team]\nteam_id = 'a'\nteam_name = 'A'\n[team.leader]\nmodel = 'gpt-5.4'\n[[team.members]]\nconfig = " +
			"'m.toml'\n" +
			"[[team.members]]\nagent_name = 'b'\nagent_type = 'plain'\ntool_description = 'x'\nmodel = 'compatible:box/llama'\n",
		"m.toml": "[agent]\nagent_name = 'm'\nagent_type = 'plain'\ntool_description = 'x'\nmodel = " +
			"'claude-sonnet-99'\n",
		"e.toml": "default_model = 'gemini-2.5-flash'\n[[metrics]]\nname = 'Coverage'\n[[metrics]]\nname = " +
			"'Relevance'\nmodel = 'o9'\n",
	}))
	x := alone()
	x.File, x.MaxRounds = "c.toml", 3
	wrong := func(secret string) []string {
		h.Models.Keys = keys(secret)
		got := expect.Value(h.Answer(t.Context(), store.ContestQuery{Begin: &x}))(t)
		expect.That(t, !got.Begun && len(k.orders) == 0, "it begins")
		return got.Contests[0].Wrong
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
	_, err := h.Answer(t.Context(), store.ContestQuery{Begin: &x})
	expect.That(t, errors.Is(err, explain.ErrUnavailable), "a secret that can't be read now: %v", err)
	h.Models.Instead = "demo"
	got := expect.Value(h.Answer(t.Context(), store.ContestQuery{Begin: &x}))(t)
	expect.That(t, got.Begun, "the demo in place of all: %+v", got)
}

func TestAContestBeginsWithinWhatTheDayLeaves(t *testing.T) {
	for name, tt := range map[string]struct {
		day, today float64 // budget, and amount spent
		begins     bool
	}{
		"without a budget": {today: 100, begins: true}, "the day has room": {day: 2, today: 1, begins: true},
		"the day has less": {day: 2, today: 1.01},
	} {
		t.Run(name, func(t *testing.T) {
			h, k := handler(sample(t, nil))
			k.settings = tenancy.Settings{MaxCostDayUSD: tt.day}
			k.sums = tenancy.Sums{Day: aggregate.USD(tt.today)}
			x := alone()
			for range 2 { // a double click when the budget allows only one contest
				got := expect.Value(h.Answer(t.Context(), store.ContestQuery{Begin: &x}))(t)
				expect.That(t, got.Begun == tt.begins && got.OverBudget != tt.begins, "%+v", got)
			}
		})
	}
}
