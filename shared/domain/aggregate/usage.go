package aggregate

import (
	"fmt"
	"math"
	"strings"
)

// MicroUSD is money, in millionths of a US dollar: its sums are exact.
type MicroUSD int64

// USD is so many dollars, to the millionth.
func USD(dollars float64) MicroUSD { return MicroUSD(math.Round(dollars * 1e6)) }

// String is the sum in dollars with two digits behind the point, or as many as it has.
func (m MicroUSD) String() string {
	sign, n := "", uint64(m)
	if m < 0 {
		sign, n = "-", -n
	}
	cents, rest := fmt.Sprintf("%s%d.%02d", sign, n/1e6, n%1e6/1e4), fmt.Sprintf("%04d", n%1e4)
	return cents + strings.TrimRight(rest, "0")
}

// Usage is what a model's calls came to: those for one generation, or all of an
// aggregate's. Input excludes what was read from a cache and includes what was written to one.
type Usage struct {
	ID        string   `json:"id,omitempty"` // of the generation, so that none is charged twice
	Provider  string   `json:"provider,omitempty"`
	Model     string   `json:"model,omitempty"`
	Prompt    string   `json:"prompt,omitempty"`     // name of the prompt: extract.ja.2 is the second version of the Japanese one
	RequestID string   `json:"request_id,omitempty"` // the vendor's, of the last call
	Sent      *Blob    `json:"sent,omitempty"`       // the last call's request, which repeats those before it; nil if it was not kept
	Calls     int      `json:"calls"`
	Input     int64    `json:"input_tokens"`
	Output    int64    `json:"output_tokens"`
	Cached    int64    `json:"cached_tokens"`
	Written   int64    `json:"cache_write_tokens,omitempty"` // part of Input
	MS        int64    `json:"ms"`
	Cost      MicroUSD `json:"cost_micro_usd"`           // of the calls whose price is known
	Unpriced  int      `json:"unpriced_calls,omitempty"` // calls of models whose price is not known
}

// maxTokens is more than any call reads or writes. More of them times a price may not fit into MicroUSD.
const maxTokens = 100_000_000

// Counted is u as it may be charged: a count below nothing is nothing, since no call gives back what others cost, and
// one above maxTokens is that many. Vendors' answers, and those of gateways of a tenant's own, are read with it.
func (u Usage) Counted() Usage {
	for _, n := range []*int64{&u.Input, &u.Output, &u.Cached, &u.Written} {
		*n = min(max(0, *n), maxTokens)
	}
	u.Written = min(u.Written, u.Input)
	return u
}

// Plus adds a later usage; the names are the later's, and the request that was sent, if it was kept.
func (u Usage) Plus(v Usage) Usage {
	if v.Sent == nil {
		v.Sent = u.Sent
	}
	v.Calls += u.Calls
	v.Input += u.Input
	v.Output += u.Output
	v.Cached += u.Cached
	v.Written += u.Written
	v.MS += u.MS
	v.Cost += u.Cost
	v.Unpriced += u.Unpriced
	return v
}

// Free reports whether the calls cost nothing, such as one that was refused.
func (u Usage) Free() bool { return u.Input+u.Output+u.Cached == 0 && u.Cost == 0 }

// Sum is u without the fields that describe a single generation.
func (u Usage) Sum() Usage {
	u.ID, u.Provider, u.Model, u.Prompt, u.RequestID, u.Sent, u.Written = "", "", "", "", "", nil, 0
	return u
}
