package task

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"

	"ringi/functions/serve-console/subject"
	"ringi/functions/serve-console/web"
	"ringi/shared/decide"
	"ringi/shared/decide/edit"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi/inbound"
)

// matterForm is the form that asks for a decision, with what was typed.
type matterForm struct {
	Key                        string // made when the form is opened: sent twice, it makes one request
	Typed                      task.Matter
	Labels                     map[string]string
	Kinds, Currencies, Channel []web.Choice
	Fields                     []web.Field       // the settings' further ones
	Wrong                      map[string]string // by field; "": the whole form
	Accept, FilesHint          string            // which files the form takes
	Before                     string            // of an earlier request that it repeats, why it was rejected
	at                         string            // the channel that was chosen
	Refill                     *refill           // it was given back; nil: it asks anew
}

// refill is a form that is filled in again: by whom it was given back and why, what follows, and where it is sent and
// leads back to. Kept are the files that it has, of which those that are chosen stay.
type refill struct {
	Reason, Means, Save, Path, Back, Hash string
	Kept                                  []keptFile
	KeptLabel, KeptHint                   string
}

type keptFile struct {
	card.KeptFile
	Chosen bool
}

// refillForm returns the form of what was given back, with what was typed in it. stays reports whether a file stays.
func (c *Pages) refillForm(r *http.Request, v *web.Viewer, a *task.Aggregate, hash string, typed task.Matter,
	stays func(id string) bool) matterForm {
	id, back := r.PathValue("gate"), c.page().Path+a.Head.TaskID
	f, _ := card.EditFormOf(nil, a, id, v.Locale, c.Called(r.Context(), v, named(a, id)...),
		func(s string, _ int) string { return card.OneLine(s) })
	out := &refill{Reason: f.Reason, Means: f.Means, Save: f.Save, Path: back + "/edit/" + id, Back: back, Hash: hash}
	out.KeptLabel, out.KeptHint = card.MatterKeptLabels(v.Locale)
	for _, x := range f.Files {
		out.Kept = append(out.Kept, keptFile{x, stays(x.ID)})
	}
	return matterForm{Typed: typed, Refill: out}
}

// refill makes what was typed the next version, or shows it again with what is wrong or why it can't be saved.
func (c *Pages) refill(ctx context.Context, w http.ResponseWriter, r *http.Request, v *web.Viewer,
	a *task.Aggregate) error {
	s, err := c.Settings(r, v)
	if err != nil {
		return err
	}
	id, typed := r.PathValue("gate"), typedIn(r)
	click, of := c.Click(v, a.Ref(), id), edit.Form{Kind: a.AskedBy(id), Hash: typed("hash")}
	kept := r.PostForm[card.MatterKept]
	f := c.refillForm(r, v, a, of.Hash, card.TypedMatter(s, typed), func(id string) bool { return slices.Contains(kept, id) })
	m, wrong := card.ReadMatter(v.Locale, s, typed)
	if f.Wrong = wrong; wrong != nil {
		return c.showMatter(w, r, v, f)
	}
	added, keep, fault := c.sent(r, v)
	files := a.WithFiles(id, kept, added)
	if fault == "" {
		fault = card.MatterFilesFault(v.Locale, files, task.MaxFilesBytes, func(int) bool { return false })
	}
	if fault != "" {
		f.Wrong = map[string]string{card.MatterFiles: fault}
		return c.showMatter(w, r, v, f)
	}
	verdict := c.Maker().Check(ctx, click, of.Asks())
	if verdict.Err == nil && keep != nil {
		if err := keep(ctx, a.Ref()); err != nil {
			verdict.Err = fmt.Errorf("%w: %w", explain.ErrUnavailable, err)
		}
	}
	if verdict.Err == nil {
		e := task.Edit{Content: card.MatterText(s.Locale, m), Matter: &m, Files: files}
		verdict = c.Maker().Decide(ctx, click, of.Save(e))
	}
	page := c.page()
	page.Refused = func(w http.ResponseWriter, r *http.Request, v *web.Viewer, x subject.Tried, why error) error {
		t, err := c.load(r, v)
		if err != nil {
			return err
		}
		_, _ = subject.NotDone(r, v, x, why)
		f.Wrong = map[string]string{"": t.surface.Refused(why, t.settings, t.task.Origin(), t.task.Askers()...)}
		return c.showMatter(w, r, v, f)
	}
	return c.Decided(w, r, v, page, click, subject.Tried{Offer: aggregate.Offer{ID: id}}, verdict, "edit")
}

// typedIn reads what was typed in a form's fields.
func typedIn(r *http.Request) func(field string) string {
	return func(field string) string {
		return strings.ReplaceAll(tenancy.JoinValues(r.PostForm[field]), "\r\n", "\n")
	}
}

// openMatter shows an empty form, or what an earlier request asked for, which the viewer may read.
func (c *Pages) openMatter(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	f := matterForm{Key: aggregate.NewID()}
	if id := r.URL.Query().Get("like"); aggregate.ValidID(id) {
		a, err := c.Store.Load(r.Context(), task.RefOf(v.Tenant, id))
		if err == nil {
			_, err = c.Readable(r.Context(), v, a)
		}
		if err != nil {
			return err
		}
		if m := a.Matter(); m != nil {
			f.Typed, f.at, f.Before = *m, card.MatterPlace(a), card.MatterBefore(v.Locale, a)
		}
	}
	return c.showMatter(w, r, v, f)
}

func (c *Pages) showMatter(w http.ResponseWriter, r *http.Request, v *web.Viewer, f matterForm) error {
	s, err := c.Settings(r, v)
	if err != nil {
		return err
	}
	words, codes := v.Texts("matter"), map[string]string(nil)
	f.Labels, codes = card.MatterLabels(v.Locale)
	names := s.MatterNames()
	f.Kinds = []web.Choice{unchosen} // it decides the route, so nothing is chosen for anybody
	s.Locale = v.Locale              // in which the viewer reads what nobody named
	for i, text := range s.MatterNames() {
		f.Kinds = append(f.Kinds, web.Choice{Value: names[i], Text: text, Chosen: names[i] == f.Typed.Kind})
	}
	for i, x := range s.MatterFields {
		f.Fields = append(f.Fields, further(v.Locale, x, i, &f))
	}
	for _, code := range s.Currencies() {
		f.Currencies = append(f.Currencies, web.Choice{Value: code, Text: cmp.Or(codes[code], code), Chosen: code == f.Typed.Currency})
	}
	if is := f.Typed.Currency; is != "" && !slices.Contains(s.Currencies(), is) { // no other is chosen in its place
		f.Currencies = append([]web.Choice{unchosen}, f.Currencies...)
	}
	f.Accept = "." + strings.Join(task.FileTypes, ",.")
	f.FilesHint = card.MatterFilesHint(v.Locale, mostSent)
	if f.Refill != nil { // its place stays
		d := web.Document{Title: words.Say("refill"), Here: "tasks", Came: web.Came{Wrong: len(f.Wrong) > 0}, Data: f}
		return c.Show(w, r, v, d, "matter")
	}
	f.Channel = []web.Choice{{Text: words.Say("direct")}}
	sight, err := c.People.Sight(r.Context(), v.Team, v.User)
	if err != nil {
		slog.WarnContext(r.Context(), "no channel is offered", "err", err)
	}
	channels := sight.Channels()
	for _, id := range slices.SortedFunc(maps.Keys(channels), func(a, b string) int {
		return cmp.Or(cmp.Compare(channels[a], channels[b]), cmp.Compare(a, b))
	}) {
		f.Channel = append(f.Channel, web.Choice{Value: id, Text: web.ChannelName(channels, id), Chosen: id == f.at})
	}
	d := web.Document{Title: words.Say("title"), Here: "tasks", Came: web.Came{Wrong: len(f.Wrong) > 0}, Data: f}
	return c.Show(w, r, v, d, "matter")
}

// unchosen is the first choice of a list in which something must be chosen.
var unchosen = web.Choice{Text: "—"}

// further is the input of a form's further field. Its id is no name: a list of ids stands where blanks may not be.
func further(locale string, x tenancy.MatterField, i int, f *matterForm) web.Field {
	in := web.Field{Name: x.Key(), ID: fmt.Sprint("field-", i), Label: x.Name, Required: true, Value: f.Typed.At(x.Name)}
	if fault := f.Wrong[x.Key()]; fault != "" {
		in.Problems = []web.Fault{{Text: fault}}
	}
	if x.Number {
		in.Class, in.Mode = "number", "decimal"
		return in
	}
	chosen := []string{in.Value}
	if in.Many = x.Several; in.Many {
		chosen = task.MatterValue{Value: in.Value}.Each()
		in.Hint, in.HintID = card.MatterSeveral(locale), "a-"+in.ID
	} else {
		in.Choices = []web.Choice{unchosen}
	}
	for _, v := range x.Values {
		in.Choices = append(in.Choices, web.Choice{Value: v, Text: v, Chosen: slices.Contains(chosen, v)})
	}
	return in
}

// askMatter makes a request of the form, and leads to its page. If none was made, the form is shown with what is wrong.
func (c *Pages) askMatter(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	s, err := c.Settings(r, v)
	if err != nil {
		return err
	}
	typed := typedIn(r)
	f := matterForm{Key: typed("key"), at: typed("channel"), Typed: card.TypedMatter(s, typed)}
	if !aggregate.ValidID(f.Key) {
		return explain.ErrMalformedForm
	}
	m, wrong := card.ReadMatter(v.Locale, s, typed)
	sight, err := c.People.Sight(r.Context(), v.Team, v.User)
	if wrong == nil && f.at != "" && (err != nil || !sight.In(f.at)) {
		wrong = map[string]string{"channel": card.NoteUnreachable.Told(v.Locale, "")}
	}
	if f.Wrong = wrong; wrong != nil {
		return c.showMatter(w, r, v, f)
	}
	text := card.MatterText(s.Locale, m)
	files, keep, fault := c.sent(r, v)
	if fault != "" {
		f.Wrong = map[string]string{card.MatterFiles: fault}
		return c.showMatter(w, r, v, f)
	}
	once := text
	for _, x := range files {
		once += "\n" + x.ID
	}
	out := c.Requests.Make(r.Context(), decide.Wanted{Team: v.Team, User: v.User, Text: text, Channel: f.at,
		Once: strings.Join([]string{"console", v.User, f.Key, f.at, aggregate.HashOf(once)}, " "),
		Like: task.Request{Matter: &m, Files: files}, Files: keep}, s.Locale)
	if out.TS == "" {
		field := map[card.AskNote]string{card.NoteUnreachable: "channel"}[out.Note]
		f.Wrong = map[string]string{field: out.Note.Told(v.Locale, "")}
		return c.showMatter(w, r, v, f)
	}
	id, err := task.ID(v.Team, out.Channel, out.TS)
	if err != nil {
		return err
	}
	return c.Done(w, r, tasksPath+"/"+id, "matter_asked")
}

// mostSent is how many bytes the form's files may have together: a body of a request has at most web.MaxFile.
const mostSent = web.MaxFile - 256<<10

// sent returns the files of the form, what keeps them for a request, and what is wrong with them.
func (c *Pages) sent(r *http.Request, v *web.Viewer) (files []aggregate.SharedFile,
	keep func(ctx context.Context, ref aggregate.Ref) error, fault string) {
	var kept []web.Upload
	all, err := web.Uploads(r)
	all = slices.DeleteFunc(all, func(x web.Upload) bool { return x.Name == "" })
	for _, x := range all {
		f := task.OwnFile(inbound.FileName(x.Name), x.File)
		if !slices.ContainsFunc(files, func(o aggregate.SharedFile) bool { return o.ID == f.ID }) {
			files, kept = append(files, f), append(kept, x)
		}
	}
	wrong := func(i int) bool { return task.KindOf(kept[i].File) == "" }
	if err != nil {
		return nil, nil, card.NoteFailed.Told(v.Locale, "")
	}
	if fault = card.MatterFilesFault(v.Locale, files, mostSent, wrong); fault != "" || len(all) == 0 {
		return nil, nil, fault
	}
	return files, func(ctx context.Context, ref aggregate.Ref) error {
		for _, x := range kept {
			if err := c.Results.KeepFile(ctx, ref, x.File); err != nil {
				return err
			}
		}
		return nil
	}, ""
}
