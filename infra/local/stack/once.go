package stack

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ringi/infra/local/lambda"
)

// functionsPath lists the stack's functions for InvokeOnce.
const functionsPath = "/_ringi/functions"

// functionInfo describes a function of a running stack.
type functionInfo struct {
	lambda.Function
	Folder string
}

// VariableFile has environment variables by logical id; "Parameters" applies to all functions. Only variables that the
// template declares are replaced.
type VariableFile map[string]map[string]string

// serveFunctions lists the functions. The list contains no secrets: functions fetch those by name.
func (s *Stack) serveFunctions(list func() []functionInfo) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(list()); err != nil {
			s.log.Warn("list the functions", "err", err)
		}
	})
}

// InvokeOnce compiles one function, named by its logical id or folder, and runs it in a new process. It uses the tables
// and queues of the stack at o.AWSAddr, or starts a stack for this call if none answers. Sample requests from Slack are
// signed.
func InvokeOnce(ctx context.Context, o Options, name string, event []byte,
	variables VariableFile) (lambda.Result, error) {
	o, err := o.complete()
	if err != nil {
		return lambda.Result{}, err
	}
	endpoint := "http://" + o.AWSAddr
	list, found := runningFunctions(ctx, endpoint, functionsPath)
	if found && o.Artifacts == "" {
		// People want to run their edits, which are newer than that stack's binaries.
		built, err := lambda.Build(ctx, filepath.Dir(o.Template))
		if err != nil {
			return lambda.Result{}, err
		}
		defer built.Release()
		for i, f := range list {
			if path, ok := built.Binaries[f.Folder]; ok {
				list[i].Binary = path
			}
		}
	}
	if !found && o.Running {
		return lambda.Result{}, fmt.Errorf("%s: %w, or leave -aws-addr out: then one is started for this call alone", o.AWSAddr, ErrNoStack)
	}
	if !found {
		o.Addr, o.AWSAddr, o.quiet = anyPort, anyPort, true
		s, err := Start(ctx, o)
		if err != nil {
			return lambda.Result{}, err
		}
		defer s.Close()
		endpoint, list = s.AWSEndpoint, s.functions
	}
	at := slices.IndexFunc(list,
		func(f functionInfo) bool { return f.Name == name || f.Folder == name || f.Name == name+"Function" })
	if at < 0 {
		return lambda.Result{}, fmt.Errorf("there is no function %q; there are %s", name, strings.Join(folders(list), ", "))
	}
	f := list[at].Function
	f.Concurrency, f.Environment = 0, replaced(f.Environment, variables["Parameters"], variables[f.Name])
	if event, err = sign(ctx, endpoint, f.Environment["SLACK_SECRET_ID"], event); err != nil {
		return lambda.Result{}, err
	}
	service := lambda.New(lambda.Options{Region: Region, Account: Account, Endpoint: endpoint, Log: o.FunctionLog,
		Functions: []lambda.Function{f}})
	defer service.Close()
	return service.Invoke(ctx, f.Name, event)
}

// replaced returns the environment with the values of others, ignoring variables that it does not have.
func replaced(environment map[string]string, others ...map[string]string) map[string]string {
	environment = maps.Clone(environment)
	for _, other := range others {
		for name, value := range other {
			if _, declared := environment[name]; declared {
				environment[name] = value
			}
		}
	}
	return environment
}

func folders(list []functionInfo) (names []string) {
	for _, f := range list {
		names = append(names, f.Folder)
	}
	return names
}

// runningFunctions asks a stack for its functions. It returns false if no stack answers.
func runningFunctions(ctx context.Context, endpoint, path string) ([]functionInfo, bool) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, endpoint+path, nil)
	if err != nil {
		return nil, false
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, false
	}
	defer resp.Body.Close()
	var list []functionInfo
	if resp.StatusCode != http.StatusOK || json.NewDecoder(resp.Body).Decode(&list) != nil {
		return nil, false
	}
	return list, true
}
