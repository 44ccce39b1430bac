// Command keep-note writes what it was sent as a row.
package main

import (
	"context"
	"encoding/base64"
	"net/url"
	"os"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func main() { lambda.Start(handle) }

func handle(ctx context.Context, r events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
	body := r.Body
	if r.IsBase64Encoded {
		raw, err := base64.StdEncoding.DecodeString(body)
		if err != nil {
			return events.APIGatewayV2HTTPResponse{}, err
		}
		body = string(raw)
	}
	form, err := url.ParseQuery(body)
	if err != nil {
		return events.APIGatewayV2HTTPResponse{}, err
	}
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return events.APIGatewayV2HTTPResponse{}, err
	}
	item := map[string]types.AttributeValue{
		"PK":   &types.AttributeValueMemberS{Value: "TASK#t#" + form.Get("id")},
		"SK":   &types.AttributeValueMemberS{Value: "NOTE"},
		"type": &types.AttributeValueMemberS{Value: "note"}, "id": &types.AttributeValueMemberS{Value: form.Get("id")},
		"rev": &types.AttributeValueMemberN{Value: "1"},
	}
	if _, err := dynamodb.NewFromConfig(cfg).PutItem(ctx,
		&dynamodb.PutItemInput{TableName: aws.String(os.Getenv("TABLE_NAME")), Item: item}); err != nil {
		return events.APIGatewayV2HTTPResponse{}, err
	}
	return events.APIGatewayV2HTTPResponse{StatusCode: 200, Body: os.Getenv("MODEL") + " " + os.Getenv("FREEE_API_URL")},
		nil
}
