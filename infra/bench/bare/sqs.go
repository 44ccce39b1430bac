//go:build sqs

package main

import "github.com/aws/aws-sdk-go-v2/service/sqs"

func init() { clients = append(clients, with(sqs.NewFromConfig)) }
