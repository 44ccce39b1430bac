package managed

import (
	"encoding/json"
	"fmt"
	"strconv"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
)

// Tool is a tool that a session may ask to have called.
type Tool struct {
	Name        string // made by Name
	Description string
	Input       json.RawMessage // JSON Schema of an object
}

// maxName is the vendor's limit for a tool's name, in characters.
const maxName = 128

// Name returns the name by which a session knows a tool.
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

// perCent is a cent in aggregate.MicroUSD, because the vendor counts in cents.
const perCent = 10_000

// budget is a limit in whole cents, rounded down but never to 0.
func budget(limit aggregate.MicroUSD) sdk.BetaManagedAgentsBudgetLimitParam {
	return sdk.BetaManagedAgentsBudgetLimitParam{
		Type: sdk.BetaManagedAgentsBudgetLimitTypeLimit,
		MaxListCost: sdk.BetaMonetaryAmountParam{Amount: strconv.FormatInt(max(1, int64(limit)/perCent), 10),
			Currency: sdk.BetaCurrencyUSD},
	}
}

// maxCents is ten billion dollars, more than any session costs.
const maxCents = 1e12

// cost is the vendor's price of a session. If the vendor gives none or an impossible one, cost is the price of the
// session's tokens.
func cost(listed sdk.BetaMonetaryAmount, u aggregate.Usage) (c aggregate.MicroUSD, unpriced int) {
	if cents, err := strconv.ParseInt(listed.Amount, 10, 64); err == nil && cents >= 0 && cents <= maxCents &&
		listed.Currency == sdk.BetaCurrencyUSD {
		return aggregate.MicroUSD(cents) * perCent, 0
	}
	c, known := tenancy.Cost(u, nil)
	if !known {
		return 0, u.Calls
	}
	return c, 0
}
