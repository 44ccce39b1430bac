package card

import (
	"strings"

	"ringi/shared/domain/task"
	"ringi/shared/explain"
)

// attached names on one line the files that people can open beside the request, with a link to its page, and below it
// those that are not attached.
func (d drawing) attached() body {
	files, _ := d.a.Attached()
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = fill(d.w.FileAttached, "name", d.fileName(f.SharedFile), "size", Size(f.Bytes))
	}
	var lines []string
	if len(files) > 0 {
		lines = append(lines, fill(d.w.FilesAttached, "files", strings.Join(names, d.w.FilesBetween))+
			opens(Page(d.Console, d.a.Ref()), askWordsOf.In(d.w.Locale)))
	}
	lines = append(lines, d.notAttached(func(task.ReadFile) bool { return true })...)
	if d.a.Request != nil {
		lines = append(lines, d.w.filesNotRead(d.a.Request)...)
	}
	if len(lines) == 0 {
		return body{}
	}
	return body{blocks: contextOf([]string{cut(strings.Join(lines, "\n"), maxSection)})}
}

// notAttached says of some of the files that are not attached why they aren't.
func (d drawing) notAttached(some func(f task.ReadFile) bool) (lines []string) {
	_, left := d.a.Attached()
	for _, f := range left {
		if some(f) {
			why := explain.NotAttached(d.w.Locale, f)
			lines = append(lines, fill(d.w.FileNotAttached, "name", d.fileName(f.SharedFile), "why", why))
		}
	}
	return d.fewer(lines)
}
