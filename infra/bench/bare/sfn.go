//go:build sfn

package main

import "github.com/aws/aws-sdk-go-v2/service/sfn"

func init() { clients = append(clients, with(sfn.NewFromConfig)) }
