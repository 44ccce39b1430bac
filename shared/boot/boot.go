// Package boot starts a Lambda function: its AWS configuration, its log, and one
// clear line when it cannot start.
package boot

import (
	"context"
	"log/slog"
	"os"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"

	"ringi/shared/mask"
)

// Run wires a function and serves what it handles; it does not return. A function
// that cannot be wired says why and exits: Lambda starts it anew.
func Run[H any](wire func(ctx context.Context, cfg aws.Config) (H, error), handle func(H) any) {
	slog.SetDefault(slog.New(mask.Handler(lambdacontext.NewLogHandler())))
	ctx := context.Background()
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		fail(err)
	}
	h, err := wire(ctx, cfg)
	if err != nil {
		fail(err)
	}
	lambda.Start(handle(h))
}

func fail(err error) {
	slog.Error("start", "err", err)
	os.Exit(1)
}
