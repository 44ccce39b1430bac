// Package function calls other Lambda functions of the deployment. That takes one request of Lambda's API, which the
// package signs and repeats with the SDK's signer and retryer. It avoids the SDK's client of Lambda, which prepares all
// of that API's shapes at each start: that takes about as long as everything else that the console prepares.
package function

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// ErrEnded means that the function was started and ended with an error.
var ErrEnded = errors.New("the function ended with an error")

// Function calls one function. It is safe for concurrent use.
type Function struct {
	name, endpoint, region string
	http                   aws.HTTPClient
	credentials            aws.CredentialsProvider
	signer                 *v4.Signer
	attempts               *retry.Attempt
}

// At returns the function with that name.
func At(cfg aws.Config, name string) *Function {
	f := &Function{
		name: name, endpoint: endpoint(cfg), region: cfg.Region, http: cfg.HTTPClient, credentials: cfg.Credentials,
		signer: v4.NewSigner(),
	}
	if f.http == nil {
		f.http = awshttp.NewBuildableClient()
	}
	var retryer aws.Retryer = retry.NewStandard()
	if cfg.Retryer != nil {
		retryer = cfg.Retryer()
	}
	same := func(request any) any { return request } // once makes a request of its own
	f.attempts = retry.NewAttemptMiddleware(retryer, same)
	return f
}

// Patient is At for a function that takes longer to answer than AWS's services do: only the context bounds a call.
func Patient(cfg aws.Config, name string) *Function {
	cfg.HTTPClient = awshttp.NewBuildableClient()
	return At(cfg, name)
}

func endpoint(cfg aws.Config) string {
	if cfg.BaseEndpoint != nil {
		return strings.TrimSuffix(*cfg.BaseEndpoint, "/")
	}
	host := "https://lambda." + cfg.Region + ".amazonaws.com"
	if strings.HasPrefix(cfg.Region, "cn-") {
		host += ".cn"
	}
	return host
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

// invoke repeats a call as the SDK does.
func (f *Function) invoke(ctx context.Context, kind string, in any) ([]byte, error) {
	payload, err := json.Marshal(in)
	if err != nil {
		return nil, fmt.Errorf("call %s: %w", f.name, err)
	}
	var answer []byte
	attempt := func(ctx context.Context, _ middleware.FinalizeInput) (
		out middleware.FinalizeOutput, m middleware.Metadata, err error) {
		answer, err = f.once(ctx, kind, payload)
		return out, m, err
	}
	_, _, err = f.attempts.HandleFinalize(ctx, middleware.FinalizeInput{}, middleware.FinalizeHandlerFunc(attempt))
	if err != nil { // as the SDK wraps it, by which errorclass knows a call without an answer
		return nil, fmt.Errorf("call %s: %w", f.name, &smithy.OperationError{
			ServiceID: "Lambda", OperationName: "Invoke", Err: err,
		})
	}
	return answer, nil
}

func (f *Function) once(ctx context.Context, kind string, payload []byte) ([]byte, error) {
	address := f.endpoint + "/2015-03-31/functions/" + url.QueryEscape(f.name) + "/invocations"
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(payload))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Amz-Invocation-Type", kind)
	if trace, ok := ctx.Value("x-amzn-trace-id").(string); ok && trace != "" { // aws-lambda-go's key
		r.Header.Set("X-Amzn-Trace-Id", trace)
	}
	keys, err := f.credentials.Retrieve(ctx)
	if err != nil {
		return nil, err
	}
	hash := sha256.Sum256(payload)
	if err := f.signer.SignHTTP(ctx, keys, r, hex.EncodeToString(hash[:]), "lambda", f.region, time.Now()); err != nil {
		return nil, err
	}
	answer, err := f.http.Do(r)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, &smithy.CanceledError{Err: ctx.Err()}
	case err != nil:
		return nil, &smithyhttp.RequestSendError{Err: err}
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	switch {
	case answer.StatusCode >= http.StatusMultipleChoices:
		return nil, refused(answer, body)
	case err != nil:
		return nil, err
	case answer.Header.Get("X-Amz-Function-Error") != "":
		return nil, fmt.Errorf("%w: %s", ErrEnded, answer.Header.Get("X-Amz-Function-Error"))
	}
	return body, nil
}

// refused returns Lambda's error as the SDK does, so that the retryer and errorclass know it.
func refused(answer *http.Response, body []byte) error {
	var said struct{ Message string }
	_ = json.Unmarshal(body, &said) // a gateway's page says nothing: the status does
	code, _, _ := strings.Cut(answer.Header.Get("X-Amzn-Errortype"), ":")
	return &awshttp.ResponseError{
		RequestID: answer.Header.Get("X-Amzn-Requestid"),
		ResponseError: &smithyhttp.ResponseError{
			Response: &smithyhttp.Response{Response: answer},
			Err:      &smithy.GenericAPIError{Code: code, Message: said.Message},
		},
	}
}
