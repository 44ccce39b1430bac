package call

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/catalog"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/slack/card"
	"ringi/shared/tool"
	"ringi/shared/words/legible"
)

const keysPath = "/console/keys"

// Of the form of a new key: how many calls a day it may ask for, and for how many days it stands.
const (
	usualQuota = 100
	usualDays  = 90
)

type keysPage struct {
	web.Came
	Views   []web.View
	Rows    []keyRow
	Of      tenancy.Key // that the form changes; without an id it makes one
	Open    bool        // the form is
	Fields  []web.Field
	Tools   web.Chooser
	Wrong   []web.Fault // of the tools
	Problem string      // of no field
	Secret  string      // of the key that was made just now: it is never shown again
}

type keyRow struct {
	tenancy.Key
	Name, Answers, Channel, Tools, State, Badge string
	LastDay                                     string
	Over                                        bool
}

// typedKey is the form as it was typed, and what is wrong with it.
type typedKey struct {
	key          tenancy.Key
	open         bool
	field        string // with a problem
	problem      string
	came         web.Came
	quota, until string
	secret       string
}

// blank is the form of a new key.
func (c *Pages) blank(v *web.Viewer) typedKey {
	return typedKey{key: tenancy.Key{Answers: v.User}, quota: strconv.Itoa(usualQuota),
		until: (c.Today() + usualDays).String()}
}

// lastDay is the last day on which a key works.
func lastDay(k tenancy.Key) string { return tenancy.DayOf(k.ExpiresAt.Add(-1)) }

func (c *Pages) keys(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	t := c.blank(v)
	if id := r.URL.Query().Get("key"); id != "" {
		k, err := c.Store.Key(r.Context(), v.Tenant, id)
		if err != nil {
			return err
		}
		t = typedKey{key: k, open: k.RevokedAt == nil, quota: strconv.Itoa(k.QuotaDay),
			until: lastDay(k)}
	}
	return c.showKeys(w, r, v, t)
}

// showKeys lists the keys above the form as it was typed.
func (c *Pages) showKeys(w http.ResponseWriter, r *http.Request, v *web.Viewer, t typedKey) error {
	words, ctx := v.Texts("keys"), r.Context()
	all, err := c.Store.Keys(ctx, v.Tenant)
	if err != nil {
		return err
	}
	offered, err := c.offered(ctx, v)
	if err != nil {
		return err
	}
	sight, err := c.People.Sight(ctx, v.Team, v.User)
	if err != nil {
		slog.WarnContext(ctx, "a person's channels are not known", "err", err)
	}
	channels := sight.Channels()
	p := keysPage{Views: views(v, keysPath, ""), Of: t.key, Open: t.open || len(all) == 0, Secret: t.secret,
		Came: t.came, Tools: web.Chooser{Name: "tools", Few: true}}
	if p.Problem = t.problem; t.field != "" && t.problem == "" {
		if t.problem = words.In("problems", t.field); t.field == "tools" {
			p.Wrong = []web.Fault{{Text: t.problem}}
		}
	}
	own := ""
	for _, name := range t.key.Tools {
		if !slices.ContainsFunc(offered, func(b web.Box) bool { return b.Value == name }) {
			own += name + "\n"
		}
	}
	for _, b := range offered {
		if b.On = slices.Contains(t.key.Tools, b.Value); b.On {
			p.Tools.Chosen = append(p.Tools.Chosen, b)
		} else {
			p.Tools.Found, p.Tools.Searched = append(p.Tools.Found, b), true
		}
	}
	p.form(c, ctx, v, words, t, own, channels)
	ids := []string{v.User}
	for _, k := range all {
		ids = append(ids, k.Answers, k.RevokedBy)
	}
	called := c.Called(ctx, v, ids...)
	for _, k := range all {
		p.Rows = append(p.Rows, rowOf(k, words, called, channels, c.Now()))
	}
	return c.Show(w, r, v, web.Document{Title: words.Say("title"), Here: "agents", Data: p, Came: p.Came}, "calls/keys")
}

func rowOf(k tenancy.Key, words web.Texts, called func(id string) string, channels map[string]string,
	now time.Time) keyRow {
	row := keyRow{Key: k, Name: card.OneLine(k.Name), Answers: called(k.Answers), Over: k.RevokedAt != nil,
		Channel: cmp.Or(web.ChannelName(channels, k.Channel), k.Channel), State: "stands", Badge: "badge-good",
		Tools: web.Joined(k.Tools, legible.OneLine, words.Say("and")), LastDay: lastDay(k)}
	if why, is := errors.AsType[tenancy.ErrKey](k.May(k.Tools[0], now)); is {
		row.State, row.Badge = string(why.Why), "badge-wait"
	}
	row.State = words.In("states", row.State)
	return row
}

// form fills in the fields of the form, and says at one of them what is wrong with it.
func (p *keysPage) form(c *Pages, ctx context.Context, v *web.Viewer, words web.Texts, t typedKey, own string,
	channels map[string]string) {
	people := []web.Choice{{Value: t.key.Answers, Text: t.key.Answers, Chosen: true}}
	if m, err := c.Roster.Of(ctx, c.Listing, v.Team, c.Now()); err != nil {
		slog.WarnContext(ctx, "nobody can be chosen to answer for a key", "err", err)
		p.Problem = cmp.Or(p.Problem, words.Say("no_slack"))
	} else {
		people = web.MembersToChoose(m, t.key.Answers, "", "")
	}
	places := []web.Choice{}
	if t.key.Channel != "" && web.ChannelName(channels, t.key.Channel) == "" {
		places = append(places, web.Choice{Value: t.key.Channel, Text: t.key.Channel, Chosen: true})
	}
	for id := range channels {
		places = append(places, web.Choice{Value: id, Text: web.ChannelName(channels, id), Chosen: id == t.key.Channel})
	}
	slices.SortFunc(places, web.Choice.Compare)
	until := web.Day("expires_at", words.Say("expires"), t.until)
	p.Fields = []web.Field{{Name: "name", Label: words.Say("name"), Value: t.key.Name, Most: tenancy.MaxKeyName},
		web.Select("answers", words.Say("answers"), "", people), web.Select("channel", words.Say("channel"),
			words.Say("choose"), places),
		{Name: "quota_day", Label: words.Say("quota"), Value: t.quota, Mode: "numeric", Class: "number"}, until,
		{Name: "elsewhere", Label: words.Say("elsewhere"), Value: own, Rows: "3", Class: "mono"}}
	for i := range p.Fields {
		f := &p.Fields[i]
		f.Required = f.Name != "elsewhere"
		if f.Hint = words.In("hints", f.Name); f.Hint != "" {
			f.HintID = f.Name + "-about"
		}
		if f.Name == t.field {
			f.Problems = []web.Fault{{Text: t.problem}}
		}
	}
}

// offered lists the tools that Ringi may call for a key: those that are allowed.
func (c *Pages) offered(ctx context.Context, v *web.Viewer) (out []web.Box, err error) {
	all, err := tool.Builtin()
	if err != nil {
		return nil, err
	}
	rows, err := c.Store.ToolPermissions(ctx, v.Tenant)
	for _, p := range rows {
		spec, own := all.Lookup(p.ToolName)
		switch {
		case !p.Allowed || own && (spec.Sourced || spec.Name == catalog.Decide):
		case own:
			out = append(out, web.Box{Value: p.ToolName, Text: spec.Title(v.Locale), Note: p.ToolName})
		case p.Pin != nil:
			out = append(out, web.Box{Value: p.ToolName, Text: cmp.Or(legible.OneLine(p.Pin.Title), p.ToolName),
				Note: p.ToolName})
		}
	}
	return out, err
}

// saveKey makes a key, changes one, mutes it or revokes it.
func (c *Pages) saveKey(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	ctx, f := r.Context(), r.PostForm
	t, known := typedKey{key: tenancy.Key{TenantID: v.Tenant, Team: v.Team}, open: true}, f.Get("id") != ""
	if known {
		k, err := c.Store.Key(ctx, v.Tenant, f.Get("id"))
		if err != nil {
			return err
		}
		t.key, t.key.Rev = k, web.RevisionOf(f)
	}
	var err error
	switch act := f.Get("act"); {
	case known && act == "revoke":
		if err := c.Store.RevokeKey(ctx, v.Tenant, t.key.ID, v.Actor(), c.Now()); err != nil {
			return err
		}
		return c.Done(w, r, keysPath, "key_revoked")
	case known && (act == "mute" || act == "unmute"):
		t.open, t.key.Muted = false, act == "mute"
	case act == "save":
		err = c.readKey(r, v, &t)
	default:
		return web.ErrBadForm
	}
	switch {
	case err != nil:
	case known:
		_, err = c.Store.SaveKey(ctx, t.key, v.Actor(), c.Now())
	default:
		if t.key, t.secret, err = c.Store.CreateKey(ctx, t.key, v.Actor(), c.Now()); err == nil {
			made := c.blank(v)
			made.secret = t.secret
			return c.showKeys(w, r, v, made)
		}
	}
	return c.keySaved(w, r, v, t, err)
}

// keySaved answers a form: it leads to the list, or shows what is wrong.
func (c *Pages) keySaved(w http.ResponseWriter, r *http.Request, v *web.Viewer, t typedKey, err error) error {
	words := v.Texts("keys")
	wrong, bad := errors.AsType[aggregate.ErrField](err)
	_, revoked := errors.AsType[tenancy.ErrKey](err)
	switch {
	case err == nil:
		return c.Done(w, r, keysPath, "saved")
	case bad:
		t.field, _, _ = strings.Cut(wrong.Field, "[")
		t.came.Wrong = true
	case errors.Is(err, aggregate.ErrConflict) || revoked:
		t.problem, t.came.Conflict = words.Say("conflict"), true
	case errors.Is(err, explain.ErrUnverified):
		t.problem, t.came.Silent = words.Say("no_slack"), true
	default:
		return err
	}
	return c.showKeys(w, r, v, t)
}

// readKey reads the form. Whoever answers for the key must be a full member: aggregate.ErrField.
func (c *Pages) readKey(r *http.Request, v *web.Viewer, t *typedKey) error {
	f := r.PostForm
	field := func(name string) string { return strings.TrimSpace(f.Get(name)) }
	t.quota, t.until = field("quota_day"), field("expires_at")
	k := &t.key
	was := k.Answers
	k.Name, k.Answers, k.Channel = field("name"), field("answers"), field("channel")
	k.Tools = web.Ticked(append(slices.Clone(f["tools"]), web.Lines(f.Get("elsewhere"))...))
	k.QuotaDay, _ = strconv.Atoi(web.Digits(t.quota)) // 0 is refused
	day, err := web.DayOf(t.until)
	if err != nil || day.IsZero() {
		return aggregate.ErrField{Field: "expires_at", Limit: "must be a day"}
	}
	k.ExpiresAt = day.AddDate(0, 0, 1)
	if k.Answers == was {
		return nil
	}
	rules, _, err := c.Refused(r.Context(), v, []string{k.Answers}, nil)
	if err == nil && rules[k.Answers] != "" {
		err = aggregate.ErrField{Field: "answers", Limit: "must be a full member of the workspace"}
	}
	return err
}

// views are the lists beside that of conversations.
func views(v *web.Viewer, here, person string) []web.View {
	words := v.Texts("calls")
	out := []web.View{{Path: "/console/agents", Text: words.Say("talks")},
		{Path: callsPath, Text: words.Say("calls"), Here: here == callsPath && person == ""},
		{Path: callsPath + "?" + url.Values{"person": {web.Myself}}.Encode(), Text: words.Say("mine"),
			Here: here == callsPath && person != ""}}
	if v.Admin {
		out = append(out, web.View{Path: keysPath, Text: words.Say("keys"), Here: here == keysPath})
	}
	return out
}
