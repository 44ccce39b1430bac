package models

import (
	"cmp"
	"net/http"
	"strings"
)

// object is JSON to be sent.
type object map[string]any

// block is a part of a turn.
type block struct {
	Text string `json:"text"`
}

func join(blocks []block) string {
	var all strings.Builder
	for _, b := range blocks {
		all.WriteString(b.Text)
	}
	return all.String()
}

var anthropic = wire{
	vendor: "anthropic", id: "Request-Id", read: readAnthropic, whole: messageOf, events: streamAnthropic,
	key: func(r *http.Request) string { return r.Header.Get("X-Api-Key") },
	refuse: func(status int) object {
		kind := map[int]string{
			400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 403: "permission_error", 404: "not_found_error",
			429: "rate_limit_error", 504: "timeout_error", 529: "overloaded_error",
		}[status]
		return object{"type": "error",
			"error": object{"type": cmp.Or(kind, "api_error"), "message": http.StatusText(status)}, "request_id": requestID}
	},
}

var responses = wire{
	vendor: "openai", id: "X-Request-Id", key: bearer, read: readResponses, whole: responseOf, events: streamResponses,
	refuse: refuseAsOpenAI,
}

var completions = wire{
	vendor: "compatible", id: "X-Request-Id", key: bearer, whole: completionOf,
	read:   func(body []byte) (spokenTo, error) { return readCompletions("compatible", body) },
	events: streamCompletions, refuse: refuseAsOpenAI,
}

// refuseAsOpenAI returns the error body of both OpenAI APIs.
func refuseAsOpenAI(status int) object {
	said := map[int][2]string{ // type and code
		401: {"invalid_request_error", "invalid_api_key"}, 402: {"insufficient_quota", "billing_not_active"}, 404: {"invalid_request_error", "model_not_found"},
		429: {"requests", "rate_limit_exceeded"},
	}[status]
	if said[0] == "" {
		said[0] = "invalid_request_error"
	}
	if status >= 500 {
		said = [2]string{"server_error", "server_error"}
	}
	e := object{"message": http.StatusText(status), "type": said[0], "param": nil, "code": nil}
	if said[1] != "" {
		e["code"] = said[1]
	}
	return object{"error": e}
}

var converse = wire{
	vendor: "bedrock", id: "X-Amzn-Requestid", read: readConverse, whole: converseOf, events: streamConverse,
	// Converse's own errors and AWS's general errors have this body. The error code is in a header.
	refuse: func(status int) object { return object{"message": http.StatusText(status)} },
}

// amazonError returns AWS's error code for a status, which is sent in the header X-Amzn-ErrorType.
func amazonError(status int) string {
	return cmp.Or(map[int]string{
		400: "ValidationException", 401: "UnrecognizedClientException", 403: "AccessDeniedException", 404: "ResourceNotFoundException", 408: "ModelTimeoutException",
		424: "ModelErrorException", 429: "ThrottlingException", 503: "ServiceUnavailableException",
	}[status], "InternalServerException")
}
