package template

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Function is a Lambda function and its event sources.
type Function struct {
	ID          string // logical id, also its name
	Folder      string // below functions/
	Timeout     time.Duration
	Memory      int               // MB
	Concurrency int               // reserved concurrency; 0 means unbounded
	Environment map[string]string // with resolved values
	LogLevel    string            // from LoggingConfig; "" if the format isn't JSON
	Managed     bool              // its runtime's handler starts the binary for each call and streams the output
	Routes      []Route
	Streams     []StreamMapping
	Queues      []QueueMapping
	Schedules   []Schedule
}

// Route is a route of the HTTP API. Method is in upper case, or "ANY".
type Route struct {
	Method, Path string
	Timeout      time.Duration
}

// StreamMapping feeds a function from a table's stream.
type StreamMapping struct {
	Event           string
	Source          string // ARN
	From            string // TRIM_HORIZON or LATEST
	BatchSize       int
	Parallel        int // concurrent batches per shard
	Window          time.Duration
	Retries         int           // -1 means until the record is too old
	MaximumAge      time.Duration // 0 means as long as the stream keeps records
	Bisect          bool
	PartialFailures bool
	OnFailure       string   // ARN, or ""
	Filters         []string // patterns; a record passes if one matches
}

// QueueMapping feeds a function from a queue.
type QueueMapping struct {
	Event           string
	Source          string // ARN
	BatchSize       int
	Concurrency     int // 0 means unbounded
	PartialFailures bool
}

type Schedule struct {
	Event string
	Every time.Duration
	Input string // "" means the scheduler's own event
}

// AWS's limits, and its defaults for omitted properties.
const (
	defaultTimeout   = 3
	defaultMemory    = 128
	defaultBatch     = 10
	defaultBatchLog  = 100
	defaultHTTPMilli = 30000
)

func readFunction(id string, properties map[string]any) (Function, error) {
	var p struct {
		Timeout, MemorySize          int
		Runtime                      string
		ReservedConcurrentExecutions int
		Environment                  struct{ Variables map[string]any }
		LoggingConfig                struct{ LogFormat, ApplicationLogLevel string }
		Events                       map[string]struct {
			Type       string
			Properties event
		}
	}
	f := Function{ID: id, Folder: Folder(id), Environment: map[string]string{}}
	if err := decode(properties, &p); err != nil {
		return f, err
	}
	f.Timeout = time.Duration(cmp.Or(p.Timeout, defaultTimeout)) * time.Second
	f.Managed = !strings.HasPrefix(cmp.Or(p.Runtime, "provided"), "provided")
	f.Memory, f.Concurrency = cmp.Or(p.MemorySize, defaultMemory), p.ReservedConcurrentExecutions
	if strings.EqualFold(p.LoggingConfig.LogFormat, "JSON") {
		f.LogLevel = cmp.Or(p.LoggingConfig.ApplicationLogLevel, "INFO")
	}
	for name, v := range p.Environment.Variables {
		f.Environment[name] = fmt.Sprint(v)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Events)) {
		if err := f.addEvent(name, p.Events[name].Type, p.Events[name].Properties); err != nil {
			return f, fmt.Errorf("event %s: %w", name, err)
		}
	}
	return f, nil
}

// event has the properties of all types of events.
type event struct {
	Enabled, State any

	Method, Path    string
	TimeoutInMillis int

	Stream, Queue                  string
	BatchSize                      int
	StartingPosition               string
	ParallelizationFactor          int
	MaximumBatchingWindowInSeconds int
	MaximumRetryAttempts           *int
	MaximumRecordAgeInSeconds      int
	BisectBatchOnFunctionError     bool
	FunctionResponseTypes          []string
	ScalingConfig                  struct{ MaximumConcurrency int }
	DestinationConfig              struct{ OnFailure struct{ Destination string } }
	FilterCriteria                 struct{ Filters []struct{ Pattern string } }

	Schedule, Input string
}

func (f *Function) addEvent(name, kind string, p event) error {
	if p.Enabled != nil || p.State != nil {
		return errors.New("the local stack has all events on, and knows neither Enabled nor State")
	}
	partial := slices.Contains(p.FunctionResponseTypes, "ReportBatchItemFailures")
	switch kind {
	case "HttpApi":
		if !strings.HasPrefix(p.Path, "/") {
			return fmt.Errorf("Path %q must begin with a slash", p.Path)
		}
		timeout := time.Duration(cmp.Or(p.TimeoutInMillis, defaultHTTPMilli)) * time.Millisecond
		f.Routes = append(f.Routes, Route{strings.ToUpper(cmp.Or(p.Method, "ANY")), p.Path, timeout})
	case "DynamoDB":
		f.addStream(name, p, partial)
	case "SQS":
		if p.FilterCriteria.Filters != nil {
			return errors.New("the local stack filters streams, and no queues")
		}
		f.Queues = append(f.Queues, QueueMapping{name, p.Queue, cmp.Or(p.BatchSize, defaultBatch),
			p.ScalingConfig.MaximumConcurrency, partial})
	case "Schedule":
		every, err := interval(p.Schedule)
		f.Schedules = append(f.Schedules, Schedule{Event: name, Every: every, Input: p.Input})
		return err
	default:
		return fmt.Errorf("the local stack knows no events of type %q", kind)
	}
	return nil
}

func (f *Function) addStream(name string, p event, partial bool) {
	m := StreamMapping{
		Event: name, Source: p.Stream, From: cmp.Or(p.StartingPosition, "LATEST"),
		BatchSize: cmp.Or(p.BatchSize, defaultBatchLog),
		Parallel:  cmp.Or(p.ParallelizationFactor, 1), Window: time.Duration(p.MaximumBatchingWindowInSeconds) * time.Second,
		Retries: -1, MaximumAge: time.Duration(max(0, p.MaximumRecordAgeInSeconds)) * time.Second,
		Bisect: p.BisectBatchOnFunctionError, PartialFailures: partial, OnFailure: p.DestinationConfig.OnFailure.Destination,
	}
	if p.MaximumRetryAttempts != nil {
		m.Retries = *p.MaximumRetryAttempts
	}
	for _, x := range p.FilterCriteria.Filters {
		m.Filters = append(m.Filters, x.Pattern)
	}
	f.Streams = append(f.Streams, m)
}

var rate = regexp.MustCompile(`^rate\((\d+) (minute|hour|day)s?\)$`)

// interval returns how often a schedule comes.
func interval(schedule string) (time.Duration, error) {
	m := rate.FindStringSubmatch(schedule)
	if m == nil {
		return 0, fmt.Errorf("the local stack keeps rate(…) schedules only, not %q", schedule)
	}
	count, err := strconv.Atoi(m[1])
	if err != nil || count < 1 {
		return 0, fmt.Errorf("schedule %q: the rate must be 1 or more", schedule)
	}
	return time.Duration(count) * map[string]time.Duration{"minute": time.Minute, "hour": time.Hour,
		"day": 24 * time.Hour}[m[2]], nil
}

var hump = regexp.MustCompile(`([a-z0-9])([A-Z])`)

// Folder returns a function's folder below functions/. That of ReceiveEventFunction is receive-event.
func Folder(id string) string {
	return strings.ToLower(hump.ReplaceAllString(strings.TrimSuffix(id, "Function"), "$1-$2"))
}

// Queue is an SQS queue. Attributes are those of the CreateQueue call.
type Queue struct {
	ID, Name, URL, ARN string
	Attributes         map[string]string
	DeadLetters        string // ARN of the queue for failed messages, or ""
}

var queueAttributes = []string{
	"FifoQueue", "DeduplicationScope", "FifoThroughputLimit", "VisibilityTimeout", "MessageRetentionPeriod",
	"RedrivePolicy",
}

func readQueue(id, name string, properties map[string]any) (Queue, error) {
	q := Queue{ID: id, Name: name, Attributes: map[string]string{}}
	for _, attribute := range queueAttributes {
		switch v := properties[attribute].(type) {
		case nil:
		case map[string]any:
			q.DeadLetters, _ = v["deadLetterTargetArn"].(string)
			text, err := json.Marshal(v)
			if err != nil {
				return q, fmt.Errorf("%s: %w", attribute, err)
			}
			q.Attributes[attribute] = string(text)
		default:
			q.Attributes[attribute] = fmt.Sprint(v)
		}
	}
	return q, nil
}

// Machine is a Step Functions state machine. Placeholders in its definition are already replaced.
type Machine struct {
	ID, Name, ARN string
	Type          string // STANDARD or EXPRESS
	Definition    string
}

func readMachine(id, name, dir string, properties map[string]any) (Machine, error) {
	var p struct {
		Type, DefinitionUri     string
		DefinitionSubstitutions map[string]any
	}
	m := Machine{ID: id, Name: name}
	if err := decode(properties, &p); err != nil {
		return m, err
	}
	m.Type = cmp.Or(p.Type, "STANDARD")
	text, err := os.ReadFile(filepath.Join(dir, p.DefinitionUri))
	if err != nil {
		return m, fmt.Errorf("DefinitionUri: %w", err)
	}
	m.Definition, err = define(string(text), p.DefinitionSubstitutions)
	return m, err
}

// define replaces the ${…} in a definition. It returns an error for a missing substitution and for a result that is not
// JSON, which AWS would detect only at deployment.
func define(text string, substitutions map[string]any) (string, error) {
	var missing []string
	out := placeholder.ReplaceAllStringFunc(text, func(match string) string {
		name := strings.TrimSuffix(strings.TrimPrefix(match, "${"), "}")
		v, ok := substitutions[name]
		if !ok {
			missing = append(missing, name)
			return match
		}
		return fmt.Sprint(v)
	})
	if missing != nil {
		return "", fmt.Errorf("DefinitionSubstitutions lacks %s", strings.Join(missing, ", "))
	}
	if !json.Valid([]byte(out)) {
		return "", fmt.Errorf("the state machine's definition is no JSON")
	}
	return out, nil
}

type Table struct {
	ID, Name   string
	Attributes []types.AttributeDefinition // attributes of all keys
	Key        []types.KeySchemaElement
	Indexes    []types.GlobalSecondaryIndex
	Stream     types.StreamViewType // "" for no stream
	Expiry     string               // TTL attribute, or ""
}

func readTable(id, name string, properties map[string]any) (Table, error) {
	var p struct {
		AttributeDefinitions    []types.AttributeDefinition
		KeySchema               []types.KeySchemaElement
		GlobalSecondaryIndexes  []types.GlobalSecondaryIndex
		StreamSpecification     types.StreamSpecification
		TimeToLiveSpecification types.TimeToLiveSpecification
	}
	err := decode(properties, &p)
	t := Table{ID: id, Name: name, Attributes: p.AttributeDefinitions, Key: p.KeySchema,
		Indexes: p.GlobalSecondaryIndexes, Stream: p.StreamSpecification.StreamViewType}
	if aws.ToBool(p.TimeToLiveSpecification.Enabled) {
		t.Expiry = aws.ToString(p.TimeToLiveSpecification.AttributeName)
	}
	if err == nil && partition(t.Key) == "" {
		err = errors.New("KeySchema has no HASH key")
	}
	return t, err
}

// partition returns the partition key of a table or index.
func partition(key []types.KeySchemaElement) string {
	for _, e := range key {
		if e.KeyType == types.KeyTypeHash {
			return aws.ToString(e.AttributeName)
		}
	}
	return ""
}

// Input returns the CreateTable call for a table with this name, without its stream.
func (t Table) Input(name string) *dynamodb.CreateTableInput {
	return &dynamodb.CreateTableInput{
		TableName: &name, BillingMode: types.BillingModePayPerRequest, KeySchema: t.Key, AttributeDefinitions: t.Attributes,
		GlobalSecondaryIndexes: t.Indexes,
	}
}
