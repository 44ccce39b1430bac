package subject

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"path"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/explain"
	"ringi/shared/store/large"
	"ringi/shared/words/language"
)

const (
	// mostListed is how many files a page lists.
	mostListed = 5000
	// mostStraight is how many bytes are sent in an answer; the gateway takes few more. Larger files go by a link to the
	// bucket.
	mostStraight = 1 << 20
)

// filesPage lists the files of a conversation.
type filesPage struct {
	Back, Title string
	Gone        bool
	Files       int
	Bytes       int64
	Rows        []fileOf
}

type fileOf struct {
	Name, Path, Target string // Path: an address; Target: where a link leads
	Executable         bool
	Bytes              int64
}

// opened is the current version of a conversation's files that the viewer may see.
type openedFiles struct {
	a    *conversation.Aggregate
	of   aggregate.Ref
	tree *files.Tree // nil: it is deleted
	path string      // address of the list of files
}

// openFiles reads a conversation's files, if the viewer may see the conversation.
func (c *Pages) openFiles(r *http.Request, v *web.Viewer) (o openedFiles, err error) {
	a, err := c.Of(c.talkPage())(r, v)
	if err != nil {
		return o, err
	}
	o.a = a.(*conversation.Aggregate)
	o.of = o.a.Ref()
	o.path = "/console/sessions/" + o.of.ID + "/files"
	if c.Files == nil {
		return o, fmt.Errorf("files: %w", aggregate.ErrNotFound)
	}
	o.tree, err = c.Files.Get(r.Context(), o.of, o.a.Conversation.WorkspaceVersion)
	if errors.Is(err, large.ErrGone) {
		return o, nil
	}
	return o, err
}

func (c *Pages) showFiles(w http.ResponseWriter, r *http.Request, v *web.Viewer, o openedFiles) error {
	s := o.a.Conversation
	p := filesPage{Back: "/console/sessions/" + s.ID, Title: cmp.Or(language.ForeignLine(s.Title), v.Untitled()),
		Gone: o.tree == nil}
	if o.tree == nil {
		o.tree = &files.Tree{}
	}
	all, _ := o.tree.Find("") // which is no glob
	p.Bytes = o.tree.Bytes()
	for i, f := range all {
		row := fileOf{Name: language.Spelled(f.Path), Target: language.Spelled(f.Link), Bytes: int64(f.Size()),
			Executable: f.Mode == files.ModeExecutable}
		if f.Link == "" {
			p.Files++
			row.Path = web.At(o.path+"/raw", map[string]string{"path": f.Path})
		}
		if i < mostListed {
			p.Rows = append(p.Rows, row)
		}
	}
	return c.Show(w, r, v, web.Document{Title: v.Texts("conversation").Say("title"), Here: "agents", Data: p},
		"agents/files")
}

// showRaw sends the file that an address names byte by byte: a text for the browser to show, anything else to save.
func (c *Pages) showRaw(w http.ResponseWriter, r *http.Request, _ *web.Viewer, o openedFiles) error {
	if o.tree == nil {
		return fmt.Errorf("a file: %w", web.ErrExpired)
	}
	name := r.URL.Query().Get("path")
	content, there := o.tree.Content(name)
	if !there {
		return fmt.Errorf("a file: %w", aggregate.ErrNotFound)
	}
	switch name = path.Base(name); {
	case len(content) > mostStraight: // whoever has the link can fetch the file for a minute: it is made after all checks
		link, err := c.Files.Link(r.Context(), o.of, name, content)
		if err != nil {
			return err
		}
		w.Header().Set("Referrer-Policy", "no-referrer")
		http.Redirect(w, r, link, http.StatusSeeOther)
		return nil
	case files.IsText(content):
		return web.Serve(w, "text/plain; charset=utf-8", "inline", content)
	}
	return web.Serve(w, "application/octet-stream", large.Attachment(name), content)
}

// source is where a conversation's files came from.
type source struct {
	Short, URL      string
	State           string // empty if the files are there
	Left, LeftCount string // what was left out of them
}

func sourceOf(words web.Texts, s conversation.Source, locale string) *source {
	out := &source{Short: language.OneLine(s.Short()), URL: s.URL()}
	switch s.State {
	case conversation.SourceWanted:
		out.State = words.Say("source_wanted")
	case conversation.SourceFailed:
		out.State = conversation.SourceWords(locale, s.Error)
	}
	if n := len(s.Left) + s.More; n > 0 {
		out.Left, out.LeftCount = s.LeftWords(locale), words.Say("source_left", "n", n)
	}
	return out
}

// call fills in what a call of a tool would do, with its arguments, for which a pull request has words of its own.
func (t *loadedTalk) call(x *conversation.Action, p conversation.Payload, out *actionRow, locale string) {
	switch {
	case p.Push == nil:
		by := web.Reader{Locale: locale, Person: t.person}
		does := by.Effect(explain.EffectOf(locale, explain.CalledStep(p), nil, nil))
		out.Effect, out.ToolKind = &does, explain.CallKind(p.Access, locale)
		out.Exactly = web.Exactly(p.Arguments)
	case x.Status == conversation.ActionPending:
		out.Readers = t.surface.PushReaders(x)
	}
}

// pullRequest is what a page says of an action that opens a pull request. Title and Body are the agent's.
type pullRequest struct {
	explain.Pull
	URL     string // of the pull request, or of a branch without one
	There   string // what the address is
	Looking string // somebody had it looked, or why the last look came to nothing
}

func pullOf(x *conversation.Action, p conversation.Payload, words web.Texts, locale string) *pullRequest {
	if x.Pushed == nil {
		return nil
	}
	is, _ := explain.PullOf(x, p, locale)
	is.Title, is.Body = language.Spelled(is.Title), language.Spelled(is.Body)
	out := &pullRequest{Pull: is, URL: x.Pushed.URL()}
	switch {
	case x.Pushed.Number > 0:
		out.There = words.Say("pull_there", "n", x.Pushed.Number)
	case out.URL != "":
		out.There = words.Say("branch_there")
	}
	switch {
	case x.Pushed.Look != nil:
		out.Looking = words.Say("looking")
	case x.Pushed.Unseen != "":
		out.Looking = explain.ActionReason(locale, x.Pushed.Unseen, "")
	}
	return out
}
