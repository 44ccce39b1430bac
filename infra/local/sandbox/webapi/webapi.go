// Package webapi answers the app's calls as Slack's Web API does. It has the methods that the product uses, with their
// errors, and can be made to fail.
//
// A Workspace holds people, channels, messages, modals, and short-lived trigger ids, with Slack's
// rules about them, and knows no HTTP. Blocks and ViewProblems check Block Kit with Slack's limits, messages and JSON
// pointers. Tests check the product's cards by them, so they share no code with the product: the limits come from
// Slack's Block Kit reference, the doc comments of @slack/types, and recorded answers of Slack.
package webapi

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// API serves /api/<method>.
type API struct {
	*Workspace
	Check  func(token string) string // returns the error code for a refused token, or ""
	Revoke func()                    // revokes the bot's token; may be nil if no call does
	Self   string                    // the workspace's own address, which permalinks need
	Faults *Faults
	Now    func() time.Time
	Logger *slog.Logger
	Heard  func(Call) // is called with every call
}

// Call is one call of the app and its answer. Error is empty if the answer was ok.
type Call struct {
	Method  string    `json:"method"`
	Channel string    `json:"channel,omitempty"`
	TS      string    `json:"ts,omitempty"`
	Error   string    `json:"error,omitempty"`
	At      time.Time `json:"at"`
}

// reply is the JSON of an answer without "ok".
type reply map[string]any

// refusal is an answer with "ok": false.
type refusal struct {
	code     string
	problems []string
}

func (r refusal) Error() string { return r.code }

func refuse(code string) error { return refusal{code: code} }

// missing is Slack's error for a missing argument.
func missing(field string) error {
	return refusal{code: "invalid_arguments", problems: []string{"missing required field: " + field}}
}

func invalid(code string, found []Problem) error {
	r := refusal{code: code}
	for _, p := range found {
		r.problems = append(r.problems, p.String())
	}
	return r
}

// method is a Web API method with its required arguments.
type method struct {
	answer func(*API, params) (reply, error)
	needs  string // names of required arguments, separated by spaces
}

// methods are the Web API methods that the sandbox supports.
var methods = map[string]method{
	"auth.test":                             {authTest, ""},
	"auth.revoke":                           {authRevoke, ""},
	"chat.postMessage":                      {postMessage, "channel"},
	"chat.update":                           {updateMessage, "channel ts"},
	"chat.delete":                           {deleteMessage, "channel ts"},
	"chat.postEphemeral":                    {postEphemeral, "channel user"},
	"chat.getPermalink":                     {getPermalink, ""},
	"conversations.open":                    {openConversation, ""},
	"conversations.members":                 {conversationMembers, ""},
	"conversations.history":                 {history, ""},
	"conversations.replies":                 {replies, ""},
	"files.info":                            {fileInfo, "file"},
	"users.info":                            {userInfo, "user"},
	"users.conversations":                   {userConversations, ""},
	"users.list":                            {listUsers, ""},
	"users.lookupByEmail":                   {userByEmail, ""},
	"usergroups.list":                       {listGroups, ""},
	"usergroups.users.list":                 {groupUsers, ""},
	"views.open":                            {openView, "trigger_id"},
	"views.publish":                         {publishView, "user_id"},
	"assistant.threads.setSuggestedPrompts": {setPrompts, "channel_id"},
	"assistant.threads.setStatus":           {setWaiting, "channel_id thread_ts"},
	"agents.sessions.setStatus":             {setSession, "channel_id"},
}

// ServeHTTP answers one call. As in Slack, a refusal is HTTP 200 with "ok": false. Only rate limits (429) and faults
// (5xx) have other statuses.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/api/")
	w.Header().Set("X-OAuth-Scopes", scopes)
	p, err := readParams(w, r)
	call := Call{Method: name, Channel: cmp.Or(p.str("channel"), p.str("channel_id")), TS: p.str("ts"), At: a.Now()}
	tell := sync.OnceFunc(func() { a.Heard(call) })
	defer tell() // also reports calls that get no answer
	w = announcing{w, tell}

	fault := a.Faults.next(name, call.Channel, a.Now())
	switch fault.Kind {
	case RateLimited:
		call.Error = "ratelimited"
		w.Header().Set("Retry-After", strconv.FormatFloat(cmp.Or(fault.RetryAfter, time.Second).Seconds(), 'f', -1, 64))
		write(w, http.StatusTooManyRequests, reply{"ok": false, "error": "ratelimited"})
		return
	case Unavailable:
		call.Error = "service_unavailable"
		http.Error(w, "upstream connect error", cmp.Or(fault.Status, http.StatusServiceUnavailable))
		return
	case Refused:
		call.Error = fault.Code
		answer := reply{"ok": false, "error": fault.Code}
		if fault.Code == "missing_scope" {
			answer["needed"], answer["provided"] = "a:scope", "another:scope"
		}
		write(w, http.StatusOK, answer)
		return
	}

	var answer reply
	if err == nil {
		answer, err = a.dispatch(name, p)
	}
	if err != nil {
		answer, call.Error = refused(err), err.Error()
		a.Logger.Warn("call refused", "method", name, "error", call.Error, "messages", answer["errors"])
	}
	if ts, ok := answer["ts"].(string); ok {
		call.TS = ts
	}
	if fault.Kind == Lost {
		call.Error = "lost"
		panic(http.ErrAbortHandler)
	}
	write(w, http.StatusOK, answer)
}

func (a *API) dispatch(name string, p params) (reply, error) {
	m, ok := methods[name]
	if !ok {
		return nil, refuse("unknown_method")
	}
	if why := a.Check(p.token); why != "" {
		return nil, refuse(why)
	}
	for field := range strings.FieldsSeq(m.needs) {
		if !p.has(field) {
			return nil, missing(field)
		}
	}
	answer, err := m.answer(a, p)
	if err != nil {
		return nil, err
	}
	answer["ok"] = true
	return answer, nil
}

// refused converts an error to Slack's answer.
func refused(err error) reply {
	answer := reply{"ok": false, "error": err.Error()}
	var r refusal
	switch {
	case errors.As(err, &r):
		if len(r.problems) > 0 {
			marked := make([]string, len(r.problems))
			for i, p := range r.problems {
				marked[i] = "[ERROR] " + p
			}
			answer["errors"] = r.problems
			answer["response_metadata"] = reply{"messages": marked}
		}
	case errors.As(err, new(Code)):
	default:
		answer["error"] = "internal_error"
	}
	return answer
}

// announcing reports a call just before its answer is sent, so that a caller who has the answer can rely on the report.
type announcing struct {
	http.ResponseWriter
	tell func()
}

func (t announcing) WriteHeader(status int) {
	t.tell()
	t.ResponseWriter.WriteHeader(status)
}

func write(w http.ResponseWriter, status int, answer reply) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	// A failure means that the app has disconnected.
	_ = json.NewEncoder(w).Encode(answer)
}

// maxBody is the maximum size of a call.
const maxBody = 4 << 20

// params are a call's arguments from a form, a query or a JSON body. JSON inside a form field is decoded when it is
// read.
type params struct {
	token  string
	values map[string]any
}

func readParams(w http.ResponseWriter, r *http.Request) (params, error) {
	p := params{values: map[string]any{}}
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		p.token = token
	}
	if kind == "application/json" {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return p, refuse("request_timeout")
		}
		if len(body) > 0 && json.Unmarshal(body, &p.values) != nil {
			return p, refuse("invalid_json")
		}
		return p, nil
	}
	if err := r.ParseForm(); err != nil {
		return p, refuse("invalid_form_data")
	}
	for k, v := range r.Form {
		p.values[k] = v[0]
	}
	p.token = cmp.Or(p.token, p.str("token"))
	delete(p.values, "token")
	return p, nil
}

func (p params) str(name string) string {
	switch v := p.values[name].(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return ""
}

func (p params) has(name string) bool {
	v, ok := p.values[name]
	return ok && v != nil
}

func (p params) flag(name string) bool {
	switch v := p.values[name].(type) {
	case bool:
		return v
	case string:
		return v == "true" || v == "1"
	}
	return false
}

// number returns an integer argument, or fallback if it is absent or invalid.
func (p params) number(name string, fallback int) int {
	if n, err := strconv.Atoi(p.str(name)); err == nil {
		return n
	}
	return fallback
}

// list returns an argument that is a JSON array. It refuses anything else with code and "_format".
func (p params) list(name, code string) ([]any, error) { return typed[[]any](p, name, code+"_format") }

// object returns an argument that is a JSON object. It refuses anything else with code.
func (p params) object(name, code string) (map[string]any, error) {
	return typed[map[string]any](p, name, code)
}

// typed returns an argument of type T, which may be JSON in a string, or the zero value if it is absent.
func typed[T any](p params, name, code string) (out T, err error) {
	v := p.values[name]
	if s, isText := v.(string); isText {
		if v = nil; s != "" && json.Unmarshal([]byte(s), &v) != nil {
			return out, refuse(code)
		}
	}
	if v == nil {
		return out, nil
	}
	out, ok := v.(T)
	if !ok {
		return out, refuse(code)
	}
	return out, nil
}

// page returns the items selected by limit and cursor, and the response_metadata.
func page[T any](p params, items []T, fallback int) ([]T, reply, error) {
	start := 0
	if c := p.str("cursor"); c != "" {
		n, err := strconv.Atoi(strings.TrimPrefix(c, "next:"))
		if err != nil || !strings.HasPrefix(c, "next:") || n < 0 || n > len(items) {
			return nil, nil, refuse("invalid_cursor")
		}
		start = n
	}
	limit := p.number("limit", fallback)
	if limit <= 0 {
		limit = fallback
	}
	end := min(start+limit, len(items))
	next := ""
	if end < len(items) {
		next = fmt.Sprintf("next:%d", end)
	}
	return items[start:end], reply{"next_cursor": next}, nil
}
