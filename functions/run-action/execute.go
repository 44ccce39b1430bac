package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/runtime/isolated"
	"ringi/shared/store/large"
	"ringi/shared/words/language"
)

// write saves files in the workspace. They are invisible until their version becomes the conversation's, so a failed
// write has no effect.
func (j *job) write(ctx context.Context) (conversation.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, writeWithin)
	defer cancel()
	t, err := j.Files.Get(ctx, j.ref, j.action.Base)
	if err == nil {
		t, err = t.Make(j.payload.Changes)
	}
	switch { // errors that trying again doesn't fix
	case errors.Is(err, files.ErrRefused):
		return j.says(reasonRefused, j.words().refused, err), nil
	case errors.Is(err, large.ErrGone):
		return j.gone(err), nil
	}
	if err != nil {
		return conversation.Result{}, fmt.Errorf("write files: %w: %w", err, isolated.ErrNotBegun)
	}
	version, err := j.Files.Put(ctx, j.ref, t)
	if err != nil {
		return conversation.Result{}, fmt.Errorf("write files: %w: %w", err, isolated.ErrNotBegun)
	}
	return conversation.Result{
		Status: conversation.ActionSucceeded, Version: version, Changed: j.compare(ctx, version),
	}, nil
}

// compare sums up what the action made of the files. Without it people see the action's result all the same.
func (j *job) compare(ctx context.Context, version string) *conversation.FilesChanged {
	within := min(compareWithin, j.action.Claim.LeaseUntil.Sub(j.Now())-resultSpare)
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	changes, err := j.Files.Difference(ctx, j.ref, j.action.Base, version)
	if err != nil {
		j.noted = append(j.noted, "not_compared", err.Error())
		return nil
	}
	return conversation.SumOf(changes)
}

// gone is the result if the files on which the action was to work are lost.
func (j *job) gone(err error) conversation.Result {
	r := j.says(conversation.ReasonFilesLost, j.words().gone, err)
	r.Gone = true
	return r
}

// run executes a command in the sandbox, saves its output as it comes, and stops it when the action is cancelled.
func (j *job) run(ctx context.Context) (conversation.Result, error) {
	until := j.action.Claim.LeaseUntil
	o := isolated.Order{
		Action: j.action.ActionID, Type: string(j.action.ActionType), Argv: j.payload.Argv, Script: j.payload.Script,
		TimeoutSeconds: j.payload.TimeoutSeconds, Deadline: until.Add(-commitSpare),
	}
	on := conversation.On{Base: j.action.Base, Attachments: j.action.AttachmentsVersion}
	if err := j.Files.Lend(ctx, j.ref, on, until, &o); err != nil {
		return conversation.Result{}, fmt.Errorf("%w: %w", err, isolated.ErrNotBegun)
	}
	within, stop := context.WithDeadline(ctx, o.Deadline.Add(commitSpare/4))
	defer stop()
	go pipeline.Watch(within, j.Store, j.ref, j.action.ActionID, j.PollEvery, func() error {
		return j.Files.Cancel(within, j.ref, j.action.ActionID)
	})
	l := &lines{job: j, flushed: j.Now(), drawn: j.Now()}
	go l.keepUp(within)
	end, err := j.Sandbox.Run(within, o, func(line isolated.Line) error { return l.add(ctx, line) })
	stop()
	over := j.Now()
	l.flush(ctx)
	if errors.Is(err, isolated.ErrCannot) {
		if _, gone := j.Files.Get(ctx, j.ref, j.action.Base); errors.Is(gone, large.ErrGone) {
			return j.gone(gone), nil
		}
		return j.says(conversation.ReasonNotBegun, "", err), nil
	}
	if err != nil {
		return conversation.Result{}, err
	}
	r := j.result(ctx, end, l)
	r.At = over
	return r, nil
}

func (j *job) result(ctx context.Context, end isolated.End, l *lines) conversation.Result {
	r := conversation.Result{Status: conversation.ActionSucceeded}
	w := j.words()
	said := []conversation.Piece{j.ended(&r, end), {Text: w.limit(end.Limit)}}
	l.into(&r, end.Dropped)
	if r.Error == conversation.ReasonExit && r.Tests != nil && end.Limit == "" && *r.ExitCode > 0 {
		r.Status, r.Error = conversation.ActionSucceeded, "" // it ran the tests, of which some failed
	}
	if end.Limit != "" {
		j.noted = append(j.noted, "limit", end.Limit)
	}
	if len(end.Left) > 0 {
		names := strings.Join(end.Left[:min(len(end.Left), mostLeft)], ", ")
		said = append(said, conversation.Piece{Text: w.left}, conversation.Piece{Text: names, Quoted: true})
	}
	if end.Version != "" {
		version, err := j.Files.Take(ctx, j.ref, j.action.ActionID)
		if r.Version = version; err != nil { // the command has run, but its files are not saved
			j.noted = append(j.noted, "workspace_not_kept", err.Error())
			r.Version, said = "", append(said, conversation.Piece{Text: w.notKept})
		} else if r.Error != "" && !end.Cancelled && version != j.action.Base {
			said = append(said, conversation.Piece{Text: w.kept})
		}
		if err == nil {
			r.Changed = j.compare(ctx, version)
		}
	}
	detail(&r, said...)
	return r
}

// ended writes into a result how the command ended, and returns what is to be said of that.
func (j *job) ended(r *conversation.Result, end isolated.End) (said conversation.Piece) {
	code := end.ExitCode
	switch {
	case end.Missing != "":
		r.Error, said = reasonMissing, conversation.Piece{Text: end.Missing, Quoted: true}
	case end.Cancelled:
		r.Error = conversation.ReasonWithdrawn
	case end.TimedOut:
		r.Error = conversation.ReasonTimeout
		said.Text = fmt.Sprintf(j.words().seconds, j.payload.TimeoutSeconds)
	case end.Signal != "":
		r.Error, said = reasonSignal, conversation.Piece{Text: end.Signal, Quoted: true}
	case code != 0:
		r.Error = conversation.ReasonExit
	}
	if end.Signal == "" && end.Missing == "" {
		r.ExitCode = &code
	}
	if r.Error != "" {
		r.Status = conversation.ActionFailed
	}
	return said
}

// mostLeft is how many files that could not be kept a result names.
const mostLeft = 5

// logged logs the action's end in one line.
func (j *job) logged(ctx context.Context, r conversation.Result) {
	more := []any{"status", r.Status, "lines", r.Lines, "dropped", r.Dropped}
	more = append(more, j.noted...)
	code, cause := string(r.Error), "the action failed"
	if j.cause != nil {
		cause = j.cause.Error()
	}
	switch r.Error {
	case "":
		conversation.Log(ctx, conversation.EventCompleted, j.ref.ID, j.session.AgentID, j.action.ActionID, more...)
		return
	case reasonMissing:
		code = conversation.CodeMissingCommand
	case reasonRefused, conversation.ReasonUnread, conversation.ReasonFilesLost:
		code = conversation.CodeValidation
	}
	conversation.LogError(ctx, conversation.EventCompleted, j.ref.ID, j.session.AgentID, j.action.ActionID, code, cause,
		more...)
}

// words explain a result to people and the agent. The text of an error goes only to the log.
type words struct{ refused, gone, seconds, early, memory, notKept, kept, left string }

var inEach = language.InEach(
	words{
		refused: "書き込めるのは、相対パスで指定した作業フォルダー内のファイルだけです。フォルダーやリンクの上書き、件数や容量の上限を超える書き込みはできません。",
		gone:    "ファイルは、保存期間を過ぎたため削除されました。会話は空のフォルダーで続きます。",
		seconds: "制限時間: %d 秒", early: "実行環境が途中で停止しました。", memory: "メモリーの上限を超えたため、中止しました。",
		notKept: "変更を保存できませんでした。作業フォルダーは実行前のままです。", kept: "終了までの変更は、作業フォルダーに残っています。",
		left: "作業フォルダーに保存できないもの: ",
	},
	words{
		refused: "Files must be inside the folder, with relative paths. " +
			"They can't replace folders or links, or exceed the folder's limits.",
		gone:    "Its files were deleted after their retention period. The conversation continues with an empty folder.",
		seconds: "Time limit: %d s", early: "Its environment shut down before it finished.",
		memory:  "It was stopped for using too much memory.",
		notKept: "The changes couldn't be saved. The folder is unchanged.",
		kept:    "Changes made before that are kept.", left: "Couldn't be saved in the folder: ",
	})

func (j *job) words() words { return inEach.In(j.session.Locale) }

// limit translates the sandbox's name of a limit.
func (w words) limit(said string) string {
	switch {
	case said == "":
		return ""
	case said == isolated.EndedByMemory:
		return w.memory
	case strings.HasPrefix(said, isolated.NotKept):
		return w.notKept
	}
	return w.early // EndedEarly, and names unknown here
}

// says returns the result of a failed action. People see the reason and the detail, in Ringi's words; the log has the
// error.
func (j *job) says(why aggregate.Reason, detail string, err error) conversation.Result {
	j.cause = err
	return conversation.Result{Status: conversation.ActionFailed, Error: why, ErrorDetail: detail,
		Detail: []conversation.Piece{{Text: detail}}}
}

// detail puts together what people are told of a result; its quoted pieces come from the sandbox.
func detail(r *conversation.Result, pieces ...conversation.Piece) {
	r.Detail, r.ErrorDetail = []conversation.Piece{}, ""
	for _, p := range pieces {
		if p.Text == "" {
			continue
		}
		if r.ErrorDetail != "" && !strings.HasSuffix(r.ErrorDetail, ": ") {
			r.ErrorDetail += "\n"
		}
		r.Detail, r.ErrorDetail = append(r.Detail, p), r.ErrorDetail+p.Text
	}
}

// lines collects a command's output.
type lines struct {
	*job
	mu      sync.Mutex
	next    int // index of the line after the last one
	came    int // how many lines came
	held    []conversation.LogEntry
	kept    []int           // the indexes of the lines that are kept, held ones included
	gone    []int           // of lines that are to be deleted
	last    []isolated.Line // the last lines, for the agent
	tests   conversation.Tests
	flushed time.Time
	drawn   time.Time
}

// add adds a line. It never fails: an approved command is not stopped because its output can't be saved.
func (l *lines) add(ctx context.Context, line isolated.Line) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.Now().UTC()
	at := line.Number - 1
	l.held = append(l.held, conversation.LogEntry{
		LogID: fmt.Sprintf("%s-%d", l.action.ActionID, at), ActionID: l.action.ActionID, Order: at, Text: line.Text,
		CreatedAt: now, DeleteAfter: now.Add(logKept).Unix(),
	})
	l.next, l.came = at+1, l.came+1
	if l.action.ActionType == conversation.TestRun {
		l.tests.Read(line.Text)
	}
	if l.kept = append(l.kept, at); len(l.kept) > conversation.MostLines {
		l.drop()
	}
	if l.last = append(l.last, line); len(l.last) > tailLines {
		l.last = l.last[1:]
	}
	if len(l.held) >= conversation.MostLines || now.Sub(l.flushed) >= l.FlushEvery {
		l.keep(ctx)
	}
	return nil
}

// drop drops the oldest line of those that are kept.
func (l *lines) drop() {
	at := l.kept[0]
	l.kept = l.kept[1:]
	if i := slices.IndexFunc(l.held, func(e conversation.LogEntry) bool { return e.Order == at }); i >= 0 {
		l.held = slices.Delete(l.held, i, i+1)
		return
	}
	l.gone = append(l.gone, at)
}

// keepUp saves the last lines of a command that has fallen silent.
func (l *lines) keepUp(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(l.FlushEvery):
			l.flush(ctx)
		}
	}
}

// logKept is how long output is kept, even if the conversation is not.
const logKept = 30 * 24 * time.Hour

func (l *lines) flush(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.keep(ctx)
}

// keep saves the pending lines and has the card redrawn, with a limited frequency.
func (l *lines) keep(ctx context.Context) {
	l.flushed = l.Now()
	if len(l.held) == 0 {
		return
	}
	conversation.Log(ctx, conversation.EventChunk, l.ref.ID, l.session.AgentID, l.action.ActionID, "lines", len(l.held))
	if err := l.Store.AppendLog(ctx, l.ref, l.action.ActionID, l.held, l.gone); err != nil {
		conversation.LogError(ctx, conversation.EventChunk, l.ref.ID, l.session.AgentID, l.action.ActionID, "LOG_NOT_KEPT",
			err.Error())
		if len(l.held) < conversation.MostLines {
			return
		}
		l.lose()
		return
	}
	l.held, l.gone = nil, nil
	if l.Now().Sub(l.drawn) < l.RedrawEvery {
		return
	}
	l.drawn = l.Now()
	if err := l.Store.Redraw(ctx, l.ref); err != nil {
		conversation.LogError(ctx, conversation.EventChunk, l.ref.ID, l.session.AgentID, l.action.ActionID, "CARD_NOT_DRAWN",
			err.Error())
	}
}

// lose gives up the lines that could not be saved. Some of them may have been; those are deleted with the next ones.
func (l *lines) lose() {
	for _, e := range l.held {
		l.kept = slices.DeleteFunc(l.kept, func(at int) bool { return at == e.Order })
		l.gone = append(l.gone, e.Order)
	}
	l.held, l.gone = nil, l.gone[max(0, len(l.gone)-2*conversation.MostLines):] // the others expire
}

// mostTail is how many bytes of output the agent sees: one line of the greatest length with its number, at least.
const mostTail = isolated.MaxLine + 32

// into writes into a result how many lines there were and are missing, and the last ones for the agent. dropped is how
// many never came.
func (l *lines) into(r *conversation.Result, dropped int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	kept := l.kept
	if n := len(l.held); n > 0 { // what could not be saved is not there
		kept = slices.DeleteFunc(slices.Clone(kept), func(at int) bool { return at >= l.held[0].Order })
	}
	r.Lines = max(l.next, l.came+dropped)
	r.Dropped, r.Tail = r.Lines-len(kept), l.tail()
	r.Tests = l.tests.Counted(r.ExitCode)
}

// tail returns the last lines for the agent, each after its number.
func (l *lines) tail() string {
	var out []string
	size := 0
	for first := len(l.last); first > 0; first-- {
		one := fmt.Sprintf("%d: %s", l.last[first-1].Number, l.last[first-1].Text)
		if size += len(one) + 1; size > mostTail && out != nil {
			break
		}
		out = append(out, language.FirstBytes(one, mostTail))
	}
	slices.Reverse(out)
	return strings.Join(out, "\n")
}
