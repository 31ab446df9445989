// Package api holds the handlers; each takes a batch and keeps its order.
package api

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"expvar"
	"net/http"

	"example.com/social/postview/store"
)

const (
	maxBody  = 64 << 10
	maxBatch = 100
	fanOut   = 16
)

var (
	asked   = expvar.NewMap("postview_keys_by_caller")
	callers = map[string]bool{"web": true, "mobile": true, "recommender": true}
)

// API answers batches from one store.
type API struct {
	store *store.Store
}

// New returns the handlers over s.
func New(s *store.Store) *API {
	return &API{store: s}
}

// Routes is the whole service.
func (a *API) Routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/posts", a.posts)
	mux.HandleFunc("POST /v1/authors", a.authors)
	mux.HandleFunc("POST /v1/likes", a.likes)
	mux.HandleFunc("POST /v1/replies", a.replies)
	mux.Handle("GET /debug/vars", expvar.Handler())
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	})
	return mux
}

// count books the size of a batch on the service that asked for it.
func count(r *http.Request, keys int) {
	caller := r.Header.Get("X-Caller")
	if !callers[caller] {
		caller = "other"
	}
	asked.Add(caller, int64(keys))
}

func reply(w http.ResponseWriter, v any, err error) {
	switch {
	case err == nil:
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	case errors.Is(err, context.DeadlineExceeded):
		http.Error(w, "too slow", http.StatusGatewayTimeout)
	default:
		http.Error(w, "not available", http.StatusBadGateway)
	}
}

// found passes every error on but that of a row which does not exist.
func found(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	return err
}
