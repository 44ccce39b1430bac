package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"ringi/functions/serve-console/story"
	"ringi/functions/serve-console/web"
	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain/errorclass"
	"ringi/shared/explain/refused"
	"ringi/shared/slack/card"
	"ringi/shared/store"
)

// Results opens values that are too large for a row.
type Results interface {
	decide.Results
	Open(ctx context.Context, ref aggregate.Ref, b aggregate.Blob) (json.RawMessage, error)
}

// Links are addresses of messages.
type Links interface {
	Permalink(ctx context.Context, channel, ts string) (string, error)
}

// Bounds of what the page of a task reads beside its rows: results by their number and bytes together, and audit rows. A
// result beyond them is shown by its preview, and whole in its file.
const (
	mostOpened  = 24
	openedBytes = 2 << 20
	openAtOnce  = 8
	mostEntries = 100
)

func (c *Console) storyRoutes() []route {
	return []route{
		{"GET /console/tasks/{id}", anyMember, c.showTask},
		{"POST /console/tasks/{id}/act", anyMember, c.act(c.taskPage())},
		{"GET /console/tasks/{id}/message", anyMember, c.openBeginning(c.taskPage())},
		{"GET /console/tasks/{id}/results/{step}/{file}", anyMember, c.sendResult},
		{"GET /console/tasks/{id}/sent/{use}", anyMember, c.showSent},
		{"GET /console/tasks/{id}/drafts/{version}/{team}", anyMember, c.showOtherDraft},
		{"POST /console/tasks/{id}/drafts/{version}/{team}", anyMember, c.pickDraft},
	}
}

// telling is what the page of a task is drawn from.
type telling struct {
	task     *task.Aggregate
	settings tenancy.Settings
	reader   story.Reader
	surface  refused.Surface
	story    story.Story
}

// refOf is the task that an address names, of the viewer's workspace and no other.
func refOf(r *http.Request, v *viewer) (aggregate.Ref, error) {
	id := r.PathValue("id")
	if !aggregate.ValidID(id) {
		return aggregate.Ref{}, fmt.Errorf("a task's id: %w", aggregate.ErrNotFound)
	}
	return task.RefOf(v.Tenant, id), nil
}

func (c *Console) tell(ctx context.Context, v *viewer, ref aggregate.Ref) (t telling, err error) {
	if t.task, err = c.Store.Load(ctx, ref); err != nil {
		return t, err
	}
	if t.settings, err = c.readable(ctx, v, t.task); err != nil {
		return t, err
	}
	if open, waits := t.task.OpenGate(); waits {
		if t.task, err = c.Results.Opened(ctx, t.task, open.ID); err != nil {
			return t, err
		}
	}
	log, err := c.Store.Audit(ctx, ref.Tenant, store.AuditFilter{Resource: ref.ID}, "", mostEntries)
	if err != nil {
		return t, err
	}
	slices.Reverse(log.Items)
	source := story.Source{Task: t.task, Opened: c.opened(ctx, t.task), Audit: log.Items, More: log.Next != ""}
	c.toldTo(ctx, v, &t, source)
	return t, nil
}

// readable is the tenant's settings, for somebody who may read the subject.
func (c *Console) readable(ctx context.Context, v *viewer, a decide.Subject) (s tenancy.Settings, err error) {
	if err := a.Readable(c.Now()); err != nil {
		return s, err
	}
	return c.readableAt(ctx, v, a.Origin())
}

// readableAt is the tenant's settings, for somebody who may read what was asked for there: an administrator, whoever asked,
// is in its channel or may decide about it. For anybody else it is not there: aggregate.ErrNotFound.
func (c *Console) readableAt(ctx context.Context, v *viewer, o aggregate.Origin) (s tenancy.Settings, err error) {
	if s, err = c.Store.Settings(ctx, v.Tenant); err != nil {
		return s, err
	}
	if v.Admin || o.User == v.User {
		return s, nil
	}
	reach, err := c.People.Reach(ctx, v.Team, v.User, s)
	switch {
	case reach.Sees(o) || reach.Decides(o):
		return s, nil
	case err != nil:
		return s, err
	}
	return s, fmt.Errorf("of a channel that the viewer is not in: %w", aggregate.ErrNotFound)
}

// loaded is the task that an address names, for somebody who may read it.
func (c *Console) loaded(r *http.Request, v *viewer) (*task.Aggregate, error) {
	a, err := c.subject(r, v, c.taskPage())
	if err != nil {
		return nil, err
	}
	return a.(*task.Aggregate), nil // as its ref says
}

// toldTo tells it twice: who is in it is known after the first time.
func (c *Console) toldTo(ctx context.Context, v *viewer, t *telling, s story.Source) {
	words := v.texts("task")
	asked := map[string]bool{}
	var called map[string]string
	person := func(id string) string {
		if id == "" {
			return words.Say("system")
		}
		if called == nil {
			asked[id] = true
			return id
		}
		return cmp.Or(card.OneLine(called[id]), id)
	}
	t.reader = story.Reader{Locale: v.Locale, Person: person, Now: c.Now()}
	place := c.channelOf(ctx, v, t.task.Request.Origin(), words.Say("that_channel"))
	t.surface = refused.Surface{Locale: v.Locale, Marks: pageMarks{person, func(string) string { return place }}}
	t.reader.Tell(s)
	t.surface.WhoDecides(t.settings, t.task.Request.Origin(), t.task.Askers()...)
	ids := make([]string, 0, len(asked))
	for id := range asked {
		ids = append(ids, id)
	}
	called = c.names.Of(ctx, c.Slack, v.Team, c.Now(), ids...)
	t.story = t.reader.Tell(s)
}

// channelOf is what the viewer knows a request's channel by.
func (c *Console) channelOf(ctx context.Context, v *viewer, o aggregate.Origin, unnamed string) string {
	sight, err := c.People.Sight(ctx, v.Team, v.User)
	if err != nil {
		slog.WarnContext(ctx, "a channel stays without its name", "err", err)
	}
	return cmp.Or(channelName(sight.Channels(), o.Channel), unnamed)
}

// opened are results and arguments that do not stand in their rows, those of the newest steps first.
func (c *Console) opened(ctx context.Context, a *task.Aggregate) map[string]story.Value {
	var blobs []aggregate.Blob
	left := openedBytes
	for i := len(a.Steps) - 1; i >= 0; i-- {
		for _, b := range []*aggregate.Blob{&a.Steps[i].Arguments, a.Steps[i].Result} {
			if b != nil && b.S3Key != "" && b.Bytes <= left && len(blobs) < mostOpened {
				blobs, left = append(blobs, *b), left-b.Bytes
			}
		}
	}
	values := make([]story.Value, len(blobs))
	var wg sync.WaitGroup
	places := make(chan struct{}, openAtOnce)
	for i, b := range blobs {
		wg.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			values[i].JSON, values[i].Err = c.Results.Open(ctx, a.Ref(), b)
		})
	}
	wg.Wait()
	out := map[string]story.Value{}
	for i, b := range blobs {
		if values[i].Err != nil {
			slog.WarnContext(ctx, "a result is not shown", "task_id", a.Head.TaskID, "err", values[i].Err)
		}
		out[b.S3Key] = values[i]
	}
	return out
}

// pageMarks are how pages show people, channels and times in sentences: as text, which a template escapes.
type pageMarks struct {
	person  func(id string) string
	channel func(id string) string
}

func (m pageMarks) Person(id string) string  { return m.person(id) }
func (m pageMarks) Group(id string) string   { return m.Text(id, 64) }
func (m pageMarks) Channel(id string) string { return m.channel(id) }
func (m pageMarks) Time(t time.Time) string  { return t.In(zone).Format("2006-01-02 15:04") }

func (m pageMarks) Text(s string, most int) string {
	if runes := []rune(strings.Join(strings.Fields(s), " ")); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return s
}

// storyPage is what the template of a task's page gets.
type storyPage struct {
	story.Story
	Live    string // where it is fetched anew; empty: it does not change by itself
	Path    string
	Who     string // who may decide
	Buttons []actButton
	Prompts bool   // the viewer may read what models were sent
	RunAt   string // the run's page at AWS
	RunHere bool   // it runs on this machine
	Since   since
	Problem string // why what was wanted was not done
	Typed   string // the reason that was typed for it
	wanted  aggregate.Offer
}

func (c *Console) showTask(w http.ResponseWriter, r *http.Request, v *viewer) error {
	ref, err := refOf(r, v)
	if err != nil {
		return err
	}
	t, err := c.tell(r.Context(), v, ref)
	if err != nil {
		return err
	}
	return c.showStory(w, r, v, t, storyPage{}, 0)
}

// showStory writes the page; p has what was tried.
func (c *Console) showStory(w http.ResponseWriter, r *http.Request, v *viewer, t telling, p storyPage, status int) error {
	words := v.texts("task")
	p.Story, p.Path = t.story, "/console/tasks/"+t.story.ID
	if p.Moves {
		p.Live = p.Path
	}
	p.Who = t.surface.WhoDecides(t.settings, t.task.Request.Origin(), t.task.Askers()...)
	p.Buttons = buttonsFor(words, t.task, t.story.Actions, t.story.Gate != nil && t.story.Gate.Whole, t.settings, t.surface, v)
	p.Prompts = mayReadPrompts(v, t.task)
	if p.RunAt = runAt(c.Machine, t.story.ID, t.story.Run); p.RunAt == "" && c.Machine != "" {
		p.RunHere = true
	}
	p.Since = p.since(r, words, t)
	if p.Since.Shown {
		p.Gate, p.Buttons = nil, nil
	}
	title := t.story.Title
	if title == "" {
		title = v.untitled()
	}
	return c.show(w, r, v, document{Title: title, Here: "tasks", Data: p, Status: status}, "story.html")
}

// since says what became of the gate that a page shows, and what waits now.
func (p *storyPage) since(r *http.Request, words web.Texts, t telling) since {
	s := sinceThen(p.Path, words.In("status", t.story.Status), t.reader.Locale)
	if g := t.story.Gate; g != nil {
		s.Now = words.Say("waiting") + ": " + words.In("kind", string(g.Kind))
		if g.Step == nil {
			s.Now += fmt.Sprintf(" v%d", g.Version)
		}
	}
	if err := became(r, t.task.Undecided); err != nil {
		s.Decided = t.surface.Refused(err, t.settings, t.task.Request.Origin())
	}
	s.Shown = instead(r, p.Problem != "", slices.Contains(t.story.Actions, p.wanted), t.story.Gate != nil)
	return s
}

// mayReadPrompts: what models were sent repeats results, unmasked, and the texts of others in the thread.
func mayReadPrompts(v *viewer, a *task.Aggregate) bool {
	return v.Admin || v.User != "" && v.User == a.Head.Requester
}

// runAt is where AWS shows a task's run; empty for one that runs on a laptop.
func runAt(machine, id string, run int) string {
	parts := strings.Split(machine, ":")
	if len(parts) != 7 || parts[4] == localAccount {
		return ""
	}
	region := parts[3]
	parts[5], parts[6] = "execution", fmt.Sprintf("%s:%s-%d", parts[6], id, run)
	host, ok := map[string]string{"aws-cn": "console.amazonaws.cn", "aws-us-gov": "console.amazonaws-us-gov.com"}[parts[1]]
	if !ok {
		host = "console.aws.amazon.com"
	}
	return fmt.Sprintf("https://%s.%s/states/home?region=%s#/v2/executions/details/%s", region, host, region, strings.Join(parts, ":"))
}

// localAccount is the AWS account of the emulator.
const localAccount = "123456789012"

// wholeStep refuses to approve a step's arguments of which the page could not show everything.
func (c *Console) wholeStep(ctx context.Context, v *viewer, a decide.Subject, x wanted) error {
	if x.Kind != task.CardStep {
		return nil
	}
	t, err := c.tell(ctx, v, a.Ref())
	if err == nil && t.story.Gate != nil && t.story.Gate.ID == x.ID && !t.story.Gate.Whole {
		err = errorclass.ErrMalformedForm
	}
	return err
}

// taskRefused shows the page as it is now, why nothing was decided, and what was typed.
func (c *Console) taskRefused(w http.ResponseWriter, r *http.Request, v *viewer, ref aggregate.Ref, x wanted, why error) error {
	t, err := c.tell(r.Context(), v, ref)
	if err != nil {
		return err
	}
	status, typed := notDone(r, v, x, why)
	p := storyPage{Problem: t.surface.Refused(why, t.settings, t.task.Origin(), t.task.Askers()...), Typed: typed, wanted: x.Offer}
	return c.showStory(w, r, v, t, p, status)
}
