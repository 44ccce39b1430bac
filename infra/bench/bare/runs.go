//go:build runs

package main

import (
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

func init() { clients = append(clients, with(sfn.NewFromConfig), with(sqs.NewFromConfig)) }
