package api

import (
	"encoding/json"
	"net/http"

	"golang.org/x/sync/errgroup"
)

// likes returns how often each post of a batch was liked.
func (a *API) likes(w http.ResponseWriter, r *http.Request) {
	var in struct {
		URIs []string `json:"uris"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&in); err != nil {
		http.Error(w, "not a batch", http.StatusBadRequest)
		return
	}
	if len(in.URIs) > maxBatch {
		http.Error(w, "too many uris", http.StatusRequestEntityTooLarge)
		return
	}
	count(r, len(in.URIs))

	out := make([]int64, len(in.URIs))
	g, ctx := errgroup.WithContext(r.Context())
	g.SetLimit(fanOut)
	for i, uri := range in.URIs {
		g.Go(func() (err error) {
			out[i], err = a.store.Likes(ctx, uri)
			return found(err)
		})
	}
	reply(w, out, g.Wait())
}

// replies returns how many replies each post of a batch has.
func (a *API) replies(w http.ResponseWriter, r *http.Request) {
	var in struct {
		URIs []string `json:"uris"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&in); err != nil {
		http.Error(w, "not a batch", http.StatusBadRequest)
		return
	}
	if len(in.URIs) > maxBatch {
		http.Error(w, "too many uris", http.StatusRequestEntityTooLarge)
		return
	}
	count(r, len(in.URIs))

	out := make([]int64, len(in.URIs))
	g, ctx := errgroup.WithContext(r.Context())
	g.SetLimit(fanOut)
	for i, uri := range in.URIs {
		g.Go(func() (err error) {
			out[i], err = a.store.Replies(ctx, uri)
			return found(err)
		})
	}
	reply(w, out, g.Wait())
}
