package teamconfig

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
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
	judgmentFile       = "configs/judgment.toml"
)

// Contest reads a contest's file and every file that it names. If it names no evaluator or judge, Contest reads
// configs/evaluator.toml and configs/judgment.toml if they exist.
func (w Workspace) Contest(file string) (Contest, []Finding) {
	if !w.Has(file) {
		return Contest{}, []Finding{{File: file, Message: errNotShared.Error(), Err: errNotShared}}
	}
	r := &reading{w: w}
	c := r.contest(file, r.file(file, ""))
	c.Named = r.models
	return c, r.found
}

// ContestOrTeam reads a contest's file as Contest does, or a team's, which plays alone with the usual evaluator, judge
// and bounds.
func (w Workspace) ContestOrTeam(file string) (Contest, []Finding) {
	r := &reading{w: w}
	tables := r.file(file, "")
	_, team := tables["team"]
	if _, steps := tables["workflow"]; !team && !steps {
		return w.Contest(file)
	}
	usual := r.section(file, "", map[string]any{})
	c := Contest{
		TeamTimeoutSeconds: DefaultTeamTimeout, MaxRounds: DefaultMaxRounds, MinRounds: DefaultMinRounds,
		Evaluator: r.evaluatorOf(usual), Judgment: r.judgmentOf(usual), Teams: []Team{r.team(file, "", tables)},
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
	if least := s.whole("min_rounds", 1, MostRounds); least != nil {
		c.MinRounds = *least
	} else {
		c.MinRounds = min(DefaultMinRounds, c.MaxRounds)
	}
	if c.MinRounds > c.MaxRounds {
		s.refuse("min_rounds", "min_rounds (%d) must be <= max_rounds (%d)", c.MinRounds, c.MaxRounds)
	}
	c.Evaluator, c.Judgment = r.evaluatorOf(s), r.judgmentOf(s)
	c.Teams = r.teams(s)
	s.ignored("all teams work at once", "max_concurrent_teams")
	s.ignored("a call has its own retries", "max_retries_per_team")
	s.ignored("each call has its own timeout, and each team has timeout_per_team_seconds", "submission_timeout_seconds",
		"judgment_timeout_seconds")
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
	s.r.assign(s.path+now, s.file)
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
	c.MinRounds = min(c.MinRounds, c.MaxRounds)
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
	if c.MinRounds < c.MaxRounds { // with equal bounds no round needs a judge
		add(c.Judgment.Model)
	}
	return names
}
