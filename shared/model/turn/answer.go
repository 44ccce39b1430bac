package turn

import (
	"cmp"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/model"
	"ringi/shared/runtime/isolated"
	"ringi/shared/words/language"
)

// mostAgain is how often a model is asked again if its proposal can't be used.
const mostAgain = 2

// texts replace answers that can't be shown.
type texts struct{ Declined, CutOff, Invalid, Unsupported, Empty, Offering string }

//go:embed texts/*.json
var embedded embed.FS

var words = language.Catalog[texts]{Files: &embedded, Folder: "texts"}

// Answer makes one turn and returns the usable parts of the model's answer. If a proposal can't be used, the model is
// asked again up to mostAgain times. A model that reads files is answered and asked to go on, up to MaxRounds times.
// An error is a *model.Error or a *PaidError. The Reply, also one with an error, has the usage that Turn.Paid was not
// called with, and the rounds.
func Answer(ctx context.Context, w model.Wire, t Turn) (Reply, error) {
	r, prompt, err := t.request()
	if err != nil {
		return Reply{}, err
	}
	ctx, cancel := model.WithSpare(ctx)
	defer cancel()
	var reply Reply
	reading := t.begin(ctx, &r)
	for again := 0; ; {
		got, err := model.SayWhole(ctx, w, r, prompt)
		reply.Usage, reply.Calls = reply.Usage.Plus(got.Usage), reply.Calls+1
		reply.Usage.ID = aggregate.NewID()
		noTool := errors.Is(err, model.ErrNoTool)
		switch {
		case noTool:
			got = model.Response{} // nothing of it is usable
		case err != nil:
			return Reply{Usage: reply.Usage, Calls: reply.Calls, Rounds: reading.rounds}, err
		}
		if read, err := reading.read(ctx, &r, got, &reply); err != nil {
			return Reply{Usage: reply.Usage, Calls: reply.Calls}, err
		} else if read {
			continue
		}
		next := t.take(&reply, got, r.Tools)
		if noTool {
			reply.Code = NotSupported
		}
		if next == nil || again == mostAgain {
			if reply.Rounds = reading.rounds; reply.Code != Declined {
				reply.Text = reading.said(reply.Text)
			}
			t.finish(&reply)
			return reply, nil
		}
		again++
		r.Messages = append(r.Messages, next...)
	}
}

// take puts the usable parts of an answer into the reply. If the model has to be asked again, take returns the
// messages. Half a text is not usable.
func (t Turn) take(reply *Reply, got model.Response, offered []model.Tool) []model.Message {
	reply.Code = ""
	if text := strings.TrimSpace(language.Visible(got.Text)); text != "" &&
		got.Stop != model.StopLength { // asked again, a model may omit its text
		reply.Text = text
	}
	switch {
	case got.Stop == model.StopRefused:
		reply.Text, reply.Code = "", Declined
		return nil
	case got.Stop == model.StopLength && len(got.Calls) == 0:
		reply.Code = CutOff
		return nil
	case len(got.Calls) == 0:
		return nil
	}
	spoken, results := model.Message{Role: model.Assistant}, []model.Part(nil)
	if text := strings.TrimSpace(got.Text); text != "" {
		spoken.Parts = append(spoken.Parts, model.Part{Text: text})
	}
	for i, c := range got.Calls {
		c.ID = fmt.Sprintf("call_try%d_%d", reply.Calls, i+1) // a server may send none or repeat old ones
		j := t.judge(c, offered)
		if got.Stop == model.StopLength { // the arguments may look complete but are cut off
			j = judged{code: CutOff, problems: []string{"the answer was cut off after the limit of tokens: propose " +
				"something shorter"}}
		}
		if j.problems == nil { // one thing at a time: the first one
			reply.Action, reply.Request, reply.Code = j.proposal, j.request, ""
			return nil
		}
		reply.Code = j.code
		quoted, _ := json.Marshal(j.problems) // of texts; they quote the answer, which may quote anybody
		results = append(results, model.Part{Result: &model.Result{CallID: c.ID, Failed: true,
			Text: "It can't be used. What is wrong with it:\n<data>" + string(quoted) + "</data>"}})
		spoken.Parts = append(spoken.Parts, model.Part{Call: &c})
	}
	return []model.Message{spoken, {Role: model.User, Parts: results}}
}

// finish adds a sentence about a missing part of the reply.
func (t Turn) finish(reply *Reply) {
	w := words.In(t.Locale)
	missing := ""
	switch reply.Code {
	case Declined:
		missing = w.Declined
	case CutOff:
		missing = w.CutOff
	case Invalid:
		missing = w.Invalid
	case NotSupported:
		missing = w.Unsupported
	}
	if missing == "" && !language.Legible(reply.Text) && reply.Action == nil && reply.Request == "" {
		missing, reply.Code = w.Empty, Empty
	}
	switch { // a proposal is shown only in a message with a text
	case language.Legible(reply.Text):
	case reply.Action != nil:
		reply.Text = reply.Action.Summary
	case reply.Request != "":
		reply.Text = w.Offering
	}
	if missing != "" {
		reply.Text = strings.TrimSpace(reply.Text + "\n\n" + missing)
	}
}

// Limits of the attachments that a model is shown. The newest ones are counted first.
const (
	MaxFileText  = 64 << 10  // bytes of one text
	MaxFilesText = 160 << 10 // bytes of all texts
	MaxImage     = 3 << 20   // bytes of one image
	MaxImages    = 5
)

// imageTypes are the types that every vendor's models read.
var imageTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// Readable returns why a file of this type and size can't be shown to a model, or an empty text if it can.
func Readable(mime string, size int) (why string) {
	mime, _, _ = strings.Cut(mime, ";")
	switch {
	case slices.Contains(imageTypes, mime):
		if size > MaxImage {
			return fmt.Sprintf("the image has %d bytes, the limit is %d", size, MaxImage)
		}
	case strings.HasPrefix(mime, "text/"), mime == "application/json", mime == "application/yaml",
		mime == "application/x-yaml", mime == "application/xml", mime == "application/javascript":
		if size > MaxFileText {
			return fmt.Sprintf("the text has %d bytes, the limit is %d", size, MaxFileText)
		}
	default:
		return conversation.OnlyRead
	}
	return ""
}

func isImage(mime string) bool { return strings.HasPrefix(mime, "image/") }

// Attach reads the files of a history within the limits, the newest first, and records why the others are not shown.
// read returns a file's content, or why it can't be read.
func Attach(history []Message, read func(f File) (body []byte, why string)) {
	texts, images := MaxFilesText, MaxImages
	for i := range slices.Backward(history) {
		history[i].Files = slices.Clone(history[i].Files)
		for j := range history[i].Files {
			f := &history[i].Files[j]
			switch f.Why = cmp.Or(f.Why, Readable(f.Type, f.Size)); {
			case f.Why != "":
			case isImage(f.Type) && images == 0:
				f.Why = fmt.Sprintf("only the newest %d images are read", MaxImages)
			case !isImage(f.Type) && f.Size > texts:
				f.Why = fmt.Sprintf("only the newest %d bytes of texts are read", MaxFilesText)
			default:
				f.Body, f.Why = read(*f)
			}
			if f.Why != "" {
				f.Body = nil
				continue
			}
			sum := sha256.Sum256(f.Body)
			if f.Hash, f.Size = hex.EncodeToString(sum[:]), len(f.Body); isImage(f.Type) {
				images--
			} else {
				texts -= f.Size
			}
		}
	}
}

// lying adds where a file lies beside the conversation's files.
func (e entry) lying(f File) entry {
	if e.Lies = f.Lies; f.TextLies != f.Lies {
		e.TextAt = f.TextLies
	}
	if f.Encoding != "UTF-8" {
		e.Encoding = f.Encoding
	}
	var all []string
	for _, r := range f.Remarks {
		all = append(all, string(r))
	}
	e.Remarks = strings.Join(all, ", ")
	return e
}

// notRead says why a file is not shown, and how the model gets at it all the same.
func notRead(f File, why string) string {
	switch {
	case f.TextLies != "":
		return why + ": use read_file and search"
	case f.Lies != "" && slices.Contains(isolated.AllUnreadable, isolated.Unreadable(why)):
		return "its text can't be read (" + why + "); a command can use the file"
	}
	return why
}
