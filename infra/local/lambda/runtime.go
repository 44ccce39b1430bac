package lambda

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"
)

const runtimePrefix = "/2018-06-01/runtime/"

// runtimeAPI serves the Runtime API to the process of an environment.
func (e *environment) runtimeAPI() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+runtimePrefix+"invocation/next", e.next)
	mux.HandleFunc("POST "+runtimePrefix+"invocation/{id}/response",
		func(w http.ResponseWriter, r *http.Request) { e.answer(w, r, false) })
	mux.HandleFunc("POST "+runtimePrefix+"invocation/{id}/error",
		func(w http.ResponseWriter, r *http.Request) { e.answer(w, r, true) })
	mux.HandleFunc("POST "+runtimePrefix+"init/error", e.initError)
	return mux
}

// next waits for the next event, without a time limit, and sends it to the process.
func (e *environment) next(w http.ResponseWriter, r *http.Request) {
	if e.initDies() {
		return
	}
	var inv *invocation
	select {
	case inv = <-e.work:
	case <-r.Context().Done():
		return
	}
	inv.deadline = time.Now().Add(e.function.Timeout)
	e.mu.Lock()
	e.current = inv
	e.mu.Unlock()
	close(inv.taken)
	if e.dies(inv, KindStart, nil) {
		return
	}

	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Lambda-Runtime-Aws-Request-Id", inv.id)
	h.Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(inv.deadline.UnixMilli(), 10))
	h.Set("Lambda-Runtime-Invoked-Function-Arn", e.arn)
	h.Set("Lambda-Runtime-Trace-Id", inv.trace)
	w.Write(inv.payload)
}

// answer receives the response or error for the current event.
func (e *environment) answer(w http.ResponseWriter, r *http.Request, failed bool) {
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxPayload))
	var tooLong *http.MaxBytesError
	if err != nil && !errors.As(err, &tooLong) {
		refuse(w, http.StatusBadRequest, "InvalidRequest", err.Error())
		return
	}
	id := r.PathValue("id")
	e.mu.Lock()
	inv := e.current
	if inv == nil || inv.id != id {
		e.mu.Unlock()
		refuse(w, http.StatusBadRequest, "InvalidRequestID", "no such invocation is under way")
		return
	}
	e.current = nil
	e.mu.Unlock()
	if e.dies(inv, KindAnswer, body) {
		return
	}
	if tooLong != nil {
		inv.answer <- failure(id, responseTooLong, "Response payload size exceeded maximum allowed payload size (%d bytes).", maxPayload)
		refuse(w, http.StatusRequestEntityTooLarge, responseTooLong, "the response is too long")
		return
	}
	inv.answer <- Result{RequestID: id, Payload: body, Failed: failed}
	accept(w)
}

func (e *environment) initError(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxPayload))
	if err != nil {
		refuse(w, http.StatusBadRequest, "InvalidRequest", err.Error())
		return
	}
	e.mu.Lock()
	e.initFail = body
	e.mu.Unlock()
	accept(w)
}

func accept(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusAccepted)
	io.WriteString(w, `{"status":"OK"}`)
}

func refuse(w http.ResponseWriter, status int, kind, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]string{"errorType": kind, "errorMessage": message})
}
