package rules

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"ringi/shared/domain/aggregate"
)

// Mark says where a tool's arguments have the amount of a call, and what tells its kinds apart. An administrator makes
// it for one version of the tool.
type Mark struct {
	Version  string   `json:"version"`            // of the tool
	How      How      `json:"how,omitempty"`      // empty: nobody said
	Pointers []string `json:"pointers,omitempty"` // JSON pointers; * stands for every row of a list
	// Currency is three letters, CurrencyAt a JSON pointer to these. One of them is empty.
	Currency   string  `json:"currency,omitempty"`
	CurrencyAt string  `json:"currency_at,omitempty"`
	LabelledBy []Label `json:"labelled_by,omitempty"`
}

// How says how a call's amount follows from the values at the pointers.
type How string

const (
	HowUnknown How = ""        // nobody said
	HowSum     How = "sum"     // of all values
	HowProduct How = "product" // of the values of one row, such as price and quantity; summed over the rows
	HowNothing How = "nothing" // calls of the tool move no money
)

// AmountOf returns the amount of a call of one version of the tool. Without a mark only a call that reads has one:
// nothing.
func (m *Mark) AmountOf(version string, access aggregate.Access, arguments aggregate.JSON) Amount {
	switch {
	case m == nil && access == aggregate.Read:
		return Nothing()
	case m == nil || version == "": // or it runs elsewhere, in a version that nobody knows
		return Unknown(WhyUnmarked)
	case m.Version != version || len(m.Problems()) > 0:
		return Unknown(WhyMark)
	case m.How == HowNothing, m.How == HowUnknown && access == aggregate.Read:
		return Nothing()
	case m.How == HowUnknown:
		return Unknown(WhyUnmarked)
	}
	root, ok := decode(string(arguments))
	if !ok {
		return Unknown(WhyArguments)
	}
	currency, why := m.currencyIn(root)
	if why != "" {
		return Unknown(why)
	}
	sum, why := m.total(root)
	if why != "" {
		return Unknown(why)
	}
	return known(decimal(sum), currency)
}

// currencyIn returns the currency of the amount of a call with these arguments: one, written as three letters.
func (m *Mark) currencyIn(root any) (currency string, why Why) {
	if m.CurrencyAt == "" {
		return m.Currency, ""
	}
	values, why := at(root, Tokens(m.CurrencyAt))
	if why != "" {
		return "", why
	}
	for _, v := range values {
		if of, ref := v.(map[string]any); ref && of["$ref"] != nil {
			return "", WhyReference
		}
		text, _ := v.(string)
		if !currencyForm.Get().MatchString(text) || currency != "" && text != currency {
			return "", WhyCurrencies
		}
		currency = text
	}
	return currency, ""
}

// Covers reports whether what stands at a path of the arguments decides the amount or a label of a call of one version
// of the tool: it is at one of their pointers, above one or below one.
func (m *Mark) Covers(version string, path []string) bool {
	if m == nil || m.Version != version {
		return false
	}
	meets := func(pointer string) bool {
		for i, token := range Tokens(pointer) {
			if i < len(path) && token != path[i] && token != rows {
				return false
			}
		}
		return true
	}
	label := slices.ContainsFunc(m.LabelledBy, func(l Label) bool { return meets(l.Pointer) })
	return label || slices.ContainsFunc(m.Pointers, meets) || m.CurrencyAt != "" && meets(m.CurrencyAt)
}

// total adds the values at the pointers or, of a product, those of each row's product.
func (m *Mark) total(root any) (*big.Rat, Why) {
	sum := new(big.Rat)
	if m.How == HowSum {
		for _, p := range m.Pointers {
			factors, why := readEach(root, p)
			if why != "" {
				return nil, why
			}
			for _, x := range factors {
				sum.Add(sum, x)
			}
		}
		return sum, ""
	}
	products, why := m.products(root)
	for _, x := range products {
		sum.Add(sum, x)
	}
	return sum, why
}

// products returns the product of each row.
func (m *Mark) products(root any) (products []*big.Rat, why Why) {
	for _, p := range m.Pointers {
		factors, why := readEach(root, p)
		switch {
		case why != "":
			return nil, why
		case products == nil:
			products = factors
		default: // as many: all pointers go through the same lists
			for i, x := range factors {
				products[i].Mul(products[i], x)
			}
		}
	}
	return products, ""
}

// readEach returns the numbers at a pointer, in the order of its rows.
func readEach(root any, pointer string) (all []*big.Rat, why Why) {
	values, why := at(root, Tokens(pointer))
	if why != "" {
		return nil, why
	}
	for _, v := range values {
		x, why := parse(v)
		if why != "" {
			return nil, why
		}
		all = append(all, x)
	}
	return all, ""
}

// through returns the beginning of a pointer up to its last list; empty: it goes through none.
func through(pointer string) []string {
	path := Tokens(pointer)
	last := -1
	for i, token := range path {
		if token == rows {
			last = i
		}
	}
	return path[:last+1]
}

// rows is the part of a pointer that stands for every row of a list.
const rows = "*"

// escaped and unescaped write and read what a part of a JSON pointer stands for (RFC 6901).
var escaped, unescaped = strings.NewReplacer("~", "~0", "/", "~1"), strings.NewReplacer("~1", "/", "~0", "~")

// Token returns a member's name as a part of a JSON pointer.
func Token(name string) string { return escaped.Replace(name) }

// Pointer returns the JSON pointer to a path.
func Pointer(path []string) (pointer string) {
	for _, name := range path {
		pointer += "/" + Token(name)
	}
	return pointer
}

// Tokens returns the parts of a JSON pointer, without its escapes.
func Tokens(pointer string) []string {
	parts := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i, part := range parts {
		parts[i] = unescaped.Replace(part)
	}
	return parts
}

// at returns the values at a pointer, in the order of the rows. Lists are entered by * only, so that no row is left
// out.
func at(v any, path []string) ([]any, Why) {
	if len(path) == 0 {
		return []any{v}, ""
	}
	switch v := v.(type) {
	case map[string]any:
		member, ok := v[path[0]]
		switch _, ref := v["$ref"]; {
		case ref:
			return nil, WhyReference
		case path[0] == rows:
			return nil, WhyRows
		case !ok:
			return nil, WhyMissing
		}
		return at(member, path[1:])
	case []any:
		if path[0] != rows || len(v) == 0 {
			return nil, WhyRows // vendors may take an empty list for everything
		}
		var all []any
		for _, row := range v {
			values, why := at(row, path[1:])
			if why != "" {
				return nil, why
			}
			all = append(all, values...)
		}
		return all, ""
	}
	return nil, WhyMissing
}

// maxNested is how deep arguments may be nested for their amount to be read.
const maxNested = 32

// decode reads arguments. It refuses what vendors may read in two ways: a member that is there twice, also in other
// letters, text that isn't UTF-8, and a second value.
func decode(text string) (v any, ok bool) {
	if aggregate.JSON(text).Unambiguous("", maxNested) != nil {
		return nil, false
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	return v, d.Decode(&v) == nil
}

// Problems returns everything for which the mark can't be saved.
func (m *Mark) Problems() aggregate.Problems {
	var p problems
	p.Unless(m.Version != "" && len(m.Version) <= maxVersion, "version", "bytes", maxVersion)
	p.Unless(len(m.LabelledBy) <= MaxPointers, "labelled_by", "most", MaxPointers)
	for i, l := range m.LabelledBy {
		field := fmt.Sprintf("labelled_by[%d]", i)
		p.name(l.Name, field+".name", MaxNamed)
		p.pointer(l.Pointer, field+".pointer")
		p.Unless(!slices.ContainsFunc(m.LabelledBy[:i], func(x Label) bool { return x.Name == l.Name }), field+".name",
			"twice")
	}
	m.checkAmount(&p)
	return p.Problems
}

// checkAmount checks what the mark says about the amount.
func (m *Mark) checkAmount(p *problems) {
	switch {
	case m.How == HowNothing, m.How == HowUnknown && len(m.LabelledBy) > 0:
		p.Unless(len(m.Pointers) == 0 && m.Currency+m.CurrencyAt == "", "pointers",
			"must be absent, as the currency, where no amount is marked")
		return
	case m.How != HowSum && m.How != HowProduct:
		p.Unless(false, "how", "must be sum, product or nothing")
	}
	p.Unless(len(m.Pointers) > 0, "pointers", "some", MaxPointers)
	p.list(m.Pointers, "pointers", MaxPointers, p.pointer)
	elsewhere := func(at string) bool { return !slices.Equal(through(at), through(m.Pointers[0])) }
	p.Unless(m.How != HowProduct || !slices.ContainsFunc(m.Pointers, elsewhere), "pointers",
		"must go through the same rows to be multiplied")
	if m.CurrencyAt != "" {
		p.Unless(m.Currency == "", "currency", "must be absent where an argument says it")
		p.pointer(m.CurrencyAt, "currency_at")
		return
	}
	p.currency(m.Currency, "currency")
}

// Label is an argument by whose value a mark tells one kind of call from another, such as 費目 of an order.
type Label struct {
	Name    string `json:"name"`
	Pointer string `json:"pointer"` // to a text, a number, or a list of these
}

// LabelsOf returns what a call of one version of the tool has at each label: none where it isn't known, as of another
// version, or where a reference, nothing or an empty text or list stands.
func (m *Mark) LabelsOf(version string, arguments aggregate.JSON) map[string][]string {
	if m == nil || len(m.LabelledBy) == 0 {
		return nil
	}
	values := map[string][]string{}
	root, ok := decode(string(arguments))
	ok = ok && m.Version == version && len(m.Problems()) == 0
	for _, l := range m.LabelledBy {
		values[l.Name] = nil
		if ok {
			values[l.Name] = textsAt(root, l.Pointer)
		}
	}
	return values
}

// labelText returns a text, or a number as it is written.
func labelText(v any) string {
	if n, is := v.(json.Number); is && Decimal(n).Valid() {
		return n.String()
	}
	text, _ := v.(string)
	return text
}

// textsAt returns the texts at a pointer, and each of a list there; none if one of them isn't known.
func textsAt(root any, pointer string) (all []string) {
	values, why := at(root, Tokens(pointer))
	if why != "" {
		return nil
	}
	for _, v := range values {
		list, isList := v.([]any)
		if !isList {
			list = []any{v}
		}
		for _, v := range list {
			text := labelText(v)
			if text == "" {
				return nil
			}
			all = append(all, text)
		}
		if len(list) == 0 {
			return nil
		}
	}
	return all
}
