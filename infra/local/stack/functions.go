package stack

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"ringi/infra/local/lambda"
	"ringi/infra/local/template"
	"ringi/infra/local/vendors/models"
	"ringi/shared/model/teamconfig"
	"ringi/shared/runtime/isolated"
)

// sampleContests returns the folder with the contest files. The environment can name one; otherwise the sample files
// are copied to a temporary folder.
func (s *Stack) sampleContests() (string, error) {
	if folder := os.Getenv(teamconfig.Environment); folder != "" {
		return filepath.Abs(folder)
	}
	folder, err := os.MkdirTemp("", "ringi-contests-")
	if err != nil {
		return "", fmt.Errorf("make the folder of contests: %w", err)
	}
	s.onClose(func() { os.RemoveAll(folder) })
	if err := models.WriteSample(folder, s.options.Sandbox.Language); err != nil {
		return "", fmt.Errorf("write the sample of contests: %w", err)
	}
	return folder, nil
}

// speak has the vendors and the sample's teams named in a language.
func (s *Stack) speak(language string) {
	s.Vendors.Speak(language)
	if os.Getenv(teamconfig.Environment) == "" && s.ContestFolder != "" {
		if err := models.WriteSample(s.ContestFolder, language); err != nil {
			s.log.Error("name the teams", "err", err)
		}
	}
}

func (s *Stack) startFunctions(binaries map[string]string, back net.Listener, bench *template.Bench) (err error) {
	o := lambda.Options{Endpoint: s.AWSEndpoint, Log: s.options.FunctionLog, Faults: s.options.Faults}
	variables := map[string]string{"SANDBOX_PROGRAMS": isolated.Programs(),
		"SLACK_API_URL": s.SlackURL, "AWS_ENDPOINT_URL": s.AWSEndpoint,
		"OUTBOUND_ALLOW":  strings.Join(append([]string{s.VendorsHost()}, s.options.Allow...), ","),
		"FREEE_TOKEN_URL": s.VendorsURL + "/freee/token", "GOOGLE_TOKEN_URL": s.VendorsURL + "/google/token",
		"FREEE_API_URL": s.VendorsURL + "/freee/hr", "SHEETS_API_URL": s.VendorsURL + "/sheets",
		"GITHUB_API_URL": s.VendorsURL + "/github", "CONSOLE_ADDRESS": s.URL + "/console"}
	if s.ContestFolder, err = s.sampleContests(); err != nil {
		return err
	}
	variables[teamconfig.Environment] = s.ContestFolder
	for _, f := range s.Template.Functions {
		f.Environment = replaced(f.Environment, variables)
		s.functions = append(s.functions, lambda.Function{Function: f, Binary: binaries[f.ID]})
	}
	o.Functions = s.functions
	s.Lambda = lambda.New(o)
	s.onClose(s.Lambda.Close)
	h, err := awsHandler(s.Lambda.Handler(), http.HandlerFunc(s.serveFunctions), s.moto.URL,
		strings.TrimPrefix(s.AWSEndpoint, "http://"), s.BucketName, s.log)
	if err != nil {
		return fmt.Errorf("open the AWS endpoint: %w", err)
	}
	s.onClose(serve(back, bench.Handler(h)))
	s.background.Go(func() {
		select {
		case <-s.moto.Done():
		case <-s.ctx.Done():
		}
		if s.ctx.Err() == nil {
			s.failed <- fmt.Errorf("the AWS stand-ins ended by themselves")
		}
	})
	return nil
}

// VendorsHost is the MCP server's host:port.
func (s *Stack) VendorsHost() string { return strings.TrimPrefix(s.VendorsURL, "http://") }

// startMappings starts the streams, queues and schedules that invoke functions.
func (s *Stack) startMappings() error {
	direct := config(s.moto.URL)
	var invoker lambda.Invoker = s.Lambda
	if s.options.Between != nil {
		invoker = s.options.Between(invoker)
	}
	var runs []func(context.Context)
	for _, f := range s.Template.Functions {
		for _, m := range f.Streams {
			filter, err := lambda.ParseFilter(m.Filters)
			if err != nil {
				return fmt.Errorf("%s: event %s: %w", f.ID, m.Event, err)
			}
			stream := &lambda.Stream{
				Function: f.ID, Mapping: m, Filter: filter, Reader: dynamodbstreams.NewFromConfig(direct),
				Invoker: invoker, Log: s.log, OnFailure: s.destination(m.OnFailure),
			}
			runs = append(runs, stream.Run)
		}
		for _, m := range f.Queues {
			q, ok := s.queueOf(m.Source)
			if !ok {
				return fmt.Errorf("%s: event %s: no queue has the ARN %s", f.ID, m.Event, m.Source)
			}
			queue := &lambda.Queue{
				Function: f.ID, Mapping: m, URL: q.URL, Reader: sqs.NewFromConfig(direct),
				Invoker: invoker, Log: s.log, RetryAtOnce: s.options.Faults != nil,
			}
			runs = append(runs, queue.Run)
		}
		for _, schedule := range f.Schedules {
			sc := &lambda.Schedule{Function: f.ID, Schedule: schedule, Invoker: s.Lambda, Log: s.log}
			s.schedules[f.ID] = append(s.schedules[f.ID], sc)
			if !s.options.ByHand {
				runs = append(runs, sc.Run)
			}
		}
	}
	for _, run := range runs {
		s.background.Go(func() { run(s.ctx) })
	}
	return nil
}

// destination returns a function that sends to the queue with this ARN, or nil if there is none.
func (s *Stack) destination(arn string) func(context.Context, string) error {
	q, ok := s.queueOf(arn)
	if !ok {
		return nil
	}
	return func(ctx context.Context, body string) error {
		_, err := sqs.NewFromConfig(s.AWS).SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &q.URL, MessageBody: &body})
		return err
	}
}

func (s *Stack) queueOf(arn string) (template.Queue, bool) {
	return first(s.Template.Queues, func(q template.Queue) bool { return q.ARN == arn })
}

// first returns the first element that is wanted.
func first[V any](list []V, wanted func(V) bool) (found V, ok bool) {
	i := slices.IndexFunc(list, wanted)
	if i < 0 {
		return found, false
	}
	return list[i], true
}

// Fire invokes a scheduled function now, as the schedule does that comes most often, and waits for its result.
func (s *Stack) Fire(ctx context.Context, function string) (lambda.Result, error) {
	list := s.schedules[function]
	if len(list) == 0 {
		return lambda.Result{}, fmt.Errorf("fire %s: it has no schedule", function)
	}
	often := func(a, b *lambda.Schedule) int { return cmp.Compare(a.Schedule.Every, b.Schedule.Every) }
	return slices.MinFunc(list, often).Fire(ctx)
}

// functionsPath lists the stack's functions for InvokeOnce.
const functionsPath = "/_ringi/functions"

// serveFunctions lists the functions. The list contains no secrets: functions fetch those by name.
func (s *Stack) serveFunctions(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(s.functions); err != nil {
		s.log.Warn("list the functions", "err", err)
	}
}

// InvokeOnce compiles one function, named by its logical id or folder, and runs it in a new process, with the tables
// and queues of the stack at o.AWSAddr. Sample requests from Slack are signed.
//
// It returns an error wrapping ErrNoStack if no stack answers.
func InvokeOnce(ctx context.Context, o Options, name string, event []byte) (lambda.Result, error) {
	o, err := o.complete()
	if err != nil {
		return lambda.Result{}, err
	}
	endpoint := "http://" + o.AWSAddr
	list, err := runningFunctions(ctx, o.AWSAddr)
	if err != nil {
		return lambda.Result{}, err
	}
	at := slices.IndexFunc(list,
		func(f lambda.Function) bool { return f.ID == name || f.Folder == name || f.ID == name+"Function" })
	if at < 0 {
		return lambda.Result{}, fmt.Errorf("there is no function %q; there are %s", name,
			strings.Join(folders(list), ", "))
	}
	f := list[at]
	if o.Artifacts == "" { // people want to run their edits, which are newer than that stack's binaries
		built, err := lambda.Build(ctx, filepath.Dir(o.Template), lambda.LikeTests, nil)
		if err != nil {
			return lambda.Result{}, err
		}
		f.Binary = cmp.Or(built[f.Folder], f.Binary)
	}
	f.Concurrency = 0
	if event, err = sign(ctx, endpoint, f.Environment["SLACK_SECRET_ID"], event); err != nil {
		return lambda.Result{}, err
	}
	service := lambda.New(lambda.Options{Endpoint: endpoint, Log: o.FunctionLog,
		Functions: []lambda.Function{f}})
	defer service.Close()
	return service.Invoke(ctx, f.ID, event)
}

// replaced returns the environment with the values of another, ignoring variables that it does not have.
func replaced(environment, other map[string]string) map[string]string {
	environment = maps.Clone(environment)
	for name, value := range other {
		if _, declared := environment[name]; declared {
			environment[name] = value
		}
	}
	return environment
}

func folders(list []lambda.Function) (names []string) {
	for _, f := range list {
		names = append(names, f.Folder)
	}
	return names
}

// ErrNoStack means that no stack answers at the address.
var ErrNoStack = errors.New("no stack answers; start one with go run ./infra/local")

// runningFunctions asks the stack at awsAddr for its functions. It returns an error wrapping ErrNoStack if none
// answers.
func runningFunctions(ctx context.Context, awsAddr string) (list []lambda.Function, err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+awsAddr+functionsPath, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", awsAddr, err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", awsAddr, ErrNoStack)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK || json.NewDecoder(resp.Body).Decode(&list) != nil {
		return nil, fmt.Errorf("%s: %w", awsAddr, ErrNoStack)
	}
	return list, nil
}
