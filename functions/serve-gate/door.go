package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ringi/shared/decide/calls"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/boot"
	"ringi/shared/tool"
	"ringi/shared/words/language"
)

const (
	// maxBody is the largest body that is read, in bytes.
	maxBody = 64 << 10
	// mostSent is the largest body that API Gateway passes on, in bytes.
	mostSent = 10 << 20
	// mostWait is how long an answer is waited for, in seconds: API Gateway ends a request after 29.
	mostWait = 25
	// usualWait is how long it is where nobody says it, by MCP, in seconds: some clients end a request after 25.
	usualWait = 20
	// slackWithin bounds how long Slack is asked about somebody.
	slackWithin = time.Second
	// endWithin is how long a write waits for its end while Ringi makes the call.
	endWithin = 1500 * time.Millisecond
	// writeWithin is how long a write's answer may take. What is cut off may be asked for: a repeat finds it.
	writeWithin = 2700 * time.Millisecond
)

// Keys are the keys by which outside agents identify themselves.
type Keys interface {
	KeyBySecret(ctx context.Context, secret string, now time.Time) (tenancy.Key, error)
	UseKey(ctx context.Context, k tenancy.Key, now time.Time) (noted bool, err error)
	RevokeKey(ctx context.Context, tenant, id string, by aggregate.Actor, now time.Time) error
	NoteToolChanged(ctx context.Context, p tenancy.ToolPermission, now time.Time) error
}

// Tools makes calls. *runner.Runner implements it.
type Tools interface {
	Run(ctx context.Context, c tool.Call) (json.RawMessage, error)
}

// door serves outside agents.
type door struct {
	calls.Calls
	Keys    Keys
	Results aggregate.Opener      // of what calls returned
	Ready   func() error          // returns once the Catalog is full
	Tools   func() (Tools, error) // made at the first read
	// Stays asks Slack whether somebody is still a full member of a workspace.
	Stays func(ctx context.Context, tenant, team, user string) (bool, error)
}

// pathMCP is where MCP is served; all other paths are the REST API's.
const pathMCP = "/mcp"

// serve answers API Gateway's events.
func (d *door) serve() any {
	return boot.Serve(d.handler(), mostSent, func(w http.ResponseWriter, text string, status int) {
		no(status, text).write(w)
	})
}

// handler answers all paths. No answer allows a browser's pages to read it.
func (d *door) handler() http.Handler {
	mux := http.NewServeMux()
	serve := func(method, path string, do func(http.ResponseWriter, request)) {
		mux.HandleFunc(method+" "+path, d.with(do))
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Allow", method)
			no(http.StatusMethodNotAllowed, r.Method+" is not served here").write(w)
		})
	}
	serve("POST", pathMCP, d.mcp)
	serve("POST", "/calls", rest(d.ask, ""))
	serve("GET", "/calls/{id}", rest(d.look, ""))
	serve("POST", "/calls/{id}/take", rest(d.take, sayTaken))
	serve("POST", "/calls/{id}/cancel", rest(d.cancel, ""))
	notServed := func(w http.ResponseWriter, _ *http.Request) { no(http.StatusNotFound, "path is not served").write(w) }
	mux.HandleFunc("/", notServed)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		switch {
		case r.Method == http.MethodHead: // which the mux takes for a GET
			no(http.StatusMethodNotAllowed, "HEAD is not served").write(w)
		case path.Clean(r.URL.Path) != r.URL.Path: // to which the mux answers with another address
			notServed(w, r)
		default:
			mux.ServeHTTP(w, r)
		}
	})
}

// request is one with the key that bears it.
type request struct {
	*http.Request
	key  tenancy.Key
	body []byte
	door *door
}

// with serves requests that bear a key, with a JSON object as body or none.
func (d *door) with(serve func(w http.ResponseWriter, r request)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		scheme, secret, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		if !strings.EqualFold(scheme, "Bearer") { // RFC 9110, 11.1: whatever the case
			secret = ""
		}
		key, err := d.Keys.KeyBySecret(ctx, strings.TrimLeft(secret, " "), d.Now())
		if err == nil {
			err = d.Ready()
		}
		var body []byte
		if err == nil {
			body, err = bodyOf(w, r)
		}
		if err == nil {
			err = d.used(ctx, key)
		}
		if err != nil {
			d.faultOf(ctx, err).write(w)
			return
		}
		serve(w, request{r, key, body, d})
	}
}

// used notes that the key is used. Where that is due it asks Slack whether whoever answers for it is still there, and
// revokes the key of somebody who left: tenancy.ErrKey. While Slack is silent the key stands as it did.
func (d *door) used(ctx context.Context, key tenancy.Key) error {
	noted, err := d.Keys.UseKey(ctx, key, d.Now())
	if err != nil {
		slog.WarnContext(ctx, "the use of a key is not noted", "key_id", key.ID, "err", err)
	}
	if err != nil || !noted || calls.Stays(ctx, key, slackWithin, d.Stays) {
		return nil
	}
	slog.InfoContext(ctx, "who answers for a key has left", "key_id", key.ID)
	return cmp.Or[error](d.Keys.RevokeKey(ctx, key.TenantID, key.ID, aggregate.System(), d.Now()),
		tenancy.ErrKey{Why: tenancy.KeyRevoked})
}

// rest serves a request of the REST API: what became of the call that do returns, in other words if says has some.
func rest(do func(r request) (*call.Aggregate, error), says string) func(http.ResponseWriter, request) {
	return func(w http.ResponseWriter, r request) {
		a, err := do(r)
		if err != nil {
			r.door.faultOf(r.Context(), err).write(w)
			return
		}
		out := r.answerOf(r.Context(), a)
		out.Say = cmp.Or(says, out.Say)
		write(w, http.StatusOK, out)
	}
}

// write answers with the fault.
func (f fault) write(w http.ResponseWriter) {
	switch f.status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", "Bearer")
	case http.StatusTooManyRequests:
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(f.later.Seconds()))))
	}
	write(w, f.status, map[string]string{"error": f.text})
}

func write(w http.ResponseWriter, status int, v any) {
	text, err := aggregate.Written(v)
	if err != nil { // impossible for these answers
		status = http.StatusInternalServerError
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text)
}

// ask asks for a call that runs where the agent runs.
func (d *door) ask(r request) (*call.Aggregate, error) {
	var in struct {
		Tool      string          `json:"tool"`
		Arguments json.RawMessage `json:"arguments"`
		Reason    string          `json:"reason"`
		Again     string          `json:"again"`
	}
	wait, err := waitOf(r)
	if err = cmp.Or(err, strictly(r.body, &in)); err != nil {
		return nil, err
	}
	a, err := d.Ask(r.Context(), r.key, calls.Request{Tool: in.Tool, Arguments: in.Arguments, Reason: in.Reason,
		Again: cmp.Or(in.Again, againIn(in.Tool, in.Arguments)), Elsewhere: true})
	if err != nil || wait == 0 {
		return a, err
	}
	return d.Wait(r.Context(), r.key, a.Call.CallID, wait)
}

// waitOf is how long the request waits for an end: not at all unless it says so.
func waitOf(r request) (time.Duration, error) {
	text := r.URL.Query().Get("wait")
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	return seconds("wait", float64(n), err)
}

func seconds(field string, n float64, err error) (time.Duration, error) {
	if err != nil || n < 0 || n > mostWait || n != math.Trunc(n) {
		return 0, aggregate.Problem{Field: field, Code: fmt.Sprintf("must be a whole number of seconds, 0 to %d", mostWait)}
	}
	return time.Duration(n) * time.Second, nil
}

func (d *door) look(r request) (*call.Aggregate, error) {
	wait, err := waitOf(r)
	if err != nil {
		return nil, err
	}
	return d.Wait(r.Context(), r.key, r.PathValue("id"), wait)
}

func (d *door) cancel(r request) (*call.Aggregate, error) {
	if err := strictly(r.body, &struct{}{}); err != nil && len(r.body) > 0 {
		return nil, err
	}
	return d.Cancel(r.Context(), r.key, r.PathValue("id"))
}

// take takes the grant for an attempt, which may run after this alone.
func (d *door) take(r request) (*call.Aggregate, error) {
	var in struct {
		Use       string          `json:"tool_use_id"`
		Tool      string          `json:"tool"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if err := strictly(r.body, &in); err != nil {
		return nil, err
	}
	return d.Take(r.Context(), r.key, r.PathValue("id"), in.Use, calls.Request{Tool: in.Tool, Arguments: in.Arguments})
}

// mostDeep is how deep a body's values may lie within each other.
const mostDeep = 64

// bodyOf reads a body: JSON of at most maxBody bytes that can be read in one way alone, or nothing.
func bodyOf(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return nil, no(http.StatusRequestEntityTooLarge, fmt.Sprintf("body must have at most %d bytes", maxBody))
	}
	if len(body) == 0 {
		return nil, nil
	}
	kind, as, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" || !strings.EqualFold(cmp.Or(as["charset"], "utf-8"), "utf-8") {
		return nil, no(http.StatusUnsupportedMediaType, "Content-Type must be application/json, in UTF-8")
	}
	if err := aggregate.JSON(body).Unambiguous("body", mostDeep); err != nil {
		return nil, no(http.StatusBadRequest, language.Visible(err.Error()))
	}
	return body, nil
}

// misnamed is aggregate.Misnamed for the members of a text, by those of the struct that it will be decoded into.
func misnamed(text []byte, into any) error {
	var members, known map[string]json.RawMessage
	shape, _ := json.Marshal(into)
	_, _ = json.Unmarshal(shape, &known), json.Unmarshal(text, &members) // who decodes the text says what is wrong
	err := aggregate.Misnamed(members, known)
	for name := range known {
		err = cmp.Or(err, misnamed(members[name], known[name]))
	}
	return err
}

// strictly decodes a body that bodyOf read. It returns aggregate.Problem for an unknown field, or one of another kind.
func strictly(body []byte, into any) error {
	if err := misnamed(body, into); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	wrong, isWrong := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case err == nil && bytes.HasPrefix(bytes.TrimSpace(body), []byte("{")):
		return nil
	case isWrong && wrong.Field != "":
		return aggregate.Problem{Field: wrong.Field, Code: "must not be a JSON " + wrong.Value}
	case err != nil && strings.Contains(err.Error(), "unknown field"):
		_, name, _ := strings.Cut(err.Error(), "unknown field ")
		return aggregate.Problem{Field: strings.Trim(name, `"`), Code: "is unknown here"}
	}
	return aggregate.Problem{Field: "body", Code: "must be a JSON object"}
}

// mostTries is how often a permission looks for a call that its attempt may take, from the newest one known.
const mostTries = 20

// permission answers Claude Code, which runs a tool only after a yes: one text, and nothing beside it. The yes comes
// after the grant of the call is taken for this attempt, and names just the input that people stamped.
func (r request) permission(ctx context.Context, arguments json.RawMessage) *mcp.CallToolResult {
	input, err := r.permit(ctx, arguments)
	out := map[string]any{"behavior": "allow", "updatedInput": input}
	if err != nil {
		out = map[string]any{"behavior": "deny", "message": r.door.faultOf(ctx, err).text}
	}
	text, err := aggregate.Written(out)
	if err != nil { // impossible for these answers
		return r.failed(ctx, err)
	}
	return said(string(text), false)
}

// permit returns the input that may run now.
func (r request) permit(ctx context.Context, arguments json.RawMessage) (json.RawMessage, error) {
	var in struct {
		Tool  string          `json:"tool_name"`
		Input json.RawMessage `json:"input"`
		Use   string          `json:"tool_use_id"`
	}
	if err := cmp.Or(misnamed(arguments, in), json.Unmarshal(arguments, &in)); err != nil || in.Use == "" {
		return nil, fault{text: "tool_name, input and tool_use_id must say which call it is"}
	}
	a, err := r.stamped(ctx, calls.Request{Tool: in.Tool, Arguments: in.Input, Again: againIn(in.Tool, in.Input),
		Elsewhere: true}, in.Use)
	if err != nil {
		return nil, err
	}
	if !a.Call.TakenFor(in.Use, r.door.Now()) {
		return nil, fault{text: r.answerOf(ctx, a).Say}
	}
	content, err := a.Call.Content()
	return json.RawMessage(content.Arguments), err
}

// stamped asks for a call and takes its grant for the attempt. Another attempt of the same call than the one that took
// it is another request, which people are asked about anew, as is one whose request ended without their no. After a no
// the words of the call have to say that it is meant once more; see againIn.
func (r request) stamped(ctx context.Context, w calls.Request, use string) (a *call.Aggregate, err error) {
	until := time.Now().Add(usualWait * time.Second)
	for range mostTries {
		if a, err = r.door.Ask(ctx, r.key, w); err != nil {
			return a, err
		}
		if !a.Call.Over() {
			a, err = r.door.Wait(ctx, r.key, a.Call.CallID, time.Until(until))
		}
		if err == nil && !a.Call.Over() && a.Call.Answered() {
			taken, failed := r.door.Take(ctx, r.key, a.Call.CallID, use, w)
			if failed == nil {
				return taken, nil
			}
			if _, over := errors.AsType[aggregate.ErrDecided](failed); !over && !errors.Is(failed, call.ErrTaken) {
				return a, failed
			}
			a, err = r.door.Get(ctx, r.key, a.Call.CallID)
		}
		if err != nil || !a.Call.Over() || a.Call.TakenFor(use, r.door.Now()) || statusOf(a.Call) == refused {
			return a, err
		}
		w.Again = a.Call.CallID
	}
	return a, aggregate.ErrConflict // other attempts are faster
}
