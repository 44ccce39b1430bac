package stack

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"

	"ringi/infra/local/lambda"
)

// awsHandler serves the stack's AWS endpoint. It invokes functions itself and forwards all other calls to the
// stand-ins. Calls on tables and streams go to tables, all others to standIns. bucket is the one from which people
// download files by signed links.
func awsHandler(functions, info, told http.Handler, standIns, tables, bucket string,
	log *slog.Logger) (http.Handler, error) {
	target, err := url.Parse(standIns)
	if err != nil {
		return nil, err
	}
	database, err := url.Parse(tables)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{MaxIdleConns: 512, MaxIdleConnsPerHost: 512, IdleConnTimeout: 30 * time.Second,
		DisableCompression: true}
	proxy := &httputil.ReverseProxy{
		Transport: transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			if strings.HasPrefix(r.In.Header.Get("X-Amz-Target"), "DynamoDB") { // also matches calls on streams
				r.SetURL(database)
				return
			}
			r.SetURL(target)
			r.Out.Host = r.In.Host // queue URLs contain it
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
	mux.Handle("GET "+containerPath, told)
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
