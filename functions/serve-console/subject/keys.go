package subject

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/tool"
	"ringi/shared/words/language"
)

const keysPath = "/console/keys"

// Of the form of a new key: how many calls a day it may ask for, and for how many days it stands.
const (
	usualQuota = 100
	usualDays  = 90
)

type keysPage struct {
	Rows           []keyRow
	Of             tenancy.Key // that the form changes; without an id it makes one
	Open           bool        // the form is
	People, Places []web.Choice
	Tools          []web.Box
	Elsewhere      string            // tools that are not Ringi's, in lines
	Quota, Until   string            // as they were typed
	Wrong          map[string]string // by field
	Problem        string            // of no field
	Secret         string            // of the key that was made just now: it is never shown again
	Door           string            // the address below which agents with a key ask
	Claude, Rest   string            // lines to paste
}

// Lines for an agent's shell, where RINGI_URL and RINGI_KEY are set: infra/gate/README.md says why each part is there.
const (
	claudeLines = `claude -p "…" --strict-mcp-config --setting-sources user \
  --mcp-config '{"mcpServers": {"ringi": {"type": "http", "url": "${RINGI_URL}/mcp",
    "headers": {"Authorization": "Bearer ${RINGI_KEY}"}}}}' \
  --allowedTools mcp__ringi --permission-prompt-tool mcp__ringi__permission`
	restLines = `curl -sS "$RINGI_URL/calls?wait=20" -H "Authorization: Bearer $RINGI_KEY" \
  -H 'Content-Type: application/json' -d '{"tool": "Bash", "arguments": {"command": "make deploy"}}'`
)

type keyRow struct {
	tenancy.Key
	Name, Answers, Channel, Tools, State, Badge string
	LastDay                                     string
	Over                                        bool
}

// blank is the form of a new key.
func (c *Pages) blank(v *web.Viewer) keysPage {
	return keysPage{Of: tenancy.Key{Answers: v.User}, Quota: strconv.Itoa(usualQuota),
		Until: (c.Today() + usualDays).String()}
}

// lastDay is the last day on which a key works.
func lastDay(k tenancy.Key) string { return tenancy.DayOf(k.ExpiresAt.Add(-1)) }

func (c *Pages) keys(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	p := c.blank(v)
	if id := r.URL.Query().Get("key"); id != "" {
		k, err := c.Store.Key(r.Context(), v.Tenant, id)
		if err != nil {
			return err
		}
		p = keysPage{Of: k, Open: k.RevokedAt == nil, Quota: strconv.Itoa(k.QuotaDay),
			Until: lastDay(k)}
	}
	return c.showKeys(w, r, v, p)
}

// showKeys lists the keys above the form as it was typed.
func (c *Pages) showKeys(w http.ResponseWriter, r *http.Request, v *web.Viewer, p keysPage) error {
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
		return err
	}
	channels := sight.Channels()
	p.Open, p.Tools, p.Door = p.Open || len(all) == 0, offered, web.Address(r)
	own := slices.DeleteFunc(slices.Clone(p.Of.Tools), func(name string) bool {
		return slices.ContainsFunc(offered, func(b web.Box) bool { return b.Value == name })
	})
	for i := range p.Tools {
		p.Tools[i].On = slices.Contains(p.Of.Tools, p.Tools[i].Value)
	}
	p.Elsewhere = strings.Join(own, "\n")
	if p.Places = placesOf(p.Of.Channel, channels, words); p.Of.ID == "" { // whose it is stays
		m, err := c.Roster.Of(ctx, c.Listing, v.Team, c.Now())
		if err != nil {
			return err
		}
		p.People = web.MembersToChoose(m, p.Of.Answers, "", "")
	}
	c.Naming(ctx, v, func(called func(id string) string) {
		p.Rows = web.Each(all, func(k tenancy.Key) keyRow { return rowOf(k, words, called, channels, c.Now()) })
	})
	return c.Show(w, r, v, web.Document{Title: words.Say("title"), Here: "keys", Data: p,
		Status: web.Answer(p.Problem != "", p.Wrong != nil)}, "calls/keys")
}

func rowOf(k tenancy.Key, words web.Texts, called func(id string) string, channels map[string]string,
	now time.Time) keyRow {
	row := keyRow{Key: k, Name: language.ForeignLine(k.Name), Answers: called(k.Answers), Over: k.RevokedAt != nil,
		Channel: cmp.Or(web.ChannelName(channels, k.Channel), k.Channel), State: "stands", Badge: "badge-good",
		Tools: web.Joined(k.Tools, language.OneLine, words.Say("and")), LastDay: lastDay(k)}
	if why, is := errors.AsType[tenancy.ErrKey](k.Holds(k.Tools[0], now)); is {
		row.State, row.Badge = string(why.Why), "badge-wait"
	}
	row.State = words.In("states", row.State)
	return row
}

// placesOf are the channels among which that of a key is chosen.
func placesOf(chosen string, channels map[string]string, words web.Texts) (all []web.Choice) {
	if chosen != "" && web.ChannelName(channels, chosen) == "" {
		all = append(all, web.Choice{Value: chosen, Text: chosen, Chosen: true})
	}
	for id := range channels {
		all = append(all, web.Choice{Value: id, Text: web.ChannelName(channels, id), Chosen: id == chosen})
	}
	slices.SortFunc(all, web.Choice.Compare)
	return append([]web.Choice{{Text: words.Say("choose")}}, all...)
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
		case !p.Allowed || own && !spec.Keyed():
		case own:
			out = append(out, boxOf(p.ToolName, spec.Title(v.Locale)))
		case p.Pin != nil:
			out = append(out, boxOf(p.ToolName, p.Pin.Title))
		}
	}
	return out, err
}

func boxOf(name, title string) web.Box {
	return web.Box{Value: name, Text: language.OneLine(strings.TrimSpace(title + " (" + name + ")"))}
}

// saveKey makes a key, changes one or revokes it.
func (c *Pages) saveKey(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	ctx, f := r.Context(), r.PostForm
	p, known := keysPage{Of: tenancy.Key{TenantID: v.Tenant, Team: v.Team}, Open: true}, f.Get("id") != ""
	if known {
		k, err := c.Store.Key(ctx, v.Tenant, f.Get("id"))
		if err != nil {
			return err
		}
		p.Of, p.Of.Rev = k, web.RevisionOf(f)
	}
	var err error
	switch act := f.Get("act"); {
	case known && act == "revoke":
		if err := c.Store.RevokeKey(ctx, v.Tenant, p.Of.ID, v.Actor(), c.Now()); err != nil {
			return err
		}
		return c.Done(w, r, keysPath, "key_revoked")
	case act == "save":
		err = c.readKey(r, v, &p)
	default:
		return web.ErrBadForm
	}
	switch {
	case err != nil:
	case known:
		_, err = c.Store.SaveKey(ctx, p.Of, v.Actor(), c.Now())
	default:
		made := c.blank(v)
		made.Claude, made.Rest = claudeLines, restLines
		if _, made.Secret, err = c.Store.CreateKey(ctx, p.Of, v.Actor(), c.Now()); err == nil {
			return c.showKeys(w, r, v, made)
		}
	}
	return c.keySaved(w, r, v, p, err)
}

// keySaved answers a form: it leads to the list, or shows what is wrong.
func (c *Pages) keySaved(w http.ResponseWriter, r *http.Request, v *web.Viewer, p keysPage, err error) error {
	words := v.Texts("keys")
	wrong, bad := errors.AsType[aggregate.Problem](err)
	_, revoked := errors.AsType[tenancy.ErrKey](err)
	switch {
	case err == nil:
		return c.Done(w, r, keysPath, "saved")
	case bad:
		field, _, _ := strings.Cut(wrong.Field, "[")
		p.Wrong = map[string]string{field: words.In("problems", field)}
	case errors.Is(err, aggregate.ErrConflict) || revoked:
		p.Problem = words.Say("conflict")
	default:
		return err
	}
	return c.showKeys(w, r, v, p)
}

// readKey reads the form. Whoever answers for the key must be a full member: aggregate.Problem.
func (c *Pages) readKey(r *http.Request, v *web.Viewer, p *keysPage) error {
	f := r.PostForm
	field := func(name string) string { return strings.TrimSpace(f.Get(name)) }
	p.Quota, p.Until = field("quota_day"), field("expires_at")
	k := &p.Of
	k.Name, k.Channel = field("name"), field("channel")
	k.Tools = web.Ticked(append(slices.Clone(f["tools"]), web.Lines(f.Get("elsewhere"))...))
	k.QuotaDay, _ = strconv.Atoi(web.Digits(p.Quota)) // 0 is refused
	day, err := web.DayOf(p.Until)
	if err != nil || day.IsZero() {
		return aggregate.Problem{Field: "expires_at", Code: "must be a day"}
	}
	k.ExpiresAt = day.AddDate(0, 0, 1)
	if k.ID != "" { // whose it is stays
		return nil
	}
	k.Answers = field("answers")
	rules, _, err := c.Refused(r.Context(), v, []string{k.Answers}, nil)
	if err == nil && rules[k.Answers] != "" {
		err = aggregate.Problem{Field: "answers", Code: "must be a full member of the workspace"}
	}
	return err
}
