package organisation

import (
	"cmp"
	"slices"
)

// statement is what one row says of a person or a department for some days.
type statement struct {
	row    int
	during Period
	values []string // by field; an empty value says nothing
}

// phase is what rows say together of days on which none of them begins or ends.
type phase struct {
	during Period
	values []string
	rows   []int // by field: a row that says the value
	row    int   // one of the rows
}

// held is what the rows that hold on a day say of one field.
type held struct {
	count int // of rows that say something
	value string
	row   int
	end   Date // of the row that lasts longest, which is named
}

func (h *held) add(s statement, value string) (agrees bool) {
	if value == "" {
		return true
	}
	agrees = h.count == 0 || h.value == value
	if h.count == 0 || s.during.end() > h.end {
		h.value, h.row, h.end = value, s.row, s.during.end()
	}
	h.count++
	return agrees
}

func (h *held) remove(value string) {
	if value == "" {
		return
	}
	if h.count--; h.count == 0 {
		*h = held{}
	}
}

// phases brings together what rows say of one person or department. It calls conflict for each row that says something
// else of a field than another one for the same day.
func phases(said []statement, conflict func(s statement, field, other int)) (all []phase) {
	starts := slices.SortedFunc(slices.Values(said), func(a, b statement) int {
		return cmp.Or(cmp.Compare(a.during.From, b.during.From), cmp.Compare(a.row, b.row))
	})
	ends := slices.SortedFunc(slices.Values(said), func(a, b statement) int {
		return cmp.Compare(a.during.end(), b.during.end())
	})
	fields, present := make([]held, len(said[0].values)), held{}
	for len(ends) > 0 {
		day := nextDay(starts, ends)
		for ; len(ends) > 0 && ends[0].during.end() == day; ends = ends[1:] {
			for i, value := range ends[0].values {
				fields[i].remove(value)
			}
			present.remove("x")
		}
		for ; len(starts) > 0 && starts[0].during.From == day; starts = starts[1:] {
			for i, value := range starts[0].values {
				if other := fields[i].row; !fields[i].add(starts[0], value) {
					conflict(starts[0], i, other)
				}
			}
			present.add(starts[0], "x")
		}
		if present.count > 0 {
			all = append(all, phaseOf(until(day, nextDay(starts, ends)), fields, present.row))
		}
	}
	return all
}

// nextDay is the first day on which a row begins, or no longer holds. There is an end for each start.
func nextDay(starts, ends []statement) Date {
	day := ends[0].during.end()
	if len(starts) > 0 {
		day = min(day, starts[0].during.From)
	}
	return day
}

func phaseOf(during Period, fields []held, row int) phase {
	p := phase{during: during, row: row}
	for _, f := range fields {
		p.values, p.rows = append(p.values, f.value), append(p.rows, f.row)
	}
	return p
}

// joined makes one phase of phases that follow each other and say the same.
func joined(all []phase) (out []phase) {
	for _, p := range all {
		if last := len(out) - 1; last >= 0 && out[last].during.end() == p.during.From &&
			slices.Equal(out[last].values, p.values) {
			out[last].during = until(out[last].during.From, p.during.end())
			continue
		}
		out = append(out, p)
	}
	return out
}
