//go:build dynamodb

package main

import "github.com/aws/aws-sdk-go-v2/service/dynamodb"

func init() { clients = append(clients, with(dynamodb.NewFromConfig)) }
