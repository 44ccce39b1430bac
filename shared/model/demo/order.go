package demo

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// placeOrder is a tool of the local stack's MCP server. An administrator has to allow it first.
const placeOrder = "rooms.place_order"

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

const mostOrdered = 100_000_000 // of a number in an order, as the tool has it

// orders takes up an order. One whose names say when something is to be done, or for whom, stays unused.
func (r *reading) orders(t *token, said []string) {
	m := regexp.MustCompile(`^(?i:` + expanded(t.tag) + `)$`).FindStringSubmatch(t.text)
	var o order
	switch t.tag {
	case "order":
		for _, x := range regexp.MustCompile(expanded("$item")).FindAllStringSubmatch(m[3], -1) {
			o.add(x[1], x[2], x[4], x[5] != "", x[3]+x[6] != "")
		}
	case "order-priced":
		o.add(m[5], m[6], m[3], m[4] != "", true)
	default:
		o.add(m[2], m[1], m[5]+m[6], false, strings.EqualFold(m[4], "at") || m[7] != "")
		m[2] = m[3]
	}
	if t.tag != "order-en" && m[1] != "" {
		m[2] = quotation(m[1], said)
	}
	o.supplier = m[2]
	names := []string{o.supplier}
	for _, x := range o.items {
		names = append(names, x.name)
	}
	if slices.ContainsFunc(names, saysMore) {
		return
	}
	if r.topic != other {
		r.stop(r.words.Say["noSecond"], t.text)
	}
	sum := sha256.Sum256([]byte(r.text + r.now.Format(time.RFC3339)))
	o.reference = "R-" + hex.EncodeToString(sum[:4])
	r.topic, r.order, t.used = purchase, o, true
}

// saysMore reports whether a name has words that say when something is to be done, for whom, or that it is not to be.
func saysMore(name string) bool {
	return regexp.MustCompile(expanded("$due")).MatchString(name) || slices.ContainsFunc(lex(normal(name), false),
		func(t token) bool {
			return slices.Contains([]string{"day", "month", "clock", "who", "upto", "nodm", "nosheet", "since", "only"}, t.tag)
		})
}

// add adds an item. Unless the price is that of one, it is that of all.
func (o *order) add(name, quantity, price string, tenThousands, ofOne bool) {
	x := orderItem{name: strings.TrimSpace(name), quantity: 1, price: number(strings.ReplaceAll(price, ",", ""))}
	if n, err := strconv.Atoi(quantity); err == nil { // else a, an or one
		x.quantity = n
	}
	if tenThousands {
		x.price *= 10_000
	}
	if !ofOne && x.quantity > 0 {
		o.wrong = o.wrong || x.price%x.quantity != 0
		x.price /= x.quantity
	}
	o.wrong = o.wrong || x.quantity < 1 || x.quantity > mostOrdered/10_000 || x.price < 1 || x.price > mostOrdered
	o.items = append(o.items, x)
}

// buy adds the step that places the order, and returns the notice's details.
func (p *planner) buy() []object {
	t, o := p.reading.words.Topics["purchase"], p.reading.order
	var items []object
	for _, x := range o.items {
		items = append(items, object{"name": x.name, "quantity": x.quantity, "unit_price": x.price})
	}
	placed := p.add(p.reading.words.Steps["place"], placeOrder, object{
		"supplier": o.supplier, "items": items, "currency": "JPY", "reference": o.reference,
	})
	if placed == "" {
		return nil
	}
	return []object{{"label": t["labelSupplier"], "value": o.supplier},
		{"label": t["labelNumber"], "value": ref(placed + "order_number")},
		{"label": t["labelTotal"], "value": ref(placed + "total")}}
}

// orderPolicy returns the first lines of a policy about an order. They have each value as the call will have it.
func (r reading) orderPolicy() []string {
	t, o, total := r.words.Topics["purchase"], r.order, 0
	var lines []string
	for _, x := range o.items {
		name := fmt.Sprintf(r.words.Say["quote"], x.name)
		lines = append(lines, fmt.Sprintf(t["item"], name, x.quantity, x.price, x.quantity*x.price))
		total += x.quantity * x.price
	}
	return append(lines, fmt.Sprintf(t["total"], total), fmt.Sprintf(t["reference"], o.reference))
}
