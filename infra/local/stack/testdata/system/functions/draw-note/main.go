// Command draw-note uses the key, the bucket and the secret for each message.
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
)

func main() { lambda.Start(handle) }

func handle(ctx context.Context, e events.SQSEvent) (events.SQSEventResponse, error) {
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
	sealed, err := kms.NewFromConfig(cfg).Encrypt(ctx,
		&kms.EncryptInput{KeyId: aws.String(os.Getenv("KEY_ID")), Plaintext: []byte(id)})
	if err != nil {
		return fmt.Errorf("key: %w", err)
	}
	opened, err := kms.NewFromConfig(cfg).Decrypt(ctx, &kms.DecryptInput{CiphertextBlob: sealed.CiphertextBlob})
	if err != nil {
		return fmt.Errorf("key: %w", err)
	}
	_, err = s3.NewFromConfig(cfg).PutObject(ctx,
		&s3.PutObjectInput{Bucket: aws.String(os.Getenv("BUCKET")), Key: &id, Body: bytes.NewReader(opened.Plaintext)})
	if err != nil {
		return fmt.Errorf("bucket: %w", err)
	}
	item, err := attributevalue.MarshalMap(map[string]any{"PK": "TASK#t#" + id, "SK": "DRAWN", "type": "drawing", "rev": 2, "secret": secret.SecretString})
	if err == nil {
		_, err = dynamodb.NewFromConfig(cfg).PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(os.Getenv("TABLE_NAME")), Item: item})
	}
	return err
}
