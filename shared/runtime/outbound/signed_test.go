package outbound

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/runtime/expect"
)

func TestAServiceIsInTheFunctionsOwnRegion(t *testing.T) {
	for region, want := range map[string]string{
		"ap-northeast-1": "https://lambda.ap-northeast-1.amazonaws.com",
		"us-gov-west-1":  "https://lambda.us-gov-west-1.amazonaws.com",
		"cn-north-1":     "https://lambda.cn-north-1.amazonaws.com.cn",
	} {
		expect.Same(t, want, ServiceAt(aws.Config{Region: region}, "Lambda", nil).endpoint)
	}
	local := "http://127.0.0.1:4566/"
	expect.Same(t, "http://127.0.0.1:4566", ServiceAt(aws.Config{Region: "us-east-1", BaseEndpoint: &local}, "S3",
		nil).endpoint)
}
