package card

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"

	"ringi/shared/words/legible"
)

// fenced splits a text into up to most code blocks of at most limit units each, and of one line less than maxLines, so
// that a section has room for a line above. rest reports whether some of it did not fit.
func fenced(text string, limit, most int) (pages []string, rest bool) {
	const fence = "```"
	room := limit - 2*len(fence) - 2
	var page []string
	used := 0
	closePage := func() {
		pages = append(pages, fence+"\n"+strings.Join(page, "\n")+"\n"+fence)
		page, used = nil, 0
	}
	for _, line := range folded(escape(emptyCounted(text)), room) {
		if (used+units(line)+1 > room || len(page) == maxLines-3) && len(page) > 0 {
			closePage()
			if len(pages) == most {
				return pages, true
			}
		}
		page = append(page, line)
		used += units(line) + 1
	}
	closePage()
	return pages, rest
}

// maxEmpty is the most empty lines in a row that a code block shows; a longer run is written as its number.
const maxEmpty = 3

// emptyCounted replaces long runs of empty lines by their number.
func emptyCounted(text string) string {
	var out []string
	empty := 0
	end := func() {
		if empty > maxEmpty {
			out = append(out[:len(out)-empty], fmt.Sprintf("⏎ ×%d", empty))
		}
		empty = 0
	}
	for line := range strings.SplitSeq(text, "\n") {
		if legible.Text(line) {
			end()
			out = append(out, line)
			continue
		}
		out, empty = append(out, line), empty+1
	}
	end()
	return strings.Join(out, "\n")
}

// folded splits an escaped text into lines. It breaks a line over limit units into several, with a mark where each
// continues.
func folded(text string, limit int) []string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		for units(line) > limit {
			end := max(breakAt(line, limit-units(goesOn)), 1)
			out = append(out, line[:end]+goesOn)
			line = line[end:]
		}
		out = append(out, line)
	}
	return out
}

// visible writes invisible characters, and backticks that would end a block of code, as JSON escapes: the text stays the
// same JSON.
func visible(s string) string {
	s = fenceForm.Get().ReplaceAllStringFunc(strings.ToValidUTF8(s, "\ufffd"), func(ticks string) string {
		return strings.Repeat(`\u0060`, len(ticks))
	})
	var b strings.Builder
	for _, r := range s {
		hidden := r != '\n' && r != ' ' && r != '\u3000' && (legible.Ignorable(r) || legible.Blank(r))
		switch {
		case !hidden:
			b.WriteRune(r)
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, hi, lo)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return or(b.String(), "{}")
}

// maxDepth bounds pretty's recursion: arguments are shallow, and indenting takes time in proportion to depth times
// size.
const maxDepth = 32

var errTooDeep = errors.New("JSON is nested too deeply")

// pretty indents JSON and puts lists of plain values on one line. It returns other texts, and JSON that is too deep,
// unchanged.
func pretty(s string) string {
	dec := json.NewDecoder(strings.NewReader(s))
	dec.UseNumber()
	var b strings.Builder
	if err := writeValue(&b, dec, ""); err != nil || dec.More() {
		return s
	}
	return b.String()
}

func writeValue(b *strings.Builder, dec *json.Decoder, indent string) error {
	t, err := dec.Token()
	if err != nil {
		return err
	}
	open, ok := t.(json.Delim)
	if !ok {
		b.WriteString(compact(t))
		return nil
	}
	if len(indent) > 2*maxDepth {
		return errTooDeep
	}
	var items []string
	flat := open == '['
	for dec.More() {
		var item strings.Builder
		if open == '{' {
			key, err := dec.Token()
			if err != nil {
				return err
			}
			item.WriteString(compact(key) + ": ")
		}
		start := item.Len()
		if err := writeValue(&item, dec, indent+"  "); err != nil {
			return err
		}
		flat = flat && !strings.ContainsAny(item.String()[start:start+1], "[{")
		items = append(items, item.String())
	}
	end, err := dec.Token()
	if err != nil {
		return err
	}
	joined := strings.Join(items, ",\n"+indent+"  ")
	switch {
	case len(items) == 0:
		fmt.Fprintf(b, "%s%s", open, end)
	case flat:
		fmt.Fprintf(b, "[%s]", strings.Join(items, ", "))
	default:
		fmt.Fprintf(b, "%s\n%s  %s\n%s%s", open, indent, joined, indent, end)
	}
	return nil
}
