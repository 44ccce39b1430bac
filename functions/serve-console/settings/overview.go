package settings

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain/auditlog"
	"ringi/shared/slack/people"
	"ringi/shared/store"
	"ringi/shared/words/legible"
)

type overviewData struct {
	Path     string // of a section; empty: none
	Unchosen bool
	Contest  *contestNote
	Rows     []overviewRow
}

// overviewRow is a section with its settings in a line.
type overviewRow struct{ Path, Title, Sum string }

func (c *Pages) overview(w http.ResponseWriter, r *http.Request, v *web.Viewer, now tenancy.Settings) error {
	sums, err := c.Store.Spent(r.Context(), v.Tenant, c.Now())
	if err != nil {
		return err
	}
	owner, err := c.Store.Tenant(r.Context(), v.Tenant)
	if err != nil {
		return err
	}
	t, m := settingsTexts{v.Texts("settings")}, c.members(r, v)
	log, err := c.settingsLog(r.Context(), v, m, 1)
	if err != nil {
		return err
	}
	if last, err := c.lastModel(r.Context(), v.Tenant); err == nil && last.Provider == aggregate.Demo {
		now.Model = t.Say("model_demo") // it answers while the model that is set has no key
	}
	data := overviewData{Unchosen: !now.SelfApprovalChosen, Contest: c.contestNote(r.Context(), v, now)}
	_, month := sums.Spent()
	for _, s := range tenancy.Sections {
		data.Rows = append(data.Rows, overviewRow{sectionPath(s.Key), s.Title.In(t.Locale()),
			t.sum(m, s, now, month.String())})
	}
	data.Rows = append(data.Rows, overviewRow{sectionPath("admins"), t.Say("admins"), t.few(m, owner.Admins)},
		overviewRow{sectionPath("history"), t.Say("history_title"), t.last(log)})
	return c.Show(w, r, v, web.Document{Here: "settings", Data: data}, "settings")
}

// sum says in a line what is set in a section.
func (t settingsTexts) sum(m *people.Members, s tenancy.Section, now tenancy.Settings, month string) string {
	form := formOf(now)
	pairs := []any{"month", month, "approvers", t.few(m, slices.Concat(now.Approvers.Users, now.Approvers.Usergroups))}
	for _, x := range s.Settings {
		pairs = append(pairs, x.Name, t.inSum(x, form))
	}
	agents := agent.Named(now.Agents)
	names := web.Joined(agents, func(a agent.Definition) string { return a.ID }, ", ")
	pairs = append(pairs, "names", names, "count", len(agents))
	key := s.Key + "=" + string(now.Approvers.Mode)
	if s.Key == "approval" && now.RulesRev > 0 {
		key += "+rules"
	}
	if !slices.ContainsFunc(s.Settings, func(x tenancy.Setting) bool { return x.Limit && form.Get(x.Name) != "0" }) &&
		t.In("sums", s.Key+"=none") != "" {
		key = s.Key + "=none"
	}
	if t.In("sums", key) != "" {
		return t.In("sums", key, pairs...)
	}
	return t.In("sums", s.Key, pairs...)
}

// inSum returns the value of a setting as a sum has it.
func (t settingsTexts) inSum(x tenancy.Setting, form url.Values) string {
	value := form.Get(x.Name)
	if says := t.In("said", x.Name+"="+value); says != "" {
		return says
	}
	n, _ := strconv.Atoi(value)
	switch {
	case x.Limit && value == "0":
		return t.Say("no_limit")
	case x.Kind == tenancy.KindDollars:
		return "$" + value
	case x.Kind == tenancy.KindWhole && !hourly(x.Name):
		return web.Count(int64(n))
	}
	return strings.Join(t.shown(nil, x.Name, form), ", ")
}

// hours says how many hours are, in days if that comes out even.
func (t settingsTexts) hours(n int) string {
	if n > day && n%day == 0 {
		return t.Say("days", "n", web.Count(int64(n/day)))
	}
	return t.Say("hours", "n", web.Count(int64(n)))
}

// few names some of several people or groups.
func (t settingsTexts) few(m *people.Members, ids []string) string {
	return cmp.Or(t.Few(func(id string) string { return nameOf(m, id) }, ids), t.Say("nobody"))
}

// last says what was changed last.
func (t settingsTexts) last(log []settingsEntry) string {
	if len(log) == 0 || len(log[0].Changes) == 0 {
		return t.Say("history_none")
	}
	e := log[0]
	is := web.Joined(e.Changes[0].Is, func(v changed) string { return v.Text }, ", ")
	return t.Say("last_change", "when", web.Minute(e.At), "who", e.Who, "what", e.Changes[0].Label, "is",
		legible.Clip(legible.Spelled(is), 80))
}

type settingsEntry struct {
	At      time.Time
	Who     string
	Changes []change
}

// latest is how many changes of settings the page shows.
const latest = 10

func (c *Pages) settingsLog(ctx context.Context, v *web.Viewer, m *people.Members, most int) ([]settingsEntry, error) {
	page, err := c.Store.Audit(ctx, v.Tenant, store.AuditFilter{Action: tenancy.AuditSettingsUpdated}, "", most)
	if err != nil {
		return nil, fmt.Errorf("read who changed settings: %w", err)
	}
	t := settingsTexts{v.Texts("settings")}
	var out []settingsEntry
	for _, e := range page.Items {
		out = append(out, settingsEntry{At: e.Timestamp, Who: nameOf(m, e.ActorID),
			Changes: t.changes(m, tenancy.ReadDifferences(e.Details)).All})
	}
	return out, nil
}

// Told returns the changes in details of the log by their fields, as the history says them.
func Told(locale string, m *people.Members, details aggregate.JSON) map[string]auditlog.Changed {
	t, out := settingsTexts{web.TextsOf("settings", locale)}, map[string]auditlog.Changed{}
	for _, d := range tenancy.ReadDifferences(details) {
		for _, x := range t.changes(m, []tenancy.Difference{d}).All {
			out[d.Field] = auditlog.Changed{Name: x.Label, Was: texts(x.Was), Is: texts(x.Is)}
		}
	}
	return out
}

func texts(values []changed) []string {
	return web.Each(values, func(v changed) string { return v.Text })
}

// history shows who changed what, and the file.
func (c *Pages) history(w http.ResponseWriter, r *http.Request, v *web.Viewer, _ tenancy.Settings) error {
	log, err := c.settingsLog(r.Context(), v, c.members(r, v), latest)
	if err != nil {
		return err
	}
	d := web.Document{Title: v.Texts("settings").Say("history_title"), Here: "settings", Data: log}
	return c.Show(w, r, v, d, "settings/history")
}

// reviewData is what saving a form would change, with the form.
type reviewData struct {
	Path    string
	Changes changes
	Form    [][2]string // names and values
}

// lastModel returns the model that the workspace's newest request used, and when. Only the usage has it for certain: a
// deployment may override the model of the settings, and the pages don't see that parameter.
func (c *Pages) lastModel(ctx context.Context, tenant string) (aggregate.Use, error) {
	newest, err := c.Store.Tasks(ctx, tenant, task.Filter{}, "", 1)
	if err != nil || len(newest.Items) == 0 {
		return aggregate.Use{}, err
	}
	a, err := c.Store.Load(ctx, task.RefOf(tenant, newest.Items[0].ID))
	if err != nil {
		return aggregate.Use{}, err
	}
	var last aggregate.Use
	for _, u := range a.Uses {
		if u.Model != "" && u.CreatedAt.After(last.CreatedAt) {
			last = *u
		}
	}
	return last, nil
}

// modelUsed says which model was used last. It says nothing if that can't be read.
func (c *Pages) modelUsed(ctx context.Context, v *web.Viewer) string {
	t := settingsTexts{v.Texts("settings")}
	last, err := c.lastModel(ctx, v.Tenant)
	switch name := legible.OneLine(last.Model); {
	case err != nil:
		slog.WarnContext(ctx, "which model was used is not shown", "err", err)
		return ""
	case last.Model == "":
		return t.Say("model_unused")
	default:
		if last.Provider == aggregate.Demo {
			name = t.Say("model_demo")
		}
		return t.Say("model_used", "model", name, "when", web.Minute(last.CreatedAt))
	}
}

// value returns the label of one of a fixed set of values, or else the value itself.
func (t settingsTexts) value(field, is string) string {
	x, _ := tenancy.SettingNamed(field)
	if i := slices.Index(x.Choices, is); i >= 0 {
		return x.Says.In(t.Locale()).Choices[i]
	}
	return is
}
