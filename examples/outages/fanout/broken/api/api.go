// Package api holds the handlers; each takes a batch and keeps its order.
package api

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"net/http"

	"example.com/social/postview/store"
)

const (
	maxBody  = 4 << 20
	maxBatch = 100
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
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	})
	return mux
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
