package outbound

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go"

	"ringi/shared/runtime/isolated"
)

// Sandbox is the Lambda function that runs commands in isolation, each order once.
type Sandbox struct{ lambda *Function }

// SandboxAt makes a client that never sends an order twice. It has no timeout for the answer.
func SandboxAt(c aws.Config, name string) *Sandbox { return &Sandbox{FunctionAt(c, name)} }

var _ isolated.Runner = (*Sandbox)(nil)

// Run implements isolated.Runner. It passes the action as Lambda's tenant id, so that no execution environment serves
// two actions.
func (f *Sandbox) Run(ctx context.Context, o isolated.Order, onLine func(isolated.Line) error) (isolated.End, error) {
	if err := o.Validate(); err != nil {
		return isolated.End{}, fmt.Errorf("%w: %w: %w", err, isolated.ErrCannot, isolated.ErrNotBegun)
	}
	payload, err := json.Marshal(o)
	if err != nil {
		return isolated.End{}, fmt.Errorf("encode an order: %w: %w", err, isolated.ErrNotBegun)
	}
	answer, err := f.lambda.Stream(ctx, o.Action, payload)
	if err != nil {
		return isolated.End{}, fmt.Errorf("start the sandbox: %w", begun(err))
	}
	defer answer.Close()
	return isolated.Read(answer, onLine)
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
