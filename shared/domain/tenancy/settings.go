package tenancy

import (
	"cmp"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/words/language"
)

// Approvers says who may stamp. In mode "list" an empty list means nobody.
type Approvers struct {
	Mode       aggregate.ApproverMode `json:"mode"`
	Users      []string               `json:"users"`
	Usergroups []string               `json:"usergroups"`
}

// SettingsKey is the sort key of the row with a tenant's settings.
const SettingsKey = "SETTINGS"

// SettingsAt is the settings' row for a Change that relies on it, as it was read with this revision.
func SettingsAt(rev int) aggregate.Owned {
	return aggregate.Owned{Key: SettingsKey, Rev: rev, Err: aggregate.ErrSettings}
}

// Settings is a tenant's configuration.
type Settings struct {
	aggregate.Meta `json:"-"`
	UpdatedAt      time.Time `json:"-"`
	UpdatedBy      string    `json:"-"`
	// RulesRev is the revision of the rules that gates open under; 0: the tenant has none. Whoever relies on the
	// settings' revision relies on this one too.
	RulesRev int `json:"-"`
	// Ruled says that the tenant has rules or had some, so that gates may wait along a route.
	Ruled bool `json:"-"`

	Name                    string    `json:"name"`
	PromptApprovalRequired  bool      `json:"prompt_approval_required"`
	ProcessApprovalRequired bool      `json:"process_approval_required"`
	Model                   string    `json:"model"`
	L4TimeoutSeconds        int       `json:"l4_timeout_seconds"`
	AutoApproveTools        bool      `json:"auto_approve_tools"`
	Approvers               Approvers `json:"approvers"`
	AllowSelfApproval       bool      `json:"allow_self_approval"`
	ApprovalTimeoutHours    int       `json:"approval_timeout_hours"`
	FiscalYearMonth         int       `json:"fiscal_year_month"` // in which a fiscal year begins; 1 is January
	MaxVersions             int       `json:"max_versions"`
	// Matters are the kinds of matters on which a form asks for a decision; empty: see MatterNames.
	Matters       []MatterKind `json:"matters"`
	Locale        string       `json:"locale"`
	Executor      string       `json:"executor"`
	MaxCostUSD    float64      `json:"max_cost_usd"`     // per task or conversation; 0: no limit, as in the next
	MaxCostDayUSD float64      `json:"max_cost_day_usd"` // all tasks of one day, UTC
	// Prices are the workspace's own prices of models.
	Prices []ModelPrice `json:"prices"`
	// MaxOpenTasks and MaxTasksPerHour (UTC) bound what one person asks for; 0: no limit.
	MaxOpenTasks    int `json:"max_open_tasks"`
	MaxTasksPerHour int `json:"max_tasks_per_hour"`
	// RetainResultsDays is how long results in the bucket are kept.
	RetainResultsDays int `json:"retain_results_days"`
	// MCPServers are the servers whose tools may be allowed.
	MCPServers []MCPServer `json:"mcp_servers"`
	// Agents are added to the built-in agents, or override one with the same id.
	Agents     []Agent    `json:"agents"`
	AISessions AISessions `json:"ai_sessions"`
	// AutoActions are rules for actions that start without a person's approval.
	AutoActions []AutoRule `json:"auto_actions"`
	// ListedReads are the tools that agents may call without a person's approval.
	ListedReads []ListedRead `json:"listed_reads"`
	// Sources are the repositories with whose files conversations may begin.
	Sources      []Source     `json:"sources"`
	DraftContest DraftContest `json:"draft_contest"`
	// ContestSearch lets members of contests have their model's vendor search the web.
	ContestSearch bool `json:"contest_search"`
	// RemindAt is when people are told on each working day what waits for them, in the tenant's zone; empty: never.
	RemindAt string `json:"remind_at"`
}

// AISessions says whether ended conversations are stored.
type AISessions struct {
	Cache Cache `json:"cache"`
}

// Cache says whether conversations are kept after they are closed.
type Cache struct {
	Enabled bool `json:"enabled"`
}

// MaxCost is the cost limit of a task or a conversation, 0 for none.
func (s Settings) MaxCost() aggregate.MicroUSD { return limitOf(s.MaxCostUSD) }

// limitOf converts a limit to MicroUSD, 0 for none. A limit below a millionth of a dollar stays a limit.
func limitOf(usd float64) aggregate.MicroUSD {
	if usd <= 0 {
		return 0
	}
	return max(1, aggregate.USD(usd))
}

// Terms freezes these settings for a gate that opens at now and asks somebody, unless its Opening says that it doesn't.
func (s Settings) Terms(now time.Time) aggregate.Terms {
	by := now.Add(time.Duration(s.ApprovalTimeoutHours) * time.Hour)
	return aggregate.Terms{
		ApprovalRequired: true, DecideBy: &by, Executor: s.Executor,
		L4TimeoutSeconds: s.L4TimeoutSeconds, AutoApproveTools: s.AutoApproveTools,
		MaxVersions: s.MaxVersions, ApprovalHours: s.ApprovalTimeoutHours, SettingsRev: s.Rev, Locale: s.Locale,
	}
}

// What is the same in every workspace: how many hours people have to decide on an action or a call, and after how many
// days without a message a conversation is closed.
const (
	ActionHours = 24
	IdleDays    = 14
)

// ActionTerms freezes these settings for an action in a channel, or a call, that a person decides on.
func (s Settings) ActionTerms(now time.Time) aggregate.Terms {
	terms := s.Terms(now)
	by := now.UTC().Truncate(time.Millisecond).Add(ActionHours * time.Hour)
	terms.DecideBy, terms.ApprovalHours = &by, ActionHours
	return terms
}

// FiscalYear returns the fiscal year to which a moment belongs in the tenant's zone: the year in which it began.
func (s Settings) FiscalYear(at time.Time) int {
	day := at.In(Zone())
	if int(day.Month()) < cmp.Or(s.FiscalYearMonth, FiscalYearBegins) {
		return day.Year() - 1
	}
	return day.Year()
}

// FiscalYearBegins is the month in which fiscal years begin unless the settings say otherwise.
const FiscalYearBegins = int(time.April)

// The executors, which carry out approved steps.
const (
	ExecutorSteps   = "steps"   // Ringi itself
	ExecutorManaged = "managed" // a managed session with Claude, whose tool calls Ringi makes
)

// maxLimit is the highest configurable limit.
const maxLimit = 100_000

// SettingsRow is the row with a tenant's settings.
type SettingsRow struct {
	ID        string    `json:"id"`
	TenantID  string    `json:"tenant_id"`
	Rev       int       `json:"rev"`
	Config    Settings  `json:"config"`
	UpdatedAt time.Time `json:"updated_at"`
	UpdatedBy string    `json:"updated_by"`
	RulesRev  int       `json:"rules_rev,omitempty"`
	Ruled     bool      `json:"ruled,omitempty"`
}

// Place is in the tenant's own partition.
func (r SettingsRow) Place() (partition, key, typ string) {
	return "TENANT#" + r.TenantID, SettingsKey, "settings"
}

// Settings returns the settings with their revision, who saved them when, and what else the row says.
func (r SettingsRow) Settings() Settings {
	r.Config.RulesRev, r.Config.Ruled = r.RulesRev, r.Ruled || r.RulesRev > 0
	r.Config.Rev, r.Config.UpdatedAt, r.Config.UpdatedBy = r.Rev, r.UpdatedAt, r.UpdatedBy
	return r.Config
}

// Save replaces was by x, with an audit entry that lists the differences; without a difference it writes nothing. id is
// for settings that have none yet.
//
// It returns a Problem for an invalid value, and if by is not a person. It returns ErrConflict and the current settings
// if x has another revision than was.
func (x Settings) Save(was SettingsRow, id string, by aggregate.Actor, now time.Time) (Settings, Change, error) {
	c := Change{Tenant: was.TenantID}
	if err := x.Validate(); err != nil {
		return x, c, err
	}
	if err := bySomebody(by); err != nil {
		return x, c, err
	}
	if was.Rev != x.Rev {
		return was.Settings(), c, fmt.Errorf("save settings of %s: %w", was.TenantID, aggregate.ErrConflict)
	}
	diff := Differences(was.Config, x)
	if diff == nil {
		return was.Settings(), c, nil
	}
	id = cmp.Or(was.ID, id)
	x.Rev, x.UpdatedAt, x.UpdatedBy = was.Rev+1, moment(now), by.ID
	x.RulesRev, x.Ruled = was.RulesRev, was.Ruled
	c.Writes = []Write{{Over: was.Rev, Row: SettingsRow{
		ID: id, TenantID: was.TenantID, Rev: x.Rev, Config: x, UpdatedAt: x.UpdatedAt, UpdatedBy: x.UpdatedBy,
		RulesRev: x.RulesRev, Ruled: x.Ruled,
	}}}
	c.Audit = append(c.Audit, entry(was.TenantID, AuditSettingsUpdated, "settings", id, detailsOf(diff), by, now))
	c.Redraw = slices.ContainsFunc(diff, func(d Difference) bool { return byName()[d.Field].OnCards })
	return x, c, nil
}

// Policy returns who may decide under these settings. Members of the listed user groups are not included.
func (s Settings) Policy(team string) aggregate.Policy {
	return aggregate.Policy{Team: team, Mode: s.Approvers.Mode, Approvers: slices.Clone(s.Approvers.Users),
		AllowSelf: s.AllowSelfApproval, Rev: s.Rev}
}

// Nobody returns aggregate.ErrNotAllowed if it is certain, without asking Slack, that nobody may approve a joint
// request of askers: RuleSelf in a direct message with only the requester, RuleNobody if the list has nobody else.
// people.Requesters does the full check with Slack.
func (s Settings) Nobody(o aggregate.Origin, askers ...string) error {
	p := s.Policy(o.Team)
	switch {
	case p.Mode != aggregate.ApproversList && o.ChannelType == "im":
		return p.ApproveAll(aggregate.Actor{Type: aggregate.ActorUser, ID: o.User, Team: o.Team, Member: true}, askers)
	case p.Mode != aggregate.ApproversList, len(s.Approvers.Usergroups) > 0:
		return nil
	}
	for _, id := range s.Approvers.Users {
		if p.ApproveAll(aggregate.Actor{Type: aggregate.ActorUser, ID: id, Team: o.Team}, askers) == nil {
			return nil
		}
	}
	return aggregate.ErrNotAllowed{Rule: aggregate.RuleNobody}
}

// MatterKind is a kind of matter on which people ask for a decision, such as 支出.
type MatterKind struct {
	Name string `json:"name"`
}

// Limits of the kinds. Slack's lists take 100 choices of at most 75 characters.
const (
	MaxMatters    = 50
	MaxMatterName = 40 // characters
)

var builtInMatters = language.InEach([]string{"支出", "契約", "人事", "規程", "その他"},
	[]string{"Spending", "Contract", "People", "Regulation", "Other"})

// MatterNames returns the kinds of matters that a form offers: the settings', or the built-in ones.
func (s Settings) MatterNames() (names []string) {
	for _, m := range s.Matters {
		names = append(names, m.Name)
	}
	if names == nil {
		return builtInMatters.In(s.Locale)
	}
	return names
}

// MatterCalled is what a kind of matters is called in a language. Its own name is kept; a built-in one has one in each.
func MatterCalled(name, locale string) string {
	for _, other := range language.All {
		if i := slices.Index(builtInMatters.In(other), name); i >= 0 {
			return builtInMatters.In(locale)[i]
		}
	}
	return name
}

// Problems returns what is wrong with the kind's name.
func (m MatterKind) Problems() (all aggregate.Problems) {
	all.Unless(rules.IsName(m.Name, MaxMatterName), "name", "matter")
	return all
}

var nameForm = language.Regexp{Text: `^[a-z0-9-]{1,32}$`}

// isModel reports whether the name is valid.
func isModel(name string) bool {
	_, err := aggregate.ParseModelName(name)
	return err == nil
}

// maxUSD is the highest configurable budget.
const maxUSD = 1_000_000

// Validate returns the first problem.
func (s Settings) Validate() error { return s.Problems().Err() }

// Problems returns all problems of the settings; none if they can be saved. Sizes come first, lists of rows last.
func (s Settings) Problems() (all aggregate.Problems) {
	fields := s.Fields()
	for _, f := range fields {
		f.checkSize(&all)
	}
	for _, kind := range []Kind{KindText, KindDollars, KindChoice, KindPeople, KindGroups} {
		for _, f := range fields {
			if f.Kind == kind {
				f.checkContent(&all)
			}
		}
	}
	rows(&all, "mcp_servers", s.MCPServers, "name", func(x MCPServer) string { return x.Name })
	rows(&all, "prices", s.Prices, "model", ModelPrice.model)
	rows(&all, "matters", s.Matters, "name", func(x MatterKind) string { return x.Name })
	s.DraftContest.check(&all)
	rows(&all, "agents", s.Agents, "id", func(x Agent) string { return x.ID })
	rows(&all, "auto_actions", s.AutoActions, "", nil)
	for i, r := range s.AutoActions {
		listed := slices.ContainsFunc(s.Sources, func(x Source) bool { return x.Name == r.Source })
		all.Unless(r.Source == "" || listed || len(r.Problems()) > 0, fmt.Sprintf("auto_actions[%d].source", i),
			"auto_source")
	}
	rows(&all, "listed_reads", s.ListedReads, "", nil)
	rows(&all, "sources", s.Sources, "name", func(x Source) string { return x.Name })
	return all
}

// rows checks the rows of a list. No two have the same name, which stands in a column. What depends on the deployment,
// such as an agent's address that it forbids, is no problem: settings can be copied to another one.
func rows[T interface{ Problems() aggregate.Problems }](all *aggregate.Problems, list string, of []T, column string,
	name func(T) string) {
	seen := map[string]bool{}
	for i, x := range of {
		at := fmt.Sprintf("%s[%d]", list, i)
		if name != nil {
			all.Unless(name(x) == "" || !seen[name(x)], at+"."+column, "taken")
			seen[name(x)] = true
		}
		all.Under(at, x.Problems())
	}
}

// Problems returns everything that is wrong with a server.
func (s MCPServer) Problems() (all aggregate.Problems) {
	all.Unless(nameForm.Get().MatchString(s.Name), "name", "server_name")
	code := wrongAddress(s.URL)
	all.Unless(code == "", "url", code)
	return all
}

// wrongAddress returns what is wrong with a server's address, or "". Plain http is allowed only for loopback
// addresses, which only the local stack reaches.
func wrongAddress(text string) string {
	u, err := url.Parse(text)
	if err != nil || len(text) > 500 || u.Host == "" || u.Opaque != "" {
		return "address"
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "address_only"
	}
	here, err := netip.ParseAddr(u.Hostname())
	if u.Scheme != "https" && !(u.Scheme == "http" && err == nil && here.IsLoopback()) {
		return "https"
	}
	return ""
}

// Limits on what one tenant may define.
const (
	MaxAgents      = 20 // not counting the built-in ones
	MaxAutoActions = 50
	MaxListedReads = 50
)
