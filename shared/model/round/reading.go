package round

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/model"
	"ringi/shared/tool"
	"ringi/shared/tool/mcp"
	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

// Rows reads what a tenant's administrators decided.
type Rows interface {
	Settings(ctx context.Context, tenant string) (tenancy.Settings, error)
	ToolPermissions(ctx context.Context, tenant string) ([]tenancy.ToolPermission, error)
	ToolPermission(ctx context.Context, tenant, name string) (p tenancy.ToolPermission, found bool, err error)
	NoteToolChanged(ctx context.Context, p tenancy.ToolPermission, now time.Time) error
}

// Source lets members of contests call tools of MCP servers that only read. An administrator has allowed each of these
// tools as reading and listed it for contests, and it must still be exactly what was allowed.
type Source struct {
	Rows        Rows
	Credentials mcp.Credentials
	Client      mcp.Client
	Now         func() time.Time
}

// atOnce is how many calls run at the same time: while an answer of up to outbound.MaxBody bytes is read, several
// copies of it are in memory.
const atOnce = 4

// Tools are the tools of one tenant: Reads of its rounds.
type Tools struct {
	source  Source
	tenant  string
	locale  string
	offered []model.Tool
	named   map[string]tool.Spec // by the name that models use
	lacking string
	places  chan struct{}
}

// Open finds the tools that a tenant lists for contests now, maybe none.
func (s Source) Open(ctx context.Context, tenant, locale string) (Reads, error) {
	settings, err := s.Rows.Settings(ctx, tenant)
	if err != nil {
		return nil, fmt.Errorf("read the settings: %w", err)
	}
	rows, err := s.Rows.ToolPermissions(ctx, tenant)
	if err != nil {
		return nil, fmt.Errorf("read which tools contests may call: %w", err)
	}
	t := &Tools{source: s, tenant: tenant, locale: locale, named: map[string]tool.Spec{},
		places: make(chan struct{}, atOnce)}
	for _, p := range rows {
		spec, ok := tool.Pinned(p, settings.MCPServers)
		switch {
		case !p.Contests:
		case p.ChangedAt != nil:
			t.lacking = changed(locale, p.ToolName)
		case !ok || !p.ForContests():
			t.lacking = fmt.Sprintf(readingWords.In(locale).closed, p.ToolName)
		default:
			t.offer(spec)
		}
	}
	return t, nil
}

// offer adds a tool under a name that all vendors of models accept. Its arguments are one text: a server's schema may have
// any form, and for some a vendor refuses the whole request.
func (t *Tools) offer(s tool.Spec) {
	name := spoken(s.Name, false)
	if _, taken := t.named[name]; taken {
		name = spoken(s.Name, true)
	}
	t.named[name] = s
	about := s.Description
	if strings.TrimSpace(about) == "" {
		about = s.Title(language.English)
	}
	said, _ := json.Marshal(about + "\nAll arguments, as one JSON object of this schema:\n" + s.InputSchema) // a text
	t.offered = append(t.offered, model.Tool{Name: name, Description: legible.Clip(about, maxDescription),
		Schema: fmt.Appendf(nil, `{"type":"object","properties":{"%s":{"type":"string","description":%s}},`+
			`"required":["%[1]s"],"additionalProperties":false}`, argumentsJSON, said)})
}

// argumentsJSON is the one argument of the tools that are offered.
const argumentsJSON = "arguments_json"

// maxName is the length of a tool's name, and maxDescription of its description, that every vendor of models accepts.
const maxName, maxDescription = 64, 1024

// spoken replaces the characters of a tool's name that a vendor refuses. One that is too long, or that another tool has,
// ends in its hash.
func spoken(name string, taken bool) string {
	const digits = 8
	short := model.Identifier(name, '_')
	if !taken && len(short) <= maxName {
		return short
	}
	return short[:min(len(short), maxName-digits-1)] + "_" + aggregate.HashOf(name)[:digits]
}

// Tools returns the tools that a member's model is offered.
func (t *Tools) Tools() []model.Tool { return t.offered }

// Lacking tells people why a listed tool can't be offered.
func (t *Tools) Lacking() string { return t.lacking }

// Read calls a tool if it is still the listed one and the settings still name its server. Text from the server,
// including its errors, is returned as data and without invisible characters.
func (t *Tools) Read(ctx context.Context, name string, input json.RawMessage) (string, error) {
	s, ok := t.named[name]
	if !ok {
		return "", fmt.Errorf("there is no tool %.50q", name)
	}
	select {
	case t.places <- struct{}{}:
		defer func() { <-t.places }()
	case <-ctx.Done():
		return "", errors.New("the tool can't be called right now")
	}
	p, _, err := t.source.Rows.ToolPermission(ctx, t.tenant, s.Name)
	settings, unread := t.source.Rows.Settings(ctx, t.tenant)
	switch _, named := tool.Pinned(p, settings.MCPServers); {
	case err != nil, unread != nil:
		return "", errors.New("the tool can't be called right now")
	case p.ChangedAt != nil:
		return "", Refused(changed(t.locale, s.Name))
	case !named || !p.ForContests() || p.Pin.Version() != s.Version():
		return "", Refused(fmt.Sprintf(readingWords.In(t.locale).closed, s.Name))
	}
	var in map[string]string
	if json.Unmarshal(input, &in) != nil {
		return "", fmt.Errorf("%s must be a text", argumentsJSON)
	}
	arguments, err := checked(s, cmp.Or(in[argumentsJSON], "{}"))
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	result, err := t.source.Client.CallAllowed(ctx, t.source.Credentials, t.tenant, s.Name, *s.Pin, arguments.JSON())
	if err != nil {
		return "", t.failed(ctx, p, err)
	}
	return textOf(result)
}

// checked returns the arguments if they fit the schema that was allowed.
func checked(s tool.Spec, input string) (tool.Resolved, error) {
	catalog, err := tool.NewCatalog(s)
	if err != nil {
		return tool.Resolved{}, errors.New("the tool's schema can't be read")
	}
	planned, err := tool.Parse(aggregate.JSON(input))
	if err != nil {
		return tool.Resolved{}, err
	}
	arguments, err := planned.Resolve(func(string) (json.RawMessage, error) {
		return nil, errors.New("there are no earlier results")
	})
	if err != nil {
		return arguments, err
	}
	return catalog.Check(s.Name, arguments)
}

// failed returns the error that a member reads. Like tasks, it switches off a tool that the server has changed.
func (t *Tools) failed(ctx context.Context, p tenancy.ToolPermission, err error) error {
	var e *explain.CallError
	if !errors.As(err, &e) {
		return errors.New("the tool could not be called")
	}
	slog.WarnContext(ctx, "a member's tool call failed", "tool", p.ToolName, "problem", e.Problem, "err", e.Err)
	e.Say(t.locale, t.source.Now())
	if e.Problem != explain.ProblemChanged {
		return errors.New(legible.Visible(e.Detail))
	}
	tool.NoteChanged(ctx, t.source.Rows, p, t.source.Now(), e)
	return Refused(e.Detail)
}

// textOf returns a result for models and people: its text if it has only a text, or else JSON.
func textOf(result any) (string, error) {
	if only, ok := result.(map[string]string); ok {
		return legible.VisibleCode(only["text"]), nil
	}
	b, err := json.Marshal(result)
	if err != nil {
		return "", errors.New("the tool's result can't be read")
	}
	return string(legible.JSON(b)), nil
}

// readingTexts are sentences for people about tools that may no longer be called.
type readingTexts struct{ closed string }

var readingWords = language.InEach(
	readingTexts{closed: "ツール %s は、コンテストで使えなくなりました。使うには、「ツール」のページでの許可を管理者に依頼してください。"},
	readingTexts{closed: "Contests can no longer use the tool %s. An administrator can allow it on the Tools page."},
)

// changed says that the tool is no longer the one that was allowed.
func changed(locale, name string) string {
	server, tool, _ := tenancy.ServerTool(name)
	return explain.FailedCall(locale, explain.ProblemChanged,
		explain.Provider(tenancy.MCPServer{Name: server}.Provider()), tool)
}
