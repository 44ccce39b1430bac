package card

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/words/language"
)

const (
	maxInlineCode = 300  // characters of values within a line
	maxQuoted     = 2000 // characters of a line of a quotation
	maxBrief      = 80   // characters of a message in a line
)

// effects draws what steps do in sections of up to most: the money and what people are told first, why it matters, its
// arguments, other writes, and reads. Arguments lead where the title says the rest.
func (d drawing) effects(s explain.Sum, most int) body {
	top, below, lead, warns := listing{}, listing{}, &s.Lead, !d.settled || d.gate == aggregate.Approved
	says := s.Says()
	if d.done && s.Final {
		says = s.Done()
	}
	rest := d.arguments(lead)
	if first := strong(d.line(says)); !d.headed || lead.Act != "" || lead.Order == 0 || s.Unreadable() != "" ||
		s.Amount.Known() && s.Amount != rules.Nothing() { // the money leads, whatever names the tool
		d.put(&top, 1, lead, append(d.unsaid(s), first)...)
	} else {
		d.put(&top, 1, lead, rest...)
		rest = nil
	}
	d.put(&top, 1, lead, quotation(lead.Words)...)
	said := []string{"", lead.Warning(d.w.Locale)}
	if d.settled && d.a.Matter() != nil {
		said[1] = "" // its number is in the title
	}
	for _, why := range []string{s.Unreadable(), said[1]} {
		if why != "" && warns {
			top.add(0, "", fill(d.w.Final, "text", why))
		}
	}
	d.put(&top, 1, lead, rest...)
	sends := lead.Tool == tenancy.MessageTool
	for i := range s.Then {
		e, says := &s.Then[i], "✏️ "
		if e.Act == rules.ActMessage {
			says = "✉️ "
		}
		if says += ordersOf(e) + d.line(e.Says(d.w.Locale)); !d.settled {
			says += e.Unpriced(d.w.Locale)
		}
		if why := e.Warning(d.w.Locale); warns && e.Act != rules.ActMessage && !slices.Contains(said, why) {
			says, said = says+" — "+why, append(said, why)
		}
		d.whole(&below, i+2, e, says)
		sends = sends || e.Tool == tenancy.MessageTool
	}
	if sends && !d.settled {
		below.add(0, "", d.w.Signed)
	}
	d.reads(&below, len(s.Then)+2, s.Reads)
	more := d.listed(below, most)
	if s.Unpriced() != "" && !d.settled {
		why := fill(explain.RouteOf(d.w.Locale).AmountUnknown, "amount", explain.Money(d.w.Locale, s.Amount))
		more = body{blocks: []slack.Block{contextLine(why)}}.with(more)
	}
	return d.listed(top, most).with(more)
}

// reads draws what is read, each in its turn and in a line. What needs more than that stands below.
func (d drawing) reads(below *listing, entry int, all []explain.Effect) {
	var line, orders []string
	var long listing
	for i := range all {
		e := &all[i]
		says, rest := d.line(e.Sentence), d.arguments(e)
		if len(rest) > 1 || len(rest) == 1 && units(rest[0]) > maxInlineCode {
			d.whole(&long, entry+i, e, ordersOf(e)+says)
			continue
		}
		says = strings.Join(append([]string{says}, rest...), " · ")
		if at := slices.Index(line, says); at >= 0 {
			orders[at] += ", " + strconv.Itoa(e.Order)
			continue
		}
		line, orders = append(line, says), append(orders, strconv.Itoa(e.Order))
	}
	for i, said := range line {
		below.add(0, "", fill(d.w.Reads, "reads", orders[i]+". "+said))
	}
	below.parts = append(below.parts, long.parts...)
	below.below = max(below.below, long.below)
}

// unsaid is the request's title where it isn't known what steps do: what a tool is called says little.
func (d drawing) unsaid(s explain.Sum) []string {
	if s.Told() || s.Lead.Order == 0 || d.beneath || d.headed || d.a.Task == nil {
		return nil
	}
	return []string{fill(d.w.Request, "text", or(inline(d.a.Task.Title, maxListTitle), d.w.Untitled))}
}

// short is what steps do for a notification or a list, whole: its end says what isn't known.
func (d drawing) short(s explain.Sum) string { return inline(s.Short(d.w.Locale), 2*maxHeader) }

// whole draws a write that isn't the first: a short message in one line, unless its text could be taken for what stands
// behind it.
func (d drawing) whole(l *listing, entry int, e *explain.Effect, says string) {
	text := quotation(e.Words)
	if len(text) == 1 && !strings.ContainsAny(text[0], "「」“”`") && units(text[0]) <= maxBrief {
		says, text = fill(d.w.SaysWords, "says", says, "words", strings.TrimPrefix(text[0], "> ")), nil
	}
	d.put(l, entry, e, slices.Concat([]string{says}, text, d.arguments(e))...)
}

// put adds lines of an effect. In another section they go on below its number, but within code.
func (d drawing) put(l *listing, entry int, e *explain.Effect, lines ...string) {
	again := fill(d.w.Again, "step", strings.TrimSpace(ordersOf(e)))
	l.below = max(l.below, usualBelow, units(again)+50)
	for _, line := range lines {
		if strings.HasPrefix(line, "```") {
			l.add(entry, "", line)
			continue
		}
		l.add(entry, again, line)
	}
}

func ordersOf(e *explain.Effect) string { return strconv.Itoa(e.Order) + ". " }

// quotation draws a text line by line: as code if Slack would format one of its lines, or one is long.
func quotation(pieces []explain.Piece) (lines []string) {
	if pieces == nil {
		return nil
	}
	text := explain.Plain(pieces)
	for line := range strings.SplitSeq(emptyCounted(text), "\n") {
		drawn := asWritten(line)
		if units(drawn) > maxQuoted || strings.HasPrefix(drawn, " `") {
			fences, _ := fenced(tickedApart(text), maxSection-200, everything)
			return fences
		}
		lines = append(lines, "> "+drawn)
	}
	return lines
}

// arguments draws what no other part of an effect has, each in its own line, and rows of a list in a table.
func (d drawing) arguments(e *explain.Effect) (lines []string) {
	if d.settled && d.gate != "" && (d.gate != aggregate.Approved || d.headed) {
		return nil
	}
	for rest := e.Rest; len(rest) > 0; {
		n, parts := d.table(rest)
		if n == 0 {
			n, parts = 1, d.argument(rest[0])
		}
		if len(e.Rest) > 1 {
			parts[0] = "• " + parts[0]
		}
		lines, rest = append(lines, parts...), rest[n:]
	}
	if e.Tool == tenancy.MessageTool && !d.settled &&
		slices.ContainsFunc(e.Words, func(p explain.Piece) bool { return formats.Get().MatchString(p.Text) }) {
		lines = append(lines, d.w.SentAsIs)
	}
	return lines
}

// argument draws a name and a value. A long text, or one with a backtick or a line's end, gets a block of its own.
func (d drawing) argument(a explain.Argument) []string {
	name := d.line(a.Name) + ":"
	switch {
	case strings.ContainsAny(a.Text, "\n`") || units(a.Text) > maxInlineCode:
		fences, _ := fenced(tickedApart(language.Spelled(a.Text)), maxSection-200, everything)
		return append([]string{name}, fences...)
	case a.Text != "":
		return []string{name + " " + coded(language.OneLine(language.Literal(a.Text)))}
	case len(a.Value) == 1 && a.Value[0].Kind == explain.Value:
		return []string{name + " " + coded(a.Value[0].Text)}
	}
	return []string{name + " " + d.line(a.Value)}
}

func (d drawing) line(pieces []explain.Piece) string {
	var b strings.Builder
	for _, p := range pieces {
		switch p.Kind {
		case explain.Person:
			b.WriteString(d.w.mention(p.Text))
		case explain.Value:
			b.WriteString(asWritten(p.Text))
		default:
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

func strong(line string) string {
	if strings.Contains(line, "`") || units(line) > maxInlineCode {
		return line
	}
	return "*" + line + "*"
}

// call draws what a step's call does with resolved arguments. Its last line names those with masked data.
func (d drawing) call(call task.Step, b aggregate.Blob, most int) (out body, s explain.Sum) {
	shown, hidden, ok := explain.Masked(call, b, d.w.Locale)
	if !ok && b.JSON == "" && most != everything { // the dialog has them
		var before []task.Step
		if d.a != nil && d.a.Process() != nil {
			steps := d.a.Process().Steps
			before = steps[:max(0, slices.IndexFunc(steps, func(s task.Step) bool { return s.StepID == call.StepID }))]
		}
		planned := explain.EffectOf(d.w.Locale, call, nil, before)
		return body{sectioned(strong(cut(d.line(planned.Sentence), maxSection-len("**")))), true}, s
	}
	if !ok && (b.JSON == "" || d.settled) {
		return d.unread(b, most), s
	}
	call.ToolInput = b.JSON
	s = explain.SumOf(d.w.Locale, []explain.Effect{explain.EffectOf(d.w.Locale, call, shown, nil)}, nil)
	if !ok { // it stands as it is
		return d.unread(b, most).with(body{blocks: sectionOf([]string{fill(d.w.Final, "text", s.Unreadable())})}), s
	}
	d.headed = true
	if out = d.effects(s, most); most != everything && out.bounded().cut { // the dialog or the page has the rest
		out = d.effects(s, 1)
	}
	if len(hidden) > 0 {
		for i, name := range hidden {
			hidden[i] = strong(strings.TrimSpace(asWritten(name)))
		}
		out.blocks = append(out.blocks,
			contextLine(cut(fill(d.w.ArgumentsMasked, "names", strings.Join(hidden, ", ")), maxSection)))
	}
	return out, s
}

// formats finds what Slack would format, or show as an emoji, in a message that a person types.
var formats = language.Regexp{Text: `\*[^*\n]+\*|\b_[^_\n]+_\b|~[^~\n]+~|:[a-z][a-z0-9_+-]*:`}

// unread draws arguments that are not a JSON object, or that are not there. People can't approve such arguments on the
// card.
func (d drawing) unread(b aggregate.Blob, most int) (out body) {
	out.cut = true
	if text := string(b.JSON); text != "" {
		pages, rest := fenced(visible(pretty(text)), maxSection, most)
		out = body{sectioned(pages...), rest}
	}
	if out.cut {
		cut := contextLine(fill(d.w.ArgumentsCut, "bytes", max(b.Bytes, len(b.JSON))))
		out.blocks = append([]slack.Block{cut}, out.blocks...)
	}
	return out
}

func decoded(text string) (v any, ok bool) {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	ok = dec.Decode(&v) == nil && !dec.More()
	return v, ok
}

// Prose is a text of several lines by others, for any surface, without invisible characters and marks of Ringi's.
func Prose(s string) string { return strings.TrimSpace(language.Paragraphs(language.Foreign(s))) }

// Address returns the url in a completed step's result if cards may link to it, else "".
func Address(row *task.StepResult) string {
	url, _ := resultOf(row)["url"].(string)
	return explain.Linked(url)
}

const maxLinks = 5

// opens is the text of a link to a result: with its host, which a tool's server chose.
func (d drawing) opens(address string) string {
	text := askWordsOf.In(d.w.Locale).Open
	if to, err := url.Parse(address); err == nil && !explain.Local(address) {
		text += " (" + to.Host + ")"
	}
	return text
}

// links lists the url members of completed steps' results, each once. A card has no other links: an address within a
// text stays text.
func (d drawing) links(r attempt) []slack.Block {
	var out, all []string
	for i, s := range r.steps {
		if to := Address(r.rows[s.StepID]); to != "" && len(out) < maxLinks && !slices.Contains(all, to) {
			what := explain.SumOf(d.w.Locale, []explain.Effect{explain.EffectOf(d.w.Locale, s, nil, r.steps[:i])}, nil)
			all, out = append(all, to), append(out, "🔗 "+ordersOf(&what.Lead)+d.short(what)+linkAs(to, d.opens(to)))
		}
	}
	return sectionOf(out)
}

// resultOf returns the members of a completed step's result, or nil if there is none or it is no object.
func resultOf(row *task.StepResult) map[string]any {
	if row == nil || row.Status != task.StepCompleted || row.Result == nil {
		return nil
	}
	v, _ := decoded(string(row.Result.JSON))
	members, _ := v.(map[string]any)
	return members
}

// below says for each sheet that was written how many older rows follow the new ones, which people could take for part
// of the result, or that counting failed. A result without a count gives no line.
func (d drawing) below(r attempt) []slack.Block {
	var out []string
	for _, s := range r.steps {
		members := resultOf(r.rows[s.StepID])
		count, known := members["rows_below"]
		if s.Tool != "write_rows_to_google_sheet" || !known {
			continue
		}
		n, counted := count.(json.Number)
		more, _ := members["more_below"].(bool)
		switch {
		case !counted:
			out = append(out, fill(d.w.RowsBelowUnread, "step", s.Order))
		case more:
			out = append(out, fill(d.w.RowsBelowOver, "step", s.Order, "n", inline(n.String(), maxTool)))
		case n != "0":
			out = append(out, fill(d.w.RowsBelow, "step", s.Order, "n", inline(n.String(), maxTool)))
		}
	}
	return sectioned(pages(strings.Join(out, "\n"), maxSection)...)
}

// inlineCode shows a text as code within a line, with invisible characters spelled out.
func inlineCode(s string) string { return coded(language.OneLine(s)) }

// coded is inlineCode for a text whose invisible characters are spelled out. It replaces backticks, which would end it.
func coded(spelled string) string {
	return "`" + language.Isolated(unticked(escape(spelled))) + "`"
}

// tickedApart spells out backticks that would end a block of code. Fewer than three don't.
func tickedApart(spelled string) string {
	return fenceForm.Get().ReplaceAllStringFunc(spelled, unticked)
}

var fenceForm = language.Regexp{Text: "`{3,}"}

func unticked(spelled string) string { return strings.ReplaceAll(spelled, "`", "⟨U+0060⟩") }

// asWritten shows a spelled text completely: as code if it has a character that would format or link, or a mark that
// cards use, else as it is.
func asWritten(spelled string) string {
	s := unformatted(spelled, len(spelled))
	if strings.ReplaceAll(s, joiner, "") != escape(spelled) || strings.Contains(spelled, "://") {
		return " " + coded(spelled) + " "
	}
	return people(bounded(s, units(s)+2))
}
