package freee

import (
	"encoding/json"
	"strings"
	"time"

	"ringi/shared/explain/failedcall"
	"ringi/shared/tool/wire"
)

// throttle is how long freee refuses with 403 after too many calls in a short time: its
// API's description says about ten minutes.
const throttle = 10 * time.Minute

// explain reads freee's errors, which have two forms: {status_code, errors: [{type,
// messages}]}, and the flat {error, message, code} of accessDeniedError. The codes are
// those of developer.freee.co.jp/tips/faq/40x-checkpoint; freee gives them with 401 and 403.
func explain(_ int, body []byte) wire.Refusal {
	var e struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		Errors  []struct {
			Type     string   `json:"type"`
			Messages []string `json:"messages"`
		} `json:"errors"`
	}
	_ = json.Unmarshal(body, &e) // what can't be read says nothing
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
			r.Problem = failedcall.ProblemUnauthorized
		case "user_do_not_have_permission", "company_not_found", "freee_plan_limit", "source_ip_address_limit":
			r.Problem = failedcall.ProblemDenied
		case "too_many_requests", "rate_limit_exceeded":
			r.Problem = failedcall.ProblemRateLimited
		}
	}
	return r
}
