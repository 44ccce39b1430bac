// Package boot starts a Lambda function: it sets up the AWS configuration and the log, and logs one clear line when the
// function can't start.
package boot

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"ringi/shared/runtime/config"
	"ringi/shared/words/mask"
)

// Run reads a function's environment into E, wires the function and serves its invocations. It does not return. If
// wiring fails, it logs the error and exits, and Lambda restarts the function.
func Run[E, H any](wire func(ctx context.Context, cfg aws.Config, env E) (H, error), handle func(H) any) {
	slog.SetDefault(slog.New(mask.Handler(lambdacontext.NewLogHandler())))
	cfg, err := environment()
	if err != nil {
		fail(err)
	}
	var env E
	if err := config.Read(&env); err != nil {
		fail(err)
	}
	h, err := wire(context.Background(), cfg, env)
	if err != nil {
		fail(err)
	}
	lambda.Start(handle(h))
}

// environment returns the AWS configuration of a Lambda function, whose region and credentials are environment
// variables that stay valid. It does not use config.LoadDefaultConfig, because that also looks for profiles, single
// sign-on and roles: their clients are a tenth of the binary of a function that Slack calls.
func environment() (aws.Config, error) {
	env, err := awsconfig.NewEnvConfig()
	if err != nil {
		return aws.Config{}, err
	}
	cfg := aws.Config{
		Region: env.Region, Credentials: credentials.StaticCredentialsProvider{Value: env.Credentials},
		RetryMode: env.RetryMode, RetryMaxAttempts: env.RetryMaxAttempts, AppID: env.AppID, ConfigSources: []any{env},
		AccountIDEndpointMode:      aws.AccountIDEndpointModePreferred,
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenSupported,
		ResponseChecksumValidation: aws.ResponseChecksumValidationWhenSupported, // the same as in config.LoadDefaultConfig
		HTTPClient:                 impatient(connectWithin, answerWithin),
	}
	if env.BaseEndpoint != "" {
		cfg.BaseEndpoint = &env.BaseEndpoint
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
