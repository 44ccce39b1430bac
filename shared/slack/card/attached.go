package card

import (
	"cmp"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/words/legible"
)

// attached names the files that people can open beside a version, one a line and each whole, with a link to its page,
// and below them those that are not attached.
func (d drawing) attached(version task.Gated) body {
	files, left := d.a.AttachedTo(version)
	var lines []string
	for _, f := range files {
		lines = append(lines, fill(d.w.FileAttached, "name", fileName(d.w, f.SharedFile, everything), "size", Size(f.Bytes),
			"hash", short(f)))
	}
	if n := len(lines); n > 0 {
		lines[n-1] += opens(Page(d.Console, d.a.Ref()), askWordsOf.In(d.w.Locale))
	}
	for _, f := range left {
		lines = append(lines, d.notAttached(f, everything))
	}
	if d.a.Request != nil {
		lines = append(lines, d.w.filesNotRead(d.a.Request)...)
	}
	return small(lines)
}

// notAttached says of a file that is not attached why it isn't.
func (d drawing) notAttached(f task.ReadFile, most int) string {
	return fill(d.w.FileNotAttached, "name", fileName(d.w, f.SharedFile, most), "why", explain.NotAttached(d.w.Locale, f))
}

// short is the beginning of a file's hash.
func short(f task.ReadFile) string { return f.SHA256[:min(12, len(f.SHA256))] }

// fileName sets a file's name apart from the words around it: in quotation marks, or as code if Slack would format it.
// Different names look different, unless one takes more than most units: then only its beginning is shown.
func fileName(w *words, f aggregate.SharedFile, most int) string {
	name := legible.OneLine(cmp.Or(f.Name, f.ID, "?"))
	shown := asWritten(name)
	if units(shown) > most {
		return fill(w.Quoted, "text", or(inline(name, most), "?"))
	}
	if strings.HasPrefix(shown, " `") {
		return strings.TrimSpace(shown)
	}
	return fill(w.Quoted, "text", shown)
}

// small draws lines below one another in the blocks of a context, each line whole if a block can hold it.
func small(lines []string) (out body) {
	var text []string
	used := 0
	put := func() {
		out.blocks = append(out.blocks, contextOf([]string{strings.Join(text, "\n")})...)
		text, used = nil, 0
	}
	for _, line := range saying(lines) {
		if used+units(line) > maxSection {
			put()
		}
		shown := cut(line, maxSection)
		out.cut, text, used = out.cut || shown != line, append(text, shown), used+units(shown)+1
	}
	put()
	return out
}
