// Command keep-note writes its input as a row.
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
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
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
	id := form.Get("id")
	item, err := attributevalue.MarshalMap(map[string]any{"PK": "TASK#t#" + id, "SK": "NOTE", "type": "note", "id": id, "rev": 1})
	if err == nil {
		_, err = dynamodb.NewFromConfig(cfg).PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(os.Getenv("TABLE_NAME")), Item: item})
	}
	return events.APIGatewayV2HTTPResponse{StatusCode: 200, Body: os.Getenv("MODEL") + " " + os.Getenv("FREEE_API_URL")}, err
}
