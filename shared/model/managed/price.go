package managed

import (
	"strconv"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"ringi/shared/domain/aggregate"
	"ringi/shared/model/price"
)

// perCent is a cent in aggregate.MicroUSD: the vendor counts in cents.
const perCent = 10_000

// budget is a limit, in whole cents below it but for the first.
func budget(limit aggregate.MicroUSD) sdk.BetaManagedAgentsBudgetLimitParam {
	return sdk.BetaManagedAgentsBudgetLimitParam{
		Type: sdk.BetaManagedAgentsBudgetLimitTypeLimit,
		MaxListCost: sdk.BetaMonetaryAmountParam{Amount: strconv.FormatInt(max(1, int64(limit)/perCent), 10),
			Currency: sdk.BetaCurrencyUsd},
	}
}

// maxCents is more than any session costs, ten billion dollars.
const maxCents = 1e12

// cost is what the vendor says that a session costs, and where it does not, or says a sum that none costs, what
// its tokens cost.
func cost(listed sdk.BetaMonetaryAmount, u aggregate.Usage) (c aggregate.MicroUSD, unpriced int) {
	if cents, err := strconv.ParseInt(listed.Amount, 10, 64); err == nil && cents >= 0 && cents <= maxCents &&
		listed.Currency == sdk.BetaCurrencyUsd {
		return aggregate.MicroUSD(cents) * perCent, 0
	}
	c, known := price.Cost(u)
	if !known {
		return 0, u.Calls
	}
	return c, 0
}
