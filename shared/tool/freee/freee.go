// Package freee reads employees, departments, positions and attendance from freee HR. It fetches no pay, bank or
// address data, and keeps only the fields that steps need.
package freee

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"ringi/shared/explain"
	"ringi/shared/tool/wire"
)

// Client accesses freee for one tenant.
type Client struct {
	wire   wire.Client
	chosen func(context.Context) (string, error)
	now    func() time.Time
}

// New makes a client. base is the API's address up to and including /hr. chosen returns the id of the company that a
// person chose when connecting, empty for none.
func New(base string, tokens wire.Tokens, chosen func(context.Context) (string, error), http wire.HTTP,
	now func() time.Time) *Client {
	return &Client{
		chosen: chosen,
		wire: wire.Client{Provider: explain.Freee, Base: strings.TrimRight(base, "/") + "/api/v1", Tokens: tokens,
			HTTP: http, Explain: explainFailure, Throttle: throttle},
		now: now,
	}
}

// company returns the id of the company to read: the chosen one, or else the first one that the token's owner
// administers, since only administrators may list employees.
func (c *Client) company(ctx context.Context) (int64, error) {
	chosen, err := c.chosen(ctx)
	if err != nil {
		return 0, explain.Fail(explain.ProblemLocked, err, explain.Freee)
	}
	var me struct {
		Companies []struct {
			ID   int64  `json:"id"`
			Role string `json:"role"`
		} `json:"companies"`
	}
	if err := c.wire.Read(ctx, "/users/me", &me); err != nil {
		return 0, err
	}
	for _, company := range me.Companies {
		if company.Role == "company_admin" && (chosen == "" || chosen == strconv.FormatInt(company.ID, 10)) {
			return company.ID, nil
		}
	}
	return 0, explain.Fail(explain.ProblemNoCompany,
		fmt.Errorf("none of %d companies is administered by the token's owner; one was chosen: %t", len(me.Companies), chosen != ""),
		explain.Freee)
}

// errCancelled cancels the other calls after one has failed.
var errCancelled = errors.New("another call failed")

// throttle is how long freee refuses calls with 403 after too many: about ten minutes, according to the API's
// description.
const throttle = 10 * time.Minute

// explain reads freee's errors, which have two forms: {status_code, errors: [{type, messages}]}, and the flat {error,
// message, code} of accessDeniedError. The codes are those of developer.freee.co.jp/tips/faq/40x-checkpoint, which
// freee returns with 401 and 403.
func explainFailure(_ int, body []byte) wire.Refusal {
	var e struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		Errors  []struct {
			Type     string   `json:"type"`
			Messages []string `json:"messages"`
		} `json:"errors"`
	}
	_ = json.Unmarshal(body, &e) // an unreadable body has no message
	said, kinds := []string{}, []string{e.Code}
	if e.Message != "" {
		said = append(said, e.Message)
	}
	for _, x := range e.Errors {
		said, kinds = append(said, x.Messages...), append(kinds, x.Type)
	}
	r := wire.Refusal{Said: strings.Join(said, " ")}
	for _, kind := range kinds {
		switch kind {
		case "expired_access_token", "invalid_access_token", "re_authorization_required":
			r.Problem = explain.ProblemUnauthorized
		case "user_do_not_have_permission", "company_not_found", "freee_plan_limit", "source_ip_address_limit":
			r.Problem = explain.ProblemDenied
		case "too_many_requests", "rate_limit_exceeded":
			r.Problem = explain.ProblemRateLimited
		}
	}
	return r
}
