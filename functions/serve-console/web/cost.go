package web

import "ringi/shared/domain/aggregate"

// Spent says what calls of models cost, some of which may have no known price: of those only the tokens are known.
func Spent(locale string, known aggregate.MicroUSD, unpriced int) string {
	words, cost := TextsOf("layout", locale), "$"+known.String()
	switch {
	case unpriced == 0:
		return cost
	case known == 0:
		return words.Say("price_unknown")
	}
	return words.Say("price_at_least", "cost", cost)
}
