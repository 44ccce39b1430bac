package infra_test

import (
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
)

// rowRule: every function writes only the rows that it is meant to.
func rowRule(s *stack, wrong report) {
	for id := range s.functions {
		for _, st := range s.statements(s.role(id)) {
			if st.effect != "Allow" {
				continue
			}
			for _, a := range st.actions {
				if strings.HasPrefix(a, "dynamodb:") {
					checkRows(s, id, a, st, wrong)
				}
			}
		}
	}
}

// reading are the actions that change nothing.
var reading = []string{
	"dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query", "dynamodb:ConditionCheckItem",
	"dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator", "dynamodb:ListStreams",
}

// administered are the rows that administrators change in the console.
var administered = []string{"TENANT#*", "INTEGRATIONS#*", "KEY#*", "AUDIT#*"}

// hears reports whether a statement only lets receive-event keep requests and messages to agents, stop agents, and
// change or withdraw what somebody asked for: it has just the rows of commits to tasks or to conversations, or reads
// them, the settings, and which requests a thread has. And it revokes the keys of who left.
func hears(st statement, action string) bool {
	if keys := []string{"KEY#*", "AUDIT#*"}; action == "dynamodb:GetItem" || action == "dynamodb:PutItem" ||
		action == "dynamodb:UpdateItem" {
		if slices.Equal(st.rows, keys) {
			return true
		}
	} else if action == "dynamodb:Query" && slices.Equal(st.rows, []string{"TENANT#*#KEYS"}) {
		return true
	}
	switch action {
	case "dynamodb:GetItem":
		return slices.Equal(st.rows, []string{"TENANT#*", "SESSION#*"})
	case "dynamodb:ConditionCheckItem":
		return slices.Equal(st.rows, []string{"TENANT#*"}) || slices.Equal(st.rows, []string{"TASK#*", "TENANT#*"})
	case "dynamodb:PutItem", "dynamodb:UpdateItem":
		return slices.Equal(st.rows, committed(conversation.Kind)) || slices.Equal(st.rows, committed(task.Kind))
	}
	return slices.Equal(st.rows, []string{"SESSION#*", "TASK#*"}) || slices.Equal(st.rows, []string{"THREAD#*"})
}

// numbering are the functions that begin what people have settled, or hand it out.
var numbering = []string{"ExecuteProcessFunction", "CallToolFunction", "ServeGateFunction"}

// beside reports whether a statement has these rows, and beside them only those of commits: all keys that a transaction
// puts are in one statement, however AWS holds them against it.
func beside(st statement, rows ...string) bool {
	n := 0
	for _, r := range st.rows {
		switch {
		case slices.Contains(rows, r):
			n++
		case kindOf(r) == "" && r != "QUOTA#*" && r != "AUDIT#*":
			return false
		}
	}
	return n == len(rows) && n < len(st.rows)
}

func checkRows(s *stack, id, action string, st statement, wrong report) {
	limited := st.conditions["ForAllValues:StringLike"] != nil && len(st.rows) > 0
	ofKinds := !slices.ContainsFunc(st.rows, func(r string) bool {
		return kindOf(r) == "" && r != "QUOTA#*" && r != "AUDIT#*"
	})
	ofIntegrations := limited && !slices.ContainsFunc(st.rows,
		func(r string) bool { return r != "INTEGRATIONS#*" && r != "AUDIT#*" })
	ends := ofIntegrations && (action == "dynamodb:Query" || action == "dynamodb:PutItem")
	switch {
	case id == "ServeConsoleFunction" && limited && slices.Equal(st.rows, []string{"WEB#*"}): // web sessions are its own
	case id == "ServeConsoleFunction" && limited && beside(st, "DELEGATE#*", "KEY#*") && action == "dynamodb:PutItem":
	case id == "ServeGateFunction" && limited && slices.Equal(st.rows, []string{"KEY#*"}) && uses(st) &&
		action == "dynamodb:UpdateItem":
	case id == "SweepTasksFunction" && limited && beside(st) && action == "dynamodb:PutItem":
	case id == "SweepTasksFunction" && limited && slices.Equal(st.rows, []string{"REMIND#*"}) &&
		action != "dynamodb:UpdateItem":
	case id == "ServeConsoleFunction" && limited && slices.Equal(st.rows, administered) && action != "dynamodb:DeleteItem":
	case id == "SealAuditFunction" && limited && slices.Equal(st.rows, []string{"CHAIN#*"}) &&
		action != "dynamodb:DeleteItem":
	case id == "SealAuditFunction" && action != "dynamodb:DeleteItem" && !slices.Contains(reading, action):
		wrong("%s: %s on %v; it seals, and writes nothing else", id, action, st.rows)
	case id == "ReceiveEventFunction" && limited && hears(st, action):
	case action == "dynamodb:DeleteItem" && limited && slices.Equal(st.rows, []string{"SESSION#*"}): // answered messages
	case slices.Contains(numbering, id) && limited && beside(st, "NUMBER#*") && action == "dynamodb:PutItem":
	case id == "ResumeTaskFunction" && limited && beside(st, "REQUESTS#*") && action == "dynamodb:PutItem":
	case id == "RunActionFunction" && limited && slices.Equal(st.rows, []string{"LOG#*"}) &&
		action == "dynamodb:BatchWriteItem":
	case action == "dynamodb:DeleteItem" && !s.allows(s.role(id), "states:SendTaskSuccess"):
		wrong("%s: %s; only who answers task tokens deletes them", id, action)
	case id == "ReceiveEventFunction" && !ends:
		wrong("%s: %s on %v; all it does is to keep what people ask and change, or to end integrations", id, action, st.rows)
	case slices.Contains(reading, action):
	case notes(id, st, action):
	case action != "dynamodb:PutItem" && action != "dynamodb:UpdateItem" && action != "dynamodb:DeleteItem":
		wrong("%s: nothing here needs %s", id, action)
	case !limited:
		wrong("%s: %s without saying on which rows", id, action)
	case ofIntegrations && slices.Contains([]string{"ReceiveEventFunction", "ExecuteProcessFunction",
		"RunRoundFunction", "CallToolFunction", "ServeGateFunction"}, id):
	case ofIntegrations && !ofKinds:
		wrong("%s: %s on %v; who renews credentials writes them, and who hears that they ended", id, action, st.rows)
	case !ofKinds && id != "ResumeTaskFunction":
		wrong("%s: %s on %v; only ResumeTaskFunction makes tenants", id, action, st.rows)
	}
}

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
	s := store.NewTasks(dynamodb.New(dynamodb.Options{Region: "us-east-1", BaseEndpoint: aws.String(table.URL),
		Credentials: credentials.NewStaticCredentialsProvider("none", "none", "")}), "ringi")
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
	return map[string][]string{"RunRoundFunction": tools, "CallToolFunction": tools, "ServeGateFunction": tools,
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
	return err == nil && action == "dynamodb:UpdateItem" && slices.Equal(st.rows, []string{"TENANT#*"}) &&
		written[id] != nil && slices.Equal(allowed, written[id])
}

// uses reports whether a statement lets a key's last use and its end be noted, and nothing else of it.
func uses(st statement) bool {
	return slices.Equal(list(at(st.conditions, "ForAllValues:StringEquals", "dynamodb:Attributes")),
		[]any{"PK", "SK", "rev", "last_used_at", "revoked_at", "revoked_by"})
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

// setting is a field of a function's environment, or of a struct embedded in it.
type setting struct {
	doc      string
	optional bool
}

// structs returns the structs of a folder's files, by name.
func structs(t *testing.T, folder string) map[string]*ast.StructType {
	t.Helper()
	all := map[string]*ast.StructType{}
	files, err := filepath.Glob(filepath.Join(repository, folder, "*.go"))
	expect.Must(t, err == nil && len(files) != 0, "%s: %v", folder, err)
	for _, name := range files {
		file := expect.Value(parser.ParseFile(token.NewFileSet(), name, nil, 0))(t)
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				if s, ok := spec.Type.(*ast.StructType); ok {
					all[spec.Name.Name] = s
				}
			}
			return true
		})
	}
	return all
}

// settings returns the fields of a function's environment struct, by variable. groups are the structs of
// shared/runtime/boot, which it may embed.
func settings(t *testing.T, s *ast.StructType, groups map[string]*ast.StructType) map[string]setting {
	t.Helper()
	all := map[string]setting{}
	expect.Must(t, s != nil, "there is no such struct")
	for _, field := range s.Fields.List {
		if len(field.Names) == 0 {
			group, ok := field.Type.(*ast.SelectorExpr)
			expect.Must(t, ok, "%T is embedded, which is no group of shared/runtime/boot", field.Type)
			maps.Copy(all, settings(t, groups[group.Sel.Name], groups))
			continue
		}
		tag := reflect.StructTag(strings.Trim(field.Tag.Value, "`"))
		name, option, _ := strings.Cut(tag.Get("env"), ",")
		expect.That(t, name != "" && tag.Get("doc") != "",
			"%s does not say which variable it is, or what that says", field.Names[0])
		all[name] = setting{tag.Get("doc"), option == "optional"}
	}
	return all
}

// A variable that the template doesn't set would be empty in AWS only. One that nobody reads often comes with a right
// that nobody needs.
func TestFunctionsReadWhatTheTemplateSets(t *testing.T) {
	s := expect.Value(read(t.TempDir(), files(t)))(t)
	groups := structs(t, "shared/runtime/boot")
	for _, f := range s.inOrder() {
		t.Run(f.Folder, func(t *testing.T) {
			reads := settings(t, structs(t, "functions/"+f.Folder)["environment"], groups)
			for name := range f.Environment {
				_, read := reads[name]
				unset := f.Environment[name] == "" // a variable of all functions that this one doesn't get
				expect.That(t, read || unset, "the template sets %s, the function never reads it", name)
			}
			for name := range reads {
				_, set := f.Environment[name]
				expect.That(t, set, "the function reads %s, the template does not set it", name)
				expect.That(t, reads[name].optional == (f.Environment[name] == "" || slices.Contains(mayBeEmpty, name)),
					"%s is optional: %t; the template sets %q", name, reads[name].optional, f.Environment[name])
			}
		})
	}
}

// mayBeEmpty are parameters with a default that a deployment may set to nothing.
var mayBeEmpty = []string{"MODEL"}

// lambdasOwn matches reads of the function's name and version, which Lambda sets.
var lambdasOwn = regexp.MustCompile(`os\.Getenv\("AWS_LAMBDA_FUNCTION_(NAME|VERSION)"\)`)

var environmentRead = regexp.MustCompile(`\bos\.(?:Getenv|LookupEnv|Environ|ExpandEnv)\b`)

// A function's struct has its whole configuration only if nothing else reads the environment.
func TestNothingElseReadsTheEnvironment(t *testing.T) {
	for path, text := range codeBelow(t, "../functions", "../shared") {
		text = lambdasOwn.ReplaceAllString(text, "")
		ofTests := path == "../shared/runtime/expect/expect.go"
		expect.That(t, path == "../shared/runtime/boot/boot.go" || ofTests || !environmentRead.MatchString(text),
			"%s reads the environment beside shared/runtime/boot", path)
	}
}

// A variable that several functions read means the same in each.
func TestEachVariableIsDescribedInOneWay(t *testing.T) {
	s := expect.Value(read(t.TempDir(), files(t)))(t)
	groups, docs := structs(t, "shared/runtime/boot"), map[string]setting{}
	for _, f := range s.inOrder() {
		for name, v := range settings(t, structs(t, "functions/"+f.Folder)["environment"], groups) {
			other, ok := docs[name]
			expect.That(t, !ok || other == v, "%s is described in two ways", name)
			docs[name] = v
		}
	}
}
