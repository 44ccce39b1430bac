package model

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"time"
	"unicode/utf8"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/words/legible"
)

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
		s.Text = legible.Clip(s.Text, maxSaid)
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

func moreTools(lines []string) []string {
	out := []string{}
	for _, l := range lines[:min(len(lines), maxMoreTools)] {
		out = append(out, legible.Clip(line(l), maxMoreTool))
	}
	return out
}

// Extract turns a message into a task, or returns a sentence that says why it can't. It returns an *OutputError if the
// answer stays unusable, and an *Error if the model gives none.
func Extract(ctx context.Context, w Wire, in ExtractInput) (task.Extract, Usage, error) {
	var out task.Extract
	thread, _ := Recent(in.Thread)
	usage, err := ask(ctx, w, question{
		purpose: Extracting, locale: in.Locale, try: in.Try, tokens: 4096,
		data: ExtractData{Message: in.Text, Enclosed: in.Enclosed, Thread: thread, ThreadNotShown: in.ThreadNotShown,
			Tools: moreTools(in.Tools), Now: stamp(in.Now), Locale: in.Locale},
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
