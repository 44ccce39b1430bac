package tenancy

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/words/language"
)

//go:embed prices.json
var file []byte

// list is one provider's prices.
type list struct {
	Provider string                `json:"provider"`
	Note     string                `json:"note"`
	Read     string                `json:"read"` // the day on which the sources were looked up
	Sources  map[string]source     `json:"sources"`
	Search   *search               `json:"search"` // nil: the vendor's own web search is not used
	Models   map[string]priceEntry `json:"models"`
}

// source says where a price was found: the vendor's page, who repeats it, and the day of that.
type source struct {
	Page string `json:"page"`
	By   string `json:"by"`
	Date string `json:"date"` // or undated
}

// search is the price of the vendor's own web search, in dollars per thousand searches.
type search struct {
	Thousand rate   `json:"thousand"`
	Source   string `json:"source"` // its key in Sources
}

// priceEntry is one model's price. Calls with more than Over tokens of input are charged at Long.
type priceEntry struct {
	rates
	Source string `json:"source"` // its key in Sources
	Over   int64  `json:"over"`
	Long   *rates `json:"long"`
}

// rates are dollars per million tokens. Written is the rate for tokens written to a cache; 0: same as Input.
type rates struct {
	Input   rate `json:"input"`
	Output  rate `json:"output"`
	Cached  rate `json:"cached"`
	Written rate `json:"written"`
}

// rate is a price in millionths of a dollar per million tokens. That equals millionths of a micro-dollar per token.
type rate int64

const perMicroUSD = 1e6

// UnmarshalJSON reads a decimal in quotes, without the rounding of a float.
func (r *rate) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil || !IsPrice(s) {
		return fmt.Errorf(`a price must be a decimal in quotes such as "0.25", not %s`, b)
	}
	*r = rateOf(s)
	return nil
}

// rateOf reads a text that is a price.
func rateOf(text string) rate {
	whole, fraction, _ := strings.Cut(text, ".")
	n, err := strconv.ParseInt(whole+(fraction + "000000")[:6], 10, 64)
	if err != nil {
		return 0 // no such text is a price
	}
	return rate(n)
}

// SearchPrice is the price of a vendor's own web search.
type SearchPrice struct {
	Thousand aggregate.MicroUSD // searches
	Page     string             // of the vendor, that has the price
	Read     string             // the day on which it was looked up
}

// SearchPriceOf returns the price of a provider's own web search; known is false if there is none.
func SearchPriceOf(provider string) (price SearchPrice, known bool) {
	lists, err := read()
	if err != nil {
		return price, false
	}
	for _, l := range lists {
		if l.Provider == provider && l.Search != nil {
			return SearchPrice{aggregate.MicroUSD(l.Search.Thousand), l.Sources[l.Search.Source].Page, l.Read}, true
		}
	}
	return price, false
}

// SearchCost returns the cost of a provider's searches, rounded up; known is false if they have no known price.
func SearchCost(provider string, n int64) (cost aggregate.MicroUSD, known bool) {
	if n == 0 {
		return 0, true
	}
	p, known := SearchPriceOf(provider)
	return (aggregate.MicroUSD(n)*p.Thousand + 999) / 1000, known
}

var table = sync.OnceValues(func() (map[string]map[string]priceEntry, error) {
	lists, err := read()
	out := map[string]map[string]priceEntry{}
	for _, l := range lists {
		out[l.Provider] = l.Models
	}
	return out, err
})

var read = sync.OnceValues(func() (lists []list, err error) {
	if err := json.Unmarshal(file, &lists); err != nil {
		return nil, fmt.Errorf("read prices.json: %w", err)
	}
	return lists, nil
})

var (
	datedForm = language.Regexp{Text: `^(.+?)-(?:\d{8}|\d{4}-\d{2}-\d{2})$`}
	// bedrockForm matches a Claude model of Bedrock: us.anthropic.claude-sonnet-4-5-20250929-v1:0
	bedrockForm = language.Regexp{Text: `^(?:([a-z]+)\.)?anthropic\.(claude-.+?)(?:-v\d+(?::\d+)?)?$`}
)

// own looks a model up among a workspace's own prices, with or without the date of a snapshot.
func own(provider, model string, prices []ModelPrice) (e priceEntry, known bool) {
	names := []string{strings.TrimPrefix(model, "models/")}
	if dated := datedForm.Get().FindStringSubmatch(names[0]); dated != nil {
		names = append(names, dated[1])
	}
	for _, name := range names {
		for _, p := range prices {
			n, err := aggregate.ParseModelName(p.Model)
			if err != nil || n.Vendor() != provider || n.Model != name ||
				!IsPrice(p.Input) || !IsPrice(p.Output) {
				continue
			}
			e.Input, e.Output, e.Cached = rateOf(p.Input), rateOf(p.Output), rateOf(p.Input)
			if IsPrice(p.Cached) {
				e.Cached = rateOf(p.Cached)
			}
			return e, true
		}
	}
	return e, false
}

// find looks a model up by its name, with or without the date of a snapshot. On Bedrock a Claude model has Anthropic's
// price, plus a tenth unless the prefix global leaves the region to AWS. markup is in tenths.
func find(provider, model string, prices []ModelPrice) (e priceEntry, markup int64, known bool) {
	if e, known = own(provider, model, prices); known {
		return e, 10, true
	}
	listed, err := table()
	if err != nil { // a test reads the embedded file, so it is valid
		return priceEntry{}, 0, false
	}
	markup = 10
	model = strings.TrimPrefix(model, "models/") // as Gemini's endpoint answers
	if provider == aggregate.Bedrock {
		name := bedrockForm.Get().FindStringSubmatch(model)
		if name == nil {
			return priceEntry{}, 0, false
		}
		provider, model = aggregate.Anthropic, name[2]
		if name[1] != "global" {
			markup = 11
		}
	}
	if e, known = listed[provider][model]; known {
		return e, markup, true
	}
	if name := datedForm.Get().FindStringSubmatch(model); name != nil {
		e, known = listed[provider][name[1]]
	}
	return e, markup, known
}

// PriceKnown reports whether the price of a model is known, from the table or a workspace's own prices. name is the
// model's name in the settings.
func PriceKnown(name string, prices []ModelPrice) bool {
	n, err := aggregate.ParseModelName(name)
	if err != nil {
		return false
	}
	model := n.Model
	if n.Provider == aggregate.Demo {
		model = aggregate.Demo
	}
	_, _, known := find(n.Vendor(), model, prices)
	return known
}

// Cost returns the cost of the calls and searches in u, rounded up and never below 0, at a workspace's own prices where
// it has one. known is false for a model without a known price, unless the calls used no tokens: those cost 0 with any
// model.
func Cost(u aggregate.Usage, prices []ModelPrice) (cost aggregate.MicroUSD, known bool) {
	u = u.Counted()
	found, known := SearchCost(u.Provider, u.Searches)
	if u.Input+u.Output+u.Cached == 0 {
		return found, known
	}
	e, markup, priced := find(u.Provider, u.Model, prices)
	if !priced || !known { // searches have their price even where the tokens have none
		return found, false
	}
	r := e.rates
	if e.Long != nil && u.Input+u.Cached > e.Over {
		r = *e.Long
	}
	if r.Written == 0 {
		r.Written = r.Input
	}
	sum := (u.Input-u.Written)*int64(r.Input) + u.Written*int64(r.Written) + u.Cached*int64(r.Cached) +
		u.Output*int64(r.Output)
	const unit = perMicroUSD * 10
	return found + aggregate.MicroUSD((sum*markup+unit-1)/unit), true
}

// ModelPrice is what a workspace pays for a model: of an endpoint of its own, of a model that the table of prices
// doesn't have, or in place of the table's price. Amounts are US dollars for a million tokens, as decimals.
type ModelPrice struct {
	Model  string `json:"model"` // its name as in the settings: compatible:<endpoint>/<model>
	Input  string `json:"input"`
	Output string `json:"output"`
	Cached string `json:"cached"` // of input that the vendor had cached; empty: as other input
	Date   string `json:"date"`   // the day on which somebody looked the price up: 2026-11-20
}

// MaxPrices is how many prices of its own a workspace may have.
const MaxPrices = 50

var priceForm = language.Regexp{Text: `^[0-9]{1,3}(\.[0-9]{1,6})?$`}

// IsPrice reports whether a text is a price: a decimal from 0 to 999.999999.
func IsPrice(text string) bool { return priceForm.Get().MatchString(text) }

// model returns the model's name in its one spelling, or "" if it has none.
func (p ModelPrice) model() string {
	n, err := aggregate.ParseModelName(p.Model)
	if err != nil || n.Provider == aggregate.Demo {
		return ""
	}
	return n.String()
}

// Problems returns everything that is wrong with a price.
func (p ModelPrice) Problems() (all aggregate.Problems) {
	all.Unless(p.model() != "", "model", "model")
	all.Unless(IsPrice(p.Input), "input", "price")
	all.Unless(IsPrice(p.Output), "output", "price")
	all.Unless(p.Cached == "" || IsPrice(p.Cached), "cached", "price")
	_, err := time.Parse(time.DateOnly, p.Date)
	all.Unless(err == nil, "date", "date")
	return all
}
