package api

import (
	"encoding/json"
	"net/http"

	"golang.org/x/sync/errgroup"

	"example.com/social/postview/store"
)

// authors returns who is behind a batch of ids.
func (a *API) authors(w http.ResponseWriter, r *http.Request) {
	var in struct {
		IDs []string `json:"ids"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&in); err != nil {
		http.Error(w, "not a batch", http.StatusBadRequest)
		return
	}
	if len(in.IDs) > maxBatch {
		http.Error(w, "too many ids", http.StatusRequestEntityTooLarge)
		return
	}

	out := make([]store.Author, len(in.IDs))
	g, ctx := errgroup.WithContext(r.Context())
	g.SetLimit(16)
	for i, id := range in.IDs {
		g.Go(func() (err error) {
			out[i], err = a.store.Author(ctx, id)
			return found(err)
		})
	}
	reply(w, out, g.Wait())
}
