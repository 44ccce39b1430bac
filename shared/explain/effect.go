package explain

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/words/language"
)

// Effect is what one step does: all that a person stamps of it. Two different calls have different effects. No model
// writes any of it.
type Effect struct {
	Order      int // of its step; 0: it is none
	Tool       string
	Access     aggregate.Access
	Act        rules.Act
	Sentence   []Piece
	Named      [2][]Piece // what a list calls it instead, and what else the sentence names; nil: nothing else
	done       []Piece    // Sentence once it is done, of a sheet without its rows; nil: as before
	Words      []Piece    // the text that people will get, line by line; nil: none
	Amount     rules.Amount
	Rest       []Argument // every argument that no other part has, one by one
	Final      bool       // Ringi can't undo it: see Warning
	unreadable bool       // nobody can read the arguments: see Sum.Unreadable
	short      string     // for notifications
}

// Argument is one argument, a part of one, or a row of a list.
type Argument struct {
	Name, Value []Piece
	Text        string     // the value as it is, if it is a text
	Aside       bool       // people see it in the rows: the columns of a sheet
	Cells       []Argument // the values of a row that Value has in one line, with their names; nil: it is no such row
}

// Numeric reports whether a value begins as a number does; a text that does has quotation marks.
func (a *Argument) Numeric() bool { return strings.IndexAny(Plain(a.Value), "-0123456789") == 0 }

// Number of a row in its list.
func (a *Argument) Number() string { return a.Name[len(a.Name)-1].Text }

// Rows returns how many of the first arguments are rows of one list with the same names, and what the list is called. A
// single one of several is none.
func Rows(all []Argument) (list []Piece, n int) {
	of := func(a Argument) []Piece { return a.Name[:max(0, len(a.Name)-2)] } // without the number
	for n < len(all) && all[n].Cells != nil && slices.Equal(of(all[n]), of(all[0])) && slices.EqualFunc(
		all[n].Cells, all[0].Cells, func(a, b Argument) bool { return slices.Equal(a.Name, b.Name) }) {
		n++
	}
	if n == 1 && (all[0].Number() != "1" || len(all) > 1 && slices.Equal(of(all[1]), of(all[0]))) {
		n = 0
	}
	return of(all[0]), n
}

// manyRows are so many that a value which most have, and no more than one in four hasn't, is said once.
const manyRows = 6

// Alike says once what most of many rows have as their value at i, and what the others have, of which there may be so
// many: one value, or that of a column before. It has no value if rows are few, or differ, or i is 0, or two columns
// have one name: nobody could tell them apart.
func Alike(locale string, rows []Argument, i, others int) (said Argument) {
	if i == 0 || len(rows) < manyRows {
		return said
	}
	w, first := effectWordsOf.In(locale), rows[0]
	for at, x := range first.Cells {
		if slices.ContainsFunc(first.Cells[:at], func(o Argument) bool { return Plain(o.Name) == Plain(x.Name) }) {
			return said
		}
	}
	for c := range manyRows + i {
		usual, value := func(x Argument) []Piece { return x.Cells[c-manyRows].Value }, []Piece(nil)
		if c < manyRows {
			value = rows[c].Cells[i].Value
			usual = func(Argument) []Piece { return value }
		} else {
			l := &writer{}
			l.fill(w.AsBefore, func(string) { l.out = append(l.out, first.Cells[c-manyRows].Name...) })
			value = l.out
		}
		differing := slices.DeleteFunc(slices.Clone(rows), func(x Argument) bool {
			return slices.Equal(x.Cells[i].Value, usual(x))
		})
		if len(differing) > min(others, len(rows)/4) {
			continue
		}
		text, differ := w.EachRow, []Piece(nil)
		for at, x := range differing {
			text, differ = w.MostRows, append(differ, Piece{Words, "#" + x.Number() + " "})
			is := x.Cells[i].Value
			if at+1 == len(differing) || !slices.Equal(is, differing[at+1].Cells[i].Value) {
				differ = append(append(differ, is...), Piece{Words, w.Separator})
			}
		}
		l := &writer{locale: locale, w: lineWordsOf(locale)}
		l.fill(fill(text, "n", len(rows)-len(differing)), func(name string) {
			l.out = append(l.out, map[string][]Piece{"value": value, "others": differ}[name]...)
		})
		list := first.Name[:len(first.Name)-1] // without the number, or it would read as an argument of the call
		return Argument{Name: slices.Concat(list, first.Cells[i].Name), Value: l.out}
	}
	return said
}

type effectWords struct {
	// Acts are an act's forms: of sentences about a party and items, the same once done, short ones, and why it is final.
	Acts map[string]map[string]string

	Check, ByLast, Person, Separator, EmptyList, EmptyObject, Unread,
	Total, Unknown, Unstated, Unpriced, NoMoney, OnlyReads, Others, Step, Missing, Unwritten, Default,
	Moved, Anew, Unreadable, EachRow, MostRows, AsBefore string
	Description, Attached string // what differs of a form beside its steps
}

var effectWordsOf = language.Catalog[effectWords]{Files: &texts, Folder: "texts/effect"}

// Effects returns what steps do, each by itself. Two different plans have different effects.
func Effects(locale string, steps []task.Step) (writes, reads []Effect) {
	for i, s := range steps {
		e := tellerOf(locale, &s, nil, steps[:i], false).e
		if s.Access == aggregate.Read {
			reads = append(reads, e)
		} else {
			writes = append(writes, e)
		}
	}
	return writes, reads
}

// EffectOf returns what one call does. shown are its arguments with personal data masked, nil if nothing is; they may
// refer to the results of earlier steps.
func EffectOf(locale string, s task.Step, shown map[string]any, earlier []task.Step) Effect {
	return tellerOf(locale, &s, shown, earlier, false).e
}

// Unsaid are the arguments in one line where nobody said what the tool does, so that only they tell its calls apart.
func (e *Effect) Unsaid() (all []Piece) {
	if e.Act != "" {
		return nil
	}
	for _, a := range e.Rest {
		all = append(append(append(append(all, Piece{Text: " · "}), a.Name...), Piece{Text: " "}), a.Value...)
	}
	return all[min(1, len(all)):]
}

// Warning says why it matters that the effect is final, "" if it isn't.
func (e *Effect) Warning(locale string) string {
	if !e.Final {
		return ""
	}
	return effectWordsOf.In(locale).Acts[formOf(e.Tool, e.Act)]["Final"]
}

// FinalBriefly is Warning for a row of a list.
func (e *Effect) FinalBriefly(locale string) string {
	if !e.Final {
		return ""
	}
	acts := effectWordsOf.In(locale).Acts
	return cmp.Or(acts[formOf(e.Tool, e.Act)]["FinalBriefly"], acts[""]["FinalBriefly"])
}

// Check says that a step is asked about once more before it runs, by whom if last; or "".
func Check(locale string, s task.Step, last bool) string {
	if !s.RequiresHumanCheck {
		return ""
	}
	w := effectWordsOf.In(locale)
	return fill(w.Check, "by", map[bool]string{true: w.ByLast}[last])
}

// formOf returns by which texts an act of a tool is told.
func formOf(tool string, act rules.Act) string {
	if tool == tenancy.MessageTool {
		return "dm"
	}
	return string(act)
}

// teller makes the effect of one step.
type teller struct {
	locale  string
	w       *effectWords
	step    *task.Step
	look    look
	earlier []task.Step
	args    map[string]any
	gone    map[string]bool // pointers of the arguments that other parts than the rest have exactly
	to      []Piece         // whom it is for
	exact   bool            // nobody else is named as in to
	apart   bool            // each leaf of a list's rows is an argument of its own
	left    []Argument      // a server's defaults, which the call leaves out
	result  bool            // to is, or has, what an earlier step returns
	named   bool            // a result has the name of its tool
	e       Effect
}

// tellerOf tells a step. named says whether results have the names of their tools.
func tellerOf(locale string, s *task.Step, shown map[string]any, earlier []task.Step, named bool) *teller {
	t := &teller{locale: locale, w: effectWordsOf.In(locale), step: s, look: lookOf(s), earlier: earlier,
		gone: map[string]bool{}, named: named}
	t.e = Effect{Order: s.Order, Tool: s.Tool, Access: s.Access, Act: s.Act(),
		Amount: s.Amount(), Final: s.Access != aggregate.Read}
	args, ok := decode(s.ToolInput)
	if shown != nil {
		args, ok = shown, true
	}
	t.args = args
	switch {
	case !ok:
		t.unread()
	case t.look.own != nil && t.look.own.Line != nil:
		t.line()
	default:
		t.parts()
	}
	t.left = t.leftOut()
	t.e.Rest = append(t.e.Rest, t.left...)
	return t
}

// unread names a step by its tool's title and has its arguments as they are, if there are any.
func (t *teller) unread() {
	l := t.writer()
	l.fill(fill(l.w.unread, "n", t.step.Order), func(string) {
		if t.look.own == nil {
			l.titled(t.step)
			return
		}
		l.words(t.look.own.Title.In(t.locale))
	})
	t.e.short = Plain(l.out)
	if t.step.ToolInput != "" {
		l.words(": ")
		l.quoted(string(t.step.ToolInput))
	}
	t.e.Sentence, t.e.unreadable, t.e.Final = l.out, true, false
}

func (t *teller) writer() *writer {
	return &writer{locale: t.locale, w: lineWordsOf(t.locale), earlier: t.earlier, named: t.named}
}

// parts tells a call part by part; what no other part has exactly is in the rest.
func (t *teller) parts() {
	if t.step.Tool == toolSheet {
		t.sheet()
	} else {
		t.read()
		t.sentence()
	}
	t.amount()
	details, first, then := t.pairs(), t.e.Rest, t.rest(nil, t.args)
	if _, literal := t.args["rows"].([]any); literal && t.gone["/columns"] { // they have the titles themselves
		first, then = then, first
	}
	t.e.Rest = slices.Concat(first, then, details)
}

// amount notes that the amount of a decision stands before its sentence. One of 0 stands among the rest, in words.
func (t *teller) amount() {
	m, currency := t.e.Amount, t.args["currency"]
	switch {
	case t.step.Tool != tenancy.DecideTool || !m.Known() || fmt.Sprint(t.args["amount"]) != string(m.Value):
	case m == rules.Nothing() && currency == nil:
		t.e.Rest = append(t.e.Rest, Argument{Name: t.name([]part{{name: "amount"}}),
			Value: []Piece{{Value, "0"}, {Words, " (" + t.w.NoMoney + ")"}}})
		t.gone["/amount"] = true
	case currency == any(m.Currency):
		t.gone["/amount"], t.gone["/currency"] = true, true
	}
}

// read finds the words, and whom they are for.
func (t *teller) read() {
	if v, _ := t.at(t.look.words); t.look.words != "" {
		if text, is := v.(string); is && text != "" {
			t.e.Words = lines(text)
			t.gone[t.look.words] = true
		}
	}
	v, found := t.at(t.look.party)
	if t.look.party == "" || !found || t.e.Act == "" {
		return
	}
	t.to, t.exact = t.party(v)
}

// text writes a text in quotation marks unless it is a word that nothing else looks like.
func (l *writer) text(s string) {
	switch {
	case s == "":
		l.words(l.w.empty)
	case bare(s) && language.OneLine(s) == s:
		l.add(Value, s)
	default:
		l.quoted(s)
	}
}

func bare(s string) bool {
	ascii := !strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII })
	return plainName(s) && (ascii || !strings.ContainsFunc(s, unicode.IsDigit))
}

// lines writes a text of several lines as people will read it, with what nobody sees spelled out.
func lines(text string) (out []Piece) {
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			out = append(out, Piece{Break, "\n"})
		}
		if line = language.OneLine(line); line != "" {
			out = append(out, Piece{Value, line})
		}
	}
	return out
}

func (t *teller) sentence() {
	form, item, which := t.w.Acts[formOf(t.step.Tool, t.e.Act)], t.item(), "Bare"
	switch {
	case t.to != nil && item != nil && form["Both"] != "":
		which = "Both"
	case t.to != nil && form["Party"] != "":
		which = "Party"
	case item != nil && form["Items"] != "":
		which = "Items"
	}
	tell := func(text string) []Piece {
		l := t.writer()
		l.fill(text, func(name string) {
			switch name {
			case "tool":
				l.titled(t.step)
			case "party":
				l.out = append(l.out, t.to...)
				t.gone[t.look.party] = t.exact
			default:
				l.out = append(l.out, item...)
				t.gone[t.look.item] = true
			}
		})
		return l.out
	}
	t.e.Sentence, t.e.done = tell(form[which]), tell(form[which+"Done"])
	switch {
	case t.e.Act == "":
		if t.e.short = t.tool(); t.step.ToolTitle != "" {
			title := t.writer()
			title.quoted(t.step.ToolTitle)
			t.e.Named = [2][]Piece{title.out, {{Value, t.step.Tool}}}
		}
	case t.to != nil && !t.result:
		if t.e.Act == rules.ActDecide && item != nil {
			t.e.Named = [2][]Piece{item, t.to}
		}
		t.e.short = fill(form["Short"], "party", t.shortParty(), "items", Plain(item))
	default:
		t.e.short = form["ShortBare"]
	}
}

// CalledStep is an agent's call of a tool as a step, so that one code tells both.
func CalledStep(p conversation.Payload) task.Step {
	return task.Step{StepID: "step-1", Order: 1, Tool: p.Tool, ToolInput: aggregate.JSON(p.Arguments), Access: p.Access,
		ToolVersion: p.ToolVersion, ToolTitle: p.ToolTitle, LeftOut: aggregate.JSON(p.LeftOut), Mark: p.Mark,
		Declared: aggregate.JSON(p.Declared)}
}

// StepsOf returns a call of an outside agent as one step, nil if what it is to do can't be read.
func StepsOf(x *call.Call) []task.Step {
	c, err := x.Content()
	if err != nil {
		return nil
	}
	return []task.Step{CalledStep(c.Payload())}
}

// Does returns what approving a row does, as far as the row says it; planned has the step of a check. Of a policy and
// of an action it returns nothing.
func Does(locale string, row aggregate.Row, planned *task.Process) Sum {
	switch row := row.(type) {
	case *task.Process:
		return SumUp(locale, row.Steps)
	case *call.Call:
		return SumUp(locale, StepsOf(row))
	case *task.StepGate:
		if planned == nil || planned.StepOf(row) < 0 {
			break
		}
		at := planned.StepOf(row)
		s, earlier := planned.Steps[at], planned.Steps[:at]
		if row.Arguments.JSON != "" {
			s.ToolInput, earlier = row.Arguments.JSON, nil // no value of it refers to a step
		}
		shown, _, _ := Masked(s, row.Arguments, locale)
		one := []Effect{EffectOf(locale, s, shown, earlier)}
		if s.Access == aggregate.Read {
			return SumOf(locale, nil, one)
		}
		return SumOf(locale, one, nil)
	}
	return Sum{locale: locale}
}

// look is how a step is shown.
type look struct {
	own                *tenancy.OwnTool
	party, item, words string
	names              map[string]language.Texts // of arguments, by pointer
	taken              map[string]bool           // names that no other argument has without quotation marks
	declared           []string                  // pointers of a server's schema, in its order
	titles             map[string]string         // that it gives them
}

func lookOf(s *task.Step) look {
	k := look{taken: map[string]bool{}, titles: map[string]string{}}
	var declared [][2]string
	_ = json.Unmarshal([]byte(s.Declared), &declared) // without it arguments are called as in the call
	for _, x := range declared {
		k.declared, k.titles[x[0]] = append(k.declared, x[0]), x[1]
	}
	for _, name := range rules.OwnNames {
		k.taken[language.Folded(name)] = true
	}
	if f, own := tenancy.OwnToolNamed(s.Tool); own {
		k.own, k.party, k.item, k.words, k.names = &f, f.Shown.Party, f.Shown.Item, f.Shown.Words, f.Shown.Names
	}
	for _, names := range k.names {
		for _, name := range names {
			k.taken[language.Folded(name)] = true
		}
	}
	return k
}

// place returns which argument of a server's schema stands at a pointer, in its order; undeclared ones are last.
func (k *look) place(pointer string) int {
	if at := slices.Index(k.declared, pointer); at >= 0 {
		return at
	}
	return len(k.declared)
}
