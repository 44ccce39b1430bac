package tenancy

import (
	"fmt"
	"ringi/shared/domain/aggregate"
	"ringi/shared/words/language"
	"slices"
	"time"
)

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

// The rules of prices. Below 1000 dollars, a price times the tokens of a call always fits into an aggregate.MicroUSD.
const (
	RulePrice Rule = "price"
	RuleDate  Rule = "date"
)

var priceForm = language.Regexp{Text: `^[0-9]{1,3}(\.[0-9]{1,6})?$`}

// IsPrice reports whether a text is a price: a decimal from 0 to 999.999999.
func IsPrice(text string) bool { return priceForm.Get().MatchString(text) }

// OwnPrices returns the workspace's own prices. Where the deployment bounds what a further workspace costs, there are
// none: its administrators could lift the bound by a price of 0.
func (s Settings) OwnPrices() []ModelPrice {
	if s.FurtherDay > 0 {
		return nil
	}
	return s.Prices
}

// priceProblems returns the problems of all prices.
func priceProblems(all []ModelPrice) (out []Problem) {
	var names []aggregate.ModelName
	for i, p := range all {
		add := func(field string, rule Rule) {
			out = append(out, Problem{Field: fmt.Sprintf("prices[%d].%s", i, field), Rule: rule})
		}
		n, err := aggregate.ParseModelName(p.Model)
		switch {
		case err != nil || n.Provider == aggregate.Demo:
			add("model", RuleModel)
		case slices.Contains(names, n):
			add("model", RuleTaken)
		}
		names = append(names, n)
		if !IsPrice(p.Input) {
			add("input", RulePrice)
		}
		if !IsPrice(p.Output) {
			add("output", RulePrice)
		}
		if p.Cached != "" && !IsPrice(p.Cached) {
			add("cached", RulePrice)
		}
		if _, err := time.Parse(time.DateOnly, p.Date); err != nil {
			add("date", RuleDate)
		}
	}
	return out
}
