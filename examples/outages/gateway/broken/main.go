// The gateway answers the shop's checkout page and the partners' rate table.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"example.com/shop/gateway/gate"
	"example.com/shop/gateway/rates"
)

const drainTimeout = 10 * time.Second

func main() {
	if err := run(); err != nil {
		slog.Error("gateway stopped", "err", err)
		os.Exit(1)
	}
}

func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()

	table, err := rates.Load(ctx)
	if err != nil {
		return fmt.Errorf("rate table: %w", err)
	}

	shop := &http.Server{
		Addr:    ":8080",
		Handler: gate.Shop(),
	}
	partner := &http.Server{
		Addr:              ":8081",
		Handler:           gate.Partner(table),
		ReadHeaderTimeout: 2 * time.Second,
		ReadTimeout:       3 * time.Second,
		WriteTimeout:      4 * time.Second,
		IdleTimeout:       30 * time.Second,
	}

	failed := make(chan error, 2)
	go func() { failed <- shop.ListenAndServe() }()
	go func() { failed <- partner.ListenAndServe() }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}

	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
	defer cancel()
	return errors.Join(shop.Shutdown(drain), partner.Shutdown(drain))
}
