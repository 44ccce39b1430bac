package conversation

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/files"
	"ringi/shared/runtime/isolated"
	"ringi/shared/words/legible"
)

// Limits of the attachments of a conversation. A file's own limit is isolated.MaxFile; their texts count too.
const (
	MaxAttached      = 20
	MaxAttachedBytes = files.MaxBytes
)

// Attached is a file of Slack's that lies beside the conversation's files and never changes.
type Attached struct {
	FileID string `json:"file_id"`        // Slack's
	Path   string `json:"path"`           // below AttachedFolder
	Type   string `json:"type,omitempty"` // MIME type
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`

	// Text is the path of its text below AttachedFolder: its own, if it is text in UTF-8, or of a second file that was
	// made of it. It is empty for images and for what can't be read; then Why says why.
	Text     string                `json:"text,omitempty"`
	Form     isolated.FileForm     `json:"form,omitempty"`
	Encoding string                `json:"encoding,omitempty"`
	Remarks  []isolated.FileRemark `json:"remarks,omitempty"`
	Why      string                `json:"why,omitempty"`
}

// Image reports whether the file is shown to the model as an image.
func (x Attached) Image() bool { return strings.HasPrefix(x.Type, "image/") }

// Laid are the attachments of a conversation as one version, while it is added to.
type Laid struct {
	Tree *files.Tree
	List []Attached
}

// ByID returns the file with this id of Slack's, or nil.
func (l *Laid) ByID(id string) *Attached {
	i := slices.IndexFunc(l.List, func(x Attached) bool { return x.FileID == id })
	if i < 0 {
		return nil
	}
	return &l.List[i]
}

// Refuses returns why a file of this size can't be added, or "".
func (l *Laid) Refuses(bytes int64) (why string) {
	switch {
	case bytes > isolated.MaxFile:
		return fmt.Sprintf("it has %d bytes, the limit is %d", bytes, isolated.MaxFile)
	case len(l.List) >= MaxAttached:
		return fmt.Sprintf("a conversation holds %d attachments, and has them", MaxAttached)
	case l.Tree.Bytes()+bytes > MaxAttachedBytes:
		return fmt.Sprintf("a conversation's attachments have at most %d bytes together", MaxAttachedBytes)
	}
	return ""
}

// Add adds a file under its name, or one like it that is free, and returns its entry. It returns why it can't be added.
func (l *Laid) Add(x Attached, name string, content []byte) (added *Attached, why string) {
	if why := l.Refuses(int64(len(content))); why != "" {
		return nil, why
	}
	x.Path, x.Bytes, x.SHA256 = l.free(name, ""), int64(len(content)), files.Sum(content)
	if files.IsText(content) {
		x.Text, x.Form, x.Encoding = x.Path, isolated.PlainText, "UTF-8"
	}
	if why := l.put(x.Path, content); why != "" {
		return nil, why
	}
	l.List = append(l.List, x)
	return &l.List[len(l.List)-1], ""
}

// Read adds what was read of a file: its text as a file beside it, or why there is none.
func (l *Laid) Read(x *Attached, t isolated.FileText) {
	x.Form, x.Encoding, x.Remarks, x.Why = t.Form, t.Encoding, t.Remarks, string(t.Why)
	if t.Why != "" {
		return
	}
	p := l.free(x.Path, ".txt")
	if x.Why = l.put(p, []byte(t.Text)); x.Why == "" {
		x.Text = p
	}
}

func (l *Laid) put(p string, content []byte) (why string) {
	next, err := l.Tree.Apply([]files.File{{Path: p, Content: string(content)}})
	if err != nil {
		return fmt.Sprintf("a conversation's attachments have at most %d bytes together", MaxAttachedBytes)
	}
	l.Tree = next
	return ""
}

// maxFileName is how many bytes of a file's name are kept, so that a number and the ending of its text fit behind it.
const maxFileName = 200

// free returns a path for a file: its name as a name that every system holds, with a number if another file has a name
// that people could take for it.
func (l *Laid) free(name, ending string) string {
	name = strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' || r == ':' || files.Illegible(r) {
			return '_'
		}
		return r
	}, strings.ToValidUTF8(name, "_"))
	if name = strings.TrimSpace(name); strings.Trim(name, ". ") == "" {
		name = "file"
	}
	last := path.Ext(name)
	if len(last) > maxFileName/4 {
		last = ""
	}
	stem := legible.FirstBytes(strings.TrimSuffix(name, last), maxFileName-len(last))
	taken := map[string]bool{}
	for _, p := range l.Tree.Paths() {
		taken[legible.Folded(p)] = true
	}
	for n := 1; ; n++ {
		p := stem + last + ending
		if n > 1 {
			p = fmt.Sprintf("%s (%d)%s%s", stem, n, last, ending)
		}
		if !taken[legible.Folded(p)] {
			return p
		}
	}
}

// Limits of the files that an action wrote and people send to Slack.
const (
	MaxSent      = 10      // files
	MaxSentBytes = 1 << 20 // of one
)

// Sending is the files of an action on their way into the conversation's thread. A file's id in Slack is saved before
// Slack is told to share the file, which it does once for each id.
type Sending struct {
	By    string           `json:"by"` // Slack user id
	At    time.Time        `json:"at"`
	State SendingState     `json:"state"`
	Files []SentFile       `json:"files,omitempty"`
	Ended *time.Time       `json:"ended_at,omitempty"`
	Error aggregate.Reason `json:"error_code,omitempty"`
}

// SentFile is a file and its id in Slack.
type SentFile struct {
	Path   string `json:"path"`
	FileID string `json:"file_id"`
}

// SendingState says how far files are on their way.
type SendingState string

const (
	SendingWanted   SendingState = "wanted"
	SendingUploaded SendingState = "uploaded" // Slack has them, and may have shared them
	SendingDone     SendingState = "done"
	SendingFailed   SendingState = "failed"
)

// Why files were not sent.
const (
	ReasonNotShared aggregate.Reason = "files_not_shared" // whether Slack shared them isn't known
	ReasonNotSent   aggregate.Reason = "files_not_sent"   // Slack refused
	ReasonNoScope   aggregate.Reason = "files_no_scope"   // the app may not write files
	ReasonSendGone  aggregate.Reason = "files_gone"       // the version is gone
)

// AuditFilesSent records that a person had files of an action sent to Slack.
const AuditFilesSent aggregate.Action = "session.files_sent"

// open reports whether the files are on their way.
func (s *Sending) open() bool {
	return s != nil && (s.State == SendingWanted || s.State == SendingUploaded)
}

// Sends reports whether people can have the action's files sent: it wrote a few, none of which is too large.
func (x *Action) Sends() bool {
	return x.Status.Over() && x.Changed != nil && x.Changed.Written > 0 && x.Changed.Written <= MaxSent && !x.Changed.Large
}

// Sending returns the action whose files are on their way into the thread, or nil.
func (a *Aggregate) Sending() *Action {
	for _, x := range a.Actions {
		if x.Sending.open() {
			return x
		}
	}
	return nil
}

// SendFiles has the files that an action wrote sent into the conversation's thread. Everybody who may make requests may
// do so. What was sent, or is on its way, is not sent again. It returns ErrMoved for an action that has none to send.
func (a *Aggregate) SendFiles(id string, by aggregate.Actor, p aggregate.Policy,
	now time.Time) (aggregate.Change, error) {
	x, err := a.decidable(id)
	if err != nil {
		return aggregate.Change{}, err
	}
	if x.Sending != nil && x.Sending.State != SendingFailed {
		return aggregate.Change{}, nil
	}
	if err := p.Request(by); err != nil {
		return aggregate.Change{}, err
	}
	if !x.Sends() || a.Conversation != nil && a.Conversation.Status == Closed {
		return aggregate.Change{}, aggregate.ErrMoved
	}
	c := a.begin(now)
	c.progress()
	c.active()
	s := Sending{By: by.ID, At: c.Now, State: SendingWanted}
	if x.Sending != nil && len(x.Sending.Files) > 0 { // Slack may have shared these
		s.State, s.Files = SendingUploaded, x.Sending.Files
	}
	c.sending(x, s)
	c.auditAction(by, AuditFilesSent, x, map[string]any{"version": x.Version, "files": x.Changed.Written})
	return c.done()
}

func (c *change) sending(x *Action, s Sending) {
	n := *x
	n.Sending = &s
	c.Put(&n)
}

// moveSending changes the state of an action's files by the run that sends them. It returns ErrMoved if they are not on
// their way.
func (a *Aggregate) moveSending(run int, id string, move func(s *Sending, now time.Time), now time.Time) (
	aggregate.Change, error,
) {
	x, err := a.decidable(id)
	if err == nil {
		err = a.working(run)
	}
	if err == nil && !x.Sending.open() {
		err = aggregate.ErrMoved
	}
	if err != nil {
		return aggregate.Change{}, err
	}
	c := a.begin(now)
	c.progress()
	s := *x.Sending
	move(&s, c.Now)
	if c.sending(x, s); !s.open() {
		c.rest()
	}
	return c.done()
}

// Uploaded saves the ids of files that Slack has, but shares with nobody yet. Files of an earlier upload stay: they may
// be shared.
func (a *Aggregate) Uploaded(run int, id string, files []SentFile, now time.Time) (aggregate.Change, error) {
	if x := a.Action(id); x != nil && x.Sending.open() && x.Sending.State == SendingUploaded {
		return aggregate.Change{}, aggregate.ErrMoved
	}
	return a.moveSending(run, id, func(s *Sending, _ time.Time) { s.State, s.Files = SendingUploaded, files }, now)
}

// Sent records that the files stand in the thread.
func (a *Aggregate) Sent(run int, id string, now time.Time) (aggregate.Change, error) {
	return a.moveSending(run, id, func(s *Sending, now time.Time) { s.State, s.Ended = SendingDone, &now }, now)
}

// NotSent records why the files do not stand in the thread. If that isn't certain (ReasonNotShared), the next try looks
// for these files first.
func (a *Aggregate) NotSent(run int, id string, why aggregate.Reason, now time.Time) (aggregate.Change, error) {
	return a.moveSending(run, id, func(s *Sending, now time.Time) { s.fail(why, now) }, now)
}

func (s *Sending) fail(why aggregate.Reason, now time.Time) {
	s.State, s.Error, s.Ended = SendingFailed, why, &now
	if why != ReasonNotShared {
		s.Files = nil
	}
}
