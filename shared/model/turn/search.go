package turn

import (
	"bytes"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/words/legible"
)

type hit struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	Text string `json:"text"` // as it stands in the file, with the blanks at its beginning
	// Cut says which part of a long line the text is. Hidden says that the text lacks characters that people can't see.
	Cut    string `json:"cut,omitempty"`
	Hidden bool   `json:"hidden,omitempty"`
}

// search returns the lines that hold a text.
func (f *Files) search(found []files.Found, sought string) (out shown) {
	var left []string
	binary, size := 0, 0
	began := time.Now()
	for i, x := range found {
		text, ok := x.Text()
		if !ok {
			binary++
			continue
		}
		if f.scanned+len(text) > MaxScanned || f.took+time.Since(began) > MaxScan {
			left = append(left, fmt.Sprintf("%s files that were not searched: one turn searches at most %d MiB in %s",
				conversation.Grouped(len(found)-i), MaxScanned>>20, MaxScan))
			break
		}
		f.scanned += len(text)
		for _, h := range hits(x.Path, text, sought, maxFound+1-len(out.Found)) {
			size += len(h.Path) + len(h.Text)
			if len(out.Found) == maxFound || size > maxResult/2 {
				out.NotShown = strings.Join(append(left, "further lines that hold the text: name a folder or a longer text"), "; ")
				return out
			}
			out.Found = append(out.Found, h)
		}
	}
	if binary > 0 {
		left = append(left, fmt.Sprintf("%s files that are links or %s", conversation.Grouped(binary), noText))
	}
	if out.NotShown = strings.Join(left, "; "); out.Found == nil {
		out.Lines = fmt.Sprintf("none in %s files", conversation.Grouped(len(found)-binary))
	}
	return out
}

// hits returns at most most lines of a file that hold a text.
func hits(path string, text []byte, sought string, most int) (out []hit) {
	line, at := 1, 0
	for len(out) < most {
		i := bytes.Index(text[at:], []byte(sought))
		if i < 0 {
			return out
		}
		line += bytes.Count(text[at:at+i], []byte("\n"))
		begin := bytes.LastIndexByte(text[:at+i], '\n') + 1
		end := len(text)
		if n := bytes.IndexByte(text[at+i:], '\n'); n >= 0 {
			end = at + i + n
		}
		h := around(text[begin:end], at+i-begin, len(sought))
		h.Path, h.Line = path, line
		out = append(out, h)
		if at = end + 1; at > len(text) {
			return out
		}
		line++
	}
	return out
}

// around returns a line in which a text of so many bytes stands at a place. Of a long line it returns the beginning or,
// if the text is beyond that, the part that begins shortly before the text.
func around(line []byte, place, length int) (h hit) {
	line = bytes.TrimSuffix(line, []byte("\r"))
	total, before := utf8.RuneCount(line), utf8.RuneCount(line[:min(place, len(line))])
	skipped := 0
	if utf8.RuneCount(line[:min(place+length, len(line))]) > maxAround {
		skipped = max(0, before-maxAround/4)
	}
	part := line
	for range skipped {
		_, n := utf8.DecodeRune(part)
		part = part[n:]
	}
	text := legible.First(string(part), maxAround)
	if n := utf8.RuneCountInString(text); n < total {
		is := conversation.NumbersOf([]conversation.Lines{{From: skipped + 1, To: skipped + n}}, false)
		h.Cut = fmt.Sprintf("characters %s of %s", is, conversation.Grouped(total))
	}
	h.Text, _, h.Hidden = legibleLine([]byte(text))
	return h
}
