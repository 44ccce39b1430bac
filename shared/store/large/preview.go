package large

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/isolated"
	"ringi/shared/runtime/outbound"
	"ringi/shared/words/legible"
)

const (
	maxPreview = 1500 // characters
	maxText    = 120  // characters of one text in the preview
)

// previewArguments returns the preview of a call's arguments that a person reads before approving it. Personal data is
// masked except in destinations.
func previewArguments(members map[string]any) string {
	out := map[string]any{}
	for name, member := range members {
		out[name] = member
		if !legible.MaskDestination(member) {
			encoded, _ := json.Marshal(member) // which was decoded from JSON
			out[name], _ = abridged(encoded)
		}
	}
	return short(out)
}

// preview shortens a value for people: it has every name, but texts are cut, and a list shows only its first element
// and the number of further ones. Personal data is masked.
func preview(v json.RawMessage) string {
	x, err := abridged(v)
	if err != nil {
		return text(string(v), maxPreview)
	}
	return short(x)
}

// abridged decodes a value and shortens it.
func abridged(v []byte) (any, error) {
	p := previewed{json.NewDecoder(bytes.NewReader(v)), maxPreview}
	p.UseNumber()
	return p.value(0)
}

// previewed abridges what it decodes. Of a list it decodes the first element only, and it keeps no more values than can
// be seen: whole, a result of some megabytes takes some hundred.
type previewed struct {
	*json.Decoder
	left int // how many more values are kept below the first level
}

// value is abridged for the next value.
func (p *previewed) value(depth int) (any, error) {
	if depth > maxPreview || depth > 1 && p.left <= 0 {
		return "…", p.Decode(new(passed))
	}
	p.left--
	start, err := p.Token()
	if err != nil {
		return nil, err
	}
	switch start {
	case json.Delim('['):
		return p.list(depth)
	case json.Delim('{'):
		return p.object(depth)
	}
	if s, is := start.(string); is {
		return text(s, maxText), nil
	}
	return legible.MaskScalar(start), nil
}

func (p *previewed) list(depth int) (any, error) {
	out := []any{}
	more := 0
	for ; p.More(); more++ {
		if more > 0 {
			if err := p.Decode(new(passed)); err != nil {
				return nil, err
			}
			continue
		}
		first, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		out = append(out, first)
	}
	if more > 1 {
		out = append(out, fmt.Sprintf("… +%d", more-1))
	}
	_, err := p.Token()
	return out, err
}

func (p *previewed) object(depth int) (any, error) {
	out := map[string]any{}
	more := 0
	for p.More() {
		name, err := p.Token()
		if err != nil {
			return nil, err
		}
		if len(out) > maxPreview || depth > 0 && p.left <= 0 {
			more++
			err = p.Decode(new(passed))
		} else {
			out[legible.Mask(name.(string))], err = p.value(depth + 1)
		}
		if err != nil {
			return nil, err
		}
	}
	if more > 0 {
		out["…"] = fmt.Sprintf("+%d", more)
	}
	_, err := p.Token()
	return out, err
}

// passed is a value that is read and not kept.
type passed struct{}

func (*passed) UnmarshalJSON([]byte) error { return nil }

func short(x any) string {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(x); err != nil { // x was decoded from JSON, so this does not happen
		return ""
	}
	return cut(string(bytes.TrimSpace(out.Bytes())), maxPreview)
}

// text masks before it cuts: the rest of an e-mail address that was cut would not be recognised and masked.
func text(s string, limit int) string { return cut(legible.Mask(cut(s, limit+400)), limit) }

func cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-3]) + "..."
}

// textWithin is how long the address of a file that is read is good, and how long its text is waited for: two tries.
const textWithin = 45 * time.Second

// Texts returns a function that has a file's text read by the function read-file, which gets the address of that one
// object. A file on which the function ends twice, since it takes too long or too much memory, would end it again; once
// may be chance.
func (s Store) Texts(cfg aws.Config, name string,
) func(context.Context, aggregate.Ref, []byte) (isolated.FileText, error) {
	reader := outbound.FunctionAt(cfg, name)
	return func(ctx context.Context, ref aggregate.Ref, file []byte) (text isolated.FileText, err error) {
		ctx, cancel := context.WithTimeout(ctx, textWithin)
		defer cancel()
		address, err := s.Lend(ctx, ref, file, textWithin)
		if err != nil {
			return text, err
		}
		order := isolated.FileOrder{Address: address, SHA256: aggregate.HashOf(string(file))}
		err = reader.Call(ctx, order, &text)
		if errors.Is(err, outbound.ErrEnded) {
			slog.WarnContext(ctx, "the reading of a file ended", "sha256", order.SHA256, "why", err)
			err = reader.Call(ctx, order, &text)
		}
		switch {
		case errors.Is(err, outbound.ErrEnded):
			return isolated.FileText{Why: isolated.TooComplex}, nil
		case err != nil:
			return text, fmt.Errorf("read a file: %w", err)
		case (text.Form == "") == (text.Why == ""):
			return text, errors.New("read a file: the answer says neither its text nor why there is none")
		}
		return text, nil
	}
}

// Opened returns a copy of a task for drawing the card of one gate, given by its key or id. The arguments of that
// gate's step, which may be megabytes, are complete; other steps have previews. The copy must not be saved. If the
// arguments were deleted, the card shows the preview.
func (s Store) Opened(ctx context.Context, a *task.Aggregate, gate string) (*task.Aggregate, error) {
	for i, g := range a.Gates {
		if gate != g.Key() && gate != g.ID || g.Arguments.JSON != "" || g.Arguments.S3Key == "" {
			continue
		}
		v, err := s.Open(ctx, a.Ref(), g.Arguments)
		if MissingObject(err) || errors.Is(err, aggregate.ErrNotFound) {
			slog.WarnContext(ctx, "arguments are gone", "task_id", a.Head.TaskID, "gate", g.Key())
			return a, nil
		}
		if err != nil {
			return nil, fmt.Errorf("arguments of %s: %w", g.Key(), err)
		}
		out, opened := *a, *g
		opened.Arguments.JSON = aggregate.JSON(v)
		out.Gates = slices.Clone(a.Gates)
		out.Gates[i] = &opened
		return &out, nil
	}
	return a, nil
}
