package settings

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"ringi/functions/serve-console/web"
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
	Rows     []web.Link
}

// overview lists the sections.
func (c *Pages) overview(w http.ResponseWriter, r *http.Request, v *web.Viewer, now tenancy.Settings) error {
	t := v.Texts("settings")
	data := overviewData{Unchosen: !now.SelfApprovalChosen, Contest: c.contestNote(r.Context(), v, now)}
	for _, s := range tenancy.Sections {
		data.Rows = append(data.Rows, web.Link{Path: sectionPath(s.Key), Text: s.Title.In(v.Locale)})
	}
	data.Rows = append(data.Rows, web.Link{Path: sectionPath("admins"), Text: t.Say("admins")},
		web.Link{Path: sectionPath("history"), Text: t.Say("history_title")})
	return c.Show(w, r, v, web.Document{Here: "settings", Data: data}, "settings")
}

// hours says how many hours are, in days if that comes out even.
func (t settingsTexts) hours(n int) string {
	if n > day && n%day == 0 {
		return t.Say("days", "n", web.Count(int64(n/day)))
	}
	return t.Say("hours", "n", web.Count(int64(n)))
}

type settingsEntry struct {
	At      time.Time
	Who     string
	Changes []change
}

// latest is how many changes of settings the page shows.
const latest = 10

func (c *Pages) settingsLog(ctx context.Context, v *web.Viewer, m *people.Members) ([]settingsEntry, error) {
	page, err := c.Store.Audit(ctx, v.Tenant, store.AuditFilter{Action: tenancy.AuditSettingsUpdated}, "", latest)
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
	log, err := c.settingsLog(r.Context(), v, c.members(r, v))
	if err != nil {
		return err
	}
	d := web.Document{Title: v.Texts("settings").Say("history_title"), Here: "settings", Data: log}
	return c.Show(w, r, v, d, "settings/history")
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
