package large

import (
	"bytes"
	"encoding/json"
	"fmt"
	"ringi/shared/words/legible"
	"unicode/utf8"
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
			out[name] = abridged(member)
		}
	}
	return short(out)
}

// preview shortens a value for people: it has every name, but texts are cut, and a list shows only its first element
// and the number of further ones. Personal data is masked.
func preview(v json.RawMessage) string {
	p := previewed{json.NewDecoder(bytes.NewReader(v)), maxPreview}
	p.UseNumber()
	x, err := p.value(0)
	if err != nil {
		return text(string(v), maxPreview)
	}
	return short(x)
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
	return abridged(start), nil
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

func abridged(v any) any {
	switch v := v.(type) {
	case string:
		return text(v, maxText)
	case []any:
		if len(v) < 2 {
			return each(v)
		}
		return append(each(v[:1]), fmt.Sprintf("… +%d", len(v)-1))
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, member := range v {
			out[legible.Mask(name)] = abridged(member)
		}
		return out
	}
	return legible.MaskScalar(v)
}

func each(v []any) []any {
	out := make([]any, len(v))
	for i := range v {
		out[i] = abridged(v[i])
	}
	return out
}

func cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-3]) + "..."
}
