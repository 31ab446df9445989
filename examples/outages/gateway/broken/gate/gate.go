// Package gate holds the handlers of the gateway's two listeners.
package gate

import (
	"encoding/json"
	"net/http"

	"example.com/shop/gateway/rates"
)

// Shop serves browsers and apps, through the sidecar.
func Shop() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/checkout/{user}", checkout)
	mux.HandleFunc("GET /healthz", healthy)
	return mux
}

// Partner serves the carriers, through the sidecar's second port.
func Partner(table rates.Table) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/rates", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, table)
	})
	mux.HandleFunc("GET /healthz", healthy)
	return mux
}

func healthy(w http.ResponseWriter, _ *http.Request) {
	w.WriteHeader(http.StatusNoContent)
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}
