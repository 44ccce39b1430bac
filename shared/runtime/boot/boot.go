// Package boot starts a Lambda function: it sets up the AWS configuration and the log, and logs one clear line when the
// function can't start.
package boot

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"ringi/shared/words/legible"
)

// Run reads a function's environment into E, wires the function and serves its invocations. It does not return. If
// wiring fails, it logs the error and exits, and Lambda restarts the function.
func Run[E, H any](wire func(ctx context.Context, cfg aws.Config, env E) (H, error), handle func(H) any) {
	slog.SetDefault(slog.New(legible.MaskingHandler(lambdacontext.NewLogHandler())))
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

// Err stands for a panic, whose message may contain content.
var ErrPanic = errors.New("panic")

// Recover, when deferred, turns a panic into Err and logs its place: for a runtime error with its message, for other
// panics only with their type.
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
