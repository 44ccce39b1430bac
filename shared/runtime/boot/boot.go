// Package boot starts a Lambda function: its AWS configuration, its log, and one
// clear line when it cannot start.
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

// Run reads a function's environment into E, wires the function and serves what it handles; it does not return. A
// function that cannot be wired says why and exits: Lambda starts it anew.
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

// environment is the configuration that Lambda gives a function: region and credentials
// are environment variables, good for as long as its environment lives. Profiles, single
// sign-on and roles to assume, which config.LoadDefaultConfig looks for as well, are not
// there; their clients are a tenth of the binary of a function that Slack calls.
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
		ResponseChecksumValidation: aws.ResponseChecksumValidationWhenSupported, // as config.LoadDefaultConfig has them
		HTTPClient:                 impatient(connectWithin, answerWithin),
	}
	if env.BaseEndpoint != "" {
		cfg.BaseEndpoint = &env.BaseEndpoint
	}
	return cfg, nil
}

// AWS's services answer in milliseconds. A call that has no answer after so long is lost: the SDK makes it again, at
// most twice. Without these bounds it would take all of the function's time, and people would wait for their cards
// meanwhile.
const connectWithin, answerWithin = 3 * time.Second, 8 * time.Second

// sideBySide is how many connections to a service are kept for the next calls: sweep-tasks makes as many at once, and
// each that is opened anew costs a handshake.
const sideBySide = 128

// impatient is an HTTP client that waits so long for a connection, and from there for the beginning of an answer.
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
