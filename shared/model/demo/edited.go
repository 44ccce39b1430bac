package demo

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// edited takes what people made of a drafted policy: another text of a message, other values of an order. What else
// they changed the demo doesn't understand: it stands in Unclear, and nothing is planned.
func (w *meant) edited(before, after string) {
	if begin, end, found := strings.Cut(before, w.words.quote(w.Quote)); found && w.Kind() == "message" {
		text, begins := strings.CutPrefix(after, begin)
		text, ends := strings.CutSuffix(text, end)
		m := form("$quoted").FindStringSubmatch(text)
		if begins && ends && m != nil && m[0] == text && utf8.RuneCountInString(text) <= maxMessage {
			w.Quote, after = named(form("$quoted"), m)["q"], before
		}
	}
	was, is, said, unclear := linesOf(before), linesOf(after), map[string]int{}, []string{}
	for _, line := range is {
		name := w.value(line)
		said[name]++
		again := name != "" && said[name] > 1
		if again || !slices.Contains(was, line) && (name == "" || !w.Order.set(name, line)) {
			unclear = add(unclear, line)
		}
	}
	for _, line := range was {
		name := w.value(line)
		gone := !slices.Contains(is, line) && (name == "" || said[name] == 0) && !strings.HasPrefix(line, w.Say("assumed"))
		if gone && len(unclear) == 0 { // else it was changed into what is unclear
			w.Unclear = []string{w.Say("removed", oneLine(line))}
		}
	}
	if o := w.Order; w.Kind() == "purchase" && o.Quantity*o.Price != o.Total && len(unclear)+len(w.Unclear) == 0 {
		unclear = []string{w.Say("sum", o.Quantity, yen(o.Price), yen(o.Total))}
	}
	w.Unclear = append(unclear, w.Unclear...)
}

// linesOf are the lines of a policy, without the blanks at their ends.
func linesOf(policy string) (all []string) {
	for line := range strings.Lines(policy) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	return all
}

// value is the form of a line that has one of an order's values, "" if it has none.
func (w *meant) value(line string) string {
	if w.Kind() != "purchase" {
		return ""
	}
	for _, name := range []string{"$item", "$quantity", "$price", "$total"} {
		if form(name).MatchString(normal(line)) {
			return name
		}
	}
	return ""
}

// set changes a value of an order to that of a line, and reports whether the tool takes it.
func (o *order) set(name, line string) bool {
	x := named(form(name), form(name).FindStringSubmatch(normal(line)))
	switch n := number(x["price"]); name {
	case "$item":
		o.Name = strings.Trim(x["name"], marks+" ")
		return o.Name != ""
	case "$quantity":
		o.Quantity = number(x["n"])
		return o.Quantity >= 1 && o.Quantity <= mostOrdered && o.names(x["name"])
	case "$price":
		o.Price = n
		return n >= 1 && n <= mostPaid
	default:
		o.Total = n
		return true
	}
}

// names reports whether a name, if there is one, is that of what is ordered.
func (o *order) names(name string) bool {
	one := func(name string) string {
		return strings.TrimSuffix(strings.ToLower(strings.Trim(name, marks+" ")), "s")
	}
	return name == "" || one(name) == one(o.Name)
}
