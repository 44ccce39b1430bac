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
		number := 0
		for line := range bytes.Lines(text) {
			number++
			at := bytes.Index(line, []byte(sought))
			if at < 0 {
				continue
			}
			h := around(line, at, len(sought))
			h.Path, h.Line = x.Path, number
			if size += len(h.Path) + len(h.Text); len(out.Found) == maxFound || size > maxResult/2 {
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

// around returns a line in which a text of so many bytes stands at a place. Of a long line it returns the beginning or,
// if the text is beyond that, the part that begins shortly before the text.
func around(line []byte, place, length int) (h hit) {
	all := []rune(string(bytes.TrimRight(line, "\r\n")))
	from := 0
	if before := utf8.RuneCount(line[:place]); utf8.RuneCount(line[:place+length]) > maxAround {
		from = max(0, before-maxAround/4)
	}
	to := min(len(all), from+maxAround)
	if to-from < len(all) {
		is := conversation.NumbersOf([]conversation.Lines{{From: from + 1, To: to}}, false)
		h.Cut = fmt.Sprintf("characters %s of %s", is, conversation.Grouped(len(all)))
	}
	part := string(all[from:to])
	h.Text = strings.ReplaceAll(legible.VisibleCode(part), "\n", " ")
	h.Hidden = h.Text != part
	return h
}
