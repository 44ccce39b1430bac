package anthropic

import (
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"ringi/shared/domain/aggregate"
)

func TestASessionCostsNoSumThatNoneCosts(t *testing.T) {
	u := aggregate.Usage{Provider: aggregate.Anthropic, Model: "claude-sonnet-4-6", Calls: 1, Input: 1_000_000}
	tokens, _ := cost(sdk.BetaMonetaryAmount{}, u)
	for amount, want := range map[string]aggregate.MicroUSD{"123": 1_230_000, "0": 0, "-300": tokens, "9223372036854775807": tokens, "1.5": tokens} {
		if got, unpriced := cost(sdk.BetaMonetaryAmount{Amount: amount, Currency: sdk.BetaCurrencyUSD}, u); got != want || got < 0 || tokens == 0 || unpriced != 0 {
			t.Errorf("%s cents are %s dollars, want %s", amount, got, want)
		}
	}
}
