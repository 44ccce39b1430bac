package stack

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"

	"ringi/infra/local/lambda"
	"ringi/infra/local/template"
)

// awsHandler serves the stack's AWS endpoint. It invokes functions itself and forwards all other calls to the
// stand-ins. host is the endpoint's own, by whichever name it was called. bucket is the one from which people download
// files by signed links.
func awsHandler(functions, info http.Handler, standIns, host, bucket string, log *slog.Logger) (http.Handler,
	error) {
	target, err := url.Parse(standIns)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{MaxIdleConns: 512, MaxIdleConnsPerHost: 512, IdleConnTimeout: 30 * time.Second,
		DisableCompression: true}
	proxy := &httputil.ReverseProxy{
		Transport: transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = host // queue URLs contain it
			if linked(r.In, bucket) {
				r.Out.Header.Del("Sec-Fetch-Site") // otherwise the stand-in's guard would refuse the click on a link
			}
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if r.Context().Err() == nil {
				log.Warn("forward an AWS call", "path", r.URL.Path, "err", err)
			}
			w.WriteHeader(http.StatusBadGateway)
		},
	}
	mux := http.NewServeMux()
	mux.Handle(lambda.Path, functions)
	mux.Handle(strings.TrimSuffix(lambda.Path, "/"), functions)
	mux.Handle(lambda.StreamPath, functions)
	mux.Handle("GET "+functionsPath, info)
	mux.Handle("/", wholeBody(proxy))
	return mux, nil
}

// largestHeld is the largest body, in bytes, that is read before a call is forwarded.
const largestHeld = 16 << 20

// wholeBody reads a call's body before the call is forwarded. Otherwise a stand-in may answer before the transport has
// seen the end of the body. The server then closes the body, and the transport cuts off the answer.
func wholeBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength > 0 && r.ContentLength <= largestHeld {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return // the caller has disconnected
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
		}
		next.ServeHTTP(w, r)
	})
}

// linked reports whether a request downloads a file of the bucket by a signed link. Pages of the console have such
// links; the stand-ins refuse all other requests of browsers.
func linked(r *http.Request, bucket string) bool {
	return bucket != "" && r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, "/"+bucket+"/") &&
		r.URL.Query().Has("X-Amz-Signature")
}

// connect checks the rights that AWS itself needs from roles: to read event sources, to send failed batches to their
// destination, and to call functions from states. Without these rights AWS refuses to create the event source, or the
// state fails.
func (s *Stack) connect(b *template.Bench) error {
	for _, f := range s.Template.Functions {
		for _, m := range f.Streams {
			if err := b.Must(f.ID, m.Source, "dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator",
				"dynamodb:ListStreams"); err != nil {
				return fmt.Errorf("event %s: %w", m.Event, err)
			}
			if m.OnFailure == "" {
				continue
			}
			if err := b.Must(f.ID, m.OnFailure, "sqs:SendMessage"); err != nil {
				return fmt.Errorf("event %s: %w", m.Event, err)
			}
		}
		for _, m := range f.Queues {
			if err := b.Must(f.ID, m.Source, "sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"); err != nil {
				return fmt.Errorf("event %s: %w", m.Event, err)
			}
		}
	}
	for _, m := range s.Template.Machines {
		var definition any
		if err := json.Unmarshal([]byte(m.Definition), &definition); err != nil {
			return fmt.Errorf("state machine %s: %w", m.ID, err)
		}
		for _, function := range called(definition) {
			if err := b.Must(m.ID, function, "lambda:InvokeFunction"); err != nil {
				return fmt.Errorf("state machine %s: %w", m.ID, err)
			}
		}
	}
	return nil
}

// called returns the ARNs of the functions that a definition's states call.
func called(v any) (arns []string) {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			arns = append(arns, called(x)...)
		}
	case map[string]any:
		for key, x := range v {
			name, _ := x.(string)
			if key == "FunctionName" || key == "Resource" && strings.Contains(name, ":function:") {
				arns = append(arns, name)
			}
			arns = append(arns, called(x)...)
		}
	}
	return arns
}
