package card

import (
	"cmp"
	"strings"
)

// listing is a text in parts that sections don't split. A part may belong to an entry of those that a heading counts.
type listing struct {
	parts []part
	more  string // says how many entries are not shown whole; empty: none are counted
	below int    // characters that a section leaves for what stands below its parts; 0: usualBelow
}

const usualBelow = 100

// part is a part of a listing.
type part struct {
	text  string
	entry int    // number of its entry, from 1; 0: none
	again string // stands above the part if another section has the entry's beginning
}

// add adds parts of the entry with this number, 0 for parts of none.
//
//go:noinline
func (l *listing) add(entry int, again string, texts ...string) {
	for _, text := range texts {
		l.parts = append(l.parts, part{text, entry, again})
	}
}

// unshown says how many entries have a part from this one on.
func (l listing) unshown(from int, otherwise string) string {
	entries := map[int]bool{}
	for _, p := range l.parts[from:] {
		entries[p.entry] = true
	}
	delete(entries, 0)
	if l.more == "" || len(entries) == 0 {
		return otherwise
	}
	return fill(l.more, "n", len(entries))
}

// packed fills sections with texts and splits none of them.
func (d drawing) packed(parts []string, most int) body {
	var l listing
	l.add(0, "", parts...)
	return d.listed(l, most)
}

// listed draws a listing in up to most sections. The last one says that it goes on.
func (d drawing) listed(l listing, most int) body {
	if len(l.parts) == 0 {
		return body{}
	}
	room := maxSection - cmp.Or(l.below, usualBelow)
	whole := listing{more: l.more}
	for _, p := range l.parts {
		whole.add(p.entry, p.again, codePages(p.text, room)...)
	}
	pages, left := paged(whole.parts, room, most)
	if left > 0 {
		pages[most-1] += "\n" + whole.unshown(len(whole.parts)-left, d.w.GoesOn)
	}
	return body{sectioned(pages...), left > 0}
}

// paged fills up to most sections of at most room characters with complete parts, and counts the parts that are left.
func paged(parts []part, room, most int) (pages []string, left int) {
	var page []string
	used, high := 0, 0
	add := func(text string) {
		page = append(page, text)
		used, high = used+units(text)+1, high+height(text)
	}
	for i, p := range parts {
		if (used+units(p.text)+1 > room || high+height(p.text) > maxLines) && len(page) > 0 {
			pages = append(pages, strings.Join(page, "\n"))
			page, used, high = nil, 0, 0
		}
		if len(pages) == most {
			return pages, len(parts) - i
		}
		if len(page) == 0 && i > 0 && p.again != "" && parts[i-1].entry == p.entry {
			add(p.again)
		}
		add(p.text)
	}
	return append(pages, strings.Join(page, "\n")), 0
}
