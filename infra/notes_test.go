package infra_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/domain/tenancy"
	"ringi/shared/store"
)

// noted has, by function, the attributes that the store writes when it records that a tool has changed and, for
// execute-process, also when it records a tenant's agent. IAM counts the same in dynamodb:Attributes: those of the key
// and of both expressions.
var noted = sync.OnceValues(func() (map[string][]string, error) { return recordNotes(context.Background()) })

func recordNotes(ctx context.Context) (map[string][]string, error) {
	var names []string
	table := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			TransactItems []struct {
				Update struct {
					Key                      map[string]any
					ExpressionAttributeNames map[string]string
				}
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		for _, it := range in.TransactItems {
			for name := range it.Update.Key {
				names = append(names, name)
			}
			for _, name := range it.Update.ExpressionAttributeNames {
				names = append(names, name)
			}
		}
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		fmt.Fprint(w, "{}")
	}))
	defer table.Close()
	s := store.NewTasks(dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(table.URL), Credentials: credentials.NewStaticCredentialsProvider("none", "none", ""),
	}), "ringi")
	if err := s.NoteToolChanged(ctx, tenancy.ToolPermission{TenantID: "T1", ToolName: "mcp:a:b"}, time.Now()); err != nil {
		return nil, err
	}
	tools := slices.Clone(names)
	// The table answers nothing, so the tenant is not found once the write is made.
	for _, before := range []tenancy.Tenant{{ID: "T1"}, {ID: "T1", AgentID: "a"}} {
		_, _ = s.SaveAgent(ctx, before, "agent", "environment", time.Now())
	}
	slices.Sort(tools)
	slices.Sort(names)
	tools = slices.Compact(tools)
	return map[string][]string{"RunRoundFunction": tools, "CallToolFunction": tools,
		"ExecuteProcessFunction": slices.Compact(names)}, nil
}

// notes reports whether a statement allows just the writes of noted.
func notes(id string, st statement, action string) bool {
	var allowed []string
	for _, name := range list(at(st.conditions, "ForAllValues:StringEquals", "dynamodb:Attributes")) {
		allowed = append(allowed, text(name))
	}
	slices.Sort(allowed)
	written, err := noted()
	return err == nil && action == "dynamodb:UpdateItem" && slices.Equal(st.rows, []string{"TENANT#*"}) && written[id] != nil && slices.Equal(allowed, written[id])
}

// noteRule: a function that notes something may write just the attributes that the store then writes.
func noteRule(s *stack, wrong report) {
	written, err := noted()
	wrong.where(err != nil, "record what the store notes: %v", err)
	for id, names := range written {
		if !slices.ContainsFunc(s.statements(s.role(id)), func(st statement) bool {
			return slices.ContainsFunc(st.actions, func(a string) bool { return notes(id, st, a) })
		}) {
			wrong("%s may not note what the store writes: just %s", id, strings.Join(names, ", "))
		}
	}
}
