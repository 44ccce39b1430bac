package explain

import (
	"errors"
	"net/http"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// passing are codes of client errors that a retry may fix although the SDK doesn't treat them as a throttle or timeout.
// Expired credentials concern one execution environment only: another one has different credentials.
var passing = []string{
	"TransactionConflictException", "ReplicatedWriteConflictException", // DynamoDB: another write holds the item
	"OperationAborted", "ConditionalRequestConflict", // S3: the same
	"ExecutionLimitExceeded", "OverLimit", "KmsThrottled", // Step Functions and SQS: too many at once
	"ExpiredToken", "ExpiredTokenException", "RequestExpired", "RequestTimeTooSkewed",
}

// passingReasons are the reasons for which DynamoDB cancels transactions that may succeed later.
var passingReasons = []string{"", "None", "ConditionalCheckFailed", "TransactionConflict", "ThrottlingError",
	"ProvisionedThroughputExceeded"}

// answered is an error of a call that got an HTTP answer.
type answered interface {
	error
	HTTPStatusCode() int
}

// ofAWS returns the class of an error of a call to AWS, or of an unknown error. The SDK says whose fault an error is
// only for errors in a service's model, which ValidationException and AccessDeniedException are not. Therefore the
// class follows from the code and the HTTP status.
func ofAWS(err error) Class {
	api, refused := errors.AsType[smithy.APIError](err)
	switch {
	case refused && mayPass(api, statusOf(err)):
		return Unavailable
	case refused, is[smithy.InvalidParamsError](err), is[*smithy.SerializationError](err):
		return Internal // AWS or the client says that the call is invalid
	case is[*smithy.OperationError](err):
		return Unavailable // no answer, or an unreadable one
	}
	return Internal
}

// mayPass reports whether a call that AWS refused may succeed later.
func mayPass(api smithy.APIError, status int) bool {
	if c, ok := api.(*types.TransactionCanceledException); ok {
		return !slices.ContainsFunc(c.CancellationReasons, func(r types.CancellationReason) bool {
			return !slices.Contains(passingReasons, aws.ToString(r.Code))
		})
	}
	code := api.ErrorCode()
	_, throttle := retry.DefaultThrottleErrorCodes[code]
	_, late := retry.DefaultRetryableErrorCodes[code]
	return throttle || late || slices.Contains(passing, code) || status >= http.StatusInternalServerError ||
		status == http.StatusTooManyRequests || status == http.StatusRequestTimeout || api.ErrorFault() == smithy.FaultServer
}

// statusOf returns the HTTP status of the answer that err is about, 0 without an answer.
func statusOf(err error) int {
	if a, ok := errors.AsType[answered](err); ok {
		return a.HTTPStatusCode()
	}
	return 0
}
