// Package boot starts a Lambda function: it sets up the AWS configuration and the log, and logs one clear line when the
// function can't start. It also answers API Gateway's events with a handler of net/http.
package boot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"reflect"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"ringi/shared/words/language"
)

// Run reads a function's environment into E, wires the function and serves its invocations. It does not return. If
// wiring fails, it logs the error and exits, and Lambda restarts the function.
func Run[E, H any](wire func(ctx context.Context, cfg aws.Config, env E) (H, error), handle func(H) any) {
	slog.SetDefault(slog.New(language.MaskingHandler(lambdacontext.NewLogHandler())))
	cfg, err := environment()
	if err != nil {
		fail(err)
	}
	var env E
	if err := Read(&env); err != nil {
		fail(err)
	}
	h, err := wire(context.Background(), cfg, env)
	if err != nil {
		fail(err)
	}
	lambda.Start(handle(h))
}

// BoundMemory makes the garbage collector work harder when three quarters of the function's memory are used, before
// Lambda kills the process. It is for functions whose memory was chosen by their largest inputs.
func BoundMemory() {
	if mb := lambdacontext.MemoryLimitInMB; mb > 0 {
		debug.SetMemoryLimit(int64(mb) << 20 / 4 * 3)
	}
}

// sdk has the variables that the AWS SDK needs, all of which Lambda sets except for the endpoint of the local stack.
type sdk struct {
	Region          string `env:"AWS_REGION"`
	AccessKeyID     string `env:"AWS_ACCESS_KEY_ID"`
	SecretAccessKey string `env:"AWS_SECRET_ACCESS_KEY"`
	SessionToken    string `env:"AWS_SESSION_TOKEN,optional"`
	Endpoint        string `env:"AWS_ENDPOINT_URL,optional"`
}

// environment returns the AWS configuration of a Lambda function, whose region and credentials are environment
// variables that stay valid. It does not import the SDK's package config, which also looks for profiles, single
// sign-on and roles: their clients are a tenth of the binary of a function that Slack calls, and those that packages
// prepare at the start stay in the binary even where nothing calls them.
func environment() (aws.Config, error) {
	var env sdk
	if err := Read(&env); err != nil {
		return aws.Config{}, err
	}
	key := credentials.NewStaticCredentialsProvider(env.AccessKeyID, env.SecretAccessKey, env.SessionToken)
	cfg := aws.Config{
		Region: env.Region, Credentials: key,
		AccountIDEndpointMode:      aws.AccountIDEndpointModePreferred,
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenSupported,
		ResponseChecksumValidation: aws.ResponseChecksumValidationWhenSupported, // the same as in config.LoadDefaultConfig
		HTTPClient:                 impatient(connectWithin, answerWithin),
	}
	if env.Endpoint != "" {
		cfg.BaseEndpoint = &env.Endpoint
	}
	return cfg, nil
}

// AWS's services answer in milliseconds. A call without an answer after this time counts as lost, and the SDK repeats
// it at most twice. Without these bounds it would take all of the function's time while people wait for their cards.
const connectWithin, answerWithin = 3 * time.Second, 8 * time.Second

// sideBySide is how many idle connections to a service are kept: sweep-tasks makes that many calls in parallel, and
// each new connection costs a handshake.
const sideBySide = 128

// impatient is an HTTP client with timeouts for connecting and for the beginning of an answer.
func impatient(connect, answer time.Duration) *awshttp.BuildableClient {
	return awshttp.NewBuildableClient().
		WithDialerOptions(func(d *net.Dialer) { d.Timeout = connect }).
		WithTransportOptions(func(t *http.Transport) {
			t.ResponseHeaderTimeout = answer
			t.MaxIdleConns, t.MaxIdleConnsPerHost = sideBySide, sideBySide
		})
}

func fail(err error) {
	slog.Error("start", "err", err)
	os.Exit(1)
}

// ErrPanic stands for a panic, whose message may contain content.
var ErrPanic = errors.New("panic")

// Recover, when deferred, turns a panic into ErrPanic and logs its place: for a runtime error with its message, for
// other panics only with their type.
func Recover(ctx context.Context, err *error, about ...any) {
	p := recover()
	if p == nil {
		return
	}
	said := fmt.Sprintf("%T", p)
	if r, ok := p.(runtime.Error); ok {
		said = r.Error()
	}
	slog.With(about...).ErrorContext(ctx, "panic", "panic", said, "stack", string(debug.Stack()))
	*err = ErrPanic
}

// Table is the configuration of every function.
type Table struct {
	TableName string `env:"TABLE_NAME" doc:"the table of all rows"`
}

// Slack is for functions that call Slack or are called by it.
type Slack struct {
	SlackSecretID string `env:"SLACK_SECRET_ID" doc:"the secret with the signing secret and the bot's token"`
	// In the local stack each function has its own address of the proxy to Slack.
	SlackAPIURL string `env:"SLACK_API_URL,optional" doc:"Slack's address, unless the secret has one: the local stack's"`
}

// Credentials is for functions that open or seal tenants' credentials.
type Credentials struct {
	CredentialsKeyID string `env:"CREDENTIALS_KEY_ID" doc:"the key that seals the vendors' credentials"`
}

// Models is for functions that call a model.
type Models struct {
	Model         string `env:"MODEL,optional" doc:"the model, in place of that of a workspace's settings"`
	ModelSecretID string `env:"MODEL_SECRET_ID" doc:"the secret with the keys of models"`
	AnthropicURL  string `env:"ANTHROPIC_BASE_URL" doc:"where Anthropic's API is, without /v1"`
	OpenAIURL     string `env:"OPENAI_BASE_URL" doc:"where OpenAI's API is, with /v1"`
	BedrockURL    string `env:"BEDROCK_BASE_URL,optional" doc:"where Bedrock's runtime is, in place of the region's"`
	// Endpoints outside of the public internet, with commas between. Only the local stack sets any.
	OutboundAllow string `env:"OUTBOUND_ALLOW,optional" doc:"inner addresses that may be called, as host:port"`
}

// Vendors is for functions that call tools. Only the local stack has other addresses than the vendors' own.
type Vendors struct {
	FreeeTokenURL  string `env:"FREEE_TOKEN_URL,optional" doc:"where freee's access tokens are renewed"`
	GoogleTokenURL string `env:"GOOGLE_TOKEN_URL,optional" doc:"where Google's access tokens are renewed"`
	FreeeAPIURL    string `env:"FREEE_API_URL,optional" doc:"freee's API, up to and including /hr"`
	SheetsAPIURL   string `env:"SHEETS_API_URL,optional" doc:"Google Sheets' API, without /v4"`
}

// Results is for functions that read or store large values.
type Results struct {
	ResultsBucket string `env:"RESULTS_BUCKET" doc:"the bucket of values too large for a row"`
}

// Effects is for functions that start runs and request redraws of cards.
type Effects struct {
	ChatARN         string `env:"CHAT_ARN" doc:"the state machine of conversations with agents"`
	ContestARN      string `env:"CONTEST_ARN" doc:"the state machine of contests"`
	StateMachineARN string `env:"STATE_MACHINE_ARN" doc:"the pipeline"`
	CardQueueURL    string `env:"CARD_QUEUE_URL" doc:"the queue of cards and Home tabs to draw"`
}

// Read fills a struct from the variables named in env tags of its fields, including embedded structs. Its error names
// all missing variables; an empty variable counts as missing unless it is optional.
func Read(into any) error {
	if missing := read(reflect.ValueOf(into).Elem()); len(missing) > 0 {
		return fmt.Errorf("environment variables are missing: %s", strings.Join(missing, ", "))
	}
	return nil
}

func read(v reflect.Value) (missing []string) {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if field.Anonymous {
			missing = append(missing, read(v.Field(i))...)
			continue
		}
		name, option, _ := strings.Cut(field.Tag.Get("env"), ",")
		value := os.Getenv(name)
		if value == "" && option != "optional" {
			missing = append(missing, name)
		}
		v.Field(i).SetString(value)
	}
	return missing
}

// MetricName is the name of a metric.
type MetricName string

const (
	SecretMissing MetricName = "SecretMissing" // a call that nobody could verify: the signing secret was not pasted yet
	// a call that was answered with 5xx although its signature was valid or could not be checked
	NotAnswered   MetricName = "NotAnswered"
	AppRefused    MetricName = "AppRefused"    // Slack refuses the app as a whole: its token, scope or workspace
	SweepRepaired MetricName = "SweepRepaired" // the sweeper did what should have been done
	SweepFailed   MetricName = "SweepFailed"   // a task that it could not handle
	// how long the oldest deletable result is past its expiry, in seconds
	ExpireLag MetricName = "ExpireLag"
	// a run that failed because of a bug in Ringi or because no model was available
	RunFailed MetricName = "RunFailed"
	// a row of the audit log that was changed, removed or redated
	AuditTouched MetricName = "AuditTouched"
	SealFailed   MetricName = "SealFailed" // rows that could not be sealed yet, or a head that could not be put away
	SealedLate   MetricName = "SealedLate" // rows that were sealed after their day
	ModelCost    MetricName = "ModelCost"  // the cost of models' calls in US dollars, as their rows are read
)

// MetricNamespace is the CloudWatch namespace. The metrics' dimension is "function", the function's name. NotAnswered
// also has the dimension "version", because a new version's own calls decide whether it is rolled back.
const MetricNamespace = "Ringi"

// Count counts something in a metric.
func Count(name MetricName, n int) { Measure(name, float64(n)) }

// Measure writes a line with one metric's value.
func Measure(name MetricName, n float64) {
	write(os.Stdout, time.Now(), os.Getenv("AWS_LAMBDA_FUNCTION_NAME"), os.Getenv("AWS_LAMBDA_FUNCTION_VERSION"), name, n)
}

func write(w io.Writer, now time.Time, function, version string, name MetricName, n float64) {
	type definition struct{ Name, Unit string }
	type directive struct {
		Namespace  string
		Dimensions [][]string
		Metrics    []definition
	}
	unit := "Count"
	switch name {
	case ExpireLag:
		unit = "Seconds"
	case ModelCost: // CloudWatch has no unit for money
		unit = "None"
	}
	d := directive{MetricNamespace, [][]string{{"function"}}, []definition{{string(name), unit}}}
	fields := map[string]any{"function": function, string(name): n}
	if name == NotAnswered {
		d.Dimensions, fields["version"] = [][]string{{"function"}, {"function", "version"}}, version
	}
	fields["_aws"] = map[string]any{"Timestamp": now.UnixMilli(), "CloudWatchMetrics": []directive{d}}
	if line, err := json.Marshal(fields); err == nil {
		_, _ = w.Write(append(line, '\n'))
	}
}
