package card

import (
	"cmp"
	"slices"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/words/legible"
)

// because says why a version came after others: the last one that was sent back.
func (d drawing) because(i int, at func(int) *aggregate.Gate) string {
	if i--; i < 0 || at(i).Status != aggregate.Rejected || at(i).RejectedBy == "" {
		return ""
	}
	g := at(i)
	return fill(d.w.SentBackFor, "who", d.w.mention(g.RejectedBy), "reason", inline(g.RejectionReason, maxDetail/2))
}

// Differences says what differs between the steps of a version and those before, and in their form: its files, and its
// description, of which it tells the lines that changed. What the steps move in all is last.
func Differences(a *task.Aggregate, locale string, at int) []explain.Change {
	was, is := a.Processes[at-1], a.Processes[at]
	all := explain.Between(locale, was.Steps, is.Steps)
	before, now := a.MatterOf(was), a.MatterOf(is)
	if before == nil || now == nil {
		return all
	}
	var more []explain.Change
	if before.Description != now.Description {
		more = append(more, descriptions(locale, before.Description, now.Description))
	}
	old, files := a.FilesOf(was.ID), a.FilesOf(is.ID)
	for _, f := range without(files, old) {
		more = append(more, explain.Change{Name: fileField(locale), Is: fileNamed(f)})
	}
	for _, f := range without(old, files) {
		more = append(more, explain.Change{Name: fileField(locale), Was: fileNamed(f)})
	}
	return slices.Insert(all, max(0, len(all)-1), more...)
}

// descriptions tells the lines of a description that changed.
func descriptions(locale, before, now string) explain.Change {
	old, lines := strings.Split(before, "\n"), strings.Split(now, "\n")
	for len(old) > 0 && len(lines) > 0 && old[0] == lines[0] {
		old, lines = old[1:], lines[1:]
	}
	for len(old) > 0 && len(lines) > 0 && old[len(old)-1] == lines[len(lines)-1] {
		old, lines = old[:len(old)-1], lines[:len(lines)-1]
	}
	said := func(lines []string) (out []explain.Piece) {
		for i, line := range lines {
			if i > 0 {
				out = append(out, explain.Piece{Kind: explain.Break, Text: " / "})
			}
			out = append(out, explain.Piece{Kind: explain.Value, Text: line})
		}
		return out
	}
	name := []explain.Piece{{Kind: explain.Words, Text: askWordsOf.In(locale).Matter[MatterDescription]}}
	return explain.Change{Name: name, Was: said(old), Is: said(lines)}
}

// without returns the files that are not among others.
func without(files, others []task.ReadFile) []task.ReadFile {
	return slices.DeleteFunc(slices.Clone(files), func(f task.ReadFile) bool {
		return slices.ContainsFunc(others, func(o task.ReadFile) bool { return o.ID == f.ID })
	})
}

func fileField(locale string) []explain.Piece {
	return []explain.Piece{{Kind: explain.Words, Text: askWordsOf.In(locale).MatterAttached}}
}

func fileNamed(f task.ReadFile) []explain.Piece {
	return []explain.Piece{{Kind: explain.Value, Text: legible.OneLine(cmp.Or(f.Name, f.ID))}}
}

// since says what steps do otherwise than those before, and why. Of a form it has more room, since whoever filled it in
// may have changed all of it.
func (d drawing) since(at int) string {
	most, room := 5, maxInlineCode
	if d.a.Matter() != nil {
		most, room = maxSection, maxSection/2
	}
	was := d.a.Processes[at-1]
	var all []string
	left, used := 0, 0
	changes := Differences(d.a, d.w.Locale, at)
	for i, c := range changes {
		text := d.w.ChangedTo
		switch {
		case c.Was == nil:
			text = d.w.ChangedNew
		case c.Is == nil:
			text = d.w.ChangedGone
		}
		line := fill(text, "name", d.line(c.Name), "was", d.line(c.Was), "is", strong(d.line(c.Is)))
		last := i == len(changes)-1 // what all steps move, if that changed
		if n := units(line); n > room || !last && (len(all) == most-1 || used+n > room) {
			left++
			continue
		}
		all, used = append(all, line), used+units(line)
	}
	if left > 0 {
		all = append(all, fill(d.w.MoreSteps, "n", left))
	}
	why := d.because(at, func(i int) *aggregate.Gate { return &d.a.Processes[i].Gate })
	if len(changes) == 0 && why == "" {
		return ""
	}
	return d.sinceWith(was.Version, len(changes) == 0, ": "+strings.Join(all, " · "), why)
}

func (d drawing) sinceWith(version int, nothing bool, changes, why string) string {
	text := d.w.Since
	if nothing {
		text = d.w.SinceNothing
	}
	return fill(text, "version", version, "changes", changes) + why
}
