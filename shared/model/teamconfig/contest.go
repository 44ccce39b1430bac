package teamconfig

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"
)

// The bounds of a contest.
const (
	DefaultTeamTimeout = 300 // seconds
	MinTeamTimeout     = 10
	MaxTeamTimeout     = 3600
	DefaultMaxRounds   = 5
	MostRounds         = 10
	DefaultMinRounds   = 2
	MaxTeams           = 20
	evaluatorFile      = "configs/evaluator.toml"
)

// Contest reads a contest's file and every file that it names. If it names no evaluator, Contest reads
// configs/evaluator.toml if it exists.
func (w Workspace) Contest(file string) (Contest, []Finding) {
	r := &reading{w: w}
	c := r.contest(file, r.file(file, ""))
	c.Named = r.models
	return c, r.found
}

// ContestOrTeam reads a contest's file as Contest does, or a team's, which plays alone with the usual evaluator and
// bounds.
func (w Workspace) ContestOrTeam(file string) (Contest, []Finding) {
	r := &reading{w: w}
	tables := r.file(file, "")
	_, team := tables["team"]
	if _, steps := tables["workflow"]; !team && !steps {
		return w.Contest(file)
	}
	usual := r.section(file, "", map[string]any{})
	c := Contest{
		TeamTimeoutSeconds: DefaultTeamTimeout, MaxRounds: DefaultMaxRounds,
		Evaluator: r.evaluatorOf(usual), Teams: []Team{r.team(file, "", tables)},
	}
	return c, r.found
}

func (r *reading) contest(file string, tables map[string]any) (c Contest) {
	s := r.topTable(file, "", "orchestrator", "a contest", tables)
	if s == nil {
		return c
	}
	c = Contest{TeamTimeoutSeconds: s.teamTimeout()}
	c.MaxRounds = s.wholeOr(DefaultMaxRounds, 1, MostRounds, "max_rounds")
	c.Evaluator, c.Teams = r.evaluatorOf(s), r.teams(s)
	s.ignored(noJudge, "min_rounds", "judgment_config", "judgment_timeout_seconds")
	s.ignored("all teams work at once", "max_concurrent_teams")
	s.ignored("a call has its own retries", "max_retries_per_team")
	s.ignored("each call has its own timeout, and each team has timeout_per_team_seconds", "submission_timeout_seconds")
	s.ignored("an environment variable says where the workspace is", "workspace", "workspace_path")
	s.ignored(ownPrompts, "prompt_builder_config")
	s.end()
	return c
}

// teamTimeout reads the time limit of a team. Older files call it team_timeout_seconds.
func (s *section) teamTimeout() int {
	now, before := "timeout_per_team_seconds", "team_timeout_seconds"
	seconds := s.wholeOr(DefaultTeamTimeout, MinTeamTimeout, MaxTeamTimeout, now)
	if _, ok := s.keys[before]; !ok {
		return seconds
	}
	other := s.wholeOr(seconds, MinTeamTimeout, MaxTeamTimeout, before)
	if _, both := s.keys[now]; both && other != seconds {
		s.refuse(before, "disagrees with %s: keep only one of them", now)
	}
	return other
}

func (r *reading) teams(s *section) []Team {
	entries := s.list("teams", "[[orchestrator.teams]]")
	if len(entries) == 0 {
		s.refuse("teams", "a contest needs a team: [[orchestrator.teams]] with config")
	}
	if len(entries) > MaxTeams {
		s.refuse("teams", "must be at most %d teams", MaxTeams)
	}
	teams := []Team{}
	var ids []string
	for i, keys := range entries[:min(len(entries), MaxTeams)] {
		path := fmt.Sprintf("teams[%d].", i)
		e := r.section(s.file, path, keys)
		name := e.needed("config")
		e.end()
		if blank(name) {
			continue
		}
		clean, err := inside(name)
		if err != nil {
			e.refuse("config", "%v", err)
			continue
		}
		t := r.team(clean, path, r.file(clean, path+"config"))
		teams, ids = append(teams, t), append(ids, t.TeamID)
	}
	ids = slices.DeleteFunc(ids, blank)
	if twice := repeated(ids); twice != "" {
		s.refuse("teams", "Duplicate team_id detected: %s", twice)
	}
	return teams
}

// fileOr reads the file that a field names or, if it is not set, the usual one. It returns nil if it reads none.
func (s *section) fileOr(key, usual string) (string, map[string]any) {
	name := s.text(key)
	if name == nil {
		tables, err := s.r.tables(usual)
		if _, set := s.keys[key]; set || errors.Is(err, fs.ErrNotExist) {
			return "", nil
		}
		if err != nil {
			s.r.found = append(s.r.found, Finding{File: usual, Field: s.path + key, Message: err.Error(), Err: err})
		}
		return usual, tables
	}
	clean, err := inside(*name)
	if err != nil {
		s.refuse(key, "%v", err)
		return "", nil
	}
	return clean, s.r.file(clean, s.path+key)
}

// Within returns the contest with at most this many rounds.
func (c Contest) Within(most int) Contest {
	c.MaxRounds = min(c.MaxRounds, most)
	return c
}

// Models returns the names of all models that a contest calls, each once.
func (c Contest) Models() (names []string) {
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, t := range c.Teams {
		add(t.Leader.Model)
		for _, m := range t.Members {
			add(m.Model)
		}
	}
	for _, m := range c.Evaluator.Metrics {
		add(m.Model)
	}
	return names
}

// Defaults and limits of evaluators.
const (
	DefaultModel            = "google-gla:gemini-2.5-flash"
	defaultEvaluatorTimeout = 300 // seconds
	// weightSlack is the allowed difference between 1 and the sum of weights.
	weightSlack = 0.001
	// MaxMetrics limits the calls that a round makes at the same time, because their cost is known only afterwards.
	MaxMetrics = 20
)

// BuiltIn lists the metrics that need no instruction. Their weights apply if a file names no metric.
var BuiltIn = []Metric{{Name: "ClarityCoherence", Weight: 0.334}, {Name: "Coverage", Weight: 0.333},
	{Name: "Relevance", Weight: 0.333}}

// BuiltIn reports whether the metric is one that needs no instruction.
func (m Metric) BuiltIn() bool {
	return slices.ContainsFunc(BuiltIn, func(b Metric) bool { return b.Name == m.Name })
}

func (r *reading) evaluatorOf(s *section) Evaluator {
	file, tables := s.fileOr("evaluator_config", evaluatorFile)
	if tables == nil {
		s.names("evaluator_config", DefaultModel)
		return defaultEvaluator()
	}
	return r.evaluator(file, "evaluator.", tables)
}

func defaultEvaluator() Evaluator {
	e := Evaluator{DefaultModel: DefaultModel, Metrics: slices.Clone(BuiltIn),
		Call: called(Call{}, defaultEvaluatorTimeout)}
	for i := range e.Metrics {
		e.Metrics[i].Model = e.DefaultModel
	}
	return e
}

// Over fills in unset fields from another call.
func (c Call) Over(other Call) Call {
	c.Temperature, c.MaxTokens, c.TimeoutSeconds = cmp.Or(c.Temperature, other.Temperature),
		cmp.Or(c.MaxTokens, other.MaxTokens), cmp.Or(c.TimeoutSeconds, other.TimeoutSeconds)
	c.MaxRetries, c.TopP, c.Seed = cmp.Or(c.MaxRetries, other.MaxRetries), cmp.Or(c.TopP, other.TopP),
		cmp.Or(c.Seed, other.Seed)
	if c.StopSequences == nil {
		c.StopSequences = other.StopSequences
	}
	return c
}

// called fills in the timeout and the retries if they are not set.
func called(c Call, timeout int) Call {
	c.TimeoutSeconds = cmp.Or(c.TimeoutSeconds, &timeout)
	return retried(c)
}

func retried(c Call) Call {
	c.MaxRetries = cmp.Or(c.MaxRetries, new(DefaultMaxRetries))
	return c
}

func (r *reading) evaluator(file, path string, tables map[string]any) Evaluator {
	s := r.section(file, path, tables)
	model, call := s.model("default_model", DefaultModel), s.call()
	if keys := s.table("llm_default"); keys != nil {
		d := r.section(file, path+"llm_default.", keys)
		model, call = d.model("model", model), d.call().Over(call)
		d.end()
	}
	e := Evaluator{DefaultModel: model, Metrics: []Metric{}, Call: called(call, defaultEvaluatorTimeout)}
	entries := s.list("metrics", "[[metrics]]")
	if len(entries) == 0 {
		s.refuse("metrics", "an evaluator needs a metric: [[metrics]] with name")
	}
	if n := len(entries); n > MaxMetrics {
		s.refuse("metrics", "must be at most %d metrics", MaxMetrics)
		entries = entries[:MaxMetrics]
	}
	weighed := 0
	var names []string
	for i, keys := range entries {
		m := r.section(file, fmt.Sprintf("%smetrics[%d].", path, i), keys)
		metric := m.metric(e.DefaultModel)
		if _, ok := keys["weight"]; ok {
			weighed++
		}
		if !blank(metric.Name) {
			names = append(names, metric.Name)
		}
		e.Metrics = append(e.Metrics, metric)
	}
	if twice := repeated(names); twice != "" {
		s.refuse("metrics", "Duplicate metric name detected: %s", twice)
	}
	s.weigh(e.Metrics, weighed)
	if _, ok := s.take("custom_metrics"); ok {
		s.refuse("custom_metrics", "can't be used: write a metric of your own as [[metrics]] with system_instruction")
	}
	s.end()
	return e
}

func (s *section) metric(model string) Metric {
	m := Metric{Name: strings.Join(strings.Fields(s.name("name")), " "), Model: s.model("model", model), Call: s.call()}
	if w := s.number("weight", 1); w != nil {
		m.Weight = *w
	}
	if t := s.instruction(); t != nil && !blank(*t) {
		m.SystemInstruction = *t
	}
	if m.Name != "" && !m.BuiltIn() && m.SystemInstruction == "" {
		s.refuse("name", "isn't a metric Ringi knows: use ClarityCoherence, Coverage or Relevance, or define your own "+
			"with system_instruction")
	}
	s.end()
	return m
}

// weigh gives equal weights to metrics without any. It refuses weights of only some metrics, and sums other than 1.
func (s *section) weigh(metrics []Metric, weighed int) {
	switch {
	case len(metrics) == 0:
	case weighed == 0:
		for i := range metrics {
			metrics[i].Weight = 1 / float64(len(metrics))
		}
	case weighed < len(metrics):
		s.refuse("metrics", "must all have a weight, or none: %d of %d have one", weighed, len(metrics))
	default:
		sum := 0.0
		for _, m := range metrics {
			sum += m.Weight
		}
		if math.Abs(sum-1) > weightSlack+1e-9 {
			s.refuse("metrics", "must have weights that sum to 1 within %v, but these sum to %.7g", weightSlack, sum)
		}
	}
}
