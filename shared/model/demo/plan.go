package demo

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

// Sheet is the spreadsheet that the demo's plans write to. The tools of servers are those of the local stack's; an
// administrator has to allow them first.
const (
	Sheet      = "ringi-demo-sheet"
	listRooms  = "rooms.list_rooms"
	bookRoom   = "rooms.book_room"
	placeOrder = "rooms.place_order"
	judge      = "calculate_overtime"
	writeRows  = "write_rows_to_google_sheet"
	sendDM     = "send_slack_dm"
)

type planned struct {
	StepID             string `json:"stepId"`
	Order              int    `json:"order"`
	Title              string `json:"title"`
	Tool               string `json:"tool"`
	ToolInput          string `json:"toolInput"`
	Description        string `json:"description"`
	ExpectedOutput     string `json:"expectedOutput"`
	RequiresHumanCheck bool   `json:"requiresHumanCheck"`
}

// kindsOf are the kinds of steps, of which a remark may say that one is left out.
func kindsOf(steps []planned) (kinds []string) {
	for _, s := range steps {
		kind := map[string]string{writeRows: "sheet", sendDM: "dm", judge: "calculate"}[s.Tool]
		if strings.Contains(s.ToolInput, `"mode":"validate"`) {
			kind = "validate"
		}
		kinds = append(kinds, cmp.Or(kind, "read"))
	}
	return kinds
}

// lack is something that a request needs and that no step can do.
type lack struct {
	What string `json:"what"`
	Tool string `json:"tool"`
	Why  string `json:"why"`
}

type object map[string]any

func ref(path string) object { return object{"$ref": path} }

type planner struct {
	*wish
	in      input
	records map[part]string // references to the attendance records that steps read
	steps   []planned
	missing []lack
}

// add appends a step and returns the prefix of references to its result, or records why its tool can't be called.
func (p *planner) add(s step, tool string, input object) string {
	if why := p.hinders(tool, input); why != "" {
		p.missing = add(p.missing, lack{s.Title, map[bool]string{false: tool}[why == noTool], why})
		return ""
	}
	id := fmt.Sprintf("step-%d", len(p.steps)+1)
	writes := slices.Contains([]string{writeRows, sendDM, bookRoom, placeOrder}, tool)
	p.steps = append(p.steps, planned{id, len(p.steps) + 1, s.Title, tool, string(encoded(input)), s.Description,
		s.Expected, writes && p.is["check"]})
	return id + ".result."
}

const noTool = "no_tool"

// hinders returns why a tool can't be called with an input: noTool, "forbidden" or "constraint"; empty if it can. The
// demo never replaces a forbidden value by an allowed one.
func (p *planner) hinders(tool string, input object) string {
	at := slices.IndexFunc(p.in.Tools, func(o offered) bool { return o.Name == tool })
	switch {
	case at < 0 && slices.Contains(p.in.Forbidden, tool):
		return "forbidden"
	case at < 0:
		return noTool
	}
	c := p.in.Tools[at].Constraints
	for name, listed := range map[string][]string{"department": c.Departments, "spreadsheet_id": c.SpreadsheetIDs,
		"recipient": c.Recipients} {
		text, _ := input[name].(string)
		if _, has := input[name]; has && len(listed) > 0 && !slices.Contains(listed, text) {
			return "constraint"
		}
	}
	return ""
}

// plan makes the steps, or says what is missing for them.
func plan(in input, w *wish) (steps []planned, missing []lack) {
	if w.cannot() != "" {
		return []planned{}, []lack{{cmp.Or(oneLine(w.text), w.say("noMessage")), "", noTool}}
	}
	p := planner{wish: w, in: in, records: map[part]string{}}
	var details []object
	switch w.topic {
	case "meeting":
		details = p.meet()
	case "purchase":
		details = p.place()
	case "message":
		for _, id := range w.people {
			p.send("tell", id, w.quotes[0], nil)
		}
	default:
		for _, of := range w.parts() {
			details = append(details, p.part(of, len(w.parts()) > 1)...)
		}
	}
	if done := w.Form(map[bool]string{true: "done", false: "counted"}[w.Sheet()]); w.topic != "message" && !w.is["nodm"] {
		if in.Requester != "" && (w.copied || len(w.people) == 0) {
			p.send("notice", in.Requester, done, details)
		}
		for _, id := range w.people {
			if id != in.Requester || !w.copied {
				p.send("tell", id, done, details)
			}
		}
	}
	if len(p.missing) > 0 {
		return []planned{}, p.missing
	}
	return p.steps, []lack{}
}

func (p *planner) send(step, to, text string, details []object) {
	p.add(p.words.Steps[step], sendDM, object{"recipient": to, "text": legible.Clip(text, maxMessage),
		"details": append([]object{}, details...)})
}

// part is one table of the result, for one department, and for one month if the topic has months.
type part struct {
	department string
	month      month
	tab        string
}

// parts are the request's tables. A tab's name is made of everything that the table is about, so that different
// requests write to different tabs. A name from the message is used unchanged, unless there are several tables.
func (w *wish) parts() (out []part) {
	departments, months := w.departments, w.months
	if len(departments) == 0 {
		departments = []string{""}
	}
	if !w.Dated() {
		months = []month{0}
	}
	for _, d := range departments {
		for _, m := range months {
			tab := []string{cmp.Or(w.tab, w.Form("tab"))}
			if m != 0 && (len(months) > 1 || w.tab == "") {
				tab = append(tab, m.text())
			}
			if d != "" && (len(departments) > 1 || w.tab == "") {
				tab = append(tab, d)
			}
			out = append(out, part{d, m, strings.Join(tab, " ")})
		}
	}
	return out
}

// part plans one table of the result, and returns the notice's details about it: of several tables only one each, since
// a message has room for 20.
func (p *planner) part(of part, several bool) (details []object) {
	t, l, about := p.words, p.list(), ""
	if several {
		about = p.say("about", of.tab)
	}
	call := func(name, tool string, input object, values ...any) string {
		s := t.Steps[name]
		return p.add(step{s.Title + about, language.Fill(s.Description, values...), s.Expected}, tool, input)
	}
	detail := func(label, path string) {
		details = append(details, object{"label": legible.Clip(label+about, 100), "value": ref(path)})
	}
	found := p.fetch(l, of, about)
	rows, label := found+l.Demo.Rows, l.of(t, "label")
	detail(label, found+"count")
	if p.kind() == "records" {
		records := call("attendance", "list_attendance", object{"year": int(of.month / 12), "month": int(of.month.name()),
			"employees": ref(found + "employees")}, "when", t.month(of.month)) + "records"
		p.records[part{of.department, of.month, ""}] = records
		judged := object{"mode": "validate", "records": ref(records)}
		if before := p.before(of); len(before) > 0 {
			judged["earlier"] = before
		}
		if p.is["validate"] {
			call("validate", judge, judged)
		}
		judged["mode"] = "calculate"
		result := call("overtime", judge, judged)
		rows, label = result+"rows", "labelPeriod"
		if of.month == thisMonth(p.now) { // days of this month are counted up to the run
			label = "labelSoFar"
		}
		detail(t.Say[label], result+"period")
		detail(t.Say["labelOver45"], result+"over_45h")
		detail(t.Say["labelOver80"], result+"over_80h")
		if judged["earlier"] != nil {
			detail(t.Say["labelAverage"], result+"over_80h_average")
		}
	}
	if p.Sheet() {
		var header []object
		for _, key := range p.columns() {
			header = append(header, object{"key": key, "title": p.title(key)})
		}
		detail(t.Say["labelSheet"], call("sheet", writeRows, object{"spreadsheet_id": Sheet, "sheet": of.tab,
			"columns": header, "rows": ref(rows)}, "tab", of.tab)+"url")
	}
	if several {
		return details[len(details)-1:]
	}
	return details
}

// fetch adds the step that reads a list for a part's department and month. Who was employed, and where, is asked as of
// the month, so that later changes don't count.
func (p *planner) fetch(l *list, of part, about string) string {
	input, form, then := maps.Clone(object(l.Demo.Input)), "description", ""
	if of.department != "" {
		input["department"] = of.department
	}
	if of.month != 0 {
		input["as_of"], form, then = of.month.text(), "descriptionThen", p.words.month(of.month)
	}
	return p.add(step{l.Title.In(p.words.Locale) + about, l.of(p.words, form, "when", then), l.of(p.words, "expected")},
		l.Name, input)
}

// before refers to records of the same people in earlier months, back to the first gap and at most eleven months. It
// uses only months that the request reads anyway.
func (p *planner) before(of part) (out []object) {
	for m := of.month - 1; len(out) < 11 && p.records[part{of.department, m, ""}] != ""; m-- {
		out = append(out, ref(p.records[part{of.department, m, ""}]))
	}
	return out
}

// columns are the members of the rows that the sheet shows.
func (w *wish) columns() []string {
	if w.kind() == "records" {
		return strings.Fields(w.words.Topics[w.topic]["columns"])
	}
	return w.list().Demo.Columns
}

// title is the heading of a column. A member without a title has its own name as the heading.
func (w *wish) title(key string) string {
	titles := w.words.Columns
	if w.kind() != "records" {
		titles = w.list().Demo.Words[w.words.Locale].Columns
	}
	return cmp.Or(titles[key], key)
}

// meet adds the steps that look for a room and book it, and returns the notice's details.
func (p *planner) meet() []object {
	t, s := p.words.Topics["meeting"], p.slot
	free := p.add(p.words.Steps["listRooms"], listRooms, object{"date": s.Day(), "start": s.Start(), "end": s.End()})
	booked := p.add(p.words.Steps["bookRoom"], bookRoom, object{"date": s.Day(), "start": s.Start(), "end": s.End(),
		"title": p.booked(), "room_id": ref(free + "rooms.0.id")})
	return []object{{"label": t["labelTime"], "value": fmt.Sprintf("%s %s–%s", s.Day(), s.Start(), s.End())},
		{"label": t["labelRoom"], "value": ref(free + "rooms.0.name")},
		{"label": t["labelNumber"], "value": ref(booked + "booking_id")}}
}

// order is what is to be ordered from whom.
type order struct {
	supplier  string
	Items     []item
	Reference string // the same order is placed once under it
	Total     int
	wrong     bool // a price that is no whole number for one, or a number beyond the limits
}

type item struct {
	Name                 string
	Quantity, Price, Sum int // Price is of one, in yen
}

const mostOrdered = 100_000_000 // of a number in an order, as the tool has it

// buy takes up an order. One whose names say when something is to be done, or for whom, stays unused.
func (w *wish) buy(t *token, said []string) {
	o := order{supplier: t.named["from"]}
	if quoted := quotation(o.supplier, said); quoted != "" {
		o.supplier = quoted
	}
	all := []map[string]string{t.named}
	if t.named["items"] != "" {
		all = nil
		for _, m := range form("$item").FindAllStringSubmatch(t.named["items"], -1) {
			all = append(all, named(form("$item"), m))
		}
	}
	names := []string{o.supplier}
	for _, x := range all {
		o.add(x, x["each"] != "" || t.means == "each")
		names = append(names, x["name"])
	}
	if slices.ContainsFunc(names, saysMore) {
		return
	}
	if w.topic != "" {
		w.stop("noSecond", t.text)
	}
	sum := sha256.Sum256([]byte(w.text + w.now.Format(time.RFC3339)))
	o.Reference = "R-" + hex.EncodeToString(sum[:4])
	w.topic, w.order, t.used = "purchase", o, true
}

// saysMore reports whether a name has words that say when something is to be done, for whom, or that it is not to be.
func saysMore(name string) bool {
	return form("$due").MatchString(name) || slices.ContainsFunc(lex(normal(name), false), func(t token) bool {
		return t.is("day", "month", "clock", "who", "upto", "nodm", "nosheet", "since", "only")
	})
}

// add adds an item. Unless the price is that of one, it is that of all.
func (o *order) add(said map[string]string, ofOne bool) {
	price := number(strings.ReplaceAll(said["price"], ",", ""))
	x := item{Name: strings.TrimSpace(said["name"]), Quantity: 1, Price: price}
	if n, err := strconv.Atoi(said["n"]); err == nil { // else a, an or one
		x.Quantity = n
	}
	if said["man"] != "" {
		x.Price *= 10_000
	}
	if !ofOne && x.Quantity > 0 {
		o.wrong = o.wrong || x.Price%x.Quantity != 0
		x.Price /= x.Quantity
	}
	o.wrong = o.wrong || x.Quantity < 1 || x.Quantity > mostOrdered/10_000 || x.Price < 1 || x.Price > mostOrdered
	x.Sum = x.Quantity * x.Price
	o.Items, o.Total = append(o.Items, x), o.Total+x.Sum
}

// place adds the step that places the order, and returns the notice's details.
func (p *planner) place() []object {
	t, o := p.words.Topics["purchase"], p.order
	var items []object
	for _, x := range o.Items {
		items = append(items, object{"name": x.Name, "quantity": x.Quantity, "unit_price": x.Price})
	}
	placed := p.add(p.words.Steps["place"], placeOrder, object{"supplier": o.supplier, "items": items, "currency": "JPY",
		"reference": o.Reference})
	return []object{{"label": t["labelSupplier"], "value": o.supplier},
		{"label": t["labelNumber"], "value": ref(placed + "order_number")},
		{"label": t["labelTotal"], "value": ref(placed + "total")}}
}
