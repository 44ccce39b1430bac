package model

import (
	"context"
	"encoding/json"
	"slices"
	"time"
	"unicode/utf8"

	"ringi/shared/domain/task"
	"ringi/shared/words/legible"
)

// ExtractInput is what the first layer is asked about.
type ExtractInput struct {
	Text   string   // the message
	Thread []Said   // before it, oldest first, when it was written in a thread
	Tools  []string // a line for each tool beside Ringi's own
	Locale string
	Now    time.Time // when the message was written; relative dates are counted from it
	Try    int
}

// Said is a message of somebody.
type Said struct {
	User string `json:"user"` // Slack user id
	Text string `json:"text"`
}

// Limits of a thread, in characters: of one message, and of all together.
const maxSaid, maxThread = 2000, 20_000

// recent cuts each message of a thread, and drops the oldest ones beyond the limit of all together.
func recent(thread []Said) []Said {
	kept, left := []Said{}, maxThread
	for _, s := range slices.Backward(thread) {
		s.Text = legible.Clip(s.Text, maxSaid)
		if left -= utf8.RuneCountInString(s.Text); left < 0 {
			break
		}
		kept = append(kept, s)
	}
	slices.Reverse(kept)
	return kept
}

// Limits of the further tools that the first layer is told: their number, and the characters of one.
const maxMoreTools, maxMoreTool = 100, 200

func moreTools(lines []string) []string {
	out := []string{}
	for _, l := range lines[:min(len(lines), maxMoreTools)] {
		out = append(out, legible.Clip(line(l), maxMoreTool))
	}
	return out
}

// Extract makes a task of a message, or says in a sentence why it makes none. It returns an *OutputError when the model's
// answer stays unusable, an *Error when there is none.
func Extract(ctx context.Context, w Wire, in ExtractInput) (task.Extract, Usage, error) {
	var out task.Extract
	usage, err := ask(ctx, w, question{
		purpose: Extracting, locale: in.Locale, try: in.Try, tokens: 4096,
		data: ExtractData{Message: in.Text, Thread: recent(in.Thread), Tools: moreTools(in.Tools), Now: stamp(in.Now),
			Locale: in.Locale},
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
	Message string   `json:"message"`
	Thread  []Said   `json:"thread"`
	Tools   []string `json:"more_tools"`
	Now     string   `json:"now"`
	Locale  string   `json:"locale"`
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

// tokyo is the time zone in which 今月 is meant. Japan has no other.
func tokyo() *time.Location { return time.FixedZone("JST", 9*60*60) }

// stamp is a time as models read it, to the minute.
func stamp(t time.Time) string { return t.In(tokyo()).Format("2006-01-02T15:04-07:00") }
