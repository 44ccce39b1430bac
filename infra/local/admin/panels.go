package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/infra/local/sandbox"
	"ringi/infra/local/stack"
	"ringi/infra/local/vendors"
	"ringi/shared/domain/aggregate"
	"ringi/shared/store/tasks"
)

// settings is the sandbox's panel over the tenant's settings.
type settings struct{ stack *stack.Stack }

func (p settings) rows() *tasks.Store {
	return tasks.New(dynamodb.NewFromConfig(p.stack.AWS), p.stack.TableName)
}

func (p settings) tenant() string { return aggregate.TenantID(p.stack.Sandbox.TeamID()) }

// Load returns the tenant's settings, or the defaults.
func (p settings) Load(ctx context.Context) (any, error) { return p.rows().Settings(ctx, p.tenant()) }

// Save writes the fields that the panel edits over the others, as the person by.
func (p settings) Save(ctx context.Context, by string, fields json.RawMessage) error {
	x, err := p.rows().Settings(ctx, p.tenant())
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(fields))
	d.DisallowUnknownFields()
	if err := d.Decode(&x); err != nil {
		var typ *json.UnmarshalTypeError
		if errors.As(err, &typ) {
			return sandbox.FieldErrors{typ.Field: "must be " + typ.Type.String()}
		}
		return sandbox.FieldErrors{"settings": err.Error()}
	}
	_, err = p.rows().SaveSettings(ctx, p.tenant(), x, aggregate.Actor{Type: aggregate.ActorUser, ID: by}, time.Now())
	var field aggregate.ErrField
	if errors.As(err, &field) {
		return sandbox.FieldErrors{field.Field: field.Limit}
	}
	return err
}

// tools makes the vendors fail.
type tools struct{ vendors *vendors.Vendors }

// List says which tools fail.
func (p tools) List(context.Context) ([]sandbox.ToolFault, error) {
	var out []sandbox.ToolFault
	failing := p.vendors.Failing()
	for _, name := range vendors.Tools() {
		out = append(out, sandbox.ToolFault{Tool: name, Failing: slices.Contains(failing, name)})
	}
	return out, nil
}

// Set switches a tool's failure: a definite one, so that trying again is safe.
func (p tools) Set(_ context.Context, tool string, failing bool) error {
	p.vendors.Fail(tool, http.StatusBadRequest, failing)
	return nil
}
