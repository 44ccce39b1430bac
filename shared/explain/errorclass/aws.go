package errorclass

import (
	"errors"
	"net/http"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// passing are codes that AWS gives as the caller's fault though another try may go through, beside those that the SDK
// itself takes for a throttle or a time-out. Credentials that have run out are those of one environment: another one
// has others.
var passing = []string{
	"TransactionConflictException", "ReplicatedWriteConflictException", // DynamoDB: another write holds the item
	"OperationAborted", "ConditionalRequestConflict", // S3: the same
	"ExecutionLimitExceeded", "OverLimit", "KmsThrottled", // Step Functions and SQS: too many at once
	"ExpiredToken", "ExpiredTokenException", "RequestExpired", "RequestTimeTooSkewed",
}

// passingReasons are why DynamoDB cancels a transaction that may go through later.
var passingReasons = []string{"", "None", "ConditionalCheckFailed", "TransactionConflict", "ThrottlingError",
	"ProvisionedThroughputExceeded"}

// answered is an error of a call that got an HTTP answer.
type answered interface {
	error
	HTTPStatusCode() int
}

// ofAWS is the class of what a call to AWS came to, and of any other error that is not known. The SDK says whose fault
// an error is for those errors alone that a service's model lists, which neither ValidationException nor
// AccessDeniedException is. So the class follows from the code and the HTTP status.
func ofAWS(err error) Class {
	api, refused := errors.AsType[smithy.APIError](err)
	switch {
	case refused && mayPass(api, statusOf(err)):
		return Unavailable
	case refused, is[smithy.InvalidParamsError](err), is[*smithy.SerializationError](err):
		return Internal // AWS says that the call is wrong, or the client does
	case is[*smithy.OperationError](err):
		return Unavailable // no answer, or none that can be read
	}
	return Internal
}

// mayPass reports whether what AWS refused may go through later.
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

// statusOf is the HTTP status of the answer behind an error, 0 without one.
func statusOf(err error) int {
	if a, ok := errors.AsType[answered](err); ok {
		return a.HTTPStatusCode()
	}
	return 0
}
