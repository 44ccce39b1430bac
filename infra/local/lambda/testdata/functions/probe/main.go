// Command probe is a function for tests that does what its event says.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
)

type event struct {
	Do   string
	Text string
	For  time.Duration
}

type answer struct {
	Text      string
	PID       int
	RequestID string
	ARN       string
	Left      time.Duration
	Variables map[string]string
}

// Denied is an error whose type name becomes the answer's errorType.
type Denied struct{}

func (Denied) Error() string { return "denied" }

func main() {
	if os.Getenv("BREAK") != "" {
		os.Exit(3)
	}
	if os.Getenv("WARM") != "" {
		res, err := http.Get(os.Getenv("SERVICE_URL") + "/warm")
		if err != nil {
			os.Exit(4)
		}
		res.Body.Close()
	}
	lambda.Start(handle)
}

func handle(ctx context.Context, e event) (answer, error) {
	a := answer{Text: e.Text, PID: os.Getpid()}
	if lc, ok := lambdacontext.FromContext(ctx); ok {
		a.RequestID, a.ARN = lc.AwsRequestID, lc.InvokedFunctionArn
	}
	if deadline, ok := ctx.Deadline(); ok {
		a.Left = time.Until(deadline)
	}
	switch e.Do {
	case "sleep":
		fmt.Println("asleep")
		time.Sleep(e.For)
	case "deny":
		return a, Denied{}
	case "fail":
		return a, errors.New(e.Text)
	case "panic":
		panic(e.Text)
	case "exit":
		os.Exit(1)
	case "print":
		fmt.Println(e.Text)
	case "long":
		a.Text = strings.Repeat("x", 7<<20)
	case "call":
		res, err := http.Post(os.Getenv("SERVICE_URL")+"/things/17", "text/plain", strings.NewReader(e.Text))
		if err != nil {
			return a, err
		}
		res.Body.Close()
		a.Text = res.Status
	case "environment":
		a.Variables = map[string]string{}
		for _, v := range os.Environ() {
			name, value, _ := strings.Cut(v, "=")
			a.Variables[name] = value
		}
	}
	return a, nil
}
