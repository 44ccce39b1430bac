package lambda

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
)

// Path is the prefix of Lambda's API.
const Path = "/2015-03-31/functions/"

// StreamPath is the prefix of Lambda's API for streamed answers.
const StreamPath = "/2021-11-15/functions/"

// Handler serves Invoke and InvokeWithResponseStream to functions, the state machine, the AWS CLI and tests.
func (s *Service) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+Path+"{name}/invocations", s.serveInvoke)
	mux.HandleFunc("POST "+StreamPath+"{name}/response-streaming-invocations", s.serveStream)
	return mux
}

func (s *Service) serveInvoke(w http.ResponseWriter, r *http.Request) {
	name, payload, ok := s.call(w, r)
	if !ok {
		return
	}
	if r.Header.Get("X-Amz-Invocation-Type") != "Event" {
		s.respond(w, r, name, payload)
		return
	}
	// An asynchronous call gets no answer; the function's log shows the outcome.
	go s.Invoke(traced(context.WithoutCancel(r.Context()), r), name, payload)
	w.Header().Set("X-Amzn-RequestId", requestID())
	w.WriteHeader(http.StatusAccepted)
}

// call reads the function's name and the payload. If they are invalid, it answers the request and returns false.
func (s *Service) call(w http.ResponseWriter, r *http.Request) (name string, payload []byte, ok bool) {
	payload, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxPayload))
	if err != nil {
		var tooLong *http.MaxBytesError
		if errors.As(err, &tooLong) {
			deny(w, http.StatusRequestEntityTooLarge, "RequestTooLargeException", "the payload is longer than 6291456 bytes")
			return "", nil, false
		}
		deny(w, http.StatusBadRequest, "InvalidRequestContentException", "the body could not be read")
		return "", nil, false
	}
	if len(payload) == 0 {
		payload = []byte("{}")
	}
	if !json.Valid(payload) {
		deny(w, http.StatusBadRequest, "InvalidRequestContentException", "Could not parse request body into json")
		return "", nil, false
	}
	name = r.PathValue("name")
	if _, ok := s.functions[plainName(name)]; !ok {
		deny(w, http.StatusNotFound, "ResourceNotFoundException", "Function not found: "+arn(s.options, plainName(name)))
		return "", nil, false
	}
	return name, payload, true
}

func (s *Service) respond(w http.ResponseWriter, r *http.Request, name string, payload []byte) {
	result, err := s.Invoke(traced(r.Context(), r), name, payload)
	switch {
	case errors.Is(err, ErrLoop):
		deny(w, http.StatusBadRequest, "RecursiveInvocationException", err.Error())
		return
	case errors.Is(err, ErrBusy):
		deny(w, http.StatusTooManyRequests, "TooManyRequestsException", "Rate Exceeded.")
		return
	case err != nil:
		deny(w, http.StatusInternalServerError, "ServiceException", err.Error())
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("X-Amzn-RequestId", result.RequestID)
	h.Set("X-Amz-Executed-Version", "$LATEST")
	if result.Failed {
		h.Set("X-Amz-Function-Error", "Unhandled")
	}
	w.Write(result.Payload)
}

func traced(ctx context.Context, r *http.Request) context.Context {
	return Traced(ctx, r.Header.Get("X-Amzn-Trace-Id"))
}

// deny answers with an error as Lambda's API does. The state machine interpreter treats an answer without a request id
// as malformed.
func deny(w http.ResponseWriter, status int, kind, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Amzn-RequestId", requestID())
	w.Header().Set("X-Amzn-ErrorType", kind)
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]string{"Type": "User", "Message": message, "message": message})
}
