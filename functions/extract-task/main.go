// Command extract-task is the first layer: it turns a message into a task.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/model"
	"ringi/shared/model/provider"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/isolated"
	"ringi/shared/runtime/secret"
	"ringi/shared/secret/vault"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store"
	"ringi/shared/store/large"
	"ringi/shared/words/language"
)

func main() {
	boot.BoundMemory()
	boot.Run(newHandler, func(h *Handler) any { return pipeline.Edge(h.Handle) })
}

type environment struct {
	boot.Table
	boot.Models
	boot.Results
	boot.Slack
	boot.Credentials
	ReadFileFunction string `env:"READ_FILE_FUNCTION" doc:"the function that reads the text of attachments"`
}

func newHandler(_ context.Context, cfg aws.Config, env environment) (*Handler, error) {
	rows, large := store.OpenTasks(cfg, env.Table), large.Open(cfg, env.Results)
	return &Handler{
		Store:   rows,
		Open:    provider.New(cfg, env.Models).Open,
		Model:   env.Model,
		Results: large,
		Text:    large.Texts(cfg, env.ReadFileFunction), Texts: large, Rest: time.Second,
		Slack: vault.OpenBot(cfg, secret.OpenSlack(cfg, env.Slack), env.Credentials, rows, filesWithin),
		Now:   time.Now,
	}, nil
}

type Handler struct {
	Store   *store.TaskStore
	Open    func(name string) (model.Wire, error)
	Model   string // overrides the tenant's model unless empty
	Results large.Store
	Slack   Slack
	// Text has a file's text read, and keeps the file.
	Text  func(ctx context.Context, ref aggregate.Ref, file []byte) (isolated.FileText, error)
	Texts Texts
	Rest  time.Duration // between tries to get a file or a thread
	Now   func() time.Time
	names people.Names
}

// Handle asks the model what the message requests. It commits the task, with task.created in the audit log, or a plain
// reply if the message requests nothing. A form is read by nobody but Ringi. If the task already exists, it calls no
// model.
func (h *Handler) Handle(ctx context.Context, in pipeline.Input) (aggregate.Next, error) {
	a, err := pipeline.Load(ctx, h.Store, in)
	if err != nil {
		return aggregate.Next{}, err
	}
	if next := a.Next(h.Now()); next.State != task.StateExtractTask {
		return next, nil
	}
	if a.Request == nil {
		return aggregate.Next{}, fmt.Errorf("the request is not there yet: %w", aggregate.ErrConflict) // a torn read
	}
	s, err := h.Store.Settings(ctx, in.Tenant)
	if err != nil {
		return aggregate.Next{}, fmt.Errorf("read the settings: %w", err)
	}
	if m := a.Matter(); m != nil {
		if a, err = h.readFiles(ctx, in, a); err != nil {
			return aggregate.Next{}, err
		}
		if a.Task != nil { // the form was filled in again, with other files
			return a.Next(h.Now()), nil
		}
		return h.commit(ctx, in, a, s, model.Usage{}, task.Extract{Title: m.Title, Description: m.Description,
			Priority: task.Medium, TaskType: task.TypeStandard})
	}
	if a.CostReached(s.MaxCost()) {
		return pipeline.StopForCost(ctx, h.Store, in, s.MaxCost(), h.Now())
	}
	if over, err := pipeline.OverBudget(ctx, h.Store, in.Tenant, s, h.Now()); err != nil || over.Reason != "" {
		return pipeline.NotNow(ctx, h.Store, in, task.Generation{Layer: task.L1}, over, s.MaxCost(), h.Now(), err)
	}
	permissions, err := h.Store.ToolPermissions(ctx, in.Tenant)
	if err != nil {
		return aggregate.Next{}, fmt.Errorf("read the tool permissions: %w", err)
	}
	if a, err = h.readFiles(ctx, in, a); err != nil {
		return aggregate.Next{}, err
	}
	thread, read := h.thread(ctx, a)
	extract, usage, err := h.extract(ctx, s, a, thread, read, moreTools(permissions))
	if err != nil {
		return pipeline.Failed(ctx, h.Store, in, task.Generation{Layer: task.L1}, model.FailedAtCost(err, usage), s.MaxCost(),
			h.Now())
	}
	extract.Last = s.MaxCost() > 0 && a.Spent()+usage.Cost >= s.MaxCost()
	return h.commit(ctx, in, a, s, usage, extract)
}

func (h *Handler) commit(ctx context.Context, in pipeline.Input, a *task.Aggregate, s tenancy.Settings,
	usage model.Usage, extract task.Extract) (aggregate.Next, error) {
	for _, text := range []*string{&extract.Title, &extract.Sentence} {
		*text = h.names.Written(slackapi.For(ctx, in.Tenant), h.Slack, a.Request.TeamID, a.Request.User, *text, h.Now())
	}
	if extract.Title != "" {
		attached, _ := a.Attached() // as long as the audit log, before there is a task
		for _, f := range attached {
			if err := h.attach(ctx, a.Ref(), f); err != nil {
				return aggregate.Next{}, err
			}
		}
	}
	return pipeline.CommitUsage(ctx, h.Store, in, a, usage, s.MaxCost(), h.Now(),
		func(a *task.Aggregate) (aggregate.Change, error) {
			return a.Extracted(in.Run, extract, h.Now())
		})
}

// attach keeps a file that is attached for as long as the audit log.
func (h *Handler) attach(ctx context.Context, ref aggregate.Ref, f task.ReadFile) error {
	if f.Left != "" || f.SHA256 == "" {
		return nil
	}
	if err := h.Texts.Attach(ctx, ref, f.SHA256); err != nil {
		return fmt.Errorf("%w: %w", explain.ErrUnavailable, err)
	}
	return nil
}

// moreTools describes the MCP tools that the tenant's tasks may call, one to a line.
func moreTools(permissions []tenancy.ToolPermission) (lines []string) {
	for _, p := range permissions {
		if p.Allowed && p.Pin != nil && p.ChangedAt == nil {
			lines = append(lines, fmt.Sprintf("%s: %s. %s", p.ToolName, p.Pin.Title, p.Pin.Description))
		}
	}
	return lines
}

func (h *Handler) extract(ctx context.Context, s tenancy.Settings, a *task.Aggregate, thread []model.Said,
	read *aggregate.Thread, tools []string) (task.Extract, model.Usage, error) {
	g, err := model.Within(s, h.Open, pipeline.ModelName(h.Model, s), h.Results.Prompts(a.Ref()))
	if err != nil {
		return task.Extract{}, model.Usage{}, err
	}
	enclosed, err := model.Enclose(ctx, h.Results, a)
	if err != nil {
		return task.Extract{}, model.Usage{}, err
	}
	out, usage, err := model.Extract(ctx, g, model.ExtractInput{Text: a.Request.Text, Enclosed: enclosed, Thread: thread,
		ThreadNotShown: read.NotShown(), Tools: tools, Locale: a.Language(s.Locale), Now: a.Request.Written(),
		Try: a.Head.Run})
	out.Thread = read
	return out, usage, err
}

// thread returns the thread's messages before a request, and what they are of it. What Slack fails to show for a while
// is asked for again before the request is extracted without it.
func (h *Handler) thread(ctx context.Context, a *task.Aggregate) ([]model.Said, *aggregate.Thread) {
	r := a.Request
	if r.ThreadTS == "" || r.ThreadTS == r.MessageTS {
		return nil, nil
	}
	ctx = slackapi.For(ctx, a.Ref().Tenant)
	return model.ReadThread(ctx, func(ctx context.Context, n int) (out []model.Said, err error) {
		said, err := h.Slack.Before(ctx, r.Channel, r.ThreadTS, r.MessageTS, n)
		for _, s := range said {
			out = append(out, model.Said(s))
		}
		return out, err
	}, func(try int, err error) bool { return slackapi.Again(ctx, try, h.Rest, err) })
}

// filesWithin bounds the reading of a request's files. It leaves the model as much time as it has for an answer.
const filesWithin = 50 * time.Second

// Slack reads what was said before a request, and its files, and says what people are called.
type Slack interface {
	people.Directory
	Before(ctx context.Context, channel, thread, ts string, n int) ([]slackapi.Said, error)
	File(ctx context.Context, id string, most int) (slackapi.File, error)
}

// Texts keep files and their texts.
type Texts interface {
	KeepText(ctx context.Context, ref aggregate.Ref, text string) (aggregate.Blob, error)
	KeepFile(ctx context.Context, ref aggregate.Ref, file []byte) error
	Attach(ctx context.Context, ref aggregate.Ref, sum string) error
}

// readFiles reads the request's files, each once for the task. Interrupted, it reads them again and keeps the same
// objects. It returns the task with what was read; what can't be read says why. An error means that a file can't be
// kept or handed to its reader now. What a form adds to a task is attached before that is said.
func (h *Handler) readFiles(ctx context.Context, in pipeline.Input, a *task.Aggregate) (*task.Aggregate, error) {
	if !a.Unread() {
		return a, nil
	}
	within, cancel := context.WithTimeout(slackapi.For(ctx, in.Tenant), filesWithin)
	defer cancel()
	var files []task.ReadFile
	bytes, shown := int64(task.MaxFilesBytes), task.MaxFilesShown
	for i, f := range a.Listed() {
		x, err := h.readFile(within, a, i, bytes, shown)
		if err != nil && within.Err() != nil && ctx.Err() == nil {
			x, err = task.ReadFile{SharedFile: f, Why: conversation.NotNow}, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read a file of the request: %w: %w", explain.ErrUnavailable, err)
		}
		slog.InfoContext(ctx, "a file is read", "task_id", in.Ref().ID, "file", f.ID, "sha256", x.SHA256, "bytes", x.Bytes,
			"form", x.Form, "why", x.Why, "characters", x.Characters, "shown", x.Shown)
		files = append(files, x)
		if x.SHA256 != "" {
			bytes -= x.Bytes
		}
		shown -= x.Shown
	}
	after, err := h.Store.DecideOn(ctx, a, func(a *task.Aggregate) (aggregate.Change, error) {
		return a.ReadFiles(in.Run, files, h.Now())
	})
	if err != nil {
		return nil, fmt.Errorf("keep what was read of the files: %w", err)
	}
	return after, nil
}

// readFile reads one of the request's files of at most so many bytes, and keeps at most so many characters of its text
// for models. Of a form it only keeps the file, since no model is asked.
func (h *Handler) readFile(ctx context.Context, a *task.Aggregate, place int, bytes int64, most int) (
	task.ReadFile, error) {
	f, ref := a.Listed()[place], a.Ref()
	if before := a.ReadBefore(f.ID); before != nil && a.Matter() != nil {
		return *before, nil
	}
	x := task.ReadFile{SharedFile: f}
	got, why := h.fetch(ctx, f.ID, int(min(bytes, task.MaxFileBytes)))
	if x.Why = why; why != "" {
		return x, nil
	}
	name := strings.Join(strings.Fields(language.Visible(got.Name)), " ")
	x.Name, x.Type = cmp.Or(language.FirstBytes(name, maxName), f.Name), cmp.Or(got.Type, f.Type)
	x.Take(got.Body, place)
	unread := len(got.Body) > isolated.MaxFile
	if unread {
		x.Why = string(isolated.TooComplex)
	}
	if unread || a.Matter() != nil {
		err := h.Texts.KeepFile(ctx, ref, got.Body)
		if err == nil && a.Task != nil && a.Matter() != nil {
			err = h.attach(ctx, ref, x)
		}
		return x, err
	}
	text, err := h.Text(ctx, ref, got.Body)
	if err != nil {
		return x, err
	}
	x.Form, x.Encoding, x.Remarks, x.Why = text.Form, text.Encoding, text.Remarks, string(text.Why)
	if x.Why != "" {
		return x, nil
	}
	text.Text = strings.ToValidUTF8(text.Text, "�")
	shown := language.FirstLines(text.Text, min(most, task.MaxFileShown))
	x.Characters, x.Shown = utf8.RuneCountInString(text.Text), utf8.RuneCountInString(shown)
	if shown == "" {
		return x, nil
	}
	kept, err := h.Texts.KeepText(ctx, ref, shown)
	x.Text = &kept
	return x, err
}

// maxName is how many bytes of a file's name are kept.
const maxName = 255

// fetch gets a file of Slack's, or says why it can't be read.
func (h *Handler) fetch(ctx context.Context, id string, most int) (f slackapi.File, why string) {
	for try := 1; ; try++ {
		f, err := h.Slack.File(ctx, id, most)
		var refused slackapi.Refused
		switch {
		case err == nil:
			return f, ""
		case errors.Is(err, slackapi.ErrFile):
			return f, err.Error()
		case errors.As(err, &refused) && (refused.App || refused.Permanent):
			slog.WarnContext(ctx, "a file may not be read", "file", id, "err", err)
			return f, conversation.NoRight
		}
		slog.WarnContext(ctx, "a file is not read", "file", id, "try", try, "err", err)
		if !slackapi.Again(ctx, try, h.Rest, err) {
			return f, conversation.NotNow
		}
	}
}
