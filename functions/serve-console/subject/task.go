// Package subject has the pages of what people decide on: the home, with what waits for them; requests, each with
// its versions, decisions, executions, costs and offered acts, and the contests that draft policies; conversations with
// agents, with their actions and files; calls of outside agents, and the keys by which they ask. Texts by people or
// models are shown as text, never as markup.
package subject

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"golang.org/x/sync/errgroup"

	"ringi/functions/serve-console/web"
	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/store"
	"ringi/shared/store/large"
)

// Limits on what a task's page reads besides its rows: the number and total bytes of results, and audit rows. Larger
// results are shown as a preview and can be downloaded.
const (
	mostOpened  = 24
	openedBytes = 2 << 20
	openAtOnce  = 8
)

// Pages serves the lists and pages of all that people decide on.
type Pages struct {
	*web.Site
	Contests      *store.ContestStore
	Conversations *store.ConversationStore
	Calls         store.CallStore
	Outbound      []string // private addresses (host:port) where agents may run, besides all public ones
	Files         Files    // nil: no files are shown
}

// Routes returns the home, and the lists and pages of requests, contests, conversations, calls and keys.
func (c *Pages) Routes() []web.Route {
	return append(c.agentRoutes(),
		web.ForMembers("GET /console/tasks", c.tasks),
		web.ForMembers("GET /console", c.home), web.ForMembers("GET /console/{$}", c.home),
		web.ForMembers("GET /console/tasks/{id}", c.taskPage().Read),
		web.ForMembers("POST /console/tasks/{id}/act", c.Act(c.taskPage())),
		web.ForMembers("GET /console/tasks/{id}/message", c.OpenBeginning(c.taskPage())),
		web.ForMembers("GET /console/tasks/{id}/results/{step}/{file}", web.Of(c.taskOf, c.sendResult)),
		web.ForMembers("GET /console/tasks/{id}/files/{sum}", web.Of(c.taskOf, c.sendFile)),
		web.ForMembers("GET /console/tasks/{id}/sent", web.Of(c.taskOf, c.sendSent)),
		web.ForMembers("GET /console/tasks/{id}/drafts/{version}/{team}", web.Of(c.loadTask, c.showOtherDraft)),
		web.ForMembers("POST /console/tasks/{id}/drafts/{version}/{team}", web.Of(c.taskOf, c.pickDraft)),
		web.ForAdministrators("GET "+contestsPath, c.contests),
		web.ForMembers("GET "+contestsPath+"/{id}", web.Of(c.contestOf, c.showContest)),
		web.ForAdministrators("GET "+contestsPath+"/{id}/sent/{team}", web.Of(c.contestOf, c.sendContest)),
	)
}

// taskPage describes a task's page, on which people decide.
func (c *Pages) taskPage() web.SubjectPage {
	return web.SubjectPage{Path: "/console/tasks/", RefOf: web.RefOf(aggregate.ValidID, task.RefOf),
		Ends: task.ActCancelTask, Whole: c.wholeStep, Show: c.showTask}
}

// loadedTask holds what a request's page is rendered from.
type loadedTask struct {
	web.Loaded
	task    *task.Aggregate
	reader  Reader
	surface explain.Surface
	history History
	sheet   web.Sheet // its log
}

// loadTask loads the task in the address if the viewer may read it.
func (c *Pages) loadTask(r *http.Request, v *web.Viewer) (t loadedTask, err error) {
	ctx := r.Context()
	if t.Loaded, err = c.Load(r, v, c.taskPage()); err != nil {
		return t, err
	}
	t.task = t.Of.(*task.Aggregate)
	if open, waits := t.task.OpenGate(); waits {
		if t.task, err = c.Results.Opened(ctx, t.task, open.ID); err != nil {
			return t, err
		}
	}
	t.Of = t.task
	source := Source{Task: t.task}
	if source.Opened, err = c.opened(ctx, t.task); err != nil {
		return t, err
	}
	words := v.Texts("task")
	channel := c.ChannelsOf(ctx, v, t.task.Request.Origin(), words.Say("that_channel"))
	t.reader = Reader{web.Reader{Locale: v.Locale, Channel: channel(t.task.Request.Channel), ChannelOf: channel},
		c.Now()}
	c.Naming(ctx, v, func(called func(id string) string) {
		t.reader.Person = func(id string) string { return cmp.Or(called(id), words.Say("system")) }
		t.surface = web.SurfaceOf(v, t.reader.Person, channel)
		t.surface.WhoDecides(t.Settings, t.task.Request.Origin(), t.task.Askers()...)
		t.history = t.reader.History(source)
		t.sheet.Say(t.Loaded, v.Locale, t.reader.Person, func(string) string { return "" })
	})
	return t, nil
}

// taskOf returns the task in the address if the viewer may read it.
func (c *Pages) taskOf(r *http.Request, v *web.Viewer) (*task.Aggregate, error) {
	a, err := c.Of(c.taskPage())(r, v)
	if err != nil {
		return nil, err
	}
	return a.(*task.Aggregate), nil // as its ref says
}

// opened reads the results and arguments stored in the bucket, starting with the newest steps.
func (c *Pages) opened(ctx context.Context, a *task.Aggregate) (map[string]Value, error) {
	var blobs []aggregate.Blob
	left := openedBytes
	for i := len(a.Steps) - 1; i >= 0; i-- {
		for _, b := range []*aggregate.Blob{&a.Steps[i].Arguments, a.Steps[i].Result} {
			if b != nil && b.S3Key != "" && b.Bytes <= left && len(blobs) < mostOpened {
				blobs, left = append(blobs, *b), left-b.Bytes
			}
		}
	}
	values := make([]Value, len(blobs))
	var all errgroup.Group
	all.SetLimit(openAtOnce)
	for i, b := range blobs {
		all.Go(func() (err error) {
			values[i].JSON, err = c.Results.Open(ctx, a.Ref(), b)
			if values[i].Expired = errors.Is(err, large.ErrExpired); values[i].Expired {
				return nil
			}
			return err
		})
	}
	err := all.Wait()
	out := map[string]Value{}
	for i, b := range blobs {
		out[b.S3Key] = values[i]
	}
	return out, err
}

type taskPage struct {
	web.Sheet
	History
	Show    string // names a part that is shown though the page has no room for it
	Channel string
	Prompts bool        // the viewer may read what models were sent
	Refill  bool        // a form was given back to the viewer, who fills it in again in Slack
	Draft   *otherTeams // that the address names
}

func (c *Pages) showTask(w http.ResponseWriter, r *http.Request, v *web.Viewer, not web.Ask) error {
	t, err := c.loadTask(r, v)
	if err != nil {
		return err
	}
	t.sheet.Ask = not
	return c.showPage(w, r, v, t, nil)
}

func (c *Pages) showPage(w http.ResponseWriter, r *http.Request, v *web.Viewer, t loadedTask, draft *otherTeams) error {
	words := v.Texts("task")
	p := taskPage{Sheet: t.sheet, History: t.history, Draft: draft, Show: r.URL.Query().Get("show")}
	p.ID, p.Path, p.Route, p.Channel = t.task.Head.TaskID, tasksPath+"/"+t.task.Head.TaskID, p.Along, t.reader.Channel
	p.lighten(p.Show)
	if p.Moves {
		p.Live = web.At(p.Path, map[string]string{"show": p.Show})
	}
	ask := c.asking(v, t)
	if g := p.Gate; g != nil {
		if ask.Now = words.Say("waiting") + ": " + words.In("kind", g.Kind); g.Step == nil {
			ask.Now = words.Say("waiting") + ": " + p.Called(words, g.Kind, g.Version)
		}
		if p.Until = g.DecideBy; g.Kind == task.CardPrompt {
			p.About = v.Texts("home").Say("unplanned")
		}
	}
	if err := c.Asks(r, ask, &p.Ask); err != nil {
		return err
	}
	p.Prompts = mayReadPrompts(v, t.task)
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: v.User, Team: v.Team}
	row := t.task.Returned()
	p.Refill = row != nil && t.task.AsksFor(row.ID, by, t.Settings.Policy(v.Team)) == nil
	if o := p.Outcome(); o != nil && o.Decision != "" && p.Route != nil {
		p.Route.Number = "" // the result has it
	}
	if p.Since.Shown {
		p.Gate, p.Route = nil, nil
	}
	here := "tasks"
	if p.Mine {
		here = "home" // where one came from
	}
	d := web.Document{Title: cmp.Or(t.history.Title, v.Untitled()),
		Version: explain.LaterVersion(t.task.Head.Glance.Version), Here: here, Data: &p, Status: p.Code,
		After: p.After}
	if draft != nil {
		d.Up, d.Version, d.Here = &web.View{Path: p.Path, Text: d.Title}, 0, "tasks"
		p.Mine, p.Heading = draft.No == "", words.Say("pick")
		d.Title = words.Say("draft_of", "team", draft.Team, "title", d.Title)
	}
	return c.Show(w, r, v, d, "task")
}

// asking is what the page asks about.
func (c *Pages) asking(v *web.Viewer, t loadedTask) web.Asking {
	gate := t.history.Gate
	return web.Asking{Loaded: t.Loaded, Words: v.Texts("task"), Surface: t.surface, Viewer: v, On: c.taskPage(),
		Offers: t.task.Offers(), Whole: gate != nil && gate.Whole, Waits: gate != nil,
		Stands: v.Texts("tasks").In("statuses", t.history.Status)}
}

// mayReadPrompts: prompts repeat results unmasked, and the texts of other people in the thread.
func mayReadPrompts(v *web.Viewer, a *task.Aggregate) bool {
	return v.Admin || v.User != "" && v.User == a.Head.Requester
}

// wholeStep refuses to approve what a step does, or steps do, if the page could not show all of it.
func (c *Pages) wholeStep(r *http.Request, v *web.Viewer, _ decide.Subject, x web.Tried) error {
	if x.Kind == task.CardPrompt {
		return nil
	}
	t, err := c.loadTask(r, v)
	if err == nil && t.history.Gate != nil && t.history.Gate.ID == x.ID && !t.history.Gate.Whole {
		err = explain.ErrMalformedForm
	}
	return err
}

// sendSent sends what models were sent for a request. Only the requester and administrators may see it.
func (c *Pages) sendSent(w http.ResponseWriter, r *http.Request, v *web.Viewer, a *task.Aggregate) error {
	if !mayReadPrompts(v, a) {
		return aggregate.ErrNotAllowed{Rule: aggregate.RuleNotParty}
	}
	return c.SendSent(w, r, a.Ref(), a.Uses)
}

// mostServed is the largest file that the console serves itself, in bytes: Lambda limits answers to 6 MB, in which a
// third more stands for bytes that are no text. A larger one is fetched from the bucket by a link of a minute.
const mostServed = 4 << 20

// shielded is the policy of a file that browsers show by themselves: it runs nothing, loads nothing, and has no origin.
const shielded = "sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"

// sendFile sends a file of the request, to be saved or, if it is asked for and browsers can, to be looked at.
func (c *Pages) sendFile(w http.ResponseWriter, r *http.Request, _ *web.Viewer, a *task.Aggregate) error {
	f := a.AttachedAs(r.PathValue("sum"))
	if f == nil {
		return aggregate.ErrNotFound
	}
	if f.Bytes > mostServed {
		address, err := c.Results.AttachedAddress(r.Context(), a.Ref(), f.SHA256, f.SavedAs())
		if err != nil {
			return err
		}
		http.Redirect(w, r, address, http.StatusSeeOther)
		return nil
	}
	body, err := c.Results.Attached(r.Context(), a.Ref(), f.SHA256)
	if errors.Is(err, large.ErrExpired) {
		return fmt.Errorf("%w: %w: %w", web.ErrExpired, aggregate.ErrNotFound, err)
	}
	if err != nil {
		return err
	}
	kept := large.Attachment(f.SavedAs())
	if r.URL.Query().Has("view") && f.Kind.Previewed() {
		kept = "inline" + strings.TrimPrefix(kept, "attachment")
	}
	w.Header().Set("Content-Security-Policy", shielded)
	return web.Serve(w, f.Kind.MediaType(), kept, body)
}
