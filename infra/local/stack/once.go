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

// functionsPath of the AWS endpoint lists the stack's functions for InvokeOnce.
const functionsPath = "/_ringi/functions"

// functionInfo is what InvokeOnce needs of a function of a running stack.
type functionInfo struct {
	lambda.Function
	Folder string
}

// VariableFile gives environment variables by logical id; "Parameters" is for
// all functions. Only variables that the template has are replaced.
type VariableFile map[string]map[string]string

// serveFunctions tells what runs here. Nothing of it is secret: secrets are
// fetched by name.
func (s *Stack) serveFunctions(list func() []functionInfo) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(list()); err != nil {
			s.log.Warn("list the functions", "err", err)
		}
	})
}

// InvokeOnce runs one function, by logical id or folder, in a process of its
// own and as its source is now: with the tables and queues of the stack that
// answers at o.AWSAddr, else of a stack that lives only for it. A sample request
// from Slack is signed on the way.
func InvokeOnce(ctx context.Context, o Options, name string, event []byte,
	variables VariableFile) (lambda.Result, error) {
	o, err := o.complete()
	if err != nil {
		return lambda.Result{}, err
	}
	endpoint := "http://" + o.AWSAddr
	list, found := runningFunctions(ctx, endpoint, functionsPath)
	if found && o.Artifacts == "" {
		// What was edited since that stack started is what a person means to try.
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

// replaced are variables with other values for those that are there.
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

// runningFunctions asks a stack; false if none answers there.
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
