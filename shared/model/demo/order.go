package demo

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"ringi/shared/words/lazy"
)

// placeOrder is a tool of the local stack's MCP server. An administrator has to allow it first.
const placeOrder = "rooms.place_order"

// orderWords are the texts about orders in one language.
type orderWords struct {
	Title, Purpose, Item, Total, Reference, Place, Privacy string
	PlaceTitle                                             step
	Done, LabelSupplier, LabelNumber, LabelTotal           string
	Wrong                                                  string // an answer
	NoTools                                                string // an answer, and the first line of a policy
	Sum                                                    string
}

// order is what is to be ordered from whom.
type order struct {
	supplier  string
	items     []orderItem
	reference string // the same order is placed once under it
	wrong     bool   // a price that is no whole number for one, or a number beyond the limits
}

type orderItem struct {
	name            string
	quantity, price int // price is of one, in yen
}

func (o order) total() (sum int) {
	for _, x := range o.items {
		sum += x.quantity * x.price
	}
	return sum
}

const (
	counter     = `(?:台|個|本|冊|枚|箱|脚|つ|セット|部|式|点)`
	itemJoint   = `(?:と|、|,|および|及び|・)`
	orderedItem = `([^\s、。,「」\d][^、。,「」]{0,60}?)\s*を?\s*(\d{1,9})\s*` + counter + `\s*[を、で,]?\s*` +
		`((?:単価|[1一]\s*` + counter + `|各|@)\s*(?:あたり)?\s*)?[¥￥]?` + yen + `(ずつ)?`
	yen        = `(\d[\d,]{0,14})\s*(万)?\s*円`
	orderBegin = `^(?:取引先の?\s*)?(?:「([^」]{1,60})」|([^\s、。,「」]{1,60}?))\s*(?:さん|様)?(?:に|へ|から)[、\s]*`
	orderEnd   = `\s*[をで]?\s*(?:発注|注文)(?:を)?` +
		`(?:して(?:おいて)?(?:ください|下さい|ほしい(?:です)?|もらえますか|いただけますか)?|` +
		`お?願い(?:します|いたします|致します)?|したい(?:です)?|します|する)?$`
	most = 100_000_000 // of a number in an order, as the tool has it
)

var (
	// orderForm matches a whole request for an order, as in 取引先アクメに PC 2台 298,000円を発注して, and orderInForm one in
	// English. Nothing is left over in which something else could be asked.
	orderForm = &lazy.Regexp{Text: orderBegin +
		`(` + orderedItem + `(?:\s*` + itemJoint + `\s*` + orderedItem + `){0,9})` + orderEnd}
	// orderPricedForm matches one whose price comes first, as in アクメに 149,000円の PC を 3台発注して: it is that of one.
	orderPricedForm = &lazy.Regexp{Text: orderBegin + `(?:[1一]\s*` + counter + `\s*)?[¥￥]?` + yen +
		`の\s*([^\s、。,「」\d][^、。,「」]{0,60}?)\s*を?\s*(\d{1,9})\s*` + counter + orderEnd}
	orderInForm = &lazy.Regexp{Text: `(?i)^(?:please\s+|(?:could|can)\s+you\s+(?:please\s+)?)?order\s+(\d{1,9}|an?|one)\s+` +
		`([^\d\s,.;:!?][^,.;:!?\n]{0,60}?)\s+from\s+([^,;:!?\n]{1,60}?(?:,\s*(?:inc|ltd|llc)\.?)?)` +
		`\s+(at|for)\s+(?:¥\s*(\d[\d,]{0,14})|(\d[\d,]{0,14})\s*(?:yen|jpy))` +
		`(\s+(?:each|apiece|per\s+(?:piece|unit)))?(?:\s+in\s+total)?(?:\s*,?\s*please)?$`}
	itemForm      = &lazy.Regexp{Text: `(?:^|` + itemJoint + `)\s*` + orderedItem}
	referenceForm = &lazy.Regexp{Text: `(?m)^(?:照会番号|Reference): (R-[0-9a-f]{8})`}
	dueForm       = &lazy.Regexp{Text: `(?i)(?:まで|以内|[週月期年日]中)に?(?:[、\s]|$)|ない|以外|除[いくき]|毎[日週月]|後で|来週|\b(?:not|without|except|but|every|by|until|later|next|tell|don't)\b`}
	thousandsForm = &lazy.Regexp{Text: `^\d{1,3}(?:,\d{3})*$|^\d+$`}
)

// orders reads a request for an order. It reports false for a text that asks for anything else beside.
func (r *reading) orders(text string) bool {
	rest, flags := alone(strings.Map(ascii, text))
	var o order
	if m := orderForm.Get().FindStringSubmatch(rest); m != nil {
		o.supplier = m[1] + m[2]
		for _, x := range itemForm.Get().FindAllStringSubmatch(m[3], -1) {
			o.add(x[1], x[2], x[4], x[5] != "", x[3]+x[6] != "")
		}
	} else if m := orderPricedForm.Get().FindStringSubmatch(rest); m != nil {
		o.supplier = m[1] + m[2]
		o.add(m[5], m[6], m[3], m[4] != "", true)
	} else if m := orderInForm.Get().FindStringSubmatch(rest); m != nil {
		o.supplier = m[3]
		o.add(m[2], m[1], m[5]+m[6], false, strings.EqualFold(m[4], "at") || m[7] != "")
	} else {
		return false
	}
	if slices.ContainsFunc(o.names(), saysMore) {
		return false
	}
	sum := sha256.Sum256([]byte(text + r.now.Format(time.RFC3339)))
	o.reference = "R-" + hex.EncodeToString(sum[:4])
	r.topic, r.order = purchase, o
	for _, t := range flags {
		r.flag(&t, nil)
	}
	return true
}

// alone takes courtesies, and wishes that any request may have, from the beginning and the end of an order.
func alone(text string) (rest string, flags []token) {
	const marks = "、。,.!?！？\n "
	take := func(part string) bool {
		all := lex(normal(part), false)
		for _, t := range all {
			if !slices.Contains([]string{"nodm", "urgent", "high", "low", "check"}, t.tag) && !slices.Contains(quiet, t.tag) {
				return false
			}
		}
		flags = append(flags, all...)
		return len(all) > 0
	}
	for rest = strings.Trim(text, marks); ; rest = strings.Trim(rest, marks) {
		if at := strings.LastIndexAny(strings.TrimRight(rest, marks), "、。,.!?\n"); at > 0 && take(rest[at:]) {
			rest = rest[:at]
		} else if at := strings.IndexAny(rest, "、。,.!?\n"); at > 0 && take(rest[:at]) {
			rest = rest[at:]
		} else {
			return rest, flags
		}
	}
}

// names are the texts that a request gives: the supplier and the items.
func (o order) names() []string {
	all := []string{o.supplier}
	for _, x := range o.items {
		all = append(all, x.name)
	}
	return all
}

// saysMore reports whether a name has words that say when something is to be done, for whom, or that it is not to be.
func saysMore(name string) bool {
	return dueForm.Get().MatchString(name) || slices.ContainsFunc(lex(normal(name), false), func(t token) bool {
		return slices.Contains([]string{"day", "month", "clock", "who", "upto", "nodm", "nosheet", "since", "only"}, t.tag)
	})
}

// add adds an item. Unless the price is that of one, it is that of all.
func (o *order) add(name, quantity, price string, tenThousands, ofOne bool) {
	x := orderItem{name: strings.TrimSpace(name)}
	x.quantity = 1
	if n, err := strconv.Atoi(quantity); err == nil { // else a, an or one
		x.quantity = n
	}
	x.price, _ = strconv.Atoi(strings.ReplaceAll(price, ",", ""))
	if tenThousands {
		x.price *= 10_000
	}
	grouped := thousandsForm.Get().MatchString(price)
	if !ofOne && x.quantity > 0 {
		o.wrong = o.wrong || x.price%x.quantity != 0
		x.price /= x.quantity
	}
	o.wrong = o.wrong || !grouped || x.quantity < 1 || x.quantity > most/10_000 || x.price < 1 || x.price > most
	o.items = append(o.items, x)
}

// buy adds the step that places the order, and returns the notice's details.
func (p *planner) buy() []object {
	t, o := p.reading.words.Order, p.reading.order
	var items []object
	for _, x := range o.items {
		items = append(items, object{"name": x.name, "quantity": x.quantity, "unit_price": x.price})
	}
	placed := p.add(t.PlaceTitle, placeOrder, object{
		"supplier": o.supplier, "items": items, "currency": "JPY", "reference": o.reference,
	})
	if placed == "" {
		return nil
	}
	return []object{{"label": t.LabelSupplier, "value": o.supplier},
		{"label": t.LabelNumber, "value": ref(placed + "order_number")},
		{"label": t.LabelTotal, "value": ref(placed + "total")}}
}

// orderPolicy returns the first lines of a policy about an order. They have each value as the call will have it.
func (r reading) orderPolicy() []string {
	t, o := r.words.Order, r.order
	lines := []string{fmt.Sprintf(t.Purpose, fmt.Sprintf(r.words.Quote, o.supplier))}
	for _, x := range o.items {
		name := fmt.Sprintf(r.words.Quote, x.name)
		lines = append(lines, fmt.Sprintf(t.Item, name, x.quantity, x.price, x.quantity*x.price))
	}
	return append(lines, fmt.Sprintf(t.Total, o.total()), fmt.Sprintf(t.Reference, o.reference))
}

// follow takes the reference from an approved policy: that of an order is made when its policy is drafted.
func (o *order) follow(policy string) {
	if m := referenceForm.Get().FindStringSubmatch(policy); m != nil {
		o.reference = m[1]
	}
}
