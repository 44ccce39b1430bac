package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
)

// callWithin bounds each of a Client's methods.
const callWithin = 20 * time.Second

// ManagedConfig has the address and the key of the vendor's sessions.
type ManagedConfig struct {
	BaseURL string // without /v1
	HTTP    *http.Client
	Key     func(ctx context.Context) (string, error) // empty: there is no key
	Refused func()                                    // called when the vendor refuses the key; may be nil
}

// Managed calls the vendor. Its errors are *model.Error.
type Managed struct {
	config       ManagedConfig
	agents       sdk.BetaAgentService
	environments sdk.BetaEnvironmentService
	sessions     sdk.BetaSessionService
}

// NewManaged makes a client without calling anything. The client repeats no request by itself, because the API has no
// idempotency key.
func NewManaged(c ManagedConfig) *Managed {
	options := []option.RequestOption{
		option.WithoutEnvironmentDefaults(), option.WithoutOpenTelemetry(), option.WithMaxRetries(0),
		option.WithRequestTimeout(callWithin), option.WithMiddleware(c.keyed),
		option.WithBaseURL(c.BaseURL), option.WithHTTPClient(c.HTTP),
	}
	return &Managed{c, sdk.NewBetaAgentService(options...), sdk.NewBetaEnvironmentService(options...),
		sdk.NewBetaSessionService(options...)}
}

// keyed sends a request with the key.
func (c ManagedConfig) keyed(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	key, err := c.Key(r.Context())
	switch {
	case err != nil:
		return nil, &model.Error{Provider: aggregate.Anthropic, Kind: model.Overloaded, Retryable: true, Err: err}
	case key == "":
		return nil, &model.Error{Provider: aggregate.Anthropic, Kind: model.Unauthorized, Err: errMissing}
	}
	r.Header.Set("X-Api-Key", key)
	return next(r)
}

// explain makes a *model.Error of what a method returns.
func (c *Managed) explain(err *error) {
	var answer *sdk.Error
	e, is := errors.AsType[*model.Error](*err)
	switch {
	case *err == nil:
		return
	case is:
	case errors.As(*err, &answer):
		e = model.FromStatus(aggregate.Anthropic, answer.StatusCode, answer.Response.Header, "", string(answer.Type()))
		e.RequestID = model.RequestID(answer.RequestID)
	default:
		e = model.FromTransport(aggregate.Anthropic, *err)
	}
	if e.Kind == model.Unauthorized && c.config.Refused != nil {
		c.config.Refused()
	}
	*err = e
}

type Place struct{ Agent, Environment string }

// CreateAgent makes an agent and an environment for a tenant. Each session has its own instructions and tools. The
// environment can't reach any host on the network.
func (c *Managed) CreateAgent(ctx context.Context, tenant, modelName string) (p Place, err error) {
	defer c.explain(&err)
	tags := map[string]string{"ringi_tenant": tenant}
	agent, err := c.agents.New(ctx, sdk.BetaAgentNewParams{
		Name: "Ringi", Model: sdk.BetaManagedAgentsModelConfigParams{ID: sdk.BetaManagedAgentsModel(modelName)},
		Metadata: tags,
	})
	if err != nil {
		return p, err
	}
	p.Agent = agent.ID
	environment, err := c.environments.New(ctx, sdk.BetaEnvironmentNewParams{
		Name: "Ringi", Metadata: tags,
		Config: sdk.BetaEnvironmentNewParamsConfigUnion{OfCloud: &sdk.BetaCloudConfigParams{
			Networking: sdk.BetaCloudConfigParamsNetworkingUnion{OfLimited: &sdk.BetaLimitedNetworkParams{}},
		}},
	})
	if err != nil {
		return p, err
	}
	p.Environment = environment.ID
	return p, nil
}

// ArchiveAgent archives an agent and its environment that are not needed because another invocation made theirs first.
func (c *Managed) ArchiveAgent(ctx context.Context, p Place) (err error) {
	defer c.explain(&err)
	_, err = c.agents.Archive(ctx, p.Agent, sdk.BetaAgentArchiveParams{})
	_, again := c.environments.Archive(ctx, p.Environment, sdk.BetaEnvironmentArchiveParams{})
	return errors.Join(err, again)
}

// Find returns the oldest session at a place with these tags that was created after a time; empty if there is none.
func (c *Managed) Find(ctx context.Context, p Place, tags map[string]string, since time.Time) (id string, err error) {
	defer c.explain(&err)
	ctx, cancel := context.WithTimeout(ctx, callWithin)
	defer cancel()
	pages := c.sessions.ListAutoPaging(ctx, sdk.BetaSessionListParams{
		AgentID: param.NewOpt(p.Agent), CreatedAtGte: param.NewOpt(since), Order: sdk.BetaSessionListParamsOrderAsc,
		Limit: param.NewOpt[int64](100),
	})
	for pages.Next() {
		if s := pages.Current(); tagged(s.Metadata, tags) {
			return s.ID, nil
		}
	}
	return "", pages.Err()
}

func tagged(got, want map[string]string) bool {
	for name, value := range want {
		if got[name] != value {
			return false
		}
	}
	return true
}

// SessionPlan is the configuration of a session.
type SessionPlan struct {
	Title, Model, System string
	Tools                []SessionTool
	Tags                 map[string]string
	MaxCost              aggregate.MicroUSD // 0: no limit
}

// Start makes a session. The session does nothing before it gets a message.
func (c *Managed) Start(ctx context.Context, at Place, p SessionPlan) (id string, err error) {
	defer c.explain(&err)
	agent := sdk.BetaManagedAgentsAgentWithOverridesParams{
		ID: at.Agent, Type: sdk.BetaManagedAgentsAgentWithOverridesParamsTypeAgentWithOverrides,
		System: param.NewOpt(p.System),
		Model:  sdk.BetaManagedAgentsModelConfigParams{ID: sdk.BetaManagedAgentsModel(p.Model)},
	}
	for _, t := range p.Tools {
		custom, err := t.custom()
		if err != nil { // a schema that is none
			return "", &model.Error{Provider: aggregate.Anthropic, Kind: model.BadRequest, Err: err}
		}
		agent.Tools = append(agent.Tools, sdk.BetaManagedAgentsAgentWithOverridesParamsToolUnion{OfCustom: &custom})
	}
	params := sdk.BetaSessionNewParams{
		Agent:         sdk.BetaSessionNewParamsAgentUnion{OfBetaManagedAgentsAgentWithOverridess: &agent},
		EnvironmentID: at.Environment, Metadata: p.Tags, Title: param.NewOpt(p.Title),
	}
	if p.MaxCost > 0 {
		params.Budget = budget(p.MaxCost)
	}
	s, err := c.sessions.New(ctx, params)
	if err != nil {
		return "", err
	}
	return s.ID, nil
}

// Say sends the user's message.
func (c *Managed) Say(ctx context.Context, session, text string) error {
	return c.send(ctx, session,
		sdk.BetaManagedAgentsEventParamsOfUserMessage([]sdk.BetaManagedAgentsUserMessageEventParamsContentUnion{
			{OfText: &sdk.BetaManagedAgentsTextBlockParam{Text: text, Type: sdk.BetaManagedAgentsTextBlockTypeText}},
		}))
}

// Answer sends the result of a call that the session requested. failed marks it as an error.
func (c *Managed) Answer(ctx context.Context, session, request, text string, failed bool) error {
	event := sdk.BetaManagedAgentsEventParamsOfUserCustomToolResult(request)
	event.OfUserCustomToolResult.IsError = param.NewOpt(failed)
	event.OfUserCustomToolResult.Content = []sdk.BetaManagedAgentsUserCustomToolResultEventParamsContentUnion{
		{OfText: &sdk.BetaManagedAgentsTextBlockParam{Text: text, Type: sdk.BetaManagedAgentsTextBlockTypeText}},
	}
	return c.send(ctx, session, event)
}

// Interrupt stops the current work of a session. It may be repeated.
func (c *Managed) Interrupt(ctx context.Context, session string) error {
	return c.send(ctx, session,
		sdk.BetaManagedAgentsEventParamsOfUserInterrupt(sdk.BetaManagedAgentsUserInterruptEventParamsTypeUserInterrupt))
}

// Discard archives a session that never got a message.
func (c *Managed) Discard(ctx context.Context, session string) (err error) {
	defer c.explain(&err)
	_, err = c.sessions.Archive(ctx, session, sdk.BetaSessionArchiveParams{})
	return err
}

func (c *Managed) send(ctx context.Context, session string, e sdk.BetaManagedAgentsEventParamsUnion) (err error) {
	defer c.explain(&err)
	_, err = c.sessions.Events.Send(ctx, session,
		sdk.BetaSessionEventSendParams{Events: []sdk.BetaManagedAgentsEventParamsUnion{e}})
	return err
}

// SessionTool is a tool that a session may ask to have called.
type SessionTool struct {
	Name        string // made by Name
	Description string
	Input       json.RawMessage // JSON Schema of an object
}

// maxName is the vendor's limit for a tool's name, in characters.
const maxName = 128

// ToolName returns the name by which a session knows a tool.
func ToolName(tool string) string {
	name := model.Identifier(tool, '_')
	return name[:min(len(name), maxName)]
}

func (t SessionTool) custom() (sdk.BetaManagedAgentsCustomToolParams, error) {
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

// SessionState is a session's state according to its events.
type SessionState struct {
	Told         bool          // the user's message has arrived
	Stop         Stop          // empty while the session works or waits for results
	ToolRequests []ToolRequest // requested calls without a result
	Said         string        // the session's last message
	Calls        int           // calls of the session's model
}

// Stop is the reason why a session has stopped.
type Stop string

const (
	StopDone      Stop = "end_turn"
	StopBudget    Stop = "budget_reached"
	StopRefused   Stop = "refusal"
	StopEnded     Stop = "terminated"
	requiresCalls      = "requires_action"
)

// ToolRequest is a call that a session asks for.
type ToolRequest struct {
	ID    string
	Name  string // as in Tool.Name
	Input json.RawMessage
}

// maxEvents is the most events of a session. A session of sixty steps has a few hundred.
const maxEvents = 5000

var errEndless = errors.New("the session has too many events")

// followed are the kinds of events that a State is made from. Poll reads no others.
var followed = []sdk.BetaManagedAgentsSessionEventType{
	sdk.BetaManagedAgentsSessionEventTypeUserMessage, sdk.BetaManagedAgentsSessionEventTypeUserInterrupt,
	sdk.BetaManagedAgentsSessionEventTypeUserCustomToolResult, sdk.BetaManagedAgentsSessionEventTypeAgentCustomToolUse,
	sdk.BetaManagedAgentsSessionEventTypeAgentMessage, sdk.BetaManagedAgentsSessionEventTypeSpanModelRequestEnd,
	sdk.BetaManagedAgentsSessionEventTypeSessionStatusRunning,
	sdk.BetaManagedAgentsSessionEventTypeSessionStatusRescheduled,
	sdk.BetaManagedAgentsSessionEventTypeSessionStatusIdle, sdk.BetaManagedAgentsSessionEventTypeSessionStatusTerminated,
}

// Poll reads all of a session's events from the first one. Their times can't serve as a cursor, since a queued event
// has none. An event that is listed twice counts once, and unknown kinds are ignored. The state of a session that no
// longer exists is StopEnded.
func (c *Managed) Poll(ctx context.Context, session string) (s SessionState, err error) {
	defer c.explain(&err)
	ctx, cancel := context.WithTimeout(ctx, callWithin)
	defer cancel()
	r := reading{seen: map[string]bool{}, answered: map[string]bool{}, queued: map[string]bool{}}
	pages := c.sessions.Events.ListAutoPaging(ctx, session, sdk.BetaSessionEventListParams{
		Types: followed, Limit: param.NewOpt[int64](500), Order: sdk.BetaSessionEventListParamsOrderAsc,
	})
	for pages.Next() {
		if len(r.seen) >= maxEvents {
			return s, errEndless
		}
		r.add(pages.Current())
	}
	err = pages.Err()
	if e := (*sdk.Error)(nil); errors.As(err, &e) && e.StatusCode == http.StatusNotFound {
		return SessionState{Told: true, Stop: StopEnded}, nil
	}
	return r.state(), err
}

type reading struct {
	SessionState
	seen, answered map[string]bool
	queued         map[string]bool // sent events that the session has not processed
}

func (r *reading) add(u sdk.BetaManagedAgentsSessionEventUnion) {
	if !u.ProcessedAt.IsZero() {
		delete(r.queued, u.ID) // it may have been listed as queued before
	}
	if u.ID == "" || r.seen[u.ID] {
		return
	}
	r.seen[u.ID] = true
	switch e := u.AsAny().(type) {
	case sdk.BetaManagedAgentsUserMessageEvent:
		r.Told, r.Stop = true, ""
		r.wait(e.ID, e.ProcessedAt)
	case sdk.BetaManagedAgentsUserCustomToolResultEvent:
		r.answered[e.CustomToolUseID], r.Stop = true, ""
		r.wait(e.ID, e.ProcessedAt)
	case sdk.BetaManagedAgentsAgentCustomToolUseEvent:
		input, err := json.Marshal(e.Input)
		if err != nil { // impossible: the input came as JSON
			input = []byte("null")
		}
		r.ToolRequests, r.Stop = append(r.ToolRequests, ToolRequest{ID: e.ID, Name: e.Name, Input: input}), ""
	case sdk.BetaManagedAgentsAgentMessageEvent:
		r.Said = ""
		for _, block := range e.Content {
			r.Said += block.Text
		}
		r.Said = strings.TrimSpace(r.Said)
	case sdk.BetaManagedAgentsSpanModelRequestEndEvent:
		r.Calls++
	case sdk.BetaManagedAgentsSessionStatusRunningEvent, sdk.BetaManagedAgentsSessionStatusRescheduledEvent:
		r.Stop = ""
	case sdk.BetaManagedAgentsSessionStatusIdleEvent:
		// A session is also idle before its first message.
		if r.Stop = ""; r.Told && e.StopReason.Type != requiresCalls {
			r.Stop = Stop(e.StopReason.Type)
		}
	case sdk.BetaManagedAgentsSessionStatusTerminatedEvent:
		r.Stop = StopEnded
	}
}

func (r *reading) wait(id string, processed time.Time) {
	if processed.IsZero() {
		r.queued[id] = true
	}
}

func (r *reading) state() SessionState {
	s := r.SessionState
	s.ToolRequests = nil
	for _, w := range r.ToolRequests {
		if !r.answered[w.ID] {
			s.ToolRequests = append(s.ToolRequests, w)
		}
	}
	if len(r.queued) > 0 && s.Stop != StopEnded {
		s.Stop = ""
	}
	return s
}

// Bill returns the cost of a session so far, and whether it is still running.
func (c *Managed) Bill(ctx context.Context, session string) (u aggregate.Usage, running bool, err error) {
	defer c.explain(&err)
	s, err := c.sessions.Get(ctx, session, sdk.BetaSessionGetParams{})
	if err != nil {
		return u, false, err
	}
	written := s.Usage.CacheCreation.Ephemeral5mInputTokens + s.Usage.CacheCreation.Ephemeral1hInputTokens
	u = aggregate.Usage{
		ID: s.ID, Provider: aggregate.Anthropic, Model: string(s.Agent.Model.ID), Calls: 1,
		Input: s.Usage.InputTokens + written, Output: s.Usage.OutputTokens, Cached: s.Usage.CacheReadInputTokens,
		Written: written, MS: int64(s.Usage.ActiveSeconds * 1000),
	}.Counted()
	u.Cost, u.Unpriced = cost(s.Usage.ListCost, u)
	return u, s.Status == sdk.BetaManagedAgentsSessionStatusRunning ||
		s.Status == sdk.BetaManagedAgentsSessionStatusRescheduling, nil
}
