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

// SearchCost returns the cost of a provider's own web searches, rounded up; known is false if they have no known price.
func SearchCost(provider string, n int64) (cost aggregate.MicroUSD, known bool) {
	s := listOf(provider).Search
	if s == nil || n == 0 {
		return 0, n == 0
	}
	return aggregate.MicroUSD((n*int64(s.Thousand) + 999) / 1000), true
}

func listOf(provider string) list {
	lists, _ := read() // a test reads the embedded file, so it is valid
	return aggregate.First(lists, func(l list) bool { return l.Provider == provider })
}

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

// spelled returns a model's name, and the one without the date of a snapshot.
func spelled(model string) []string {
	if dated := datedForm.Get().FindStringSubmatch(model); dated != nil {
		return []string{model, dated[1]}
	}
	return []string{model}
}

// find looks a model up by its name, with or without the date of a snapshot: among a workspace's own prices, else in
// the table. On Bedrock a Claude model has Anthropic's price, plus a tenth unless the prefix global leaves the region
// to AWS. markup is in tenths.
func find(provider, model string, prices []ModelPrice) (e priceEntry, markup int64, known bool) {
	model, markup = strings.TrimPrefix(model, "models/"), 10 // as Gemini's endpoint answers
	for _, name := range spelled(model) {
		for _, p := range prices {
			if n, err := aggregate.ParseModelName(p.Model); err == nil && n.Vendor() == provider && n.Model == name &&
				IsPrice(p.Input) && IsPrice(p.Output) {
				in := rateOf(p.Input)
				return priceEntry{rates: rates{Input: in, Cached: in, Output: rateOf(p.Output)}}, markup, true
			}
		}
	}
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
	for _, name := range spelled(model) {
		if e, known = listOf(provider).Models[name]; known {
			break
		}
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
	return all
}

// spentKept is how long a day's sum is stored.
const spentKept = 400 * 24 * time.Hour

// SpentPrefix begins the keys of the counters of a tenant's daily costs, in millionths of a dollar. Days and months are
// in UTC.
const SpentPrefix = "SPENT#"

// Spent adds a cost to its day.
func Spent(cost aggregate.MicroUSD, now time.Time) []aggregate.Count {
	if cost <= 0 {
		return nil
	}
	return []aggregate.Count{ofDay(cost, now)}
}

func ofDay(cost aggregate.MicroUSD, day time.Time) aggregate.Count {
	return aggregate.Count{Key: SpentPrefix + day.UTC().Format(time.DateOnly), By: int(cost), Keep: day.Add(spentKept)}
}

// ReasonDayBudget says that a tenant's costs have reached the limit for the day.
const ReasonDayBudget aggregate.Reason = "day_budget"

// Reserve adds a budget to its day before it is spent. It is refused if the day would come to more than most; 0 means
// no limit. So of two concurrent reservations for which only one fits, one is refused.
func Reserve(budget, most aggregate.MicroUSD, now time.Time) []aggregate.Count {
	c := ofDay(budget, now)
	c.Most, c.Reason = int(most), ReasonDayBudget
	return []aggregate.Count{c}
}

// Settle replaces a reserved budget by the actual cost.
func Settle(reserved, cost aggregate.MicroUSD, day time.Time) []aggregate.Count {
	if cost == 0 && reserved == 0 {
		return nil
	}
	return []aggregate.Count{ofDay(cost-reserved, day)}
}

// Sums are the costs of all of a tenant's tasks today and in this month. A running contest counts with its full budget
// until what it spent is known.
type Sums struct{ Day, Month aggregate.MicroUSD }

// MaxCostDay is the daily cost limit, 0 for none.
func (s Settings) MaxCostDay() aggregate.MicroUSD { return limitOf(s.MaxCostDayUSD) }

// CostsLimited reports whether any limit applies to the costs of a task or a conversation.
func (s Settings) CostsLimited() bool { return s.MaxCost() > 0 || s.MaxCostDay() > 0 }

// DayOf returns the date in Japan, as on cards and pages.
func DayOf(t time.Time) string { return t.In(Zone()).Format(time.DateOnly) }
