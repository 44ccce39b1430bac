package managed

import (
	"encoding/json"
	"fmt"
	"strconv"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"ringi/shared/domain/aggregate"
	"ringi/shared/model"
	"ringi/shared/model/price"
)

// Tool is one that a session may ask to have called.
type Tool struct {
	Name        string // made by Name
	Description string
	Input       json.RawMessage // JSON Schema of an object
}

// maxName is the vendor's limit, in characters.
const maxName = 128

// Name is a session's name for a tool.
func Name(tool string) string {
	name := model.Identifier(tool, '_')
	return name[:min(len(name), maxName)]
}

func (t Tool) custom() (sdk.BetaManagedAgentsCustomToolParams, error) {
	p := sdk.BetaManagedAgentsCustomToolParams{Name: t.Name, Description: t.Description,
		Type: sdk.BetaManagedAgentsCustomToolParamsTypeCustom}
	in, err := &p.InputSchema, error(nil)
	if in.Properties, in.Required, in.ExtraFields, err = model.Shape(t.Input); err != nil {
		return p, fmt.Errorf("read the input schema of %s: %w", t.Name, err)
	}
	return p, nil
}

// perCent is a cent in aggregate.MicroUSD: the vendor counts in cents.
const perCent = 10_000

// budget is a limit in whole cents, rounded down but never to 0.
func budget(limit aggregate.MicroUSD) sdk.BetaManagedAgentsBudgetLimitParam {
	return sdk.BetaManagedAgentsBudgetLimitParam{
		Type: sdk.BetaManagedAgentsBudgetLimitTypeLimit,
		MaxListCost: sdk.BetaMonetaryAmountParam{Amount: strconv.FormatInt(max(1, int64(limit)/perCent), 10),
			Currency: sdk.BetaCurrencyUsd},
	}
}

// maxCents is more than any session costs, ten billion dollars.
const maxCents = 1e12

// cost is the vendor's price of a session. When the vendor gives none, or an impossible one, it is the price of the
// session's tokens.
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
