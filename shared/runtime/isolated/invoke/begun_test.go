package invoke

import (
	"errors"
	"testing"

	"github.com/aws/smithy-go"

	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/isolated"
)

// If Lambda reports that it could not invoke the function, nothing was run, and people are not told that the outcome is
// unknown.
func TestWhatLambdaCouldNotInvokeHasNotBegun(t *testing.T) {
	for code, want := range map[string]struct{ notBegun, cannot bool }{
		"ENINotReadyException":            {true, false},
		"ResourceNotReadyException":       {true, false},
		"TooManyRequestsException":        {true, false},
		"EC2ThrottledException":           {true, false},
		"InvalidSubnetIDException":        {true, true},
		"InvalidSecurityGroupIDException": {true, true},
		"KMSDisabledException":            {true, true},
		"ResourceNotFoundException":       {true, true},
		"ServiceException":                {false, false},
	} {
		err := begun(&smithy.GenericAPIError{Code: code})
		expect.That(t, errors.Is(err, isolated.ErrNotBegun) == want.notBegun &&
			errors.Is(err, isolated.ErrCannot) == want.cannot, "%s: %v", code, err)
	}
}
