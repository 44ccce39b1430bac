package outbound

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
)

// ErrEnded means that the function was started and ended with an error.
var ErrEnded = errors.New("the function ended with an error")

// maxAnswer is more than Lambda's limit of an answer, 6 MB and some.
const maxAnswer = 8 << 20

// Function calls one function. It is safe for concurrent use.
type Function struct {
	name   string
	lambda *Service
}

// FunctionAt returns the function with that name.
func FunctionAt(cfg aws.Config, name string) *Function {
	return &Function{name: name, lambda: ServiceAt(cfg, "Lambda", said)}
}

// PatientFunction is At for a function that takes longer to answer than AWS's services do: only the context bounds a
// call.
func PatientFunction(cfg aws.Config, name string) *Function {
	cfg.HTTPClient = awshttp.NewBuildableClient()
	return FunctionAt(cfg, name)
}

// Call asks the function and reads its answer into out. It returns ErrEnded if the function ended with an error.
func (f *Function) Call(ctx context.Context, in, out any) error {
	answer, err := f.invoke(ctx, "RequestResponse", in)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("the answer of %s: %w", f.name, err)
	}
	return nil
}

// Begin starts the function and doesn't wait for it.
func (f *Function) Begin(ctx context.Context, in any) error {
	_, err := f.invoke(ctx, "Event", in)
	return err
}

func (f *Function) invoke(ctx context.Context, kind string, in any) ([]byte, error) {
	payload, err := json.Marshal(in)
	if err != nil {
		return nil, fmt.Errorf("call %s: %w", f.name, err)
	}
	const operation = "Invoke"
	header, answer, err := f.lambda.Call(ctx, Request{
		Operation: operation, Method: http.MethodPost, Body: payload, Limit: maxAnswer,
		Path:   "/2015-03-31/functions/" + url.QueryEscape(f.name) + "/invocations",
		Header: map[string]string{"Content-Type": "application/json", "X-Amz-Invocation-Type": kind},
	})
	if ended := header.Get("X-Amz-Function-Error"); ended != "" {
		err = f.lambda.Failed(operation, fmt.Errorf("%w: %s", ErrEnded, ended))
	}
	if err != nil {
		return nil, fmt.Errorf("call %s: %w", f.name, err)
	}
	return answer, nil
}

// said reads an error of Lambda's.
func said(header http.Header, body []byte) (code, message string) {
	var in struct{ Message string }
	_ = json.Unmarshal(body, &in)
	code, _, _ = strings.Cut(header.Get("X-Amzn-Errortype"), ":")
	return code, in.Message
}
