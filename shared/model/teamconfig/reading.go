package teamconfig

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/words/language"
)

// Defaults and bounds of what files say.
const (
	DefaultConcurrentMembers = 15
	MaxConcurrentMembers     = 50
	DefaultLeaderModel       = "openai:gpt-4o"
	DefaultModel             = "google-gla:gemini-2.5-flash" // of evaluators
	DefaultTimeout           = 300                           // seconds of a leader's or an evaluator's call
	MinLeaderTimeout         = 10
	MaxLeaderTimeout         = 600
	DefaultMaxRetries        = 3
	DefaultTeamTimeout       = 300 // seconds
	DefaultMaxRounds         = 5
	// MaxMetrics limits the calls that a round makes at the same time, because their cost is known only afterwards.
	MaxMetrics    = 20
	maxName       = 200           // characters
	noMost        = math.MaxInt32 // as seconds it still fits into a time.Duration
	weightSlack   = 0.001         // between 1 and the sum of weights
	evaluatorFile = "configs/evaluator.toml"
)

// reading is the state of reading one configuration.
type reading struct {
	w      Workspace
	locale string // of findings
	found  []Finding
	models []Named
	bytes  int // read so far
}

// table is where fields stand: a file, and the prefix of their names in findings.
type table struct {
	*reading
	file, path string
}

func (t table) in(path string, i int) table {
	return table{t.reading, t.file, fmt.Sprintf(t.path+path, i)}
}

// Contest reads a contest's file and every file that it names. If it names no evaluator, Contest reads
// configs/evaluator.toml if it exists. Findings are in the language of locale.
func (w Workspace) Contest(file, locale string) (Contest, []Finding) {
	r := &reading{w: w, locale: locale}
	c := table{r, file, ""}.contest()
	c.Named = r.models
	return c, r.found
}

// decode reads the table's file into a struct, which has a table of the name must, unless that is empty. A file that
// can't be read is a mistake of the field by, which names it; that is empty for the file that was asked for.
func (t table) decode(by, must string, into any) bool {
	at := table{t.reading, t.file, ""}
	name, err := inside(t.file)
	if err != nil {
		at.refuse(by, outside)
		return false
	}
	text, err := t.w.content(name)
	t.bytes += len(text)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		at.refuse(by, "there is no such file in the workspace")
	case err != nil:
		why := err
		if of, ok := errors.AsType[*fs.PathError](err); ok { // without the path that the file system adds
			why = of.Err
		}
		at.refuse(by, "can't be read: %v", why)
		t.found[len(t.found)-1].Err = err
	case len(text) > maxFile:
		at.refuse(by, "must be at most %d bytes", maxFile)
	case t.bytes > maxRead:
		at.refuse(by, "is one too many: a contest's files must be at most %d bytes in total, each counted every time it is "+
			"named", maxRead)
	default: // editors on Windows write a byte order mark
		return t.parse(by, must, bytes.TrimPrefix(text, []byte("\ufeff")), into)
	}
	return false
}

// shapes says how a file writes a value of a type.
var shapes = map[string]string{"string": "a string", "int": "a whole number", "float64": "a number",
	"[]string": "a list of strings"}

func (t table) parse(by, must string, text []byte, into any) bool {
	var all map[string]any
	err := cmp.Or(toml.Unmarshal(text, &all), toml.Unmarshal(text, into))
	if wrong, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, column := wrong.Position()
		said, kind, typed := strings.Cut(strings.TrimPrefix(wrong.Error(), "toml: "), " of type ")
		if typed {
			key := strings.TrimPrefix(strings.Join(wrong.Key(), "."), must+".")
			t.refuse(key, "must be %s (line %d)", say(t.locale, cmp.Or(shapes[kind], "a table")), line)
			return false
		}
		err = fmt.Errorf("line %d, column %d: %s", line, column, said)
	}
	if err != nil {
		table{t.reading, t.file, ""}.refuse(by, "is not TOML: %v", err)
		return false
	}
	for _, key := range unknown("", all, reflect.TypeOf(into)) {
		t.refuse(strings.TrimPrefix(key, must+"."), "isn't a known field here")
	}
	if _, ok := all[must]; !ok && must != "" {
		t.refuse(must, "is required: this file has a table [%s]", must)
		return false
	}
	return true
}

// unknown lists the keys for which a type has no field. The decoder's own strict mode describes each such key with the
// lines around it, which is far too much for a large file.
func unknown(path string, value any, of reflect.Type) (keys []string) {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct {
		return nil
	}
	list, _ := value.([]any)
	for i, x := range list {
		keys = append(keys, unknown(fmt.Sprintf("%s[%d]", path, i), x, of)...)
	}
	fields := map[string]reflect.Type{}
	for _, f := range reflect.VisibleFields(of) {
		fields[f.Tag.Get("toml")] = f.Type
	}
	members, _ := value.(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(members)) {
		name := strings.TrimPrefix(path+"."+key, ".")
		if fields[key] == nil {
			keys = append(keys, name)
		} else {
			keys = append(keys, unknown(name, members[key], fields[key])...)
		}
	}
	return keys
}

func (t table) contest() (c Contest) {
	var f struct {
		Orchestrator struct {
			TeamTimeoutSeconds int     `toml:"timeout_per_team_seconds"`
			MaxRounds          int     `toml:"max_rounds"`
			EvaluatorConfig    *string `toml:"evaluator_config"`
			Teams              []struct {
				Config string `toml:"config"`
			} `toml:"teams"`
		} `toml:"orchestrator"`
	}
	o := &f.Orchestrator
	o.TeamTimeoutSeconds, o.MaxRounds = DefaultTeamTimeout, DefaultMaxRounds
	if !t.decode("", "orchestrator", &f) {
		return c
	}
	within(t, "timeout_per_team_seconds", &o.TeamTimeoutSeconds, contest.MinTeamSeconds, contest.MaxTeamSeconds)
	within(t, "max_rounds", &o.MaxRounds, 1, contest.MaxRounds)
	c = Contest{TeamTimeoutSeconds: o.TeamTimeoutSeconds, MaxRounds: o.MaxRounds, Teams: []Team{},
		Evaluator: t.evaluatorOf(o.EvaluatorConfig)}
	if n := len(o.Teams); n == 0 || n > contest.MaxTeams {
		t.refuse("teams", "must be 1 to %d teams: [[orchestrator.teams]] with config", contest.MaxTeams)
	}
	var ids []string
	for i, of := range o.Teams[:min(len(o.Teams), contest.MaxTeams)] {
		x := table{t.reading, of.Config, fmt.Sprintf("teams[%d].", i)}.team(fmt.Sprintf("teams[%d].config", i))
		c.Teams, ids = append(c.Teams, x), append(ids, x.TeamID)
	}
	t.unique("teams", "team_id", ids)
	return c
}

func (t table) evaluatorOf(config *string) Evaluator {
	name := evaluatorFile
	if config != nil {
		name = *config
	} else if _, err := t.w.content(name); errors.Is(err, fs.ErrNotExist) {
		e := Evaluator{Metrics: slices.Clone(BuiltIn)}
		table{t.reading, t.file, "evaluator."}.judging(&e)
		return e
	}
	return table{t.reading, name, "evaluator."}.evaluator("evaluator_config")
}

func (t table) evaluator(by string) (e Evaluator) {
	if !t.decode(by, "", &e) {
		return e
	}
	if n := len(e.Metrics); n == 0 || n > MaxMetrics {
		t.refuse("metrics", "must be 1 to %d metrics: [[metrics]] with name", MaxMetrics)
		e.Metrics = e.Metrics[:min(n, MaxMetrics)]
	}
	t.judging(&e)
	return e
}

// judging checks an evaluator, and fills in what its file leaves out.
func (t table) judging(e *Evaluator) {
	t.model("default_model", &e.DefaultModel, DefaultModel)
	t.call(&e.Call, Call{TimeoutSeconds: new(DefaultTimeout), MaxRetries: new(DefaultMaxRetries)}, 0, noMost)
	var names []string
	weighed, sum := 0, 0.0
	for i := range e.Metrics {
		m, of := &e.Metrics[i], t.in("metrics[%d].", i)
		m.Name = strings.Join(strings.Fields(m.Name), " ")
		names = append(names, m.Name)
		of.name("name", m.Name)
		if m.Model != "" {
			of.model("model", &m.Model, "")
		}
		m.Model = cmp.Or(m.Model, e.DefaultModel)
		of.call(&m.Call, e.Call, 0, noMost)
		if within(of, "weight", &m.Weight, 0, 1); m.Weight > 0 {
			weighed, sum = weighed+1, sum+m.Weight
		}
		if blank(m.SystemInstruction) && !m.BuiltIn() {
			of.refuse("name", "isn't a metric Ringi knows: use ClarityCoherence, Coverage or Relevance, or define your own "+
				"with system_instruction")
		}
	}
	t.unique("metrics", "metric name", names)
	switch {
	case weighed == 0:
		for i := range e.Metrics {
			e.Metrics[i].Weight = 1 / float64(len(e.Metrics))
		}
	case weighed < len(e.Metrics):
		t.refuse("metrics", "must all have a weight, or none: %d of %d have one", weighed, len(e.Metrics))
	case math.Abs(sum-1) > weightSlack+1e-9:
		t.refuse("metrics", "must have weights that sum to 1 within %v, but these sum to %.7g", weightSlack, sum)
	}
}

func (t table) team(by string) Team {
	f := struct {
		Team Team `toml:"team"`
	}{Team{MaxConcurrentMembers: DefaultConcurrentMembers, Members: []Member{}}}
	if !t.decode(by, "team", &f) {
		return Team{}
	}
	x := f.Team
	t.name("team_id", x.TeamID)
	t.name("team_name", x.TeamName)
	within(t, "max_concurrent_members", &x.MaxConcurrentMembers, 1, MaxConcurrentMembers)
	leader := table{t.reading, t.file, t.path + "leader."}
	leader.model("model", &x.Leader.Model, DefaultLeaderModel)
	leader.call(&x.Leader.Call, Call{TimeoutSeconds: new(DefaultTimeout), MaxRetries: new(DefaultMaxRetries)},
		MinLeaderTimeout, MaxLeaderTimeout)
	if x.Leader.SystemPrompt != nil && blank(*x.Leader.SystemPrompt) {
		leader.refuse("system_prompt", "system_prompt cannot be empty string. Use None for default prompt or provide valid "+
			"text.")
	}
	if n := len(x.Members); n > x.MaxConcurrentMembers {
		t.refuse("members", "Too many members: %d > %d. Adjust max_concurrent_members or reduce member count.", n,
			x.MaxConcurrentMembers)
	}
	x.Members = x.Members[:min(len(x.Members), MaxConcurrentMembers)] // each may name a file
	var names, tools []string
	for i := range x.Members {
		m := &x.Members[i]
		if t.in("members[%d].", i).member(m); !blank(m.AgentName) {
			names, tools = append(names, m.AgentName), append(tools, m.Tool())
		}
	}
	t.unique("members", "agent_name", names)
	t.unique("members", "tool_name", tools)
	return x
}

// toolForm is the form of a tool's name that all vendors accept.
var toolForm = language.Regexp{Text: `^[A-Za-z0-9_-]{1,64}$`}

// member checks a member. Its keys take precedence over those of the file that it names.
func (t table) member(m *Member) {
	var f struct {
		Agent Member `toml:"agent"`
	}
	base, of := &f.Agent, t
	t.call(&m.Call, Call{}, 0, noMost)
	if m.Config != nil {
		if of.file = *m.Config; !of.decode(t.path+"config", "agent", &f) {
			return
		}
		if base.Config != nil {
			of.refuse("config", "is not a field of a member's own file")
		}
	}
	of.call(&base.Call, Call{MaxRetries: new(DefaultMaxRetries)}, 0, noMost)
	m.Call = m.Call.over(base.Call)
	m.SystemInstruction = cmp.Or(m.SystemInstruction, base.SystemInstruction)
	m.SystemPrompt = cmp.Or(m.SystemPrompt, base.SystemPrompt)
	stands := func(own *string, other string) table { // where the field stands that counts
		if *own != "" {
			return t
		}
		*own = other
		return of
	}
	stands(&m.AgentName, base.AgentName).name("agent_name", m.AgentName)
	if at := stands(&m.AgentType, base.AgentType); !slices.Contains(contest.AgentTypes, contest.AgentType(m.AgentType)) {
		at.refuse("agent_type", "must be plain, web-search or code-exec, got %s", written(m.AgentType))
	}
	if at := stands(&m.ToolDescription, base.ToolDescription); blank(m.ToolDescription) {
		at.refuse("tool_description", "tool_description cannot be empty")
	}
	stands(&m.Model, base.Model).model("model", &m.Model, "")
	if at := stands(&m.ToolName, base.ToolName); !blank(m.AgentName) && !toolForm.Get().MatchString(m.Tool()) {
		at.refuse("tool_name", "must be 1 to 64 letters, digits, _ or -, as model vendors require; it is %s, taken from "+
			"agent_name unless tool_name is set", written(m.Tool()))
	}
}

// call checks the settings of a model's calls, and fills in others' where a file leaves them out.
func (t table) call(c *Call, others Call, leastSeconds, mostSeconds int) {
	within(t, "temperature", c.Temperature, 0, 2)
	within(t, "max_tokens", c.MaxTokens, 1, noMost)
	within(t, "timeout_seconds", c.TimeoutSeconds, leastSeconds, mostSeconds)
	within(t, "max_retries", c.MaxRetries, 0, noMost)
	within(t, "top_p", c.TopP, 0, 1)
	*c = c.over(others)
}

// within refuses a number that is out of bounds.
func within[T int | float64](t table, field string, n *T, least, most T) {
	switch {
	case n == nil || *n >= least && *n <= most:
	case *n < least && most == noMost:
		t.refuse(field, "must be %v or more, got %v", least, *n)
	default:
		t.refuse(field, "must be %v to %v, got %v", least, most, *n)
	}
}

// name checks a text for lists.
func (t table) name(field, text string) {
	switch {
	case blank(text):
		t.refuse(field, "is required")
	case utf8.RuneCountInString(text) > maxName:
		t.refuse(field, "must be at most %d characters, got %s", maxName, written(text))
	}
}

// model checks the name of a model, and fills in another if the file has none.
func (t table) model(field string, name *string, otherwise string) {
	n := Named{File: t.file, Field: t.path + field, Model: cmp.Or(*name, otherwise), Set: *name != ""}
	*name = n.Model
	switch _, err := aggregate.ParseModelName(n.Model); {
	case blank(n.Model):
		t.refuse(field, "is required")
	case err != nil:
		t.refuse(field, "isn't a model name: use <provider>:<model> with one of %s, or a name that starts with claude-, "+
			"gpt-, gemini-, or o1, o3 and so on, got %s", strings.Join(aggregate.ModelProviders, ", "), written(n.Model))
	default:
		t.models = append(t.models, n)
	}
}

// unique refuses names that occur more than once, each as often as it occurs, as a Python list.
func (t table) unique(field, what string, names []string) {
	var twice []string
	for _, n := range names {
		alike := func(x string) bool { return x == n }
		if at := slices.IndexFunc(names, alike); !blank(n) && slices.ContainsFunc(names[at+1:], alike) {
			twice = append(twice, "'"+language.Beginning(n, maxShown)+"'")
		}
	}
	if twice != nil {
		t.refuse(field, "Duplicate %s detected: %s", what, "["+strings.Join(twice, ", ")+"]")
	}
}

// blank reports whether a text has no visible character. An ideographic space is not visible either.
func blank(s string) bool { return !language.Legible(s) }
