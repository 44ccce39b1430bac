package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"
	"unicode/utf8"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/words/language"
)

// DraftInput is the input of the second layer, which drafts a policy.
type DraftInput struct {
	Task    task.Task
	Request string // the message
	Enclosed
	Earlier []Version
	Bounds  Bounds
	Locale  string
	Now     time.Time // when the message was written
	Try     int
	// Fits reports whether a card can show a whole policy. A policy that does not fit is sent back to the model to be
	// shortened. If Fits is nil, every policy fits.
	Fits func(policy string) bool
}

// Bounds lists the tools that an administrator forbids or constrains, and the allowed tools of MCP servers. The model
// that drafts gets it, so that people don't approve a policy that can't be carried out.
type Bounds struct {
	Forbidden   []string      `json:"forbidden"` // names of tools
	Constraints []BoundedTool `json:"constraints"`
	ServerTools []string      `json:"server_tools"` // all allowed tools of MCP servers
}

// BoundedTool is a tool that may be called within constraints.
type BoundedTool struct {
	Tool string `json:"tool"`
	tenancy.Constraints
}

// BoundsOf reads a tenant's permissions; knows returns the constraints that a tool supports. A tool whose constraints
// can't be read may not be called, so it counts as forbidden.
func BoundsOf(permissions []tenancy.ToolPermission, knows func(tool string) []tenancy.Constraint) Bounds {
	b := Bounds{Forbidden: []string{}, Constraints: []BoundedTool{}, ServerTools: []string{}}
	for _, p := range permissions {
		switch c, err := p.Bounds(knows(p.ToolName)); {
		case !p.Allowed || p.ChangedAt != nil || err != nil:
			b.Forbidden = append(b.Forbidden, p.ToolName)
		case !c.None():
			b.Constraints = append(b.Constraints, BoundedTool{p.ToolName, c})
		}
		if _, _, foreign := tenancy.ServerTool(p.ToolName); foreign && !slices.Contains(b.Forbidden, p.ToolName) {
			b.ServerTools = append(b.ServerTools, p.ToolName)
		}
	}
	return b
}

// Version is a rejected policy and the reason. Models see the content of the newest only.
type Version struct {
	Content string `json:"content,omitempty"`
	Reason  string `json:"reason"`
}

// Draft writes the policy that people approve, with the task's title as it has it. It returns the same errors as
// Extract.
func Draft(ctx context.Context, w Wire, in DraftInput) (task.Drafted, Usage, error) {
	var made task.Drafted
	var crowded string
	usage, err := ask(ctx, w, question{
		purpose: Drafting, locale: in.Locale, try: in.Try, tokens: 8192,
		data: in.data(),
		accept: func(answer []byte) (problems []string) {
			made, problems = readDraft(answer)
			if n := len(task.Mentioned(made.Content)); len(problems) == 0 && n > task.MaxMentioned {
				crowded = fmt.Sprintf("policy mentions %d people as <@…>, the limit is %d: name fewer", n, task.MaxMentioned)
				return []string{crowded}
			}
			if len(problems) == 0 && in.Fits != nil && !in.Fits(made.Content) {
				return []string{tooLong + ": write less, in fewer lines, and in plain words"}
			}
			return problems
		},
	})
	var unusable *OutputError
	// Problems are the last answer's, and so is made: an earlier answer with too many mentions does not count.
	if errors.As(err, &unusable) && slices.Contains(unusable.Problems, crowded) {
		unusable.People = len(task.Mentioned(made.Content))
	}
	if err != nil {
		return task.Drafted{}, usage, err
	}
	return made, usage, nil
}

func (in DraftInput) data() DraftData {
	return DraftData{Task: taskData(in.Task), Message: in.Request, Enclosed: in.Enclosed, Earlier: draftTries(in.Earlier),
		Bounds: in.Bounds,
		Now:    stamp(in.Now), Locale: in.Locale}
}

func draftTries(all []Version) []Version {
	tries := []Version{}
	for i, v := range all {
		if v.Reason = shortened(v.Reason, i, len(all)); i < len(all)-1 {
			v.Content = ""
		}
		tries = append(tries, v)
	}
	return tries
}

// DraftData is what the model sees of a DraftInput.
type DraftData struct {
	Task    TaskData `json:"task"`
	Message string   `json:"message"`
	Enclosed
	Earlier []Version `json:"rejected_versions"`
	Bounds
	Now    string `json:"now"`
	Locale string `json:"locale"`
}

// TaskData is what models see of a task.
type TaskData struct {
	Title       string        `json:"title"`
	Description string        `json:"description"`
	Priority    task.Priority `json:"priority"`
}

func taskData(t task.Task) TaskData {
	return TaskData{Title: t.Title, Description: t.Description, Priority: t.Priority}
}

func readDraft(answer []byte) (d task.Drafted, problems []string) {
	var a struct{ Policy, Title string }
	if err := json.Unmarshal(answer, &a); err != nil {
		return d, []string{err.Error()}
	}
	d = task.Drafted{Content: prose(a.Policy), Title: line(a.Title)}
	if n := inSlack(d.Content); n > MaxPolicy {
		return d, []string{fmt.Sprintf("%s: policy has %d characters as Slack counts them, the limit is %d", tooLong, n,
			MaxPolicy)}
	}
	problems = bounded("policy", d.Content, MaxPolicy)
	if d.Title != "" {
		problems = append(problems, bounded("title", d.Title, MaxTitle)...)
	}
	return d, problems
}

// textAlone asks for nothing but the policy, because a contest's teams answer in plain text, without a schema.
var textAlone = language.InEach("実行方針の本文だけを書いてください。前置き、説明、JSON は付けません。",
	"Write the text of the policy and nothing else: no preamble, no remarks, no JSON.")

// Contested returns the prompt for a contest's teams. It asks for the same policy, with the same data, as Draft.
func Contested(in DraftInput) (string, error) {
	p, err := promptOf(Drafting, in.Locale)
	if err != nil {
		return "", err
	}
	data, err := fenced(in.data())
	if err != nil {
		return "", err
	}
	return p.Text + "\n\n" + textAlone.In(in.Locale) + "\n\n" + data, nil
}

// ExtractInput is the input of the first layer, which extracts a task.
type ExtractInput struct {
	Text string // the message
	Enclosed
	Thread []Said // earlier messages of its thread, oldest first
	// ThreadNotShown says what of the thread is missing.
	ThreadNotShown string

	Tools  []string // one line for each tool that is not Ringi's own
	Locale string
	Now    time.Time // when the message was written; relative dates are counted from it
	Try    int
}

// Said is one message of a thread.
type Said struct {
	User string `json:"user"` // Slack user id
	Text string `json:"text"`
	TS   string `json:"-"`
	// Quoted are the Slack user ids of whose messages it forwards.
	Quoted []string `json:"-"`
}

// maxSaid bounds each message of a thread and maxThread all of them together, in characters.
const maxSaid, maxThread = 2000, 20_000

// Recent truncates each message of a thread to maxSaid, and drops the oldest messages beyond maxThread. cut is how many
// of those that it returns are truncated.
func Recent(thread []Said) (recent []Said, cut int) {
	kept, left := []Said{}, maxThread
	for _, s := range slices.Backward(thread) {
		whole := s.Text
		s.Text = language.Clip(s.Text, maxSaid)
		if left -= utf8.RuneCountInString(s.Text); left < 0 {
			break
		}
		if kept = append(kept, s); s.Text != whole {
			cut++
		}
	}
	slices.Reverse(kept)
	return kept, cut
}

// ThreadMessages is how many earlier messages of its thread models see with a message, and threadWithin bounds each try
// to read them.
const (
	ThreadMessages = 20
	threadWithin   = 6 * time.Second
)

// ReadThread returns the messages before another one of its thread that models see, and what these are of the thread.
// before reads the last n of them; again waits after its failure, and reports whether to try once more. What can't be
// read is left out.
func ReadThread(ctx context.Context, before func(ctx context.Context, n int) ([]Said, error),
	again func(try int, err error) bool) ([]Said, *aggregate.Thread) {
	for try := 1; ; try++ {
		within, cancel := context.WithTimeout(ctx, threadWithin)
		said, err := before(within, ThreadMessages+1) // one more, to know whether there are earlier ones
		cancel()
		if err == nil {
			recent, cut := Recent(said[max(0, len(said)-ThreadMessages):])
			return recent, &aggregate.Thread{Read: len(recent), Cut: cut, Earlier: len(said) > len(recent)}
		}
		if !again(try, err) {
			slog.WarnContext(ctx, "without the thread", "err", err)
			return nil, &aggregate.Thread{Failed: true}
		}
	}
}

// maxMoreTools is how many tools of MCP servers the first layer sees, and maxMoreTool the characters of each line.
const maxMoreTools, maxMoreTool = 100, 200

// Extract turns a message into a task, or returns a sentence that says why it can't. It returns an *OutputError if the
// answer stays unusable, and an *Error if the model gives none.
func Extract(ctx context.Context, w Wire, in ExtractInput) (task.Extract, Usage, error) {
	var out task.Extract
	thread, _ := Recent(in.Thread)
	tools := []string{}
	for _, l := range in.Tools[:min(len(in.Tools), maxMoreTools)] {
		tools = append(tools, language.Clip(line(l), maxMoreTool))
	}
	usage, err := ask(ctx, w, question{
		purpose: Extracting, locale: in.Locale, try: in.Try, tokens: 4096,
		data: ExtractData{Message: in.Text, Enclosed: in.Enclosed, Thread: thread, ThreadNotShown: in.ThreadNotShown,
			Tools: tools, Now: stamp(in.Now), Locale: in.Locale},
		accept: func(answer []byte) (problems []string) {
			out, problems = readExtract(answer)
			return problems
		},
	})
	if err != nil {
		return task.Extract{}, usage, err
	}
	return out, usage, nil
}

// ExtractData is what the model sees of an ExtractInput.
type ExtractData struct {
	Message string `json:"message"`
	Enclosed
	Thread []Said `json:"thread"`
	// ThreadNotShown is what of the thread is missing.
	ThreadNotShown string `json:"thread_not_shown,omitempty"`

	Tools  []string `json:"more_tools"`
	Now    string   `json:"now"`
	Locale string   `json:"locale"`
}

func readExtract(answer []byte) (task.Extract, []string) {
	var a struct {
		Kind        task.ExtractKind `json:"kind"`
		Sentence    string           `json:"sentence"`
		Title       string           `json:"title"`
		Description string           `json:"description"`
		Priority    task.Priority    `json:"priority"`
		TaskType    task.Type        `json:"task_type"`
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		return task.Extract{}, []string{err.Error()}
	}
	if a.Kind != task.KindTask {
		e := task.Extract{Kind: a.Kind, Sentence: line(a.Sentence)}
		return e, bounded("sentence", e.Sentence, task.MaxSentence)
	}
	e := task.Extract{Kind: a.Kind, Title: line(a.Title), Description: prose(a.Description), Priority: a.Priority,
		TaskType: a.TaskType}
	problems := bounded("title", e.Title, MaxTitle)
	return e, append(problems, bounded("description", e.Description, MaxDescription)...)
}

func stamp(t time.Time) string { return t.In(tenancy.Zone()).Format("2006-01-02T15:04-07:00") }
