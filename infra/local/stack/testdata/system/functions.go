// Package system has the functions of a small system beside this file, for the tests of package stack. The test binary
// is the binary of each, so that nothing has to be linked for them.
package system

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log"
	"net/url"
	"os"
	"strings"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// Functions are the handlers by their functions' logical ids.
var Functions = map[string]any{
	"AskPersonFunction": askPerson, "DrawNoteFunction": drawNotes, "KeepNoteFunction": keepNote,
	"RelayNotesFunction": relayNotes, "TickFunction": tick,
}

// Run serves the function that this process is; it returns at once where it is none.
func Run() {
	if os.Getenv("AWS_LAMBDA_RUNTIME_API") == "" {
		return
	}
	handler, ok := Functions[os.Getenv("AWS_LAMBDA_FUNCTION_NAME")]
	if !ok {
		log.Fatalf("no function is called %s", os.Getenv("AWS_LAMBDA_FUNCTION_NAME"))
	}
	lambda.Start(handler)
}

func put(ctx context.Context, cfg aws.Config, item map[string]any) error {
	row, err := attributevalue.MarshalMap(item)
	if err == nil {
		_, err = dynamodb.NewFromConfig(cfg).PutItem(ctx, &dynamodb.PutItemInput{
			TableName: aws.String(os.Getenv("TABLE_NAME")), Item: row})
	}
	return err
}

// askPerson stores a run's task token in a row.
func askPerson(ctx context.Context, in struct{ Tenant, Task, Token string }) error {
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return err
	}
	return put(ctx, cfg, map[string]any{"PK": "TASK#" + in.Tenant + "#" + in.Task, "SK": "WAIT", "type": "wait",
		"token": in.Token})
}

// drawNotes uses the key, the bucket and the secret for each message.
func drawNotes(ctx context.Context, e events.SQSEvent) (events.SQSEventResponse, error) {
	for _, m := range e.Records {
		if err := draw(ctx, m.Body); err != nil {
			return events.SQSEventResponse{}, err
		}
	}
	return events.SQSEventResponse{}, nil
}

func draw(ctx context.Context, id string) error {
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return err
	}
	secret, err := secretsmanager.NewFromConfig(cfg).GetSecretValue(ctx,
		&secretsmanager.GetSecretValueInput{SecretId: aws.String(os.Getenv("SECRET_ID"))})
	if err != nil {
		return fmt.Errorf("secret: %w", err)
	}
	key, err := kms.NewFromConfig(cfg).GenerateDataKey(ctx,
		&kms.GenerateDataKeyInput{KeyId: aws.String(os.Getenv("KEY_ID")), KeySpec: "AES_256"})
	if err != nil {
		return fmt.Errorf("key: %w", err)
	}
	opened, err := kms.NewFromConfig(cfg).Decrypt(ctx, &kms.DecryptInput{CiphertextBlob: key.CiphertextBlob})
	if err != nil || !bytes.Equal(opened.Plaintext, key.Plaintext) {
		return fmt.Errorf("key: another, %w", err)
	}
	_, err = s3.NewFromConfig(cfg).PutObject(ctx,
		&s3.PutObjectInput{Bucket: aws.String(os.Getenv("BUCKET")), Key: &id, Body: strings.NewReader(id)})
	if err != nil {
		return fmt.Errorf("bucket: %w", err)
	}
	return put(ctx, cfg, map[string]any{"PK": "TASK#t#" + id, "SK": "DRAWN", "type": "drawing", "rev": 2,
		"secret": secret.SecretString})
}

// keepNote writes its input as a row.
func keepNote(ctx context.Context, r events.APIGatewayV2HTTPRequest) (out events.APIGatewayV2HTTPResponse, err error) {
	body := r.Body
	if r.IsBase64Encoded {
		raw, err := base64.StdEncoding.DecodeString(body)
		if err != nil {
			return out, err
		}
		body = string(raw)
	}
	form, err := url.ParseQuery(body)
	if err != nil {
		return out, err
	}
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return out, err
	}
	id := form.Get("id")
	err = put(ctx, cfg, map[string]any{"PK": "TASK#t#" + id, "SK": "NOTE", "type": "note", "id": id, "rev": 1})
	return events.APIGatewayV2HTTPResponse{StatusCode: 200, Body: os.Getenv("MODEL") + " " + os.Getenv("FREEE_API_URL")},
		err
}

// relayNotes starts a run and sends a message for each new note.
func relayNotes(ctx context.Context, e events.DynamoDBEvent) error {
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return err
	}
	for _, r := range e.Records {
		id := r.Change.NewImage["id"].String()
		if id == "poison" {
			return errors.New("a note that nobody can relay")
		}
		_, err := sfn.NewFromConfig(cfg).StartExecution(ctx, &sfn.StartExecutionInput{
			StateMachineArn: aws.String(os.Getenv("STATE_MACHINE_ARN")), Name: aws.String(id + "-1"),
			Input: aws.String(`{"tenant":"t","task":"` + id + `","run":1}`),
		})
		if err != nil {
			return err
		}
		_, err = sqs.NewFromConfig(cfg).SendMessage(ctx, &sqs.SendMessageInput{
			QueueUrl: aws.String(os.Getenv("QUEUE_URL")), MessageBody: &id, MessageGroupId: &id,
			MessageDeduplicationId: &r.EventID,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// tick prints where its event came from.
func tick(_ context.Context, e events.EventBridgeEvent) (string, error) {
	fmt.Println("ticked")
	if e.Source == "" {
		return "", errors.New("the event has no source")
	}
	return e.Source + " " + os.Getenv("TABLE_NAME"), nil
}
