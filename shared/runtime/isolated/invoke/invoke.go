// Package invoke runs each order once in the sandbox's Lambda function.
package invoke

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/aws/smithy-go"

	"ringi/shared/runtime/isolated"
)

// Function is the Lambda function that runs commands in isolation.
type Function struct {
	api  *lambda.Client
	name string
}

// New makes a client that never sends an order twice: the SDK's retries are off. It has no timeout for the answer.
func New(c aws.Config, name string) *Function {
	return &Function{name: name, api: lambda.NewFromConfig(c, func(o *lambda.Options) {
		o.Retryer, o.HTTPClient = aws.NopRetryer{}, awshttp.NewBuildableClient()
	})}
}

var _ isolated.Runner = (*Function)(nil)

// Run implements isolated.Runner. It passes the action as Lambda's tenant id, so that no execution environment serves
// two actions.
func (f *Function) Run(ctx context.Context, o isolated.Order, onLine func(isolated.Line) error) (isolated.End, error) {
	if err := o.Validate(); err != nil {
		return isolated.End{}, fmt.Errorf("%w: %w: %w", err, isolated.ErrCannot, isolated.ErrNotBegun)
	}
	payload, err := json.Marshal(o)
	if err != nil {
		return isolated.End{}, fmt.Errorf("encode an order: %w: %w", err, isolated.ErrNotBegun)
	}
	out, err := f.api.InvokeWithResponseStream(ctx,
		&lambda.InvokeWithResponseStreamInput{FunctionName: &f.name, Payload: payload, TenantId: &o.Action})
	if err != nil {
		return isolated.End{}, fmt.Errorf("start the sandbox: %w", begun(err))
	}
	stream := out.GetStream()
	defer stream.Close()
	chunks := &reader{events: stream.Events()}
	end, err := isolated.Read(chunks, onLine)
	switch {
	case err == nil:
		return end, nil
	case chunks.failed != "":
		return isolated.End{}, fmt.Errorf("%w (%s)", err, chunks.failed)
	default:
		return isolated.End{}, errors.Join(err, stream.Err())
	}
}

// never are errors of Lambda after which nothing has run and retrying is useless: the function is missing, belongs to
// another account, or is configured with a key or network that is gone.
var never = []string{
	"AccessDeniedException", "InvalidParameterValueException", "InvalidRequestContentException", "InvalidRuntimeException",
	"InvalidSecurityGroupIDException",
	"InvalidSubnetIDException", "InvalidZipFileException", "KMSAccessDeniedException", "KMSDisabledException",
	"KMSInvalidStateException", "KMSNotFoundException",
	"RequestTooLargeException", "ResourceNotFoundException", "UnrecognizedClientException", "ValidationException",
}

// notYet are errors of Lambda after which nothing has run but a retry may succeed: the function is Pending or Inactive,
// or there is no capacity or network interface.
var notYet = []string{"ENILimitReachedException", "ENINotReadyException", "ResourceConflictException",
	"ResourceNotReadyException", "SubnetIPAddressLimitReachedException", "TooManyRequestsException"}

// begun wraps Lambda's errors that say whether the command has begun. Other errors say nothing about it.
func begun(err error) error {
	api, ok := errors.AsType[smithy.APIError](err)
	switch {
	case !ok:
		return err
	case slices.Contains(never, api.ErrorCode()):
		return fmt.Errorf("%w: %w: %w", err, isolated.ErrCannot, isolated.ErrNotBegun)
	case slices.Contains(notYet, api.ErrorCode()) || strings.HasPrefix(api.ErrorCode(), "EC2"):
		return fmt.Errorf("%w: %w", err, isolated.ErrNotBegun)
	}
	return err
}

// reader reads the payload of a response stream.
type reader struct {
	events <-chan types.InvokeWithResponseStreamResponseEvent
	rest   []byte
	failed string // Lambda's error at the end of the stream
}

func (r *reader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		event, ok := <-r.events
		if !ok {
			return 0, io.EOF
		}
		switch e := event.(type) {
		case *types.InvokeWithResponseStreamResponseEventMemberPayloadChunk:
			r.rest = e.Value.Payload
		case *types.InvokeWithResponseStreamResponseEventMemberInvokeComplete:
			r.failed = aws.ToString(e.Value.ErrorCode)
			return 0, io.EOF
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}
