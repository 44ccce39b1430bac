// Command tick prints where its event came from.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
)

func main() { lambda.Start(handle) }

func handle(_ context.Context, e events.EventBridgeEvent) (string, error) {
	fmt.Println("ticked")
	if e.Source == "" {
		return "", fmt.Errorf("the event has no source")
	}
	return e.Source + " " + os.Getenv("TABLE_NAME"), nil
}
